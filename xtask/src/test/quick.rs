//! `cargo xtask test --quick`: the tests of what was changed, and a few of what is built on it.
//!
//! Cargo builds with the features of the whole workspace, as for all tests, so that nothing is built twice.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cargo_metadata::camino::Utf8PathBuf;
use cargo_metadata::{Message, Metadata, Package, PackageId, TargetKind};

use super::cargo;
use crate::steps::{self, Step};
use crate::workspace;

/// Tests that go through many crates in little time, each run when a crate below it was changed.
const CHOSEN: [(&str, &str); 4] =
    [("pg-tests", "journey"), ("pg-tests", "in_process"), ("pg-tests", "vectors"), ("pg-sandbox", "rules")];

/// Whose change reaches tests that no dependency tells of.
const READERS: [(&str, &str); 4] = [
    ("crates/pg-model/tables/", "xtask"),
    ("docs/", "xtask"),
    ("tests/coverage/", "xtask"),
    ("tests/vectors/", "pg-crypto"),
];

/// A program of tests that was built.
struct Program {
    package: PackageId,
    name: String,
    is_library: bool,
    path: Utf8PathBuf,
}

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
    let wanted = |package: &str, test: &str| {
        changed.contains(package) || (affected.contains(package) && CHOSEN.contains(&(package, test)))
    };
    let programs = build(root, &metadata, &wanted)?;
    let mut all = Vec::new();
    for program in &programs {
        let package = metadata.packages.iter().find(|package| package.id == program.package);
        let package = package.context("what was built belongs to the workspace")?;
        let runs = if program.is_library {
            changed.contains(package.name.as_str())
        } else {
            wanted(&package.name, &program.name)
        };
        if runs {
            all.push(Step::new(format!("{} of {}", program.name, package.name), move || execute(program, package)));
        }
    }
    if all.is_empty() {
        bail!("no test was built for {}", listed(&changed));
    }
    steps::run(all, true)?;
    println!("only what was changed; before a merge: `cargo xtask test`");
    Ok(())
}

/// What differs from where this branch left `main`, and what is not committed.
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

/// The packages in whose folders the files are; all of them for a file that tells how to build.
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

/// Builds every library's own tests, which checks all that is built on a change, and the tests that are wanted.
fn build(root: &Path, metadata: &Metadata, wanted: &dyn Fn(&str, &str) -> bool) -> Result<Vec<Program>> {
    let mut command = cargo(root);
    command.args(["test", "--workspace", "--no-run", "--lib", "--bins", "--message-format", "json-render-diagnostics"]);
    for (package, test) in workspace::targets(metadata, &TargetKind::Test) {
        if wanted(&package, &test) {
            command.args(["--test", &test]);
        }
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cargo could not be started")?;
    let output = BufReader::new(child.stdout.take().context("cargo has no output")?);
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

/// Runs it where Cargo would.
fn execute(program: &Program, package: &Package) -> Result<steps::Outcome> {
    let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
    let mut command = Command::new(&program.path);
    command.arg("--quiet").current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    steps::execute(&mut command)
}

fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::{packages_of, with_dependents};
    use crate::workspace;

    fn changed(file: &str) -> Vec<String> {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        packages_of(&metadata, &[file.to_owned()]).into_iter().collect()
    }

    #[test]
    fn a_file_belongs_to_the_package_in_whose_folder_it_is() {
        assert_eq!(changed("crates/pg-sandbox/src/lib.rs"), ["pg-sandbox"]);
        assert_eq!(changed("tests/tests/journey.rs"), ["pg-tests"]);
        assert_eq!(changed("tests/simulation/src/lib.rs"), ["pg-simulation"]);
        assert_eq!(changed("crates/pg-model/tables/token.toml"), ["pg-model", "xtask"]);
        assert_eq!(changed("README.txt"), [""; 0]);
        assert!(changed("Cargo.lock").len() > 10);
    }

    #[test]
    fn what_is_built_on_a_change_is_affected() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        let affected = with_dependents(&metadata, &["pg-sandbox".to_owned()].into());
        for name in ["pg-sandbox", "pg-cli", "pg-tests", "pg-simulation"] {
            assert!(affected.contains(name), "{name}");
        }
        for name in ["pg-model", "pg-crypto", "xtask"] {
            assert!(!affected.contains(name), "{name}");
        }
    }
}
