//! Tests the decoder for JavaScript front-end tiers, on its hosts and in its users' code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{npm, targets};
use crate::steps::{self, Outcome};
use crate::wasm;

const TESTS: &str = "crates/pg-wasm/test";

/// Builds the package; skipped if the target cannot be installed.
pub(super) fn build(root: &Path) -> Result<Outcome> {
    match targets::install(wasm::TARGET) {
        Ok(()) => wasm::run(root).map(|_| Outcome::Done),
        Err(why) => Ok(Outcome::LeftOut(why)),
    }
}

/// Its own tests, by Node's runner.
pub(super) fn in_node(root: &Path, target_directory: &Path) -> Result<Outcome> {
    run(root, target_directory, TESTS)
}

/// Every bundler and host of the table in its documentation, and a program of its user judged by TypeScript.
pub(super) fn bundled(root: &Path, target_directory: &Path) -> Result<Outcome> {
    match npm::install(root, target_directory, &npm::BUNDLERS)? {
        Outcome::Done => run(root, target_directory, npm::BUNDLERS.package),
        left_out @ Outcome::LeftOut(_) => Ok(left_out),
    }
}

/// Runs the tests of a folder.
fn run(root: &Path, target_directory: &Path, folder: &str) -> Result<Outcome> {
    if !steps::succeeds(Command::new("node").arg("--version")) {
        return Ok(Outcome::LeftOut("node was not found".to_owned()));
    }
    let package = target_directory.join("pg-wasm");
    if !package.is_dir() {
        return Ok(Outcome::LeftOut("the package was not built".to_owned()));
    }
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter", "spec"]).current_dir(root);
    // By name, since versions of Node treat a folder differently.
    let folder = root.join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.to_string_lossy().ends_with(".test.js"));
    files.sort();
    let names = files.iter().filter_map(|file| file.strip_prefix(root).ok());
    let bundlers = target_directory.join(npm::BUNDLERS.folder);
    steps::execute(node.args(names).env("PG_WASM_PACKAGE", package).env("PG_WASM_BUNDLERS", bundlers))
}
