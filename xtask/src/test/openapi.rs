//! The OpenAPI document, and each example in it, checked by an independent validator.
//!
//! It is Python's `openapi-spec-validator`, kept in a virtual environment under the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::steps::{self, Outcome};

const VALIDATOR: &str = "openapi-spec-validator";
const VERSION: &str = "0.9.0";
/// Compares the examples with their schemas.
const EXAMPLES: &str = "tests/openapi/examples.py";

/// Validates `docs/reference/openapi.yaml`; skipped if the validator cannot be installed.
pub(super) fn validate(root: &Path, target_directory: &Path) -> Result<Outcome> {
    let document = root.join("docs/reference/openapi.yaml");
    if !document.is_file() {
        bail!("docs/reference/openapi.yaml does not exist; run `cargo xtask codegen`");
    }
    let program = match validator(&target_directory.join("openapi-validator")) {
        Ok(program) => program,
        Err(why) => return Ok(Outcome::LeftOut(why)),
    };
    steps::execute(
        Command::new(&program)
            .args(["--schema", "3.1", "--validation-errors", "all", "docs/reference/openapi.yaml"])
            .current_dir(root),
    )?;
    steps::execute(
        Command::new(program.with_file_name("python"))
            .args([EXAMPLES, "docs/reference/openapi.yaml"])
            .current_dir(root),
    )
}

/// The validator's program, installed on first use.
fn validator(environment: &Path) -> Result<PathBuf, String> {
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let program = programs.join(VALIDATOR);
    if is_version(&program) {
        return Ok(program);
    }
    let python = ["python3", "python"]
        .into_iter()
        .find(|python| steps::succeeds(Command::new(python).arg("--version")))
        .ok_or("python3 was not found")?;
    attempt(Command::new(python).args(["-m", "venv", "--clear"]).arg(environment))
        .map_err(|why| format!("python3 could not make a virtual environment (Debian: python3-venv): {why}"))?;
    attempt(Command::new(programs.join("pip")).args(["install", "--quiet", &format!("{VALIDATOR}=={VERSION}")]))
        .map_err(|why| format!("pip could not install {VALIDATOR} {VERSION}: {why}"))?;
    if is_version(&program) {
        Ok(program)
    } else {
        Err(format!("{VALIDATOR} was installed but does not answer with version {VERSION}"))
    }
}

fn is_version(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| {
        output.status.success() && String::from_utf8_lossy(&output.stdout).trim_end().ends_with(VERSION)
    })
}

/// Runs a command quietly; on failure returns the last line of its output.
fn attempt(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said =
        String::from_utf8_lossy(if output.stderr.is_empty() { &output.stdout } else { &output.stderr }).into_owned();
    Err(said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given").trim().to_owned())
}
