//! The oldest compiler that the published crates promise, and Cargo of that version.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{steps, workspace};

/// Cargo of a version, and the folder for what it builds: two compilers would discard each other's results in one.
pub(crate) fn cargo(root: &Path, target_directory: &Path, version: &str) -> (Command, PathBuf) {
    let mut command = Command::new("rustup");
    workspace::without_us(command.current_dir(root)).env_remove("RUSTC").env_remove("CARGO");
    command.args(["run", version, "cargo"]);
    (command, target_directory.join("oldest").join(version))
}

/// Makes sure that the compiler is installed, with the standard library of a target besides that of this machine.
pub(crate) fn install(version: &str, target: Option<&str>) -> Result<(), String> {
    let of_target = target.map_or(Vec::new(), |target| vec!["--target", target]);
    let there = || {
        let mut libraries = Command::new("rustup");
        libraries.args(["run", version, "rustc", "--print", "target-libdir"]).args(&of_target);
        let output = libraries.env("RUSTUP_AUTO_INSTALL", "0").output().ok().filter(|output| output.status.success());
        output.is_some_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
    };
    if there() {
        return Ok(());
    }
    let arguments =
        [&["toolchain", "install", version, "--profile", "minimal", "--no-self-update"], of_target.as_slice()].concat();
    steps::say(&format!("    rustup {}", arguments.join(" ")));
    match Command::new("rustup").args(&arguments).status() {
        Ok(status) if status.success() && there() => Ok(()),
        Ok(_) => Err(format!("`rustup {}` failed", arguments.join(" "))),
        Err(_) => Err(format!("Rust {version} is not installed and rustup was not found")),
    }
}
