//! Writes the values of generated records that are not a single scalar.

use crate::{
    parameters::Named,
    record::{Keyed, ListShape, Record, RecordWriter},
    text::Text,
    value::Extra,
};

/// A scalar that is omitted if empty.
pub(crate) fn filled(out: &mut dyn RecordWriter, name: &str, value: &dyn Text) {
    if !value.text().is_empty() {
        out.text(name, value.text());
    }
}

/// A scalar that is omitted if empty, unless another one is given.
pub(crate) fn beside(out: &mut dyn RecordWriter, name: &str, value: &dyn Text, other: &dyn Text) {
    if other.text().is_empty() { filled(out, name, value) } else { out.text(name, value.text()) }
}

/// Unknown fields, unchanged.
pub(crate) fn extra(out: &mut dyn RecordWriter, extra: &Extra) {
    for (name, value) in extra.iter() {
        out.value(name, value);
    }
}

/// Scalars that share a prefix.
pub(crate) fn named(out: &mut dyn RecordWriter, named: &Named) {
    for (name, value) in named.iter() {
        out.named(name, value);
    }
}

/// A repeated record.
pub(crate) fn list<R: Record>(out: &mut dyn RecordWriter, name: &str, item: &str, shape: ListShape, records: &[R]) {
    out.list(name, item, shape, &mut records.iter().map(|record| record as &dyn Record));
}

/// Records by name.
pub(crate) fn map<R: Record>(out: &mut dyn RecordWriter, name: &str, records: &Keyed<R>) {
    out.map(name, &mut records.iter().map(|(name, record)| (name, record as &dyn Record)));
}
