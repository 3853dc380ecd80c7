//! `cargo xtask wasm`: the decoder for JavaScript front-end tiers as a package in `target/pg-wasm/`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};

use crate::{steps, targets, workspace};

/// The target that it is compiled for.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
const COMPILED: &str = "pg_wasm.wasm";

/// Placeholders in the package's files, and their values: facts that are stated once elsewhere.
const VERSION: &str = "\"version\": \"0.0.0\"";
const INLINED: &str = "PG_WASM_BASE64";

/// What the package takes along from the root.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// The maximum size of the compiled module, in bytes of gzip: 24 KB, and one day 20.
const BUDGET: usize = 24_000;
const MOONSHOT: usize = 20_000;
/// The page that states the budget and the sizes.
const PAGE: &str = "docs/internals/decoder-size.md";

/// The compact implementations of the ciphers; the stack that the JavaScript wipes after each call, and its size: the
/// deepest nesting that is read takes a third of it.
const FLAGS: [&str; 6] = [
    "--cfg",
    "aes_backend_soft=\"compact\"",
    "--cfg",
    "sha2_backend_soft=\"compact\"",
    "-Clink-arg=--export=__stack_pointer",
    "-Clink-arg=-zstack-size=131072",
];

/// Builds the package, prints its sizes and fails above the budget. Gives the folder that it wrote.
pub(crate) fn run(root: &Path) -> Result<PathBuf> {
    let metadata = workspace::metadata(root)?;
    let target_directory = metadata.target_directory.as_std_path();
    let version = metadata.packages.iter().find(|package| package.name == "pg-wasm").context("no crate pg-wasm")?;

    targets::install(TARGET).map_err(anyhow::Error::msg)?;
    compile(root)?;
    let package = target_directory.join("pg-wasm");
    write(root, target_directory, &package, &version.version.to_string())?;
    measure(root, &package)?;
    Ok(package)
}

fn compile(root: &Path) -> Result<()> {
    // With the crate type here and not in the manifest: a crate that is also a library gets no link-time optimisation.
    let arguments = ["--lib", "--crate-type", "cdylib", "--profile", "wasm", "--target", TARGET];
    let mut cargo = workspace::cargo(root);
    cargo.args(["rustc", "-p", "pg-wasm"]).args(arguments);
    steps::execute(cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f")).env_remove("RUSTFLAGS")).map(drop)
}

/// Recreates the folder without files of an earlier build.
fn write(root: &Path, target_directory: &Path, package: &Path, version: &str) -> Result<()> {
    if package.exists() {
        fs::remove_dir_all(package)?;
    }
    fs::create_dir_all(package)?;
    let compiled = fs::read(target_directory.join(TARGET).join("wasm").join(COMPILED))?;
    let inlined = BASE64_STANDARD.encode(&compiled);
    for entry in fs::read_dir(root.join("crates/pg-wasm/package"))? {
        let file = entry?.path();
        let name = file.file_name().context("a file has a name")?;
        let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
        let text = text.replace(VERSION, &format!("\"version\": \"{version}\"")).replace(INLINED, &inlined);
        fs::write(package.join(name), text)?;
    }
    fs::write(package.join(COMPILED), compiled)?;
    for licence in LICENCES {
        fs::copy(root.join(licence), package.join(licence))?;
    }
    Ok(())
}

fn measure(root: &Path, package: &Path) -> Result<()> {
    let mut files: Vec<PathBuf> = fs::read_dir(package)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    steps::say(&format!("{} holds, in bytes raw and gzipped:", package.display()));
    for file in &files {
        let bytes = fs::read(file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        steps::say(&format!("  {name:17} {:>7} {:>7}", bytes.len(), gzipped(&bytes)?));
    }
    let size = gzipped(&fs::read(package.join(COMPILED))?)?;
    steps::say(&format!("{COMPILED}: {size} of at most {BUDGET} bytes gzipped; hoped for: {MOONSHOT}"));
    if size > BUDGET {
        bail!("{COMPILED} is over its budget");
    }
    let page = fs::read_to_string(root.join(PAGE))?;
    let stated = stated(&page).with_context(|| format!("{PAGE} states no size"))?;
    // Compilers differ a little.
    if stated.abs_diff(size) > size / 50 {
        bail!("{PAGE} states {stated} bytes in its last row; add a row with {size}");
    }
    Ok(())
}

/// Returns the last size in the page's table of sizes, which is that of today.
fn stated(page: &str) -> Option<usize> {
    let section = page.split("\n## Sizes\n").nth(1)?.split("\n## ").next()?;
    let row = section.lines().rfind(|line| line.starts_with('|'))?;
    row.rsplit('|').nth(1)?.trim().replace(',', "").parse().ok()
}

fn gzipped(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_states_the_budget_and_a_size_within_it() {
        let page = fs::read_to_string(workspace::root().unwrap().join(PAGE)).unwrap();
        let budget = format!("larger than {},000 bytes gzipped", BUDGET / 1000);
        assert!(page.replace('\n', " ").contains(&budget), "{budget}");
        assert!((1..=BUDGET).contains(&stated(&page).unwrap()));
        assert_eq!(
            stated("\n## Sizes\n\n| step | size |\n|---|---|\n| a | 2 |\n| b | 1,234 |\n\n## Next\n| c | 5 |\n"),
            Some(1_234)
        );
    }
}
