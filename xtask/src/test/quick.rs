//! `cargo xtask test --quick`: the tests of the changed crates, and a few of their dependents.
//!
//! Cargo builds with the features of the whole workspace, as for all tests, so that no crate is built twice.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package, Target, TargetKind};

use super::suite::{self, Program};
use crate::steps::{Run, Step};
use crate::workspace;

/// Fast tests of many crates, run if one of these crates was changed: package, program, and a part of their names.
const CHOSEN: [(&str, &str, &[&str]); 2] = [
    ("pg-tests", "all", &["journey::", "in_process::", "vectors::"]),
    ("pg-sandbox-tests", "all_of_sandbox", &["rules::"]),
];

/// Tests that take far longer than all others: package, program, and a part of their names, which is empty for the
/// whole program.
const LONG: [(&str, &str, &str, Skipped); 4] = [
    ("pg-tests", "browser", "", Skipped::UnlessAlone),
    ("pg-simulation", "all_of_simulation", "planted::", Skipped::UnlessAlone),
    ("pg-cli", "all_of_cli", "independent::", Skipped::UnlessAlone),
    // Tests of tests: wrong models that are shrunk until they are short take as long as all other tests of the sandbox.
    ("pg-sandbox-tests", "all_of_sandbox", "::a_wrong_", Skipped::Always),
];

/// When only the whole run runs the long tests.
#[derive(Clone, Copy, PartialEq)]
enum Skipped {
    Always,
    /// Unless their package is the only one that was changed.
    UnlessAlone,
}

/// What is never run here, whatever was changed.
const NEVER: &str = "tests that wrong models of the sandbox are noticed; examples, also those in the documentation; ten thousand worlds of the simulation; the builds for bare metal \
                     and wasm; everything in Node; docs/reference/openapi.yaml in validators and mock servers";

/// Folders whose files are tested in another package too: its tests run as if it was changed.
const READERS: [(&str, &str); 5] = [
    ("crates/pg-sandbox/", "pg-sandbox-tests"),
    ("crates/pg-model/tables/", "xtask"),
    ("docs/", "xtask"),
    ("tests/coverage/", "xtask"),
    ("tests/vectors/", "pg-crypto"),
];

pub(super) fn run(root: &Path) -> Result<()> {
    let metadata = workspace::metadata(root)?;
    let files = changed_files(root)?;
    let changed = packages_of(&metadata, &files);
    if changed.is_empty() {
        println!("nothing was changed that a test of a crate could see");
        return Ok(());
    }
    let affected = with_dependents(&metadata, &changed);
    println!("changed: {}", listed(&changed));
    println!("built on it: {}", listed(affected.difference(&changed)));
    let programs = build(root, &metadata, &changed, &affected)?;
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for program in &programs {
        let package = program.package(&metadata)?;
        let what = format!("{} of {}", program.name, package.name);
        let Some(arguments) = arguments(program, &package.name, &changed) else {
            left_out.extend(affected.contains(&*package.name).then_some(what));
            continue;
        };
        let title = format!("{what} {}", arguments.join(" ")).trim_end().to_owned();
        let arguments = [&["--quiet"], &arguments[..]].concat();
        all.push(Step::new(title, move || suite::execute(program, package, &arguments)));
    }
    if all.is_empty() {
        bail!("no test was built for {}", listed(&changed));
    }
    left_out.extend(not_built(&metadata, &affected, &programs)?);
    let mut run = Run::new(workspace::on_ci());
    run.together(all, super::at_once());
    run.end()?;
    println!("left out, of what the change may reach: {}", listed(&left_out));
    println!("left out always: {NEVER}");
    println!("so before a merge: `cargo xtask test`");
    Ok(())
}

