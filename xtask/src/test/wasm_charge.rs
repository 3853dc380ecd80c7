//! A whole charge in a module for bare wasm32, driven by Node against a sandbox.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{cargo, targets};
use crate::steps::{self, Outcome};
use crate::wasm::TARGET;

/// Builds the module, and has the host bring it together with the command, which was built beside the tests; left out where Node or the target is not to
/// be had.
pub(super) fn run(root: &Path, target_directory: &Path) -> Result<Outcome> {
    if !steps::succeeds(Command::new("node").arg("--version")) {
        return Ok(Outcome::LeftOut("node was not found".to_owned()));
    }
    if let Err(why) = targets::install(TARGET) {
        return Ok(Outcome::LeftOut(why));
    }
    // A type for this build alone: elsewhere it is a library like any other.
    let module = ["rustc", "-p", "pg-wasm-charge", "--lib", "--crate-type", "cdylib", "--target", TARGET];
    steps::execute(cargo(root).args(module))?;
    let program = format!("pg{}", std::env::consts::EXE_SUFFIX);
    let mut node = Command::new("node");
    node.arg("tests/wasm-charge/host.mjs").current_dir(root);
    node.arg(target_directory.join(TARGET).join("debug/pg_wasm_charge.wasm"));
    steps::execute(node.arg(target_directory.join("debug").join(program)))
}
