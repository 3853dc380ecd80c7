//! The modules of a crate with their items: files and inline modules alike, macros of items expanded, tests left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::{Attribute, Item, ItemMod, Meta};

use super::expansion::Macros;

/// A crate's modules by their path, such as `machine::charge`; the crate itself is the empty path.
#[derive(Default)]
pub(super) struct Sources {
    modules: BTreeMap<String, Vec<Item>>,
}

impl Sources {
    /// Reads a crate from the file of its root.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let mut sources = Self::default();
        let folder = file.parent().context("a crate lies in a folder")?;
        sources.file(file, folder, "")?;
        let macros = Macros::of(sources.modules.values().flatten());
        for items in sources.modules.values_mut() {
            *items = macros.expand(std::mem::take(items))?;
        }
        Ok(sources)
    }

    /// The items of a module.
    pub(super) fn items(&self, module: &str) -> &[Item] {
        self.modules.get(module).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_module(&self, module: &str) -> bool {
        self.modules.contains_key(module)
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = (&str, &[Item])> {
        self.modules.iter().map(|(module, items)| (module.as_str(), items.as_slice()))
    }

    fn file(&mut self, file: &Path, folder: &Path, module: &str) -> Result<()> {
        let text = fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("{}", file.display()))?;
        self.items_of(parsed.items, folder, module)
    }

    fn items_of(&mut self, items: Vec<Item>, folder: &Path, module: &str) -> Result<()> {
        let items: Vec<Item> = items.into_iter().filter(|item| !for_tests(attributes(item))).collect();
        for item in &items {
            if let Item::Mod(inner) = item {
                self.module(inner, folder, &joined(module, &inner.ident.to_string()))?;
            }
        }
        self.modules.insert(module.to_owned(), items);
        Ok(())
    }

    fn module(&mut self, inner: &ItemMod, folder: &Path, path: &str) -> Result<()> {
        let own = folder.join(inner.ident.to_string());
        if let Some((_, items)) = &inner.content {
            return self.items_of(items.clone(), &own, path);
        }
        let places: [PathBuf; 2] = [folder.join(format!("{}.rs", inner.ident)), own.join("mod.rs")];
        let file = places.iter().find(|place| place.exists()).with_context(|| format!("no file for {path}"))?;
        self.file(file, &own, path)
    }
}

/// A path of modules with one more name.
pub(super) fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The attributes of an item that may have some which matter here.
pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is marked as hidden.
pub(super) fn hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    })
}

fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && matches!(list.tokens.to_string().as_str(), "test" | "doctest"),
        _ => false,
    })
}
