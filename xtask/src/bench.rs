//! `cargo xtask bench`: runs the benchmarks and writes their results.

mod builds;
mod costs;
mod growth;
mod left;
mod line;
mod measurement;
mod report;
mod svg;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cargo_metadata::TargetKind;

use crate::held::Held;
use crate::steps;
use crate::workspace;
use left::Left;
use measurement::Measurements;

/// The file that the command writes, whole.
const REPORT: &str = "docs/internals/performance.md";
/// The folder of its charts.
const CHARTS: &str = "docs/internals/growth";

/// Tells the benchmarks to make few rounds: enough to see that they run, not to believe their figures.
const QUICK: &str = "PG_BENCH_QUICK";

/// The benchmarks to run.
pub(crate) struct Choice {
    /// Few rounds.
    pub(crate) quick: bool,
    /// Continues an interrupted run.
    pub(crate) resume: bool,
    /// These packages only; without any, all.
    pub(crate) packages: Vec<String>,
}

/// Runs the benchmarks, all or those of some packages, one after the other; two at once would disturb each other.
#[expect(clippy::disallowed_methods, reason = "the command prints how long it took")]
pub(crate) fn run(root: &Path, choice: &Choice) -> Result<()> {
    let start = Instant::now();
    let mut targets = workspace::targets(&workspace::metadata(root)?, &TargetKind::Bench);
    targets.retain(|(package, _)| choice.packages.is_empty() || choice.packages.contains(package));
    if targets.is_empty() {
        bail!("there is no [[bench]] target to run");
    }
    let whole = !choice.quick && choice.packages.is_empty();
    let left = Left::new(root);
    if whole && !choice.resume {
        left.forget()?;
    }
    let total = targets.len();
    let mut measurements = Measurements::default();
    let mut broken = Vec::new();
    build(root, &targets)?;
    println!("built in {}", told(start.elapsed()));
    for (index, (package, bench)) in targets.iter().enumerate() {
        println!("\n==> bench ({}/{total}) {bench} of {package}, {} so far", index + 1, told(start.elapsed()));
        let known = if choice.resume { left.of(package, bench)? } else { None };
        let outcome = match known {
            Some(lines) => {
                println!("left by an interrupted run");
                lines.iter().try_for_each(|line| measurements.read(package, line))
            }
            None => measure(root, package, bench, choice.quick).and_then(|lines| {
                let before = measurements.len();
                lines.iter().try_for_each(|line| measurements.read(package, line))?;
                if measurements.len() == before {
                    bail!("it reported no measurement");
                }
                if whole { left.keep(package, bench, &lines) } else { Ok(()) }
            }),
        };
        if let Err(error) = outcome {
            println!("failed: {error:#}");
            broken.push(format!("{package}/{bench}"));
        }
    }
    summarise(&measurements);
    println!("{} in all", told(start.elapsed()));
    if !broken.is_empty() {
        bail!("these benchmarks did not run: {}; `--resume` runs them again, and no other", broken.join(", "));
    }
    if !whole {
        println!("{REPORT} is unchanged: it contains only complete runs of all benchmarks");
        return Ok(());
    }
    write(root, &measurements)?;
    left.forget()
}

fn summarise(measurements: &Measurements) {
    println!("\n==> summary");
    print!("{}", report::table(measurements));
    if !measurements.costs.is_empty() {
        print!("\n{}", report::cost_table(measurements));
    }
    if !measurements.charts.is_empty() {
        print!("\n{}", report::growth_table(measurements));
    }
    println!("\n{}", report::verdict(measurements));
}

/// Writes the report and its charts.
fn write(root: &Path, measurements: &Measurements) -> Result<()> {
    // Measured by a separate command.
    let before = std::fs::read_to_string(root.join(REPORT)).unwrap_or_default();
    let page = report::page(measurements, &report::Machine::this()?, builds::kept(&before));
    std::fs::write(root.join(REPORT), page).with_context(|| format!("{REPORT} cannot be written"))?;
    let folder = root.join(CHARTS);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("{CHARTS} cannot be removed"))?;
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("{CHARTS} cannot be made"))?;
    for chart in measurements.charts.iter().filter(|chart| !chart.points.is_empty()) {
        std::fs::write(folder.join(chart.file()), svg::draw(chart))
            .with_context(|| format!("{CHARTS} cannot be written"))?;
    }
    println!("{REPORT} and {CHARTS} written");
    Ok(())
}

fn told(time: Duration) -> String {
    format!("{} min {:02} s", time.as_secs() / 60, time.as_secs() % 60)
}

/// Measures what builds cost.
pub(crate) fn builds(root: &Path) -> Result<()> {
    builds::run(root)
}

/// Measures what hostile input costs, and nothing else.
pub(crate) fn hostile(root: &Path) -> Result<()> {
    costs::run(root)
}

fn cargo(root: &Path, package: &str, bench: &str) -> Command {
    let mut cargo = workspace::cargo(root);
    cargo.args(["bench", "--quiet", "-p", package, "--all-features", "--bench", bench]);
    cargo
}

/// Builds all benchmarks first, so that errors show early, and no compiler runs during measurements.
fn build(root: &Path, targets: &[(String, String)]) -> Result<()> {
    for (index, (package, bench)) in targets.iter().enumerate() {
        println!("==> build ({}/{}) {bench} of {package}", index + 1, targets.len());
        steps::execute(cargo(root, package, bench).arg("--no-run"))?;
    }
    Ok(())
}

/// Runs one benchmark, shows what it prints, and gives that back.
fn measure(root: &Path, package: &str, bench: &str, quick: bool) -> Result<Vec<String>> {
    let mut command = cargo(root, package, bench);
    command.stdout(Stdio::piped());
    if quick {
        command.env(QUICK, "1");
    }
    let mut child = Held::spawn(&mut command).context("cargo bench could not be started")?;
    let stdout = child.stdout().context("cargo bench has no output")?;
    let mut lines = Vec::new();
    for line in BufReader::new(stdout).lines() {
        let line = line.context("the output of cargo bench cannot be read")?;
        println!("{line}");
        lines.push(line);
    }
    let status = child.wait().context("cargo bench cannot be waited for")?;
    if !status.success() {
        bail!("cargo bench ended with {status}");
    }
    Ok(lines)
}
