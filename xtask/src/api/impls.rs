//! Implementations for a type, and their public functions.

use std::collections::{BTreeMap, BTreeSet};

use syn::{ImplItem, Item, ItemImpl, Type};

use super::names::{self, Found};
use super::sources::{Sources, hidden};
use super::text;

/// The heads of implementations, each with its public functions; without a head those that a type has in all cases.
type Heads = BTreeMap<String, BTreeSet<String>>;

/// Implementations by type.
#[derive(Default)]
pub(super) struct Impls {
    by_owner: BTreeMap<Found, Heads>,
}

impl Impls {
    pub(super) fn of(sources: &Sources) -> Self {
        let mut impls = Self::default();
        for (module, items) in sources.modules() {
            for item in items {
                let Item::Impl(item) = item else { continue };
                // For every type there is, or one of another crate: it belongs to the trait.
                let owner = type_path(&item.self_ty)
                    .and_then(|path| names::resolve(sources, module, &path))
                    .or_else(|| names::resolve(sources, module, &trait_path(item)?));
                if let Some(owner) = owner {
                    let (head, members) = described(item);
                    impls.by_owner.entry(owner).or_default().entry(head).or_default().extend(members);
                }
            }
        }
        impls
    }

    /// The lines that belong to an item.
    pub(super) fn for_item(&self, module: &str, name: &str) -> Vec<String> {
        let heads = self.by_owner.get(&Found::Item(module.to_owned(), name.to_owned()));
        let lines = heads.into_iter().flatten().flat_map(|(head, members)| {
            let step = if head.is_empty() { "" } else { "    " };
            let first = Some(head.clone()).filter(|head| !head.is_empty());
            first.into_iter().chain(members.iter().map(move |member| format!("{step}{member}")))
        });
        lines.collect()
    }
}

/// The path of a type without its arguments, through references.
fn type_path(of: &Type) -> Option<Vec<String>> {
    match of {
        Type::Path(path) => Some(path.path.segments.iter().map(|segment| segment.ident.to_string()).collect()),
        Type::Reference(reference) => type_path(&reference.elem),
        _ => None,
    }
}

fn trait_path(item: &ItemImpl) -> Option<Vec<String>> {
    let (path, _) = item.trait_.as_ref()?;
    Some(path.segments.iter().map(|segment| segment.ident.to_string()).collect())
}

fn described(item: &ItemImpl) -> (String, Vec<String>) {
    let head = head(item);
    if item.trait_.is_some() {
        let with = item.items.iter().filter_map(|item| match item {
            ImplItem::Type(item) => Some(format!("{} = {}", item.ident, text::of(&item.ty))),
            _ => None,
        });
        let with = with.collect::<Vec<_>>().join(", ");
        return (if with.is_empty() { head } else { format!("{head} with {with}") }, Vec::new());
    }
    let methods = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(item) if text::is_public(&item.vis) && !hidden(&item.attrs) => {
            Some(format!("{}{}", text::marks(&item.attrs), text::of(&item.sig)))
        }
        ImplItem::Const(item) if text::is_public(&item.vis) && !hidden(&item.attrs) => {
            Some(format!("{}const {}: {}", text::marks(&item.attrs), item.ident, text::of(&item.ty)))
        }
        _ => None,
    });
    let methods: Vec<String> = methods.collect();
    // `impl Tea`, and a block without public items, are not listed.
    let silent = methods.is_empty() || !head.contains(['<', '#']);
    (if silent { String::new() } else { head }, methods)
}

/// All before the brace.
fn head(item: &ItemImpl) -> String {
    let head = text::between(item.impl_token.span, item.brace_token.span.join());
    format!("{}{head}", text::marks(&item.attrs))
}
