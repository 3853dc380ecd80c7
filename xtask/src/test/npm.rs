//! Programs from npm that tests need, with fixed versions, each set in its own folder below the target folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::steps::{self, Outcome};

/// What is installed.
pub(super) struct Set {
    /// The folder with its `package.json` and `package-lock.json`.
    pub(super) package: &'static str,
    /// Where it goes, below the target folder.
    pub(super) folder: &'static str,
    /// A file of it; one in `.bin/` is a program that answers `--version`.
    pub(super) file: &'static str,
    /// The tests that are skipped without it.
    pub(super) otherwise: &'static str,
}

/// The mock server that `docs/reference/openapi.yaml` is tried with.
pub(super) const MOCK_SERVER: Set = Set {
    package: "tests/openapi",
    folder: "openapi-mock",
    file: ".bin/prism",
    otherwise: "docs/reference/openapi.yaml is not tried with a mock server",
};

/// What the decoder for JavaScript is bundled, run and typed with.
pub(super) const BUNDLERS: Set = Set {
    package: "crates/pg-wasm/test/bundlers",
    folder: "bundlers",
    file: ".bin/esbuild",
    otherwise: "the decoder for JavaScript is not bundled, nor judged by TypeScript",
};

/// The rules of accessibility that pages are tested with.
pub(super) const AXE: Set =
    Set { package: "tests/axe", folder: "axe", file: "axe-core/axe.min.js", otherwise: "no page is tested with axe" };

const FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs a set on first use and when its versions change; left out where there is no Node, or no registry.
pub(super) fn install(root: &Path, target_directory: &Path, set: &Set) -> Result<Outcome> {
    let Set { package, otherwise, .. } = set;
    let folder = target_directory.join(set.folder);
    let file = folder.join("node_modules").join(set.file);
    let works = || match set.file.starts_with(".bin/") {
        true => steps::succeeds(Command::new(&file).arg("--version")),
        false => file.is_file(),
    };
    let same = |file: &&str| fs::read(root.join(package).join(file)).ok() == fs::read(folder.join(file)).ok();
    if FILES.iter().all(same) && works() {
        return Ok(Outcome::Done);
    }
    if !steps::succeeds(Command::new("npm").arg("--version")) {
        return Ok(Outcome::LeftOut(format!("npm was not found, so {otherwise}")));
    }
    fs::create_dir_all(&folder)?;
    for file in FILES {
        fs::copy(root.join(package).join(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    let mut npm = Command::new("npm");
    // Not `ci`, which requires locked versions for other platforms too, although they are not installed.
    npm.args(["install", "--no-save", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder);
    if steps::succeeds(&mut npm) && works() {
        return Ok(Outcome::Done);
    }
    Ok(Outcome::LeftOut(format!("npm could not install what {package}/package.json names, so {otherwise}")))
}
