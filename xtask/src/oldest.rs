//! The oldest compiler that the published crates promise, and Cargo of that version.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{steps, targets, workspace};

/// Cargo of a version, and the folder for what it builds: two compilers would discard each other's results in one.
pub(crate) fn cargo(root: &Path, target_directory: &Path, version: &str) -> (Command, PathBuf) {
    let mut command = Command::new("rustup");
    workspace::without_us(command.current_dir(root)).env_remove("RUSTC").env_remove("CARGO");
    command.args(["run", version, "cargo"]);
    (command, target_directory.join("oldest").join(version))
}

/// Makes sure that the compiler is installed, with the standard library of a target besides that of this machine.
pub(crate) fn install(version: &str, target: Option<&str>) -> Result<(), String> {
    let there = || {
        let mut compiler = Command::new("rustup");
        compiler.args(["run", version, "rustc"]).env("RUSTUP_AUTO_INSTALL", "0");
        targets::has_library(&mut compiler, target)
    };
    if there() {
        return Ok(());
    }
    let mut arguments = vec!["toolchain", "install", version, "--profile", "minimal", "--no-self-update"];
    arguments.extend(target.iter().flat_map(|target| ["--target", target]));
    steps::say(&format!("    rustup {}", arguments.join(" ")));
    match Command::new("rustup").args(&arguments).status() {
        Ok(status) if status.success() && there() => Ok(()),
        Ok(_) => Err(format!("`rustup {}` failed", arguments.join(" "))),
        Err(_) => Err(format!("Rust {version} is not installed and rustup was not found")),
    }
}
