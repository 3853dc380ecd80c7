//! How a generated request, or a group of parameters, is written and read: one row a field, in the order for signing.

use crate::{field::Field, parameters::ParameterSink, read::Reader};

/// Parameters that several methods share.
pub(crate) trait Group {
    /// All fields, in the order of the tables.
    const FIELDS: &'static [&'static Field];

    /// Passes every parameter to `sink` in signing order.
    fn visit(&self, sink: &mut dyn ParameterSink);

    fn read(reader: &mut Reader<'_>) -> Self;
}

/// Implements `visit` and `from_parameters` of a request.
///
/// A row has the kind of a field, its name, and its static or type. A row with a path in parentheses belongs to a group, and is only
/// written: the group's own row, `apart` or `items`, reads it.
///
/// | kind | what it is |
/// |---|---|
/// | `credentials` | the place of the credentials |
/// | `text`, `number` | a required value |
/// | `optional`, `optional_number` | an optional value |
/// | `list` | a list of texts |
/// | `named` | all parameters whose names begin with a prefix |
/// | `group` | a group whose parameters are adjacent |
/// | `apart` | a group whose parameters are not adjacent |
/// | `items` | numbered groups |
/// | `each_text`, `each_optional`, `each_number`, `each_optional_number` | a value of every item |
macro_rules! request_fields {
    ($($kind:ident $($field:ident: $($of:ident)::+)? $(($($path:ident).+ $(, $part:ident)?): $of_part:path)?,)*) => {
        fn visit(&self, sink: &mut dyn ParameterSink) {
            $($crate::request_fields::visit_field!($kind, self, sink $(, $($of)::+, $field)? $(, $of_part, $($path).+ $(, $part)?)?);)*
        }

        fn from_parameters(parameters: &Parameters) -> Result<Self, Violations> {
            Reader::request(parameters, |reader| Self {
                $($($field: $crate::request_fields::read_field!($kind, reader, $($of)::+),)?)*
            })
        }
    };
}

/// Implements [`Group`], from rows as those of a request.
macro_rules! group_fields {
    ($($kind:ident $($field:ident: $($of:ident)::+)? $(($($path:ident).+ $(, $part:ident)?): $of_part:path)?,)*) => {
        fn visit(&self, sink: &mut dyn ParameterSink) {
            $($crate::request_fields::visit_field!($kind, self, sink $(, $($of)::+, $field)? $(, $of_part, $($path).+ $(, $part)?)?);)*
        }

        fn read(reader: &mut Reader<'_>) -> Self {
            Self { $($($field: $crate::request_fields::read_field!($kind, reader, $($of)::+),)?)* }
        }
    };
}

/// Passes a field to the sink.
macro_rules! visit_field {
    (credentials, $self:ident, $sink:ident) => {
        $sink.credentials()
    };
    (text, $self:ident, $sink:ident, $of:path, $($path:ident).+) => {
        emit::text($sink, &$of, &$self.$($path).+)
    };
    (optional, $self:ident, $sink:ident, $of:path, $($path:ident).+) => {
        emit::optional($sink, &$of, &$self.$($path).+)
    };
    (number, $self:ident, $sink:ident, $of:path, $($path:ident).+) => {
        emit::number($sink, &$of, $self.$($path).+)
    };
    (optional_number, $self:ident, $sink:ident, $of:path, $($path:ident).+) => {
        emit::optional_number($sink, &$of, $self.$($path).+)
    };
    (list, $self:ident, $sink:ident, $of:path, $field:ident) => {
        $sink.list(&$of, $of.wire, &mut $self.$field.iter().map(AsRef::as_ref))
    };
    (named, $self:ident, $sink:ident, $of:path, $field:ident) => {
        emit::named($sink, &$of, &$self.$field)
    };
    (group, $self:ident, $sink:ident, $of:path, $($path:ident).+) => {
        Group::visit(&$self.$($path).+, $sink)
    };
    (apart, $($rest:tt)*) => {};
    (items, $($rest:tt)*) => {};
    (each_text, $self:ident, $sink:ident, $of:path, $($items:ident).+, $part:ident) => {
        emit::item_texts($sink, &$of, &$self.$($items).+, |item| Some(&item.$part))
    };
    (each_optional, $self:ident, $sink:ident, $of:path, $($items:ident).+, $part:ident) => {
        emit::item_texts($sink, &$of, &$self.$($items).+, |item| item.$part.as_ref())
    };
    (each_number, $self:ident, $sink:ident, $of:path, $($items:ident).+, $part:ident) => {
        emit::item_numbers($sink, &$of, &$self.$($items).+, |item| Some(item.$part))
    };
    (each_optional_number, $self:ident, $sink:ident, $of:path, $($items:ident).+, $part:ident) => {
        emit::item_numbers($sink, &$of, &$self.$($items).+, |item| item.$part)
    };
}

/// Reads a field.
macro_rules! read_field {
    (group, $reader:ident, $of:path) => {
        <$of>::read($reader)
    };
    (apart, $reader:ident, $of:path) => {
        <$of>::read($reader)
    };
    (items, $reader:ident, $of:path) => {
        $reader.items(<$of>::FIELDS, <$of>::read)
    };
    (list, $reader:ident, $of:path) => {
        $reader.list(&$of)
    };
    (named, $reader:ident, $of:path) => {
        $reader.named(&$of)
    };
    ($kind:ident, $reader:ident, $of:path) => {
        $reader.$kind(&$of, None)
    };
}

pub(crate) use {group_fields, read_field, request_fields, visit_field};
