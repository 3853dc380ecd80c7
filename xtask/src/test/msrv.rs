//! Builds of the published libraries with the oldest compiler that they promise.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package};

use crate::package;
use crate::steps::{self, Outcome, Step};
use crate::workspace;

/// These build SQLite, which takes longer than all the others together, so they are checked on CI only.
const SLOW: [&str; 2] = ["pg-sandbox", "pg-cli"];

/// All published crates at once, so that shared dependencies are compiled once.
pub(super) fn step<'a>(root: &'a Path, metadata: &'a Metadata) -> Step<'a> {
    Step::new("the published crates with the oldest Rust that they promise", move || {
        let published = package::published(metadata);
        let version = promised(&published)?;
        if let Err(why) = install(&version) {
            return Ok(Outcome::LeftOut(why));
        }
        let names: Vec<&str> = published.iter().map(|package| package.name.as_str()).collect();
        if workspace::on_ci() {
            return check(root, metadata, &version, &names);
        }
        let quick: Vec<&str> = names.into_iter().filter(|name| !SLOW.contains(name)).collect();
        check(root, metadata, &version, &quick)?;
        Ok(Outcome::LeftOut(format!("{} compile SQLite again for that, so CI checks them", SLOW.join(" and "))))
    })
}

/// The version of the compiler that every published crate states.
fn promised(published: &[&Package]) -> Result<String> {
    let mut promised = None;
    for package in published {
        let version =
            package.rust_version.as_ref().with_context(|| format!("{} states no rust-version", package.name))?;
        let version = format!("{}.{}", version.major, version.minor);
        match &promised {
            None => promised = Some((version, &package.name)),
            Some((other, _)) if *other == version => {}
            Some((other, name)) => {
                bail!("{} promises Rust {version} and {name} {other}: state one version", package.name)
            }
        }
    }
    Ok(promised.context("no crate is published")?.0)
}

/// Checks the crates as others build them: without tests, with all features, with the versions of the lock file.
fn check(root: &Path, metadata: &Metadata, version: &str, names: &[&str]) -> Result<Outcome> {
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
    fn the_published_crates_promise_one_compiler() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        let published = package::published(&metadata);
        promised(&published).unwrap();
        for slow in SLOW {
            assert!(published.iter().any(|package| package.name == slow), "{slow} is not published");
        }
        // Only crates of this workspace have the workspace's own version, which is newer.
        let unpublished = metadata.packages.iter().find(|package| package.name == "xtask").unwrap();
        let error = promised(&[published[0], unpublished]).unwrap_err().to_string();
        assert!(error.contains("xtask promises Rust") && error.ends_with("state one version"), "{error}");
    }
}
