//! The plan: how to run the jobs of the integration.

mod read;

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, Read as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

/// Maximum length of a plan file.
const LONGEST: u64 = 1 << 20;

/// How to run the jobs of an integration, from `rehearse.toml`.
///
/// ```
/// use pg_rehearse::{Job, Plan};
///
/// let text = "timeout_seconds = 5\n[jobs.open_redirect]\nurl = \"http://127.0.0.1:8000/return\"\n";
/// let plan = Plan::parse(text, std::path::Path::new("."))?;
/// assert!(plan.has(Job::OpenRedirect) && !plan.has(Job::Charge));
/// # Ok::<(), pg_rehearse::PlanError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// The folder of the plan, in which commands run.
    pub folder: PathBuf,
    /// How long a job may take.
    pub timeout: Duration,
    /// Run once before the drills, for example a compiler.
    pub(crate) prepare: Option<Vec<String>>,
    pub(crate) jobs: BTreeMap<Job, Means>,
    /// The forms of a charge that the integration supports; if the plan does not say, all are tried.
    pub(crate) with: Option<Vec<Way>>,
    /// The encoding of redirect data; if the plan does not say, both are tried.
    pub(crate) encoding: Option<String>,
    pub(crate) logs: Vec<String>,
    /// A command whose output is also searched for secrets, for example a database dump.
    pub(crate) dump: Option<Vec<String>>,
    /// The address of the service for a running shop.
    pub(crate) listen: SocketAddr,
    /// The command that starts the shop, and the URL that replies once it is ready.
    pub(crate) shop: Option<(Vec<String>, Option<String>)>,
}

/// How a job is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Means {
    /// By a program.
    Command(Vec<String>),
    /// By a running shop.
    Url(String),
}

/// The form of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Way {
    SessionKey,
    CardKey,
    Card,
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::SessionKey, Self::Card, Self::CardKey];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::SessionKey => "sessionKey",
            Self::CardKey => "cardKey",
            Self::Card => "card",
        }
    }
}

/// A job of an integration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Job {
    /// Charge an order.
    Charge,
    /// Capture a reservation, or a part of it.
    Capture,
    /// Refund all or a part.
    Refund,
    /// The page to which the card form redirects a browser.
    OpenRedirect,
    /// The URL that receives callbacks.
    Callback,
    /// Create a link to the hosted checkout.
    Checkout,
    /// The success page of the hosted checkout.
    CheckoutReturn,
    /// Start a payment with 3-D Secure, and finish it when the customer returns.
    ThreeDSecure,
    /// Refresh stored cards.
    UpdateCards,
}

impl Job {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Charge,
        Self::Capture,
        Self::Refund,
        Self::OpenRedirect,
        Self::Callback,
        Self::Checkout,
        Self::CheckoutReturn,
        Self::ThreeDSecure,
        Self::UpdateCards,
    ];

    /// Its name in a plan and in the JSON line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Capture => "capture",
            Self::Refund => "refund",
            Self::OpenRedirect => "open_redirect",
            Self::Callback => "callback",
            Self::Checkout => "checkout",
            Self::CheckoutReturn => "checkout_return",
            Self::ThreeDSecure => "three_d_secure",
            Self::UpdateCards => "update_cards",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let alias = match name {
            "success" | "success_url" => "checkout_return",
            "3ds" | "three_ds" => "three_d_secure",
            "redirect" => "open_redirect",
            other => other,
        };
        Self::ALL.into_iter().find(|job| job.name() == alias)
    }
}

/// Reads a whole file.
///
/// # Errors
/// If it is longer than 1 MiB, is not valid UTF-8, or cannot be read.
fn bounded(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST { Err(io::Error::other("longer than 1 MiB")) } else { Ok(text) }
}

impl Plan {
    /// Reads a plan file. Relative paths in it are relative to its folder.
    ///
    /// # Errors
    /// [`PlanError`] has the line, the column, and a suggestion.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        let text = bounded(path).map_err(|error| PlanError::Unreadable(path.to_owned(), error))?;
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::path::absolute(folder).map_err(|error| PlanError::Unreadable(path.to_owned(), error))?;
        Self::parse(&text, &folder)
    }

    /// Reads the text of a plan.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub fn parse(text: &str, folder: &Path) -> Result<Self, PlanError> {
        read::plan(text, folder)
    }

    /// Whether the integration has this job.
    #[must_use]
    pub fn has(&self, job: Job) -> bool {
        self.jobs.contains_key(&job)
    }

    /// Whether drills of this job call a running shop: for the job, or for the page to which its customers come back.
    pub(crate) fn calls_shop(&self, job: Job) -> bool {
        let is_url = |job| matches!(self.jobs.get(&job), Some(Means::Url(_)));
        is_url(job) || (matches!(job, Job::Checkout | Job::Callback) && is_url(Job::CheckoutReturn))
    }

    /// Whether a running shop, which has one service and one account, does any job.
    pub(crate) fn is_shop(&self) -> bool {
        self.shop.is_some() || self.jobs.values().any(|means| matches!(means, Means::Url(_)))
    }
}

