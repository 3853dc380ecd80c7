//! Builds of the published libraries, each with its oldest compiler.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use cargo_metadata::{Metadata, Package};

use crate::package;
use crate::steps::{self, Outcome, Step};
use crate::workspace;

/// These build SQLite, which takes longer than all the others together, so it is for CI.
const SLOW: [&str; 2] = ["pg-sandbox", "pg-cli"];

/// One step for each compiler that some published crate names.
pub(super) fn steps<'a>(root: &'a Path, metadata: &'a Metadata) -> Vec<Step<'a>> {
    let step = |(version, names): (String, Vec<String>)| {
        Step::new(format!("{} with Rust {version}, the oldest that they promise", names.join(", ")), move || {
            if names.iter().any(|name| SLOW.contains(&name.as_str())) && !workspace::on_ci() {
                return Ok(Outcome::LeftOut("SQLite is built again for that, so it is for CI".to_owned()));
            }
            match install(&version) {
                Ok(()) => check(root, metadata, &version, &names),
                Err(why) => Ok(Outcome::LeftOut(why)),
            }
        })
    };
    by_version(package::published(metadata)).into_iter().map(step).collect()
}

/// The names of the crates that promise the same compiler.
fn by_version(packages: Vec<&Package>) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        if let Some(version) = &package.rust_version {
            let version = format!("{}.{}", version.major, version.minor);
            found.entry(version).or_default().push(package.name.to_string());
        }
    }
    found
}

/// Checks the crates as others build them: without tests, with all features, with the versions of the lock file.
fn check(root: &Path, metadata: &Metadata, version: &str, names: &[String]) -> Result<Outcome> {
    let mut command = Command::new("rustup");
    workspace::without_us(command.current_dir(root)).env_remove("RUSTC").env_remove("CARGO");
    command.args(["run", version, "cargo", "check", "--locked", "--all-features"]);
    // The C code of SQLite and ring is built for this as well, and never run.
    command.env("CFLAGS", "-O0");
    // A separate folder, since two compilers would discard each other's results.
    command.arg("--target-dir").arg(metadata.target_directory.join("oldest").join(version));
    steps::execute(command.args(names.iter().flat_map(|name| ["-p", name])))
}

/// Makes sure that the compiler is installed.
fn install(version: &str) -> Result<(), String> {
    let there = || steps::succeeds(Command::new("rustup").args(["run", version, "rustc", "--version"]));
    if there() {
        return Ok(());
    }
    steps::say(&format!("    rustup toolchain install {version} --profile minimal"));
    let added = Command::new("rustup")
        .args(["toolchain", "install", version, "--profile", "minimal", "--no-self-update"])
        .status();
    match added {
        Ok(status) if status.success() && there() => Ok(()),
        Ok(_) => Err(format!("`rustup toolchain install {version}` failed")),
        Err(_) => Err(format!("Rust {version} is not installed and rustup was not found")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_crate_is_built_with_the_compiler_that_it_promises() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        let published = package::published(&metadata);
        let found = by_version(published.clone());
        assert_eq!(found.values().map(Vec::len).sum::<usize>(), published.len());
        // What most users build on stays with compilers of a year ago.
        let (_, oldest) = found.first_key_value().unwrap();
        for name in ["pg-model", "pg-crypto", "pg-proto", "pg-hyper"] {
            assert!(oldest.iter().any(|one| one == name), "{name} needs a newer compiler than other crates");
        }
        assert!(oldest.iter().all(|name| !SLOW.contains(&name.as_str())), "{oldest:?}");
    }
}
