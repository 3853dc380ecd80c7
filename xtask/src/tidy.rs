//! `cargo xtask tidy`: the promises of the architecture that the compiler does not keep.

mod circles;
mod direction;
mod exceptions;
mod figures;
mod files;
mod invented;
mod links;
mod manifests;
mod names;
mod purity;
mod unsafety;
mod untested;
mod words;

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// A broken promise, shown as one line: where, what, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    place: String,
    what: String,
    remedy: String,
}

impl Violation {
    fn new(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.what, self.remedy)
    }
}

/// A text file of the project: its path from the root, with `/` between the parts, and its text.
struct Source {
    path: String,
    text: String,
}

/// Runs every check and prints every violation; any violation is an error.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = workspace::metadata(root)?;
    let sources = read_sources(root)?;

    let members = direction::members(&metadata);
    let mut violations = direction::check(&members);
    violations.extend(direction::check_page(&members, &sources));
    for core in purity::CORES {
        if metadata.packages.iter().any(|package| package.name == *core) {
            violations.extend(purity::check(core, &purity::tree(root, core)?)?);
        }
    }
    violations.extend(manifests::check(&sources)?);
    violations.extend(files::check(&sources));
    violations.extend(links::check(&sources));
    violations.extend(figures::check(&sources));
    violations.extend(unsafety::check(&sources)?);
    violations.extend(exceptions::check(&sources));
    violations.extend(untested::check(&sources)?);
    violations.extend(invented::check(&sources)?);
    violations.extend(names::check(&sources));
    violations.extend(circles::check(&sources)?);
    violations.extend(words::check(&sources));

    for violation in &violations {
        println!("{violation}");
    }
    if !violations.is_empty() {
        bail!("tidy: {} violation(s)", violations.len());
    }
    println!("tidy: {} crates and {} files checked, nothing to complain about", metadata.packages.len(), sources.len());
    Ok(())
}

fn read_sources(root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in workspace::files(root)? {
        let bytes = std::fs::read(root.join(&path)).with_context(|| format!("{} cannot be read", path.display()))?;
        // Files that are not UTF-8 are binary, and not checked.
        if let Ok(text) = String::from_utf8(bytes) {
            sources.push(Source { path: path.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(sources)
}

#[cfg(test)]
fn source(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}