/// An error in a plan.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlanError {
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The mistakes, each with its line and column.
    Mistakes(Vec<Mistake>),
}

/// One mistake in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
    /// The mistake and a suggestion.
    pub problem: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => {
                let is_missing = error.kind() == io::ErrorKind::NotFound;
                let advice = if is_missing { "; `pg rehearse init` writes a plan" } else { "" };
                write!(f, "{} cannot be read: {error}{advice}", path.display())
            }
            Self::Mistakes(mistakes) => {
                for (at, mistake) in mistakes.iter().enumerate() {
                    let separator = if at == 0 { "" } else { "\n" };
                    write!(f, "{separator}line {}, column {}: {}", mistake.line, mistake.column, mistake.problem)?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for PlanError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(text: &str) -> String {
        Plan::parse(text, Path::new("/shop")).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_reported_with_line_column_and_suggestion() {
        for (text, told) in [
            ("timeout_second = 3\n", "line 1, column 1: timeout_second is unknown; did you mean timeout_seconds?"),
            ("timeout_seconds = \"3\"\n", "line 1, column 19: timeout_seconds must be a whole number from 1 to 600"),
            ("timeout_seconds = 0xfff\n", "line 1, column 19: timeout_seconds must be a whole number from 1 to 600"),
            ("[jobs]\ncharge = \"x\"\n", "line 2, column 10: jobs.charge must be a table: [jobs.charge]"),
            (
                "[jobs.charge]\nurl = \"http://x:99999/\"\n",
                "line 2, column 7: the port of url must be a whole number from 1 to 65535",
            ),
            ("timeout_seconds = 0\n", "line 1, column 19: timeout_seconds must be a whole number from 1 to 600"),
            ("[jobs.charge]\n", "line 1, column 7: job charge needs a command or a url"),
            ("[jobs.charge]\ncommand = []\n", "line 2, column 11: command is empty; set the program and its arguments"),
            ("[jobs.charge]\ncomand = [\"a\"]\n", "line 2, column 1: comand is unknown; did you mean command?"),
            (
                "[jobs.charge]\ncommand = \"a\"\n",
                "line 2, column 11: command must be a list of strings, such as [\"python3\", \"pay.py\"]",
            ),
            ("[jobs.charge]\nurl = \"ftp://x\"\n", "line 2, column 7: url must begin with http:// and name a host"),
            (
                "[jobs.open_redirct]\nurl = \"http://a/\"\n",
                "line 1, column 7: job open_redirct is unknown; did you mean open_redirect?",
            ),
            (
                "prepare = \"javac\"\n[jobs.charge]\ncommand = [\"a\"]\n",
                "line 1, column 11: prepare must be a list of strings, such as [\"python3\", \"pay.py\"]",
            ),
            (
                "prepare = []\n[jobs.charge]\ncommand = [\"a\"]\n",
                "line 1, column 11: prepare is empty; set the program and its arguments",
            ),
            ("prepar = [\"a\"]\n", "line 1, column 1: prepar is unknown; did you mean prepare?"),
            (
                "[jobs.pay]\n",
                "line 1, column 7: job pay is unknown; known: charge, capture, refund, open_redirect, callback, \
                 checkout, checkout_return, three_d_secure, update_cards",
            ),
            (
                "[hygiene]\nlogs = \"x\"\n",
                "line 2, column 8: logs must be a list of strings, such as [\"var/log/*.log\"]",
            ),
            ("[hygiene]\nlog = []\n", "line 2, column 1: log is unknown; did you mean logs?"),
        ] {
            let found = mistakes(text);
            assert_eq!(found.lines().next().unwrap(), told, "{text}");
        }
        assert!(mistakes("jobs = [").starts_with("line 1, column "));
        assert_eq!(
            mistakes("").lines().next().unwrap(),
            "line 1, column 1: the plan has no job; add [jobs.charge] with a command or a url"
        );
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let found = mistakes("a = 1\nb = 2\n[jobs.charge]\ncommand = [\"x\"]\n");
        assert_eq!(found.lines().count(), 2, "{found}");
    }

    #[test]
    fn the_plan_of_the_contract_is_read() {
        let text = "timeout_seconds = 20\n[jobs.charge]\ncommand = [\"python3\", \"pay.py\"]\n[jobs.open_redirect]\n\
                    url = \"http://127.0.0.1:8000/return\"\n[hygiene]\nlogs = [\"var/log/*.log\"]\n";
        let plan = Plan::parse(text, Path::new("/shop")).unwrap();
        assert_eq!(plan.jobs[&Job::Charge], Means::Command(vec!["python3".into(), "pay.py".into()]));
        assert_eq!(plan.logs, ["var/log/*.log"]);
        assert!(plan.is_shop());
    }
}
