//! The programs of tests: built together, each with its own step.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use anyhow::{Context, Result, bail};
use cargo_metadata::camino::Utf8PathBuf;
use cargo_metadata::{Message, Metadata, Package, PackageId, TargetKind};

use super::{cargo, debian};
use crate::held::Held;
use crate::steps::{self, Outcome, Step};

/// The slowest programs, which begin first: package and target, or no target for the unit tests of the library.
const LONGEST: [(&str, &str); 8] = [
    ("pg-tests", "browser"),
    ("pg-cli", "all_of_cli"),
    ("pg-rehearse", "all_of_rehearse"),
    ("pg-intents", "all_of_intents"),
    ("pg-sandbox-tests", "all_of_sandbox"),
    ("pg-tests", "all"),
    ("xtask", "xtask"),
    ("pg-simulation", "all_of_simulation"),
];

/// A program of tests that was built.
pub(super) struct Program {
    package: PackageId,
    /// The target's name.
    pub(super) name: String,
    /// Whether these are the tests inside a library or a command.
    pub(super) is_library: bool,
    path: Utf8PathBuf,
}

impl Program {
    pub(super) fn package<'a>(&self, metadata: &'a Metadata) -> Result<&'a Package> {
        let package = metadata.packages.iter().find(|package| package.id == self.package);
        package.context("what was built belongs to the workspace")
    }
}

/// Builds the tests of the workspace, all or those that the arguments name.
pub(super) fn build(root: &Path, arguments: &[&str]) -> Result<Vec<Program>> {
    let mut command = cargo(root);
    // The command is tested with the stores that it has only if it is asked for them.
    let all = [&["test", "--workspace", "--no-run", "--features", "pg-cli/postgres"], arguments].concat();
    command.args(&all);
    steps::say(&format!("    cargo {}", all.join(" ")));
    steps::where_the_step_prints(&mut command)?;
    let command = command.args(["--message-format", "json-render-diagnostics"]).stdout(Stdio::piped());
    let mut child = Held::spawn(command).context("cargo could not be started")?;
    let output = BufReader::new(child.stdout().context("cargo has no output")?);
    let mut programs = Vec::new();
    for message in Message::parse_stream(output) {
        if let Message::CompilerArtifact(artifact) = message.context("the output of cargo cannot be read")?
            && artifact.profile.test
            && let Some(path) = artifact.executable
        {
            let is_library = !artifact.target.kind.contains(&TargetKind::Test);
            programs.push(Program { package: artifact.package_id, name: artifact.target.name, is_library, path });
        }
    }
    if !child.wait().context("cargo cannot be waited for")?.success() {
        bail!("it does not build");
    }
    Ok(programs)
}

/// One step for each program, the longest first.
pub(super) fn steps<'a>(programs: &'a [Program], metadata: &'a Metadata) -> Result<Vec<Step<'a>>> {
    let mut found = Vec::new();
    for program in programs {
        let package = program.package(metadata)?;
        let place = LONGEST.iter().position(|longest| *longest == (&package.name, &program.name));
        let title = format!("tests: {} of {}", program.name, package.name);
        found.push((place.unwrap_or(LONGEST.len()), title, program, package));
    }
    found.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let mut over = Vec::new();
    for &(_, _, program, package) in &found {
        let journeys = JOURNEYS.iter().filter(|(name, _)| *name == *package.name);
        for (store, (_, names)) in STORES.into_iter().flat_map(|store| journeys.clone().map(move |one| (store, one))) {
            let title = format!("tests: journeys of {} over {store}", program.name);
            over.push(Step::new(title, move || {
                if store == "postgres" && debian::is_missing(debian::POSTGRES) {
                    return Ok(Outcome::LeftOut("PostgreSQL is not installed".to_owned()));
                }
                reporting(command(program, package)?.args(*names).env("PG_TEST_STORE", store))
            }));
        }
    }
    let step = |(_, title, program, package)| Step::new(title, move || execute(program, package, &[]));
    Ok(found.into_iter().map(step).chain(over).collect())
}

