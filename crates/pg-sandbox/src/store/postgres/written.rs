//! The writes of a transaction, until they are sent with the commit.

use std::{borrow::Cow, collections::BTreeMap};

use super::{
    super::{INDEX_COLUMNS, Kind, Row, seal::Sealer},
    table::{Batch, Table},
};

/// A row to write.
pub(super) struct Held {
    pub(super) merchant: String,
    pub(super) index: [Option<String>; INDEX_COLUMNS],
    pub(super) body: String,
}

impl Held {
    fn row<'a>(&'a self, key: &'a str) -> Row<'a> {
        let index = self.index.each_ref().map(|value| value.as_deref().map(Cow::Borrowed));
        Row { key, merchant: &self.merchant, index, body: &self.body }
    }
}

/// Kinds of records of which no process keeps a copy between two groups.
const QUIET: [&str; 8] = [
    "authentications",
    "card_tokens",
    "checkout_tokens",
    "checkout_visits",
    "failed_attempts",
    "text_messages",
    "transactions",
    "unique_references",
];

/// Whether no process keeps a copy of a record. In the table `meta`, these are the requests of the last minute and the
/// notes of CV2s.
pub(super) fn is_quiet(kind: &Kind, key: &str) -> bool {
    QUIET.contains(&kind.table) || (kind.table == "meta" && (key.starts_with("throttle:") || key.starts_with("cv2:")))
}

pub(super) fn batches(table: &Table, sealer: &mut Sealer, rows: &BTreeMap<String, Option<Held>>) -> Vec<Batch> {
    let written = rows.iter().filter_map(|(key, held)| Some(held.as_ref()?.row(key)));
    let put = table.put(sealer, written);
    let gone = rows.iter().filter(|(_, held)| held.is_none()).map(|(key, _)| &**key);
    let removed = table.remove(sealer, gone);
    put.into_iter().chain(removed).collect()
}
