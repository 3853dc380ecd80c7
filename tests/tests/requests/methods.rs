//! Methods and the names of their parameters.

use pg_model::{field::Field, method::MethodInfo};

/// Returns the method `service/name`.
pub(crate) fn info(path: &str) -> &'static MethodInfo {
    pg_model::method::method(path).unwrap_or_else(|| panic!("no method {path}"))
}

/// Returns the wire names of a field for this number of items: itself, one for each item, or two that share its prefix.
pub(crate) fn names(field: &Field, items: usize) -> Vec<String> {
    if let Some(prefix) = field.wire.strip_suffix('*') {
        return vec![format!("{prefix}Size"), format!("{prefix}_b")];
    }
    if !field.wire.contains("{n}") {
        return vec![field.wire.to_owned()];
    }
    (0..items).map(|number| field.wire.replace("{n}", &number.to_string())).collect()
}
