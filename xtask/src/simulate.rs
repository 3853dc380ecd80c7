//! `cargo xtask simulate`: the program of `tests/simulation`, built with optimisation.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::steps::{self, Outcome};
use crate::workspace;

/// So many worlds are part of every test of everything.
const SEEDS_OF_A_TEST: u64 = 10_000;

/// So many worlds of fleets.
const FLEETS_OF_A_TEST: u64 = 40;

/// Runs it with these flags.
pub(crate) fn run(root: &Path, seeds: Option<u64>, seed: Option<u64>, planted: bool, fleets: bool) -> Result<()> {
    let mut command = program(root);
    if fleets {
        command.arg("--fleets");
    }
    for (flag, number) in [("--seeds", seeds), ("--seed", seed)] {
        if let Some(number) = number {
            command.args([flag, &number.to_string()]);
        }
    }
    if planted {
        command.arg("--planted");
    }
    steps::execute(&mut command).map(drop)
}

/// The step of `cargo xtask test`: with the program that was built beside the tests, and checks its sums.
pub(crate) fn test(target_directory: &Path) -> Result<Outcome> {
    let program = target_directory.join("debug").join(format!("pg-simulation{}", std::env::consts::EXE_SUFFIX));
    steps::execute(Command::new(&program).args(["--fleets", "--seeds", &FLEETS_OF_A_TEST.to_string()]))?;
    steps::execute(Command::new(program).args(["--seeds", &SEEDS_OF_A_TEST.to_string()]))
}

fn program(root: &Path) -> Command {
    let mut command = workspace::cargo(root);
    command.args(["run", "--quiet", "--release", "-p", "pg-simulation", "--"]);
    command
}
