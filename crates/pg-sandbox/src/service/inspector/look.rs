//! How a list of the inspector and its entries are shown.

use super::{
    Context, Html, Refusal,
    view::{Shown, Table},
};

/// How a list and its entries are shown.
pub(super) struct Look {
    /// The purpose of the list, and the actions on its page.
    pub(super) about: &'static str,
    /// The text of an empty list.
    pub(super) empty: &'static str,
    /// The name of one entry.
    pub(super) one: &'static str,
    /// The member that is an entry's key.
    pub(super) key: &'static str,
    /// The heads of the columns.
    pub(super) heads: &'static [&'static str],
    /// The cells of an entry; the first one leads to its page.
    pub(super) row: fn(&Context<'_>, Shown<'_>) -> Vec<Html>,
    /// The content of an entry's page.
    pub(super) entry: fn(&mut Context<'_>, Shown<'_>) -> Result<Html, Refusal>,
}

impl Look {
    /// Shows entries of the list as the rows of a table.
    pub(super) fn table(&self, context: &Context<'_>, entries: &[Shown<'_>]) -> Table {
        Table::new("Newest first", self.heads).rows(entries.iter().map(|entry| (self.row)(context, *entry)))
    }
}
