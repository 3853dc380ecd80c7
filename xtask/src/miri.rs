//! `cargo xtask miri`: the interpreter that sees undefined behaviour, over what it can run.

use std::path::Path;

use anyhow::Result;

use crate::nightly;
use crate::steps::{self, Run, Step};

/// What it runs. It knows no instructions of processors, so the ciphers are told to use their plain code; tests of
/// random cases run few of them, because it is some hundred times slower than a processor.
const RUNS: [(&str, &[&str]); 3] =
    [("pg-crypto", &["--lib"]), ("pg-model", &["--lib", "--test", "tolerance"]), ("pg-proto", &["--lib"])];

const FLAGS: &str = "--cfg aes_backend=\"soft\" --cfg sha2_backend=\"soft\"";

/// Tests that only repeat a loop so often that it takes hours here, and read no other code than others do.
const LONG: [&str; 1] = ["many_unknown_fields_are_read_in_time"];

/// Runs every package, or the one that is named.
pub(crate) fn run(root: &Path, package: Option<&str>) -> Result<()> {
    nightly::install(&["miri", "rust-src"])?;
    let chosen = RUNS.into_iter().filter(|(name, _)| package.is_none_or(|wanted| wanted == *name));
    let steps =
        chosen.map(|(name, targets)| Step::new(format!("{name} under Miri"), move || test(root, name, targets)));
    let mut run = Run::new(true);
    run.one_by_one(steps.collect());
    run.end()
}

fn test(root: &Path, package: &str, targets: &[&str]) -> Result<steps::Outcome> {
    let mut command = nightly::cargo(root);
    command
        .args(["miri", "test", "-p", package])
        .args(targets)
        .args(["--target-dir", "target/miri", "--", "--test-threads", "1"])
        .args(LONG.iter().flat_map(|name| ["--skip", name]))
        .env("RUSTFLAGS", FLAGS)
        .env("PROPTEST_CASES", "4")
        // Tests read their vectors from files.
        .env("MIRIFLAGS", "-Zmiri-disable-isolation");
    steps::execute(&mut command)
}
