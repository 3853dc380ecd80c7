//! How each kind of row is read: which keys it may have, and which it must.

use super::{super::reading::Row as Source, Credentials, Empty, Field, GroupRow, Retry, Row, Service, ServiceInfo};

/// Declares kinds of rows: a struct for each, and how it is read. The type of a field says what its key may hold, and
/// whether the row may lack it. A key with another name than its field follows after `as`, and `=` reads it differently.
macro_rules! rows {
    ($($(#[$about:meta])* $name:ident {
        $($(#[$note:meta])* $field:ident $(as $key:literal)?: $type:ty $(= $read:expr)?,)*
    })*) => {$(
        $(#[$about])*
        pub(super) struct $name {
            pub(super) places: $crate::codegen::place::Places,
            $($(#[$note])* pub(super) $field: $type,)*
        }

        impl $crate::codegen::tables::FromRow for $name {
            fn from_row(row: &$crate::codegen::reading::Row<'_>) -> Self {
                Self { $($field: rows!(@row $field $(as $key)? $(= $read)?),)* places: row.places() }
            }
        }
    )*};
    (@$row:ident $field:ident) => { $crate::codegen::tables::Cell::read($row, stringify!($field)) };
    (@$row:ident $field:ident as $key:literal) => { $crate::codegen::tables::Cell::read($row, $key) };
    (@$row:ident $field:ident = $read:expr) => { $read($row) };
}
pub(in super::super) use rows;

/// A kind of row.
pub(in super::super) trait FromRow {
    fn from_row(row: &Source<'_>) -> Self;
}

/// What a key may hold.
pub(in super::super) trait Cell {
    fn read(row: &Source<'_>, key: &'static str) -> Self;
}

/// Implements [`Cell`] by methods of the row.
macro_rules! cells {
    ($($type:ty = $method:ident,)*) => {$(
        impl Cell for $type {
            fn read(row: &Source<'_>, key: &'static str) -> Self {
                row.$method(key)
            }
        }
    )*};
}

cells! {
    String = text,
    Option<String> = maybe_text,
    Vec<String> = texts,
    bool = flag,
    u8 = number,
    u16 = number,
    usize = number,
    Option<u16> = maybe_number,
}

impl<R: FromRow> Cell for Vec<R> {
    fn read(row: &Source<'_>, key: &'static str) -> Self {
        row.rows(key, R::from_row)
    }
}

impl Cell for Credentials {
    fn read(row: &Source<'_>, key: &'static str) -> Self {
        row.choice(key, &[("signed", Self::Signed), ("session", Self::Session), ("enterprise", Self::Enterprise)])
    }
}

impl Cell for Retry {
    fn read(row: &Source<'_>, key: &'static str) -> Self {
        row.choice(key, &[("safe", Self::Safe), ("lookup-first", Self::LookupFirst), ("never", Self::Never)])
    }
}

const EMPTY: &[(&str, Empty)] = &[("keep", Empty::Keep), ("omit", Empty::Omit)];

impl Cell for Empty {
    fn read(row: &Source<'_>, key: &'static str) -> Self {
        row.choice(key, EMPTY)
    }
}

impl Cell for Option<Empty> {
    fn read(row: &Source<'_>, key: &'static str) -> Self {
        row.maybe_choice(key, EMPTY)
    }
}

impl Service {
    pub(super) fn read(root: &Source<'_>) -> Option<Self> {
        let info = root.one("service", ServiceInfo::from_row);
        let methods = Cell::read(root, "method");
        Some(Self { info: info?, methods })
    }
}

impl FromRow for Row {
    /// A row that names a group is a group, any other is a field.
    fn from_row(row: &Source<'_>) -> Self {
        if row.has("group") {
            Self::Group(GroupRow::from_row(row))
        } else {
            Self::Field(Box::new(Field::from_row(row)))
        }
    }
}