/// The stores besides SQLite that journeys of the sandbox run over too.
const STORES: [&str; 2] = ["map", "postgres"];
/// The packages of these journeys, and those that are worth their time; docs/contributing.md says how to run all.
const JOURNEYS: [(&str, &[&str]); 2] = [
    ("pg-sandbox", &["sandbox::tests::"]),
    (
        "pg-sandbox-tests",
        &["session_and_tokens::", "hosted_checkout::operations", "control::lists", "control::requests", "accounts::"],
    ),
];

/// Runs it where Cargo would.
pub(super) fn execute(program: &Program, package: &Package, arguments: &[&str]) -> Result<Outcome> {
    reporting(command(program, package)?.args(arguments))
}

/// The variable with the file in which tests write why they skip something, a reason a line (`pg_support::left_out`).
const COLLECTED: &str = "PG_LEFT_OUT";

/// Runs tests; left out if they skip something.
fn reporting(command: &mut Command) -> Result<Outcome> {
    let collected = tempfile::NamedTempFile::new().context("no file for what tests leave out")?;
    steps::execute(command.env(COLLECTED, collected.path()))?;
    let reasons = fs::read_to_string(collected.path()).context("what tests left out cannot be read")?;
    Ok(match summed_up(&reasons) {
        None => Outcome::Done,
        Some(why) => Outcome::LeftOut(why),
    })
}

/// Each reason once, with the number of tests that have it.
fn summed_up(reasons: &str) -> Option<String> {
    let mut counted = BTreeMap::new();
    for reason in reasons.lines() {
        *counted.entry(reason).or_insert(0) += 1;
    }
    let told: Vec<String> = counted
        .into_iter()
        .map(|(reason, times)| if times == 1 { reason.to_owned() } else { format!("{reason} ({times} times)") })
        .collect();
    (!told.is_empty()).then(|| format!("all but: {}", told.join("; ")))
}

fn command(program: &Program, package: &Package) -> Result<Command> {
    let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
    let mut command = Command::new(&program.path);
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    if let Some(path) = PATH.as_ref() {
        command.env("PATH", path);
    }
    Ok(command)
}

/// The search path of the tests, if it is another one.
static PATH: LazyLock<Option<OsString>> =
    LazyLock::new(|| std::env::var_os("PATH").and_then(|path| behind_launcher(&path)));

/// Returns the search path with Python's own folder first, if `python3` is a script that looks for Python, as of pyenv. It takes longer than
/// Python itself, and tests start Python hundreds of times.
fn behind_launcher(path: &OsStr) -> Option<OsString> {
    let found = std::env::split_paths(path).map(|folder| folder.join("python3")).find(|file| file.is_file())?;
    let mut begin = [0; 2];
    fs::File::open(&found).and_then(|mut file| file.read_exact(&mut begin)).ok()?;
    if begin != *b"#!" {
        return None;
    }
    let said = Command::new(&found).args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let python = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    let folder = python.parent().filter(|folder| folder.join("python3").is_file())?;
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(path))).ok()
}

#[cfg(test)]
mod tests {
    use cargo_metadata::TargetKind;

    use std::process::Command;

    use super::{LONGEST, Outcome, reporting};
    use crate::workspace;

    #[test]
    fn tests_that_skip_something_are_left_out() {
        let ended = |script: &str| match reporting(Command::new("sh").args(["-c", script])) {
            Ok(Outcome::Done) => "done".to_owned(),
            Ok(Outcome::LeftOut(why)) => why,
            Err(error) => error.to_string(),
        };
        assert_eq!(ended(":"), "done");
        let script = r#"for why in "no disk" "no network" "no disk"; do echo "$why" >>"$PG_LEFT_OUT"; done"#;
        assert_eq!(ended(script), "all but: no disk (2 times); no network");
        assert!(ended(&format!("{script}; exit 3")).contains("exit status: 3"));
    }

    #[test]
    fn the_longest_exist() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        let mut targets = workspace::targets(&metadata, &TargetKind::Test);
        targets.extend(workspace::targets(&metadata, &TargetKind::Bin));
        for (package, target) in LONGEST {
            assert!(targets.contains(&(package.to_owned(), target.to_owned())), "{package} {target}");
        }
    }
}
