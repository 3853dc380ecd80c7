//! The traits that every generated record has, besides its fields.

/// Implements the common traits of a generated record. The struct itself is written out beside the call.
macro_rules! record_traits {
    ($name:ident) => {
        impl $name {
            /// Returns the record with some of its fields changed by `set`, for tests and for programs that act as the
            /// service. Begin with `default`.
            #[must_use]
            pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
                set(&mut self);
                self
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::serialize::record(self, serializer)
            }
        }
    };
}

/// Implements `slot`, `extra` and `write` of a generated record: one row a field, in the order in which fields are written.
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
    ($(
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

pub(crate) use {record_fields, record_traits, slot, write_field};
