//! `pg rehearse`: tests an integration in any language against lost replies, double deliveries and other faults.

use std::{
    ffi::OsString,
    io::IsTerminal as _,
    path::{Path, PathBuf},
};

use pg_rehearse::{Family, Language, Options, Plan, PlanError, Report, RunError, Severity};

use super::{interrupt::Interrupted, result_file};
use crate::{
    argument,
    failure::{Exit, Failure},
    output::{self, Paint},
};

/// Tests an integration in any language against lost replies, double deliveries, forged redirects and bad certificates
///
/// A plan says how the integration charges an order; `pg rehearse init` writes one. Each drill starts its own sandbox
/// and compares its ledger with the integration's claim: charged twice, charged but reported as unpaid, unpaid but
/// reported as paid.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  pg rehearse init --language python          a plan and an adapter to start from
  pg rehearse                                 all drills of rehearse.toml
  pg rehearse --only money,T01 --seed 7       a family, and one drill
  pg rehearse --html report.html --junit junit.xml --json report.json
  pg rehearse --write-baseline known.txt      records today's failures; then --baseline known.txt
  pg rehearse drills                          lists the drills

Exit codes: 0 no failure at or above the threshold, 1 failures, 2 invalid plan or options, 3 the integration could not be \
run, 4 the result is incomplete: the run was interrupted, or a report or standard output could not be written."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    /// The plan file
    #[arg(long, value_name = "FILE", default_value = "rehearse.toml")]
    plan: PathBuf,
    /// Runs only these drills or families
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Skips these drills or families
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    skip: Vec<String>,
    /// Seed of random choices: the same seed gives the same verdicts, except of a shop that works in the background
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Number of drills that run at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// Number of runs of each drill; the worst verdict counts
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Ignores failures below this severity: low, medium, high, critical
    #[arg(long, value_name = "SEVERITY", default_value = "low")]
    threshold: Severity,
    /// Ignores the failures that this file lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Writes the current failures to a baseline file
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// Writes the report as JSON; `--json FILE` does the same
    #[arg(long, value_name = "FILE")]
    json_file: Option<PathBuf>,
    /// Writes the report as one self-contained page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Writes the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Writes rehearse.toml and an adapter to start from
    Init {
        /// python, node, php, java, bash or rust
        #[arg(long, value_name = "LANGUAGE", default_value = "python")]
        language: Language,
        /// The folder to write to
        #[arg(value_name = "FOLDER", default_value = ".")]
        folder: PathBuf,
    },
    /// Lists the drills
    Drills,
}

/// `pg rehearse --json FILE` writes a file; `--json` without a file works as in other commands, and so does `--json -`.
pub(crate) fn with_json_file(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let word =
        |at: usize, arguments: &[OsString]| arguments.get(at).and_then(|word| word.to_str()).map(ToOwned::to_owned);
    let Some(start) = arguments.iter().skip(1).position(|word| !word.to_string_lossy().starts_with('-')) else {
        return arguments;
    };
    if word(start + 1, &arguments).as_deref() != Some("rehearse") {
        return arguments;
    }
    if arguments[start + 2..].iter().any(|word| word == "drills" || word == "init") {
        return arguments;
    }
    let mut at = start + 1;
    while at + 1 < arguments.len() {
        at += 1;
        let next = word(at + 1, &arguments);
        match word(at, &arguments).as_deref() {
            Some("--json") if next.as_deref() == Some("-") => {
                arguments.remove(at + 1);
            }
            Some("--json=-") => arguments[at] = "--json".into(),
            Some("--json") if next.is_some_and(|next| !next.starts_with("--")) => arguments[at] = "--json-file".into(),
            Some(word) if word.starts_with("--json=") => {
                arguments[at] = word.replacen("--json=", "--json-file=", 1).into()
            }
            _ => {}
        }
    }
    arguments
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    match arguments.what {
        Some(What::Init { language, folder }) => init(&folder, language, json),
        Some(What::Drills) => drills(json),
        None => rehearse(&arguments, json),
    }
}

fn init(folder: &Path, language: Language, json: bool) -> Result<Exit, Failure> {
    result_file::check_dash(folder).map_err(|error| Failure::misuse(format!("{}: {error}", folder.display())))?;
    let written = pg_rehearse::init(folder, language).map_err(|error| Failure::misuse(error.to_string()))?;
    if json {
        output::json(&written.files)?;
    } else {
        for file in &written.files {
            output::data(&file.display().to_string())?;
        }
        output::say("pg: read both, then run: pg rehearse --html report.html");
    }
    Ok(Exit::Done)
}

