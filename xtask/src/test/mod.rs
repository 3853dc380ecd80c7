//! `cargo xtask test`: everything that can be run, in numbered steps.

pub(crate) mod debian;
mod decoder;
mod examples;
mod npm;
mod openapi;
mod page;
mod quick;
pub(crate) mod targets;
mod wasm_charge;

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::simulate;
use crate::steps::{self, Outcome, Step};
use crate::workspace;

/// Builds all programs with one set of features; every step after it uses these and builds none again.
const BUILD: &str = "everything that is tested, built once";

/// Runs every step, or those with some words in their titles, and ends with a summary; on CI nothing may be left out.
pub(crate) fn run(root: &Path, only: Option<&str>, quick: bool) -> Result<()> {
    if quick {
        return quick::run(root);
    }
    let metadata = workspace::metadata(root)?;
    let mut all = vec![
        Step::new("independent tools that the vectors are checked with", independent_tools),
        Step::new("a browser for the tests of pages", || {
            debian::install("no page is tested in a browser", debian::BROWSER)
        }),
        Step::new("Node for the tests of the decoder for JavaScript", || {
            debian::install("nothing is tested in Node", debian::NODE)
        }),
        // Before the tests of the workspace: some show the package to a browser.
        Step::new("the decoder for JavaScript, within its budget", || decoder::build(root)),
        Step::new("a mock server for the tests of docs/openapi.yaml", || {
            npm::install(root, metadata.target_directory.as_std_path(), &npm::MOCK_SERVER)
        }),
        Step::new("axe for the tests of pages", || {
            npm::install(root, metadata.target_directory.as_std_path(), &npm::AXE)
        }),
        Step::new(BUILD, || steps::execute(cargo(root).args(["test", "--workspace", "--no-run"]))),
        Step::new("unit, integration and doc tests of the workspace", || {
            steps::execute(cargo(root).args(["test", "--workspace", "--no-fail-fast"]))
        }),
    ];
    all.push(Step::new("the decoder for JavaScript in Node", || {
        decoder::in_node(root, metadata.target_directory.as_std_path())
    }));
    all.push(Step::new(
        "the decoder for JavaScript in every bundler and host of its documentation, and by TypeScript",
        || decoder::bundled(root, metadata.target_directory.as_std_path()),
    ));
    all.push(Step::new("a charge on bare wasm32, driven by Node", || {
        wasm_charge::run(root, metadata.target_directory.as_std_path())
    }));
    all.extend(examples::steps(root, &metadata));
    all.push(Step::new("ten thousand worlds of the simulation", || simulate::test(root)));
    all.extend(targets::steps(root));
    all.push(Step::new("what docs/front-end-decoder.md tells users of Rust to type", || {
        page::typed(root, metadata.target_directory.as_std_path())
    }));
    all.push(Step::new("docs/openapi.yaml and its examples against an OpenAPI validator", || {
        openapi::validate(root, metadata.target_directory.as_std_path())
    }));
    all.retain(|step| only.is_none_or(|words| step.title() == BUILD || step.title().contains(words)));
    if all.len() == 1 {
        bail!("no step has \"{}\" in its title", only.unwrap_or_default());
    }
    steps::run(all, workspace::on_ci())
}

/// The Cargo that runs us, in the workspace's folder.
fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// The vector tests re-run their generator only where these exist; here the lack of one is told.
fn independent_tools() -> Result<Outcome> {
    let missing: Vec<&str> = [("python3", "--version"), ("openssl", "version")]
        .into_iter()
        .filter(|(tool, version)| !steps::succeeds(Command::new(tool).arg(version)))
        .map(|(tool, _)| tool)
        .collect();
    if missing.is_empty() {
        return Ok(Outcome::Done);
    }
    Ok(Outcome::LeftOut(format!("{} not found, so the vectors are used but not made anew", missing.join(" and "))))
}
