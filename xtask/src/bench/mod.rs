//! `cargo xtask bench`: runs the benchmarks and writes down what they found.

mod builds;
mod measurement;
mod report;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cargo_metadata::TargetKind;

use crate::workspace;
use measurement::Measurements;

/// The file that the command writes, whole.
const REPORT: &str = "docs/performance.md";

/// Tells the benchmarks to make few rounds: enough to see that they run, not to believe their figures.
const QUICK: &str = "PG_BENCH_QUICK";

/// Runs the benchmarks, all or those of some packages, one after the other; two at once would disturb each other.
pub(crate) fn run(root: &Path, quick: bool, packages: &[String]) -> Result<()> {
    let mut targets = workspace::targets(&workspace::metadata(root)?, &TargetKind::Bench);
    targets.retain(|(package, _)| packages.is_empty() || packages.contains(package));
    if targets.is_empty() {
        bail!("there is no [[bench]] target to run");
    }
    let total = targets.len();
    let mut measurements = Measurements::default();
    let mut broken = Vec::new();
    for (index, (package, bench)) in targets.iter().enumerate() {
        println!("\n==> bench ({}/{total}) {bench} of {package}", index + 1);
        if let Err(error) = measure(root, package, bench, quick, &mut measurements) {
            println!("failed: {error:#}");
            broken.push(format!("{package}/{bench}"));
        }
    }
    println!("\n==> summary");
    print!("{}", report::table(&measurements));
    println!("{}", report::verdict(&measurements));
    if !broken.is_empty() {
        bail!("these benchmarks did not run: {}", broken.join(", "));
    }
    if quick || !packages.is_empty() {
        println!("{REPORT} is left as it was: it holds only complete runs of all benchmarks");
        return Ok(());
    }
    // Measured by a command of its own.
    let before = std::fs::read_to_string(root.join(REPORT)).unwrap_or_default();
    let page = report::page(&measurements, &report::Machine::this()?, builds::kept(&before));
    std::fs::write(root.join(REPORT), page).with_context(|| format!("{REPORT} cannot be written"))?;
    println!("{REPORT} written");
    Ok(())
}

/// Measures what builds cost.
pub(crate) fn builds(root: &Path) -> Result<()> {
    builds::run(root)
}

/// Runs one benchmark, shows what it prints, and keeps its measurements.
fn measure(root: &Path, package: &str, bench: &str, quick: bool, measurements: &mut Measurements) -> Result<()> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["bench", "--quiet", "-p", package, "--all-features", "--bench", bench])
        .current_dir(root)
        .stdout(Stdio::piped());
    if quick {
        command.env(QUICK, "1");
    }
    let mut child = command.spawn().context("cargo bench could not be started")?;
    let stdout = child.stdout.take().context("cargo bench has no output")?;
    let before = measurements.ratios.len();
    let mut malformed = None;
    for line in BufReader::new(stdout).lines() {
        let line = line.context("the output of cargo bench cannot be read")?;
        println!("{line}");
        // Reading goes on after a bad line: a closed pipe would kill the benchmark.
        if let Err(error) = measurements.read(package, &line) {
            malformed.get_or_insert(error);
        }
    }
    let status = child.wait().context("cargo bench cannot be waited for")?;
    if let Some(error) = malformed {
        return Err(error);
    }
    if !status.success() {
        bail!("cargo bench ended with {status}");
    }
    if measurements.ratios.len() == before {
        bail!("it printed no `ratio` line");
    }
    Ok(())
}
