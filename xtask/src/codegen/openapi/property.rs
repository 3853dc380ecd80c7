//! The schema of one parameter: what its row says, as rules of JSON Schema.

use super::super::{
    formats::{self, Format, bounds, range_bounds},
    node::Node,
    tables::Field,
};

pub(super) fn property(field: &Field) -> Node {
    let format = formats::find(&field.format);
    let doc = if field.required && field.is_open() {
        format!("{} Needed for each item.", field.doc)
    } else {
        field.doc.clone()
    };
    let node = match (field.kind.as_str(), format) {
        ("u64" | "i64", _) => number(field, &doc),
        (kind, _) if kind.starts_with("Vec<") => list(&doc),
        (_, format) => text(field, &doc, format),
    };
    node.with_some("x-spec", field.spec.as_ref())
        .with("x-source", &field.source)
        .with("x-rust", field.rust_name())
        .with_some("x-sensitive", field.sensitive.then_some(true))
        .with_filled("x-aliases", field.aliases.clone())
}

fn number(field: &Field, doc: &str) -> Node {
    let (least, most) = match field.range.as_deref().and_then(range_bounds) {
        Some((least, most)) => (Some(least), Some(most)),
        None => ((field.kind == "u64").then_some(0), None),
    };
    let default = field.default.as_deref().map(|text| (text, text.parse::<i64>()));
    let node = Node::map()
        .with("type", "integer")
        .with("description", doc)
        .with_some("minimum", least)
        .with_some("maximum", most);
    match default {
        Some((_, Ok(number))) => node.with("default", number),
        Some((words, Err(_))) => node.with("x-default", words),
        None => node,
    }
}

fn list(doc: &str) -> Node {
    let item = Node::map().with("type", "string").with("pattern", "^[^,\\u0000-\\u001F\\u007F-\\u009F]+$");
    Node::map()
        .with("type", "array")
        .with("description", doc)
        .with("items", item)
        .with("minItems", 1_i64)
        .with("maxItems", 5_000_i64)
        .with("uniqueItems", true)
}

fn text(field: &Field, doc: &str, format: Option<&Format>) -> Node {
    let (least, most) = field.length.as_deref().and_then(bounds).map_or((0, None), |(least, most)| (least, Some(most)));
    let least = field.required.then_some(least.max(1)).filter(|_| field.values.is_empty());
    let hint = match field.format.as_str() {
        "url" => Some("uri"),
        _ => field.sensitive.then_some("password"),
    };
    let node = Node::map()
        .with("type", "string")
        .with("description", doc)
        .with_some("format", hint)
        .with_some("minLength", least)
        .with_some("maxLength", most.filter(|_| field.values.is_empty()))
        .with_some("pattern", format.and_then(|format| value_pattern(field, format)))
        .with_filled("enum", field.values.clone());
    match &field.default {
        Some(value) if field.values.contains(value) || field.format == "flag" => node.with("default", value),
        other => node.with_some("x-default", other.as_ref()),
    }
}

/// The pattern of a value, which admits an empty one if the validators do.
fn value_pattern(field: &Field, format: &Format) -> Option<String> {
    let bounds = field.length.as_deref().and_then(bounds);
    let pattern = match (format.pattern.strip_suffix('+'), bounds) {
        (Some(class), Some((least, most))) if class.starts_with('[') && class.ends_with(']') && least == most => {
            format!("{class}{{{most}}}")
        }
        (Some(class), Some((least, most))) if class.starts_with('[') && class.ends_with(']') => {
            format!("{class}{{{},{most}}}", least.max(1))
        }
        _ => format.pattern.to_owned(),
    };
    match (pattern.as_str(), field.required || !format.may_be_empty) {
        ("", _) => None,
        (pattern, true) => Some(format!("^{pattern}$")),
        // This one takes an empty value as it is.
        (pattern, false) if format.name == "text" => Some(format!("^{pattern}$")),
        (pattern, false) => Some(format!("^({pattern})?$")),
    }
}
