//! Resolves names in their scope.

use syn::{Item, UseTree};

use super::sources::{Sources, joined};

/// Re-exports of re-exports are followed this far.
const DEPTH: usize = 16;

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    Module(String),
    /// An item: its module and its name.
    Item(String, String),
}

/// One name that a `use` brings, or all names of a module.
pub(super) struct Leaf {
    pub(super) path: Vec<String>,
    /// `None` for a glob.
    pub(super) name: Option<String>,
}

/// Follows a path as it is written in a module; `None` where it leads out of the crate.
pub(super) fn resolve(sources: &Sources, module: &str, path: &[String]) -> Option<Found> {
    follow(sources, module, path, DEPTH)
}

fn follow(sources: &Sources, module: &str, path: &[String], depth: usize) -> Option<Found> {
    let depth = depth.checked_sub(1)?;
    let (first, rest) = path.split_first()?;
    let parent = |module: &str| module.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned();
    let start = match first.as_str() {
        "crate" => Found::Module(String::new()),
        "self" => Found::Module(module.to_owned()),
        "super" => Found::Module(parent(module)),
        name => look(sources, module, name, rest.is_empty(), depth)?,
    };
    match (start, rest) {
        (found, []) => Some(found),
        (Found::Module(inner), rest) => follow(sources, &inner, rest, depth),
        (Found::Item(..), _) => None,
    }
}

/// Looks a name up in a module. At the end of a path it is rather an item than a module, before it a module.
fn look(sources: &Sources, module: &str, name: &str, last: bool, depth: usize) -> Option<Found> {
    let inner = joined(module, name);
    let inner = sources.has_module(&inner).then_some(Found::Module(inner));
    let defined = || sources.items(module).iter().any(|item| defined_name(item).is_some_and(|own| own == name));
    if last && defined() {
        return Some(Found::Item(module.to_owned(), name.to_owned()));
    }
    inner.or_else(|| {
        let leaves = || sources.items(module).iter().flat_map(leaves);
        let named = leaves().filter(|leaf| leaf.name.as_deref() == Some(name));
        let mut named = named.filter_map(|leaf| follow(sources, module, &leaf.path, depth));
        named.next().or_else(|| {
            let globs = leaves().filter(|leaf| leaf.name.is_none());
            globs.filter_map(|leaf| glob(sources, module, &leaf, name, last, depth)).next()
        })
    })
}

fn glob(sources: &Sources, module: &str, leaf: &Leaf, name: &str, last: bool, depth: usize) -> Option<Found> {
    match follow(sources, module, &leaf.path, depth)? {
        Found::Module(inner) if inner != module => look(sources, &inner, name, last, depth.checked_sub(1)?),
        _ => None,
    }
}

/// The name under which an item can be found, if it has one.
pub(super) fn defined_name(item: &Item) -> Option<String> {
    match item {
        Item::Const(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        Item::Fn(item) => Some(item.sig.ident.to_string()),
        Item::Static(item) => Some(item.ident.to_string()),
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Trait(item) => Some(item.ident.to_string()),
        Item::Type(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

/// The names that an item brings, when it is a `use`.
pub(super) fn leaves(item: &Item) -> Vec<Leaf> {
    let mut found = Vec::new();
    if let Item::Use(item) = item {
        gather(&item.tree, &mut Vec::new(), &mut found);
    }
    found
}

fn gather(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<Leaf>) {
    let with = |path: &[String], name: &str| {
        // `use a::{self}` brings `a`.
        if name == "self" { path.to_vec() } else { [path, &[name.to_owned()]].concat() }
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            gather(&tree.tree, path, found);
            path.pop();
        }
        UseTree::Name(tree) => {
            let path = with(path, &tree.ident.to_string());
            found.push(Leaf { name: path.last().cloned(), path });
        }
        UseTree::Rename(tree) => {
            found.push(Leaf { path: with(path, &tree.ident.to_string()), name: Some(tree.rename.to_string()) });
        }
        UseTree::Glob(_) => found.push(Leaf { path: path.clone(), name: None }),
        UseTree::Group(group) => group.items.iter().for_each(|tree| gather(tree, path, found)),
    }
}
