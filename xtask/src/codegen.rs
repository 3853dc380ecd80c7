//! `cargo xtask codegen`: everything that follows from the tables.
//!
//! `tables` reads and checks them; `rust`, `reference`, `openapi`, `assumptions` and `coverage` each turn them into
//! files; this module writes the files, or compares them.

mod assumptions;
mod check;
mod coverage;
mod dialect;
pub(crate) mod dictionaries;
mod examples;
mod formats;
pub(crate) mod method;
mod names;
mod node;
mod openapi;
mod place;
mod reading;
mod reference;
mod rust;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod walks;
pub(crate) mod watch;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

pub(crate) use self::reference::anchor;
use self::{place::Problems, tables::Tables};
use crate::workspace;

/// Where the tables are.
const TABLES: &str = "crates/pg-model/tables";
/// The folder of the generated Rust, without other files.
const RUST: &str = "crates/pg-model/src/generated";
/// The folder of the generated Rust of the sandbox, without other files.
const SANDBOX: &str = "crates/pg-sandbox/src/generated";
/// The folder of the generated pages. Other commands write pages there too.
const REFERENCE: &str = "docs/reference";

/// Generated files by their path below the root.
type Files = BTreeMap<PathBuf, String>;

/// Writes, or with `check` compares, every generated file.
///
/// # Errors
/// When a table is wrong (every mistake, with file and row), when a file can't be written, or with `check` when a
/// file is missing, stale or left over.
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<()> {
    if check {
        let files = generate(&root.join(TABLES), root)?;
        let stale = stale(root, &files)?;
        if stale.is_empty() {
            println!("{} generated files are up to date", files.len());
            return Ok(());
        }
        let list: Vec<String> = stale.iter().map(|path| format!("  {}", path.display())).collect();
        bail!("stale, run `cargo xtask codegen`:\n{}", list.join("\n"));
    }
    let (count, changed) = write(root)?;
    changed.iter().for_each(|path| println!("{}", path.display()));
    println!("{count} generated files, {} changed", changed.len());
    Ok(())
}

/// Writes the files that differ. Returns the number of files, and those that changed.
fn write(root: &Path) -> anyhow::Result<(usize, Vec<PathBuf>)> {
    let files = generate(&root.join(TABLES), root)?;
    let stale = stale(root, &files)?;
    for path in &stale {
        match files.get(path) {
            Some(text) => workspace::write(root, path, text)?,
            None => {
                fs::remove_file(root.join(path)).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
    }
    Ok((files.len(), stale))
}

/// All generated files, formatted, from the tables of a folder.
///
/// # Errors
/// When a table is wrong (every mistake, with file, line and column) or `rustfmt` is missing.
fn generate(folder: &Path, root: &Path) -> anyhow::Result<Files> {
    let tables = checked(folder)?;
    let mut files = Files::new();
    for (name, text) in rust::generate(&tables) {
        files.insert(Path::new(RUST).join(name), text);
    }
    for (name, text) in rust::sandbox::generate(&tables) {
        files.insert(Path::new(SANDBOX).join(name), text);
    }
    format_rust(root, &mut files)?;
    files.insert(dialect::FILE.into(), dialect::generate(&tables));
    for (name, text) in reference::generate(&tables) {
        files.insert(Path::new(REFERENCE).join(name), text);
    }
    files.insert("docs/reference/openapi.yaml".into(), openapi::generate(&tables));
    files.insert("docs/reference/assumptions.md".into(), assumptions::register(&tables));
    files.insert("docs/reference/questions.md".into(), assumptions::questions(&tables));
    files.insert("docs/internals/coverage.md".into(), coverage::generate(root, &tables)?);
    Ok(files)
}

/// The tables of a folder, if they have no mistakes.
fn checked(folder: &Path) -> anyhow::Result<Tables> {
    let mut problems = Problems::default();
    let tables = tables::load(folder, &mut problems);
    if let Some(tables) = &tables {
        check::check(tables, &mut problems);
    }
    problems.into_result()?;
    tables.context("the tables cannot be read")
}

/// The paths that differ from what is on disk, are missing there, or should not be there.
fn stale(root: &Path, files: &Files) -> anyhow::Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    for (path, text) in files {
        let same = fs::read_to_string(root.join(path)).is_ok_and(|found| found == *text);
        if !same {
            stale.push(path.clone());
        }
    }
    for folder in [RUST, SANDBOX, REFERENCE] {
        for path in files_below(root, Path::new(folder))? {
            if !files.contains_key(&path) && (folder != REFERENCE || is_ours(&root.join(&path))) {
                stale.push(path);
            }
        }
    }
    Ok(stale)
}

/// True for a page whose first line says that this command wrote it.
fn is_ours(page: &Path) -> bool {
    fs::read_to_string(page)
        .is_ok_and(|text| text.lines().next().is_some_and(|line| line.contains("cargo xtask codegen")))
}

fn files_below(root: &Path, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return Ok(found) };
    for entry in entries {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            found.extend(files_below(root, &path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// Runs `rustfmt` over all Rust files at once, in a temporary folder.
fn format_rust(root: &Path, files: &mut Files) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    for (path, text) in files.iter() {
        workspace::write(folder.path(), path, text)?;
    }
    let output = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(root.join("rustfmt.toml"))
        // It follows the modules of the roots, which reaches every file.
        .arg(folder.path().join(RUST).join("mod.rs"))
        .arg(folder.path().join(SANDBOX).join("mod.rs"))
        .output()
        .context("cannot run rustfmt: install it with `rustup component add rustfmt`")?;
    if !output.status.success() {
        bail!("rustfmt refuses the generated code:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    for (path, text) in files {
        *text = fs::read_to_string(folder.path().join(path))?;
    }
    Ok(())
}