/// Programs of tests that the change may reach and that were not even built.
fn not_built(metadata: &Metadata, affected: &BTreeSet<String>, programs: &[Program]) -> Result<Vec<String>> {
    let built = |(package, test): &(String, String)| -> Result<bool> {
        for program in programs.iter().filter(|program| program.name == *test && !program.is_library) {
            if *program.package(metadata)?.name == **package {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let mut missing = Vec::new();
    for target in workspace::targets(metadata, &TargetKind::Test) {
        if affected.contains(&target.0) && !built(&target)? {
            missing.push(format!("{} of {}", target.1, target.0));
        }
    }
    Ok(missing)
}

/// Files that differ from the merge base with `main`, and uncommitted files.
fn changed_files(root: &Path) -> Result<Vec<String>> {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).current_dir(root).output().context("git could not be started")?;
        if !output.status.success() {
            bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let base = git(&["merge-base", "HEAD", "main"]).or_else(|_| git(&["rev-parse", "HEAD"]))?;
    let base = base.first().context("git knows no commit")?;
    let mut files = git(&["diff", "--name-only", base])?;
    files.extend(git(&["ls-files", "--others", "--exclude-standard"])?);
    Ok(files)
}

/// The packages of the files; all packages for a file that configures the build.
fn packages_of(metadata: &Metadata, files: &[String]) -> BTreeSet<String> {
    let folder = |package: &Package| {
        let folder =
            package.manifest_path.parent().and_then(|folder| folder.strip_prefix(&metadata.workspace_root).ok());
        folder.map(|folder| format!("{folder}/")).unwrap_or_default()
    };
    let mut found = BTreeSet::new();
    for file in files {
        if ["Cargo.toml", "Cargo.lock", ".cargo/config.toml"].contains(&file.as_str()) {
            return metadata.packages.iter().map(|package| package.name.to_string()).collect();
        }
        // A package may lie in the folder of another, and a file belongs to the inner one.
        let owners = metadata.packages.iter().filter(|package| file.starts_with(&folder(package)));
        found.extend(owners.max_by_key(|package| folder(package).len()).map(|package| package.name.to_string()));
        found.extend(READERS.iter().filter(|(folder, _)| file.starts_with(folder)).map(|(_, name)| (*name).to_owned()));
    }
    found
}

/// The packages and all that are built on them.
fn with_dependents(metadata: &Metadata, changed: &BTreeSet<String>) -> BTreeSet<String> {
    let mut affected = changed.clone();
    loop {
        let built_on = metadata.packages.iter().filter(|package| {
            package
                .dependencies
                .iter()
                .any(|dependency| dependency.path.is_some() && affected.contains(&dependency.name))
        });
        let more: Vec<String> =
            built_on.map(|package| package.name.to_string()).filter(|name| !affected.contains(name)).collect();
        if more.is_empty() {
            return affected;
        }
        affected.extend(more);
    }
}

/// Builds the tests of changed packages, the libraries and commands with tests that depend on them, and the chosen tests.
fn build(
    root: &Path,
    metadata: &Metadata,
    changed: &BTreeSet<String>,
    affected: &BTreeSet<String>,
) -> Result<Vec<Program>> {
    let targets = workspace::targets(metadata, &TargetKind::Test);
    let wanted = |(package, test): &(String, String)| {
        let chosen = CHOSEN.iter().any(|(one, program, _)| one == package && program == test);
        (changed.contains(package) && long(package, test, changed) != Some(""))
            || (affected.contains(package) && chosen)
    };
    let mut tests: Vec<&str> = targets.iter().filter(|target| wanted(target)).map(|(_, test)| test.as_str()).collect();
    tests.sort_unstable();
    tests.dedup();
    let commands = metadata.packages.iter().filter(|package| affected.contains(&*package.name));
    let is_tested = |target: &&Target| target.is_bin() && target.test && target.required_features.is_empty();
    let commands = commands.flat_map(|package| package.targets.iter().filter(is_tested));
    let mut arguments = vec!["--lib"];
    arguments.extend(commands.flat_map(|command| ["--bin", command.name.as_str()]));
    arguments.extend(tests.iter().flat_map(|test| ["--test", test]));
    suite::build(root, &arguments)
}

/// The long tests of a program that only the whole run runs, by parts of their names.
fn long(package: &str, test: &str, changed: &BTreeSet<String>) -> Option<&'static str> {
    let found = LONG.iter().find(|(one, program, ..)| *one == package && *program == test);
    found.filter(|(.., skipped)| *skipped == Skipped::Always || changed.len() > 1).map(|(_, _, tests, _)| *tests)
}

/// The arguments of a program; `None` if it is only built.
fn arguments(program: &Program, package: &str, changed: &BTreeSet<String>) -> Option<Vec<&'static str>> {
    if changed.contains(package) {
        return match long(package, &program.name, changed) {
            None => Some(Vec::new()),
            Some("") => None,
            Some(tests) => Some(vec!["--skip", tests]),
        };
    }
    let chosen = |(one, test, _): &&(&str, &str, &[&str])| *one == package && *test == program.name;
    let chosen = CHOSEN.iter().find(chosen).filter(|_| !program.is_library);
    chosen.map(|(_, _, names)| names.to_vec())
}

fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use cargo_metadata::TargetKind;

    use super::{CHOSEN, LONG, packages_of, with_dependents};
    use crate::workspace;

    #[test]
    fn the_programs_that_are_named_exist() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        let targets = workspace::targets(&metadata, &TargetKind::Test);
        let chosen = CHOSEN.iter().map(|(package, test, _)| (*package, *test));
        for (package, test) in chosen.chain(LONG.iter().map(|(package, test, ..)| (*package, *test))) {
            assert!(targets.contains(&(package.to_owned(), test.to_owned())), "{package} {test}");
        }
    }

    fn changed(file: &str) -> Vec<String> {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        packages_of(&metadata, &[file.to_owned()]).into_iter().collect()
    }

    #[test]
    fn a_file_belongs_to_the_package_in_whose_folder_it_is() {
        assert_eq!(changed("crates/pg-survey/src/lib.rs"), ["pg-survey"]);
        assert_eq!(changed("crates/pg-sandbox/src/lib.rs"), ["pg-sandbox", "pg-sandbox-tests"]);
        assert_eq!(changed("tests/tests/journey.rs"), ["pg-tests"]);
        assert_eq!(changed("tests/simulation/src/lib.rs"), ["pg-simulation"]);
        assert_eq!(changed("crates/pg-model/tables/token.toml"), ["pg-model", "xtask"]);
        assert_eq!(changed("README.txt"), [""; 0]);
        assert!(changed("Cargo.lock").len() > 10);
    }

    #[test]
    fn crates_that_depend_on_a_changed_one_are_affected() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        let affected = with_dependents(&metadata, &["pg-sandbox".to_owned()].into());
        for name in ["pg-sandbox", "pg-sandbox-tests", "pg-cli", "pg-tests", "pg-simulation"] {
            assert!(affected.contains(name), "{name}");
        }
        for name in ["pg-model", "pg-crypto", "xtask"] {
            assert!(!affected.contains(name), "{name}");
        }
    }
}