fn drills(json: bool) -> Result<Exit, Failure> {
    let all: Vec<_> = pg_rehearse::drills().collect();
    if json {
        output::json(&all)?;
        return Ok(Exit::Done);
    }
    let paint = Paint::of_stdout();
    let mut lines = Vec::new();
    for family in Family::ALL {
        lines.push(paint.bold(&format!("{} ({})", family.title(), family.name())));
        for drill in all.iter().filter(|drill| drill.family == family) {
            lines.push(format!("  {}  {:<9} {}", drill.id, drill.severity.name(), drill.title));
        }
    }
    output::page(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn rehearse(arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    let plan = Plan::read(&arguments.plan).map_err(|error| match error {
        PlanError::Unreadable(..) => Failure::misuse(error.to_string()),
        _ => Failure::misuse(format!("{}: {error}", arguments.plan.display()).replace('\n', "; ")),
    })?;
    let mut options = Options::default();
    options.only.clone_from(&arguments.only);
    options.skip.clone_from(&arguments.skip);
    options.seed = arguments.seed;
    options.jobs = arguments.jobs.into();
    options.repeat = arguments.repeat;
    options.threshold = arguments.threshold;
    options.baseline = arguments.baseline.as_deref().map_or(Ok(Vec::new()), baseline)?;
    let written = written_files(arguments);
    result_file::check_apart(&written, &[("--plan", Some(&arguments.plan))])?;
    // A baseline may be replaced.
    result_file::check_apart(&written[..REPORTS], &[("--baseline", arguments.baseline.as_deref())])?;
    written.iter().filter_map(|(_, path)| *path).try_for_each(result_file::check)?;
    crate::open_files::allow_many();
    let colours = std::io::stderr().is_terminal();
    let report = super::block_on(async {
        let interrupted = Interrupted::listen()?;
        let ran = pg_rehearse::run(
            plan,
            &options,
            |outcome| output::talk(&Report::progress(outcome, colours)),
            interrupted.wait(),
        );
        ran.await.map_err(|error| match error {
            RunError::UnknownDrill(_) | RunError::NoDrill => Failure::misuse(error.to_string()),
            _ => Failure::new(Exit::NotReachable, error.to_string()),
        })
    })
    .map_err(|failure| without_reports(failure, &written[..REPORTS]))?;
    let exit = match report.exit_code() {
        0 => Exit::Done,
        3 => Exit::NotReachable,
        4 => Exit::Unknown,
        _ => Exit::Refused,
    };
    let ended = write(arguments, &report).map(|()| exit);
    let exit = if json {
        let mut document = report.json();
        if let Err(failure) = &ended {
            document["exitCode"] = (failure.exit() as u8).into();
        }
        output::result(&document, ended)?
    } else {
        output::page(&report.scorecard(std::io::stdout().is_terminal()))?;
        ended?
    };
    if report.interrupted {
        let baseline = arguments.write_baseline.as_ref();
        let kept = baseline.map_or_else(String::new, |file| format!("; {} is not written", file.display()));
        output::say(&format!("pg: interrupted: {}{kept}", report.missing()));
    }
    Ok(exit)
}

/// Returns the first word of each line except comments: a drill, and what failed in it.
fn baseline(path: &Path) -> Result<Vec<String>, Failure> {
    let text = argument::read_file(path).map_err(|error| {
        Failure::misuse(format!("{} cannot be read: {error}; --write-baseline creates a baseline file", path.display()))
    })?;
    let words = text.lines().filter_map(|line| line.split('#').next()?.split_whitespace().next());
    Ok(words.map(ToOwned::to_owned).collect())
}

/// The number of reports among the [`written_files`].
const REPORTS: usize = 3;

/// Returns the files that are written, with their options: the reports, then the baseline.
fn written_files(arguments: &Arguments) -> [(&'static str, Option<&Path>); REPORTS + 1] {
    [
        ("--json", arguments.json_file.as_deref()),
        ("--html", arguments.html.as_deref()),
        ("--junit", arguments.junit.as_deref()),
        ("--write-baseline", arguments.write_baseline.as_deref()),
    ]
}

/// Removes the reports of an earlier run, which would be taken for those of a run that has made none.
fn without_reports(mut failure: Failure, reports: &[(&str, Option<&Path>)]) -> Failure {
    for path in reports.iter().filter_map(|(_, path)| *path) {
        if let Err(error) = result_file::remove(path) {
            failure = failure.with(&format!("; {} has the report of an earlier run: {error}", path.display()));
        }
    }
    failure
}

/// Writes every file that can be written. A report that cannot be written is removed, since it would be that of an earlier run.
/// An incomplete baseline would replace a complete one, so it is not written.
///
/// # Errors
/// Names every file that cannot be written.
fn write(arguments: &Arguments, report: &Report) -> Result<(), Failure> {
    let texts: [&dyn Fn() -> String; REPORTS + 1] =
        [&|| format!("{:#}\n", report.json()), &|| report.html(), &|| report.junit(), &|| report.baseline()];
    let mut written = Ok(());
    for (at, (file, text)) in written_files(arguments).iter().zip(texts).enumerate() {
        let is_report = at < REPORTS;
        let Some(path) = file.1.filter(|_| is_report || !report.interrupted) else { continue };
        if let Err(mut failure) = result_file::write(path, &text()) {
            if is_report {
                failure = without_reports(failure, std::slice::from_ref(file));
            }
            written = Err(match written {
                Ok(()) => failure,
                Err(earlier) => Failure::with(earlier, &format!("; {}", failure.message())),
            });
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(words: &[&str]) -> Vec<String> {
        let arguments = words.iter().map(OsString::from);
        with_json_file(arguments).iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn json_with_a_file_is_a_file_and_without_one_is_for_programs() {
        assert_eq!(rewritten(&["pg", "rehearse", "--json", "a.json"]), ["pg", "rehearse", "--json-file", "a.json"]);
        assert_eq!(rewritten(&["pg", "rehearse", "--json=a.json"]), ["pg", "rehearse", "--json-file=a.json"]);
        for dash in
            [&["pg", "rehearse", "--json", "-", "--seed", "1"][..], &["pg", "rehearse", "--json=-", "--seed", "1"]]
        {
            assert_eq!(rewritten(dash), ["pg", "rehearse", "--json", "--seed", "1"]);
        }
        for same in [
            &["pg", "rehearse", "--json"][..],
            &["pg", "rehearse", "--json", "--seed", "1"],
            &["pg", "rehearse", "drills", "--json"],
            &["pg", "--json", "rehearse", "drills"],
            &["pg", "demo", "--json", "x"],
        ] {
            assert_eq!(rewritten(same), same, "{same:?}");
        }
    }
}
