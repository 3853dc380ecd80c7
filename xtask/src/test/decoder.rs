//! The decoder for JavaScript front-end tiers, where it will run and as its users write it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::targets;
use crate::steps::{self, Outcome};
use crate::wasm;

const TESTS: &str = "crates/pg-wasm/test";
const TYPESCRIPT: &str = "5.9.3";

/// Builds the package; left out where the target cannot be had.
pub(super) fn build(root: &Path) -> Result<Outcome> {
    match targets::install(wasm::TARGET) {
        Ok(()) => wasm::run(root).map(|_| Outcome::Done),
        Err(why) => Ok(Outcome::LeftOut(why)),
    }
}

/// Its own tests, by Node's runner.
pub(super) fn in_node(root: &Path, target_directory: &Path) -> Result<Outcome> {
    if !steps::succeeds(Command::new("node").arg("--version")) {
        return Ok(Outcome::LeftOut("node was not found".to_owned()));
    }
    let package = target_directory.join("pg-wasm");
    if !package.is_dir() {
        return Ok(Outcome::LeftOut("the package was not built".to_owned()));
    }
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter", "spec"]).current_dir(root);
    // By name, since versions of Node disagree about what a folder means.
    let folder = root.join(TESTS);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.to_string_lossy().ends_with(".test.js"));
    files.sort();
    let names = files.iter().filter_map(|file| file.strip_prefix(root).ok());
    steps::execute(node.args(names).env("PG_WASM_PACKAGE", package))
}

/// A program of its user, judged by TypeScript; left out where that cannot be had.
pub(super) fn by_typescript(root: &Path, target_directory: &Path) -> Result<Outcome> {
    let folder = target_directory.join("typescript");
    let compiler = folder.join("node_modules/typescript/bin/tsc");
    if !is_version(&compiler) {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix"]).arg(&folder);
        if !steps::succeeds(npm.arg(format!("typescript@{TYPESCRIPT}"))) || !is_version(&compiler) {
            return Ok(Outcome::LeftOut(format!("npm could not install typescript {TYPESCRIPT}")));
        }
    }
    steps::execute(Command::new("node").arg(compiler).args(["--project", TESTS]).current_dir(root))
}

fn is_version(compiler: &Path) -> bool {
    let output = Command::new("node").arg(compiler).arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim_end().ends_with(TYPESCRIPT))
}
