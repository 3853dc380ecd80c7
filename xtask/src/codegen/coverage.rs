//! `docs/internals/coverage.md`: all facts of the documents, with the tests that show them.
//!
//! A test names its facts in a comment above it, `// spec: 2 §4.4, A92: a sentence` (`docs/contributing.md` has the
//! forms). `tests/coverage/contents.toml` lists the sections of the documents and how many rows their tables have. What
//! is in the tables of `pg-model` is taken from there, so that no row of them can be left out: a new parameter is in
//! the list at once, a new method or code is missed until a test cites it.

mod check;
#[cfg(test)]
mod citations;
mod comments;
mod entries;
mod list;
mod page;
#[cfg(test)]
mod tests;

use std::path::Path;

pub(super) use self::list::FOLDER;
use super::{place::Problems, tables::Tables};

/// The page, from the list below the root.
///
/// # Errors
/// When a comment cites what does not exist, or when something is cited by no test: every mistake, with its place.
pub(super) fn generate(root: &Path, tables: &Tables) -> anyhow::Result<String> {
    let mut problems = Problems::default();
    let list = list::load(root, &mut problems);
    check::check(&list, tables, &mut problems);
    problems.into_result()?;
    Ok(page::page(&list, tables))
}
