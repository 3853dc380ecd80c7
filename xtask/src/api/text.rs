//! Pieces of source as they were written, on one line.

use proc_macro2::Span;
use syn::{Attribute, Fields, Meta, Visibility, spanned::Spanned};

/// What was written there, every run of white space as one blank.
pub(super) fn of(piece: &impl Spanned) -> String {
    one_line(&piece.span().source_text().unwrap_or_default())
}

/// The source text from one token to the next.
pub(super) fn between(first: Span, end: Span) -> String {
    let whole = first.join(end).and_then(|span| span.source_text()).unwrap_or_default();
    let tail = end.source_text().unwrap_or_default();
    one_line(whole.strip_suffix(tail.as_str()).unwrap_or(&whole))
}

fn one_line(text: &str) -> String {
    let text = text.lines().map(|line| line.split(" //").next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // As if it had never been broken into lines.
    [("( ", "("), (", )", ")"), ("< ", "<"), (", >", ">"), (" )", ")")]
        .iter()
        .fold(text, |text, (broken, whole)| text.replace(broken, whole))
        .trim_end_matches(',')
        .to_owned()
}

/// Whether it is public.
pub(super) const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The attributes of an item that matter to users: conditions, and `non_exhaustive`.
pub(super) fn marks(attributes: &[Attribute]) -> String {
    let marks = attributes.iter().filter(|attribute| {
        let path = attribute.path();
        path.is_ident("cfg") || path.is_ident("non_exhaustive") || path.is_ident("deprecated")
    });
    marks.map(|mark| format!("{} ", of(mark))).collect()
}

/// The traits that are derived, in one line if there are any.
pub(super) fn derives(attributes: &[Attribute]) -> Option<String> {
    let lists = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("derive") => Some(list.tokens.to_string()),
        _ => None,
    });
    let mut names: Vec<String> =
        lists.flat_map(|list| list.split(',').map(|name| name.replace(' ', "")).collect::<Vec<_>>()).collect();
    names.retain(|name| !name.is_empty());
    names.sort();
    (!names.is_empty()).then(|| format!("derive {}", names.join(", ")))
}

/// The fields of a struct that are public, or all those of a variant, and whether others are hidden.
pub(super) fn fields(fields: &Fields, all: bool) -> (Vec<String>, bool) {
    let shown = |field: &&syn::Field| all || is_public(&field.vis);
    let text = |(index, field): (usize, &syn::Field)| {
        let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
        format!("{}{name}: {}", marks(&field.attrs), of(&field.ty))
    };
    let listed: Vec<String> = fields.iter().enumerate().filter(|(_, field)| shown(field)).map(text).collect();
    let hidden = listed.len() < fields.len();
    (listed, hidden)
}
