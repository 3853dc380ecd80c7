//! The listing: a block for each item that can be named from outside, in the order of their paths.

use std::collections::BTreeMap;

use syn::{Item, ItemEnum, ItemStruct, ItemTrait, TraitItem, Visibility, spanned::Spanned};

use super::impls::Impls;
use super::names::{self, Found, Leaf};
use super::sources::{Sources, attributes, hidden, joined};
use super::text;

/// The blocks of a crate.
pub(super) fn of_crate(sources: &Sources, name: &str) -> Vec<String> {
    let mut listing = Listing { sources, impls: Impls::of(sources), blocks: BTreeMap::new() };
    listing.module("", name);
    listing.blocks.into_values().collect()
}

struct Listing<'s> {
    sources: &'s Sources,
    impls: Impls,
    /// By the path of the item and its kind: a function may have the name of a type.
    blocks: BTreeMap<(String, &'static str), String>,
}

impl Listing<'_> {
    /// Everything that is public in a module, under the path by which it is reached.
    fn module(&mut self, module: &str, public: &str) {
        let sources = self.sources;
        for item in sources.items(module).iter().filter(|item| !hidden(attributes(item))) {
            match item {
                Item::Use(used) if text::is_public(&used.vis) => {
                    names::leaves(item).iter().for_each(|leaf| self.used(module, public, leaf));
                }
                Item::Mod(inner) if text::is_public(&inner.vis) => {
                    let name = inner.ident.to_string();
                    let path = format!("{public}::{name}");
                    self.block(&path, "mod", &format!("{}mod {path}", text::marks(&inner.attrs)), &[]);
                    self.module(&joined(module, &name), &path);
                }
                _ => self.item(item, module, public, None),
            }
        }
    }

    fn used(&mut self, module: &str, public: &str, leaf: &Leaf) {
        match (names::resolve(self.sources, module, &leaf.path), &leaf.name) {
            (Some(Found::Item(at, own)), Some(name)) => {
                let sources = self.sources;
                for item in sources.items(&at).iter().filter(|item| names::defined_name(item).as_ref() == Some(&own)) {
                    self.item(item, &at, public, Some(name));
                }
            }
            (Some(Found::Module(at)), Some(name)) => self.module(&at, &format!("{public}::{name}")),
            (Some(Found::Module(at)), None) => self.module(&at, public),
            (None, name) => {
                let from = leaf.path.join("::");
                let path = format!("{public}::{}", name.as_deref().unwrap_or("*"));
                self.block(&path, "use", &format!("use {path} from {from}"), &[]);
            }
            (Some(Found::Item(..)), None) => {}
        }
    }

    /// An item of a module, if it is public, under a path that ends with its name or another one.
    fn item(&mut self, item: &Item, module: &str, public: &str, renamed: Option<&str>) {
        let Some((own, visibility)) = names::defined_name(item).zip(visibility(item)) else { return };
        if !text::is_public(visibility) {
            return;
        }
        let path = format!("{public}::{}", renamed.unwrap_or(&own));
        let (kind, text, mut lines) = described(item);
        lines.extend(self.impls.for_item(module, &own));
        // The name once, with the whole path.
        let text = text.replacen(&format!("{kind} {own}"), &format!("{kind} {path}"), 1);
        self.block(&path, kind, &format!("{}{text}", text::marks(attributes(item))), &lines);
    }

    fn block(&mut self, path: &str, kind: &'static str, first: &str, lines: &[String]) {
        let lines: String = lines.iter().map(|line| format!("    {line}\n")).collect();
        self.blocks.insert((path.to_owned(), kind), format!("{first}\n{lines}"));
    }
}

fn visibility(item: &Item) -> Option<&Visibility> {
    match item {
        Item::Const(item) => Some(&item.vis),
        Item::Enum(item) => Some(&item.vis),
        Item::Fn(item) => Some(&item.vis),
        Item::Static(item) => Some(&item.vis),
        Item::Struct(item) => Some(&item.vis),
        Item::Trait(item) => Some(&item.vis),
        Item::Type(item) => Some(&item.vis),
        _ => None,
    }
}

/// The kind of an item, its first line, and the lines of its parts.
fn described(item: &Item) -> (&'static str, String, Vec<String>) {
    match item {
        Item::Const(item) => ("const", format!("const {}: {}", item.ident, text::of(&item.ty)), Vec::new()),
        Item::Static(item) => ("static", format!("static {}: {}", item.ident, text::of(&item.ty)), Vec::new()),
        Item::Fn(item) => ("fn", text::of(&item.sig), Vec::new()),
        Item::Type(item) => ("type", text::between(item.type_token.span, item.semi_token.span), Vec::new()),
        Item::Struct(item) => ("struct", generic("struct", &item.ident, &item.generics), of_struct(item)),
        Item::Enum(item) => ("enum", generic("enum", &item.ident, &item.generics), of_enum(item)),
        Item::Trait(item) => {
            ("trait", text::between(item.trait_token.span, item.brace_token.span.join()), of_trait(item))
        }
        _ => ("", String::new(), Vec::new()),
    }
}

fn generic(kind: &str, ident: &syn::Ident, generics: &syn::Generics) -> String {
    let bounds = generics.where_clause.as_ref().map_or_else(String::new, |clause| format!(" {}", text::of(clause)));
    let parameters = if generics.params.is_empty() { String::new() } else { text::of(generics) };
    format!("{kind} {ident}{parameters}{bounds}")
}

fn of_struct(item: &ItemStruct) -> Vec<String> {
    let (mut lines, hidden) = text::fields(&item.fields, false);
    if hidden {
        lines.push("…".to_owned());
    }
    lines.extend(text::derives(&item.attrs));
    lines
}

fn of_enum(item: &ItemEnum) -> Vec<String> {
    let variants = item.variants.iter().map(|variant| {
        let (fields, _) = text::fields(&variant.fields, true);
        let fields = if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(", ")) };
        format!("{}{}{fields}", text::marks(&variant.attrs), variant.ident)
    });
    variants.chain(text::derives(&item.attrs)).collect()
}

fn of_trait(item: &ItemTrait) -> Vec<String> {
    let member = |item: &TraitItem| match item {
        TraitItem::Fn(item) => {
            let provided = if item.default.is_some() { " { … }" } else { "" };
            Some(format!("{}{provided}", text::of(&item.sig)))
        }
        TraitItem::Type(item) => Some(text::between(item.type_token.span, item.semi_token.span())),
        TraitItem::Const(item) => Some(format!("const {}: {}", item.ident, text::of(&item.ty))),
        _ => None,
    };
    item.items.iter().filter_map(member).collect()
}
