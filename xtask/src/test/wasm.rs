//! Tests what is built for WebAssembly, in Node: the decoder for JavaScript front-end tiers, on its hosts and in its users'
//! code, and a whole charge.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{cargo, npm, targets};
use crate::steps::{self, Outcome};
use crate::wasm;

const TESTS: &str = "crates/pg-wasm/test";

/// Builds the package of the decoder; skipped if the target cannot be installed.
pub(super) fn build(root: &Path) -> Result<Outcome> {
    match targets::install(wasm::TARGET) {
        Ok(()) => wasm::run(root).map(|_| Outcome::Done),
        Err(why) => Ok(Outcome::LeftOut(why)),
    }
}

/// Runs the decoder's own tests with Node's runner.
pub(super) fn in_node(root: &Path, target_directory: &Path) -> Result<Outcome> {
    run(root, target_directory, TESTS)
}

/// Runs the decoder in every bundler and host of the table in its documentation, and has TypeScript judge a program that uses it.
pub(super) fn bundled(root: &Path, target_directory: &Path) -> Result<Outcome> {
    match npm::install(root, target_directory, &npm::BUNDLERS)? {
        Outcome::Done => run(root, target_directory, npm::BUNDLERS.package),
        left_out @ Outcome::LeftOut(_) => Ok(left_out),
    }
}

/// Runs the tests of a folder.
fn run(root: &Path, target_directory: &Path, folder: &str) -> Result<Outcome> {
    if let Some(left_out) = without_node() {
        return Ok(left_out);
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

/// Builds the module for bare wasm32, and has Node drive a whole charge in it against a sandbox: the command, which was built
/// beside the tests. Skipped without Node or if the target cannot be installed.
pub(super) fn charge(root: &Path, target_directory: &Path) -> Result<Outcome> {
    if let Some(left_out) = without_node() {
        return Ok(left_out);
    }
    if let Err(why) = targets::install(wasm::TARGET) {
        return Ok(Outcome::LeftOut(why));
    }
    // A type for this build alone: elsewhere it is a library like any other.
    let module = ["rustc", "-p", "pg-wasm-charge", "--lib", "--crate-type", "cdylib", "--target", wasm::TARGET];
    steps::execute(cargo(root).args(module))?;
    let program = format!("pg{}", std::env::consts::EXE_SUFFIX);
    let mut node = Command::new("node");
    node.arg("tests/wasm-charge/host.mjs").current_dir(root);
    node.arg(target_directory.join(wasm::TARGET).join("debug/pg_wasm_charge.wasm"));
    steps::execute(node.arg(target_directory.join("debug").join(program)))
}

/// Returns that a step is left out because there is no Node; `None` if there is one.
fn without_node() -> Option<Outcome> {
    let found = steps::succeeds(Command::new("node").arg("--version"));
    (!found).then(|| Outcome::LeftOut("node was not found".to_owned()))
}
