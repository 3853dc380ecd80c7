//! Why a command failed: one line with the cause, the place and the remedy, and the exit code.

use std::{io, process::ExitCode};

use pg_model::{Violation, mask};
use serde::{Serialize, Serializer};

use crate::{refusal::Refusal, shell};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Done = 0,
    /// The service refused, or the payment was declined.
    Refused = 1,
    /// Misuse; nothing was sent.
    Misuse = 2,
    /// The service could not be reached; nothing was executed.
    NotReachable = 3,
    /// Whether the request was executed is unknown.
    Unknown = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The error of a command.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// Boxed, so that `Result` stays small.
    report: Box<Report>,
}

/// The same for programs, without empty members.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Broken>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Refusal>,
    /// The command that looks up the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Whether a log on standard error already contains the failure.
    #[serde(skip)]
    is_logged: bool,
    /// Whether standard output already has the one JSON document of the command.
    #[serde(skip)]
    has_document: bool,
    /// Whether `--json` was given where flags are not read: after a subcommand that does not exist.
    #[serde(skip)]
    is_for_programs: bool,
}

/// One broken rule.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Broken {
    /// The whole rule in one line, for messages.
    #[serde(skip)]
    line: String,
    name: String,
    rule: String,
    found: String,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    did_you_mean: Option<String>,
}

impl Failure {
    /// Creates the failure for invalid or contradictory arguments.
    pub(crate) fn misuse(message: impl Into<String>) -> Self {
        Self::new(Exit::Misuse, message)
    }

    /// Creates a failure with its exit and message.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self::of(exit, message.into())
    }

    fn of(exit: Exit, mut message: String) -> Self {
        // An argument in the wrong place may be one. Other long numbers are references.
        if mask::has_card_number(&message) {
            message = mask::text(&message);
        }
        Self { exit, report: Box::new(Report { message, ..Report::default() }) }
    }

    /// Returns the failure of writing the result to standard output.
    pub(crate) fn output(error: &io::Error) -> Self {
        Self::new(Exit::Unknown, format!("cannot write the result to standard output: {error}"))
    }

    /// Adds a broken rule, with a suggested name.
    pub(crate) fn violation(mut self, violation: &Violation, did_you_mean: Option<String>) -> Self {
        self.report.violations.push(Broken {
            line: violation.to_string(),
            name: violation.name.clone(),
            rule: violation.rule.to_string(),
            found: violation.found.clone(),
            source: violation.source,
            did_you_mean,
        });
        self
    }

    /// Adds the service's message, if the service refused.
    pub(crate) fn refusal(mut self, refusal: Option<Refusal>) -> Self {
        self.report.refusal = refusal;
        self
    }

    /// Adds the command that looks up the outcome.
    pub(crate) fn next(mut self, command: String) -> Self {
        self.report.next = Some(command);
        self
    }

    /// Appends to the message.
    pub(crate) fn with(mut self, more: &str) -> Self {
        self.report.message.push_str(more);
        self
    }

    /// Marks it as already logged on standard error.
    pub(crate) fn logged(mut self) -> Self {
        self.report.is_logged = true;
        self
    }

    /// Marks that standard output already has the one JSON document of the command.
    pub(crate) fn after_document(mut self) -> Self {
        self.report.has_document = true;
        self
    }

    /// Whether standard output already has the one JSON document of the command.
    pub(crate) fn has_document(&self) -> bool {
        self.report.has_document
    }

    /// Sets whether the failure is also written as JSON although no `--json` was read.
    pub(crate) fn for_programs(mut self, is_for_programs: bool) -> Self {
        self.report.is_for_programs = is_for_programs;
        self
    }

    /// Whether the failure is also written as JSON although no `--json` was read.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.report.is_for_programs
    }

    /// Its message.
    pub(crate) fn message(&self) -> &str {
        &self.report.message
    }

    /// Returns the exit code of the command.
    pub(crate) const fn exit(&self) -> Exit {
        self.exit
    }

    /// Returns the lines for people: the message, the violations and what to do next; no lines if a log already
    /// contains the failure.
    pub(crate) fn lines(&self) -> Vec<String> {
        if self.report.is_logged {
            return Vec::new();
        }
        let violations = self.report.violations.iter().map(|broken| format!("  {broken}"));
        let next = self.report.next.iter().map(|next| format!("  {}", shell::visible(next)));
        [format!("pg: {}", self.report.message)].into_iter().chain(violations).chain(next).collect()
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            exit: u8,
            error: &'a Report,
        }
        Whole { exit: self.exit as u8, error: &self.report }.serialize(serializer)
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.line)?;
        self.did_you_mean.as_ref().map_or(Ok(()), |name| write!(f, "; did you mean {name}?"))
    }
}
