//! The traits that every generated record has, besides its fields.

use alloc::string::String;
use core::{any::Any, fmt};

use crate::mask;

/// Implements what every generated record has besides its fields: `with`, `Debug`, `Serialize` and `Record`. The struct itself is
/// written out beside the call. After its name come the arguments of [`record_fields`].
macro_rules! record_traits {
    ($name:ident $($fields:tt)*) => {
        impl $name {
            /// Returns the record with some of its fields changed by `set`, for tests and for programs that act as the
            /// service. Begin with `default`.
            #[must_use]
            pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
                set(&mut self);
                self
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut out = f.debug_struct(stringify!($name));
                $crate::record_traits::show_fields!(self, out $($fields)*);
                out.field("extra", &self.extra).finish()
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::serialize::record(self, serializer)
            }
        }

        impl Record for $name {
            $crate::record_traits::record_fields! { $($fields)* }
        }
    };
}

/// Implements the functions of a generated record: one row a field, in the order in which fields are written. Before the rows may
/// stand a function that returns the first missing required field.
///
/// A row has the name on the wire and its older spellings, then how the field is read and written:
///
/// | kind | in the reply | a field without a value |
/// |---|---|---|
/// | `text`, `number` | a text, or a JSON number | is written empty |
/// | `filled`, `filled_number` | the same | is left out |
/// | `beside (OTHER)` | a text whose presence depends on another field | see `write::beside` |
/// | `record`, `filled_record` | an object | is written empty; is left out |
/// | `list`, `filled_list` | a list, with the name of an item in XML and its shape in JSON | is written empty; is left out |
/// | `map` | objects by name | is left out |
/// | `named` | all names that begin with a prefix | is left out |
macro_rules! record_fields {
    ($(, $missing:expr)?; $(
        $($wire:literal $(| $alias:literal)*)? $($bound:ident if $guard:expr)? =>
            $kind:ident $field:ident $(($($with:tt)*))?,
    )*) => {
        fn slot(&mut self, name: &str) -> Slot<'_> {
            match name {
                $($($wire $(| $alias)*)? $($bound if $guard)? => $crate::record_traits::slot!($kind, &mut self.$field),)*
                _ => Slot::Extra,
            }
        }

        fn extra(&mut self) -> &mut Extra {
            &mut self.extra
        }

        fn write(&self, out: &mut dyn RecordWriter) {
            $($crate::record_traits::write_field!($kind, self, out, $field $(, $wire)? $(, $($with)*)?);)*
            write::extra(out, &self.extra);
        }

        #[cfg(feature = "serde")]
        fn is_free_text(&self, name: &str) -> bool {
            match name {
                $($($wire => $crate::serialize::is_free_text($wire, &self.$field),)?)*
                _ => false,
            }
        }

        $(
            fn missing(&self) -> Option<&'static str> {
                let missing: fn(&Self) -> Option<&'static str> = $missing;
                missing(self)
            }
        )?
    };
}

/// Shows the fields of a record.
macro_rules! show_fields {
    ($self:ident, $out:ident $(, $missing:expr)?; $(
        $($wire:literal $(| $alias:literal)*)? $($bound:ident if $guard:expr)? =>
            $kind:ident $field:ident $(($($with:tt)*))?,
    )*) => {
        $($crate::record_traits::show(&mut $out, stringify!($field), &$self.$field);)*
    };
}

/// Shows a field in the `Debug` of its record. Card numbers in texts are masked; types of their own do so themselves.
pub(crate) fn show<T: fmt::Debug + Any>(out: &mut fmt::DebugStruct<'_, '_>, name: &str, value: &T) {
    match (value as &dyn Any).downcast_ref::<String>() {
        Some(text) => out.field(name, &mask::masked(text)),
        None => out.field(name, value),
    };
}

/// Where the reader puts the value of a field.
macro_rules! slot {
    (record, $field:expr) => {
        Slot::Record($field)
    };
    (filled_record, $field:expr) => {
        Slot::Record($field)
    };
    (list, $field:expr) => {
        Slot::List($field)
    };
    (filled_list, $field:expr) => {
        Slot::List($field)
    };
    (map, $field:expr) => {
        Slot::Map($field)
    };
    (named, $field:expr) => {
        Slot::Named($field)
    };
    ($text:ident, $field:expr) => {
        Slot::Text($field)
    };
}

/// Writes a field.
macro_rules! write_field {
    (text, $self:ident, $out:ident, $field:ident, $wire:literal) => {
        $out.text($wire, $self.$field.text())
    };
    (filled, $self:ident, $out:ident, $field:ident, $wire:literal) => {
        write::filled($out, $wire, &$self.$field)
    };
    (number, $self:ident, $out:ident, $field:ident, $wire:literal) => {
        $out.number($wire, $self.$field.text())
    };
    (filled_number, $self:ident, $out:ident, $field:ident, $wire:literal) => {
        if !$self.$field.text().is_empty() {
            $out.number($wire, $self.$field.text());
        }
    };
    (beside, $self:ident, $out:ident, $field:ident, $wire:literal, $other:ident) => {
        write::beside($out, $wire, &$self.$field, &$self.$other)
    };
    (record, $self:ident, $out:ident, $field:ident, $wire:literal) => {
        $out.record($wire, &$self.$field)
    };
    (filled_record, $self:ident, $out:ident, $field:ident, $wire:literal) => {
        if $self.$field != Default::default() {
            $out.record($wire, &$self.$field);
        }
    };
    (list, $self:ident, $out:ident, $field:ident, $wire:literal, $item:literal $shape:ident) => {
        write::list($out, $wire, $item, ListShape::$shape, &$self.$field)
    };
    (filled_list, $self:ident, $out:ident, $field:ident, $wire:literal, $item:literal $shape:ident) => {
        if !$self.$field.is_empty() {
            write::list($out, $wire, $item, ListShape::$shape, &$self.$field);
        }
    };
    (map, $self:ident, $out:ident, $field:ident, $wire:literal) => {
        if !$self.$field.is_empty() {
            write::map($out, $wire, &$self.$field);
        }
    };
    (named, $self:ident, $out:ident, $field:ident) => {
        write::named($out, &$self.$field)
    };
}

pub(crate) use {record_fields, record_traits, show_fields, slot, write_field};
