//! The nightly compiler, only for the tools that need it.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::{steps, workspace};

/// The version that the workspace was fuzzed with; a newer one may want a newer compiler.
const CARGO_FUZZ: &str = "0.13.2";

/// Cargo of the nightly toolchain, in the workspace's folder.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    // The variables of the Cargo that runs us would point it at the stable compiler.
    workspace::without_us(command.current_dir(root))
        .arg("+nightly")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .env_remove("RUSTC");
    command
}

/// Installs the nightly toolchain and the components if they are missing, and reports it.
pub(crate) fn install(components: &[&str]) -> Result<()> {
    if !steps::succeeds(Command::new("rustup").args(["run", "nightly", "rustc", "--version"])) {
        println!("there is no nightly compiler here: installing it");
        steps::execute(Command::new("rustup").args(["toolchain", "install", "nightly", "--profile", "minimal"]))?;
    }
    let output =
        Command::new("rustup").args(["component", "list", "--installed", "--toolchain", "nightly"]).output()?;
    let installed = String::from_utf8_lossy(&output.stdout).into_owned();
    for component in components.iter().filter(|name| !installed.lines().any(|line| line.starts_with(**name))) {
        println!("the nightly compiler has no {component}: installing it");
        steps::execute(Command::new("rustup").args(["component", "add", "--toolchain", "nightly", component]))?;
    }
    Ok(())
}

/// Installs `cargo fuzz` if it is missing, and reports it.
pub(crate) fn install_fuzz() -> Result<()> {
    if steps::succeeds(Command::new("cargo").args(["fuzz", "--version"])) {
        return Ok(());
    }
    println!("there is no cargo-fuzz here: installing it");
    let install = ["install", "cargo-fuzz", "--locked", "--debug", "--version", CARGO_FUZZ];
    steps::execute(Command::new("cargo").args(install))?;
    if !steps::succeeds(Command::new("cargo").args(["fuzz", "--version"])) {
        bail!("cargo-fuzz was installed and does not answer: is Cargo's folder of programs in PATH?");
    }
    Ok(())
}
