//! Runs the Rust commands of the decoder's guide.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::targets;
use crate::steps::{self, Outcome};

const PAGE: &str = "docs/guide/front-end.md";
const TARGET: &str = "thumbv7em-none-eabihf";

/// Types it in a folder beside a clone, for a target that has no standard library: a dependency that brings one fails.
pub(super) fn typed(root: &Path, target_directory: &Path) -> Result<Outcome> {
    if let Err(why) = targets::install(TARGET) {
        return Ok(Outcome::LeftOut(why));
    }
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("{PAGE} cannot be read"))?;
    let lines = commands(&page);
    if lines.len() < 9 {
        bail!("{PAGE} has only {} commands for Rust", lines.len());
    }
    // Not below the workspace, to which Cargo would reckon it.
    let beside = tempfile::tempdir()?;
    let mut folder = beside.path().to_path_buf();
    for line in lines {
        let words: Vec<String> = line.split_whitespace().map(|word| in_clone(word, root)).collect();
        let (program, arguments) = words.split_first().context("a command has a program")?;
        match (program.as_str(), arguments) {
            ("cd", [name]) => folder.push(name),
            ("cp", [from, to]) => drop(fs::copy(from, folder.join(to)).with_context(|| line.to_owned())?),
            ("cargo", arguments) => {
                let mut cargo = super::cargo(&folder);
                // The crates of the workspace's lock file suffice, and a registry may be unreachable.
                cargo.args(arguments).env("CARGO_NET_OFFLINE", "true");
                // With the workspace's settings, so that its built artifacts are used.
                cargo.env("CARGO_TARGET_DIR", target_directory).env("CARGO_PROFILE_DEV_DEBUG", "false");
                cargo.env("CARGO_PROFILE_DEV_LTO", "off").env("CARGO_PROFILE_DEV_BUILD_OVERRIDE_CODEGEN_UNITS", "256");
                steps::execute(&mut cargo)?;
            }
            _ => bail!("{PAGE}: `{line}` is none of cargo, cd, cp"),
        }
    }
    Ok(Outcome::Done)
}

/// The clone is called `pg` there.
fn in_clone(word: &str, root: &Path) -> String {
    word.strip_prefix("../pg/").map_or_else(|| word.to_owned(), |path| root.join(path).display().to_string())
}

/// The lines to type below the heading "Rust".
fn commands(page: &str) -> Vec<&str> {
    let rest = page.split_once("\n## Rust\n").map_or("", |(_, rest)| rest);
    let section = rest.split_once("\n## ").map_or(rest, |(section, _)| section);
    section.lines().filter_map(|line| line.strip_prefix("$ ")).collect()
}
