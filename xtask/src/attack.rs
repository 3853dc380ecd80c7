//! `cargo xtask attack`: the program of `tests/src/bin/attack`, against the command.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::{steps, workspace};

/// Builds the command and the program that attacks it, and runs the attacks.
pub(crate) fn run(root: &Path, release: bool, only: Option<&str>, connections: Option<u32>) -> Result<()> {
    let cargo = || {
        let mut command = workspace::cargo(root);
        command.args(["build", "--quiet"]).args(release.then_some("--release"));
        command
    };
    steps::execute(cargo().args(["-p", "pg-cli", "--bin", "pg"]))?;
    steps::execute(cargo().args(["-p", "pg-tests", "--bin", "attack"]))?;
    let target = workspace::metadata(root)?.target_directory.into_std_path_buf();
    let built = target.join(if release { "release" } else { "debug" });
    // Thousands of connections are thousands of open files.
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "ulimit -n $(ulimit -Hn) && exec \"$0\" \"$@\""])
        .arg(built.join("attack"))
        .arg(built.join("pg"));
    if let Some(only) = only {
        command.args(["--only", only]);
    }
    if let Some(connections) = connections {
        command.args(["--connections", &connections.to_string()]);
    }
    steps::execute(&mut command).map(drop)
}
