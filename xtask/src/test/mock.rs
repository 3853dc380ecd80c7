//! The mock server that `docs/openapi.yaml` is tried with, installed below the target folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::steps::{self, Outcome};

/// What is installed, every version of it fixed.
const PACKAGE: &str = "tests/openapi";
const FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs it on first use and when its versions change; left out where there is no Node, or no registry.
pub(super) fn install(root: &Path, target_directory: &Path) -> Result<Outcome> {
    let folder = target_directory.join("openapi-mock");
    let program = folder.join("node_modules/.bin/prism");
    let same = |file: &&str| fs::read(root.join(PACKAGE).join(file)).ok() == fs::read(folder.join(file)).ok();
    if FILES.iter().all(same) && steps::succeeds(Command::new(&program).arg("--version")) {
        return Ok(Outcome::Done);
    }
    let otherwise = "docs/openapi.yaml is not tried with a mock server";
    if !steps::succeeds(Command::new("npm").arg("--version")) {
        return Ok(Outcome::LeftOut(format!("npm was not found, so {otherwise}")));
    }
    fs::create_dir_all(&folder)?;
    for file in FILES {
        fs::copy(root.join(PACKAGE).join(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(&folder);
    if steps::succeeds(&mut npm) && steps::succeeds(Command::new(&program).arg("--version")) {
        return Ok(Outcome::Done);
    }
    Ok(Outcome::LeftOut(format!("npm could not install what {PACKAGE}/package.json names, so {otherwise}")))
}
