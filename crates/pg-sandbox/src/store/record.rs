//! Typed records, and queries for them.

use std::borrow::Cow;

use serde::{Serialize, de::DeserializeOwned};

use super::Index;

/// A kind of record: its table and the index columns that queries may name.
#[derive(Debug)]
pub struct Kind {
    /// The table.
    pub table: &'static str,
    /// The index columns, at most [`super::INDEX_COLUMNS`], in the order of [`Row::index`](super::Row::index).
    pub columns: &'static [&'static str],
}

/// A type whose values the store holds, as JSON.
///
/// A changed type must still read the records of older versions: new members need a default.
pub trait StoredRecord: Serialize + DeserializeOwned {
    /// Table and index columns.
    const KIND: &'static Kind;

    /// Returns the primary key: time-ordered wherever the record's key can be chosen (see [`crate::key`]).
    fn key(&self) -> &str;

    /// Returns the name of the merchant that owns the record; empty without an owner.
    fn merchant(&self) -> &str {
        ""
    }

    /// Returns the values of the index columns.
    fn index(&self) -> Index<'_> {
        [None, None, None]
    }
}

/// A query for records of a kind. The core builds it with [`newest`](Self::newest) and so on; an engine reads it with
/// [`merchant`](Self::merchant), [`condition`](Self::condition), [`below`](Self::below), [`is_ascending`](Self::is_ascending) and
/// [`limit`](Self::limit).
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub(super) merchant: Option<&'a str>,
    pub(super) column: Option<(&'static str, Match<'a>)>,
    pub(super) before: Option<&'a str>,
    pub(super) oldest_first: bool,
    pub(super) limit: u32,
}

/// The condition of a [`Query`] on an index column. A row without a value in that column never matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition<'a> {
    /// The column has exactly this value.
    Equal {
        /// The name of the column, one of [`Kind::columns`].
        column: &'static str,
        /// The value.
        value: &'a str,
    },
    /// The column has a value that is not greater than this one, by bytes. The rows are ordered by this column first.
    AtMost {
        /// The name of the column, one of [`Kind::columns`].
        column: &'static str,
        /// The greatest value.
        value: &'a str,
    },
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Match<'a> {
    Equal(&'a str),
    AtMost(&'a str),
}

impl<'a> Query<'a> {
    /// Selects the newest records, newest first, by the order of their keys.
    #[must_use]
    pub const fn newest(limit: u32) -> Self {
        Self { merchant: None, column: None, before: None, oldest_first: false, limit }
    }

    /// Selects the oldest records, oldest first, by the order of their keys.
    #[must_use]
    pub const fn oldest(limit: u32) -> Self {
        Self { oldest_first: true, ..Self::newest(limit) }
    }

    /// Selects only the records of this merchant.
    #[must_use]
    pub const fn of(self, merchant: &'a str) -> Self {
        Self { merchant: Some(merchant), ..self }
    }

    /// Selects only records whose index column has this value.
    #[must_use]
    pub const fn equal(self, column: &'static str, value: &'a str) -> Self {
        Self { column: Some((column, Match::Equal(value))), ..self }
    }

    /// Selects only records whose index column is not above this value, ordered by that column first. With
    /// [`crate::Timestamp::sortable`] in the column, these are the records due at an instant.
    #[must_use]
    pub const fn at_most(self, column: &'static str, value: &'a str) -> Self {
        Self { column: Some((column, Match::AtMost(value))), ..self }
    }

    /// Returns the merchant that owns the rows; `None` for the rows of all merchants.
    #[must_use]
    pub const fn merchant(&self) -> Option<&'a str> {
        self.merchant
    }

    /// Returns the required value of an index column. A row without a value never matches.
    #[must_use]
    pub const fn condition(&self) -> Option<Condition<'a>> {
        match self.column {
            None => None,
            Some((column, Match::Equal(value))) => Some(Condition::Equal { column, value }),
            Some((column, Match::AtMost(value))) => Some(Condition::AtMost { column, value }),
        }
    }

    /// Only rows whose key is less than this one match.
    #[must_use]
    pub const fn below(&self) -> Option<&'a str> {
        self.before
    }

    /// Returns the direction: ascending if true, descending if false. It applies to the column of [`Condition::AtMost`]
    /// and to the key.
    #[must_use]
    pub const fn is_ascending(&self) -> bool {
        self.oldest_first
    }

    /// Returns the maximum number of rows.
    #[must_use]
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Whether the query selects a record.
    pub(super) fn describes<T: StoredRecord>(&self, record: &T) -> bool {
        let column = self.column.is_none_or(|(column, wanted)| match (value(record, column), wanted) {
            (Some(value), Match::Equal(wanted)) => value == wanted,
            (Some(value), Match::AtMost(wanted)) => *value <= *wanted,
            (None, _) => false,
        });
        column
            && self.merchant.is_none_or(|merchant| record.merchant() == merchant)
            && self.before.is_none_or(|before| record.key() < before)
    }

    /// Puts records in the order of the result. The keys by which they are sorted have one type for every kind of record, so the
    /// code that sorts them is compiled once.
    pub(super) fn sort<T: StoredRecord>(&self, found: &mut [T]) {
        found.sort_by_cached_key(|record| {
            let first = match self.column {
                Some((column, Match::AtMost(_))) => value(record, column).map(Cow::into_owned),
                _ => None,
            };
            (first, record.key().to_owned())
        });
        if !self.oldest_first {
            found.reverse();
        }
    }

    /// Selects only records whose key is below this one: the next page of a newest-first list.
    #[must_use]
    pub const fn before(self, key: &'a str) -> Self {
        Self { before: Some(key), ..self }
    }
}

fn value<'a, T: StoredRecord>(record: &'a T, column: &str) -> Option<Cow<'a, str>> {
    let at = T::KIND.columns.iter().position(|named| *named == column)?;
    record.index().into_iter().nth(at)?
}
