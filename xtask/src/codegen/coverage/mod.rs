//! `docs/internals/coverage.md`: everything that the documents say, with the test that shows it.
//!
//! The list itself is `tests/coverage/*.toml`, beside the tests that it names and not among the tables of `pg-model`,
//! which know nothing of tests. What stands in those tables is taken from there, so that no row of them can be left
//! out: a new parameter is in the list at once, a new method or code is missed until a test is named for it.
//!
//! Whether the named tests exist is asked by a test of this module, not by the generator: a test that is renamed
//! should fail a test and not stand in the way of whoever changes a table.

mod check;
#[cfg(test)]
mod citations;
mod entries;
mod list;
mod page;
#[cfg(test)]
mod test_names;
#[cfg(test)]
mod tests;

use std::path::Path;

pub(super) use self::list::FOLDER;
use self::list::List;
use super::{place::Problems, tables::Tables};

/// The page, from the list below the root.
///
/// # Errors
/// When the list names what is not there, or leaves out what is: every mistake, with file, line and column.
pub(super) fn generate(root: &Path, tables: &Tables) -> anyhow::Result<String> {
    let mut problems = Problems::default();
    let list = list::load(root, &mut problems);
    check::check(&list, tables, &mut problems);
    problems.into_result()?;
    Ok(page::page(&list, tables))
}

impl List {
    /// The statements that are rows of one table of a section.
    fn rows_of<'l>(&'l self, at: &'l str, table: &'l str) -> impl Iterator<Item = &'l list::Statement> {
        self.statements.iter().filter(move |statement| statement.at == at && statement.table.as_deref() == Some(table))
    }
}
