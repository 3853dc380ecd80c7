//! Builds of the cores for machines without an operating system.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::{
    steps::{self, Outcome, Step},
    workspace::cargo,
};

const TARGETS: [&str; 2] = ["wasm32-unknown-unknown", "thumbv7em-none-eabihf"];

/// The crates that promise `no_std`, and the examples of their use, with what must be switched off for it.
const CORES: [(&str, &[&str]); 4] =
    [("pg-crypto", &[]), ("pg-model", &["--no-default-features"]), ("decode-text", &[]), ("decode-record", &[])];

/// One step for each core on each target.
pub(crate) fn steps(root: &Path) -> Vec<Step<'_>> {
    let build = move |(core, flags): (&'static str, &'static [&'static str]), target: &'static str| {
        Step::new(format!("{core} for {target}"), move || {
            if let Err(why) = install(target) {
                return Ok(Outcome::LeftOut(why));
            }
            steps::execute(cargo(root).args(["build", "-p", core, "--lib", "--target", target]).args(flags))
        })
    };
    CORES.into_iter().flat_map(|core| TARGETS.into_iter().map(move |target| build(core, target))).collect()
}

/// Makes sure that the toolchain in use has the target's standard library; never fetches a toolchain.
pub(crate) fn install(target: &str) -> Result<(), String> {
    if installed(target) {
        return Ok(());
    }
    steps::say(&format!("    rustup target add {target}"));
    let added = Command::new("rustup").args(["target", "add", target]).env("RUSTUP_AUTO_INSTALL", "0").status();
    match added {
        Ok(status) if status.success() && installed(target) => Ok(()),
        Ok(_) => Err(format!("`rustup target add {target}` failed")),
        Err(_) => Err(format!("the target {target} is not installed and rustup was not found")),
    }
}

/// Asks the compiler, not rustup, so that a distribution's own Rust counts too.
fn installed(target: &str) -> bool {
    has_library(&mut Command::new("rustc"), Some(target))
}

/// Whether a compiler has the standard library of a target, or else of this machine.
pub(crate) fn has_library(compiler: &mut Command, target: Option<&str>) -> bool {
    compiler.args(["--print", "target-libdir"]).args(target.map(|target| ["--target", target]).iter().flatten());
    compiler.output().is_ok_and(|output| {
        output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
    })
}
