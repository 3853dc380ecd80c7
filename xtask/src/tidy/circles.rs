//! No circle of files: two files of a crate that use each other can only be read together. Join them, or move what both use
//! to a third file.
//!
//! A file and the files in its folder are one room: the parent declares its parts and calls them, and a part uses the
//! types of its parent. Rust's privacy treats them so too, since a part sees all that is private in its parent. So these edges do
//! not count; edges between the parts of a room do, and those between rooms.
//!
//! Rooms are checked as wholes too: two folders of a crate whose files use each other are a circle, even if no two files are.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, anyhow};
use proc_macro2::{TokenStream, TokenTree};

use super::{Source, Violation};

/// Names of a module, from the root of its crate.
type Path = Vec<String>;

/// What a file says about others.
#[derive(Default)]
struct Module {
    /// The paths that its code mentions.
    paths: Vec<Path>,
    /// The names that its `use` items bind.
    bound: BTreeMap<String, Path>,
    /// The modules that exist only in tests.
    only_in_tests: BTreeSet<String>,
}

/// Finds the circles of every crate.
pub(super) fn check(sources: &[Source]) -> Result<Vec<Violation>> {
    let mut found = Vec::new();
    for root in roots(sources) {
        found.extend(circles(&root, &crate_of(sources, &root)?).iter().map(violation));
    }
    Ok(found)
}

fn violation(circle: &BTreeMap<String, Vec<String>>) -> Violation {
    let edges: Vec<String> = circle.iter().map(|(file, uses)| format!("{file} uses {}", uses.join(" "))).collect();
    Violation::new(
        circle.keys().next().map_or("", String::as_str),
        format!("is in a circle of {}:\n    {}\n  ", circle.len(), edges.join("\n    ")),
        "move what two of them share to a third, or join what is read together",
    )
}

/// The folders of the crates: those with a `lib.rs` or `main.rs`.
fn roots(sources: &[Source]) -> BTreeSet<String> {
    let root = |source: &Source| {
        let (folder, file) = source.path.rsplit_once('/')?;
        ["lib.rs", "main.rs"].contains(&file).then(|| format!("{folder}/"))
    };
    sources.iter().filter_map(root).collect()
}

/// The modules of the crate in a folder, without those of crates in folders below.
fn crate_of(sources: &[Source], root: &str) -> Result<BTreeMap<Path, Module>> {
    let deeper: Vec<String> =
        roots(sources).into_iter().filter(|other| other != root && other.starts_with(root)).collect();
    let mut modules: BTreeMap<Path, Module> = BTreeMap::new();
    for source in sources.iter().filter(|source| !deeper.iter().any(|other| source.path.starts_with(other))) {
        let Some(name) = source.path.strip_prefix(root).and_then(|name| name.strip_suffix(".rs")) else { continue };
        let path =
            if ["lib", "main"].contains(&name) { Path::new() } else { name.split('/').map(str::to_owned).collect() };
        let tokens: TokenStream =
            source.text.parse().map_err(|error| anyhow!("{} cannot be read: {error}", source.path))?;
        read(tokens, modules.entry(path).or_default());
    }
    let only_in_tests: Vec<Path> = modules
        .iter()
        .flat_map(|(path, module)| module.only_in_tests.iter().map(move |name| child(path, name)))
        .collect();
    modules.retain(|path, _| !only_in_tests.iter().any(|gone| path.starts_with(gone)));
    Ok(modules)
}

fn child(path: &[String], name: &str) -> Path {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// Collects the paths in a stream of tokens, except in items that exist only in tests.
fn read(tokens: TokenStream, module: &mut Module) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) if only_in_tests(&group.to_string()) => {
                let end = tokens[at..].iter().position(|token| match token {
                    TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
                    token => token.to_string() == ";",
                });
                let item = &tokens[at..end.map_or(tokens.len(), |end| at + end)];
                if let [.., word, TokenTree::Ident(name)] = item
                    && word.to_string() == "mod"
                {
                    module.only_in_tests.insert(name.to_string());
                }
                at += item.len();
            }
            TokenTree::Group(group) => read(group.stream(), module),
            TokenTree::Ident(word) if word == "use" => {
                at += 1 + tree(&tokens[at + 1..], &Path::new(), module);
                continue;
            }
            TokenTree::Ident(first) => {
                let mut path = vec![first.to_string()];
                while let [TokenTree::Punct(_), TokenTree::Punct(_), TokenTree::Ident(next), ..] = &tokens[at + 1..]
                    && colons(&tokens[at + 1..])
                {
                    path.push(next.to_string());
                    at += 3;
                }
                if path.len() > 1 {
                    module.paths.push(path);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn only_in_tests(attribute: &str) -> bool {
    let text: String = attribute.split_whitespace().collect();
    text.starts_with("[cfg(test") || text.starts_with("[cfg(all(test")
}

fn colons(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(one), TokenTree::Punct(two), ..] if one.as_char() == ':' && two.as_char() == ':')
}

/// Reads one tree of a `use` item, as far as a comma, a semicolon or the end, and returns its length.
fn tree(tokens: &[TokenTree], before: &[String], module: &mut Module) -> usize {
    let mut path = before.to_vec();
    let mut name = None;
    let mut at = 0;
    let mut group = false;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Punct(punct) if [',', ';'].contains(&punct.as_char()) => break,
            TokenTree::Ident(word) if word == "as" => name = tokens.get(at + 1).map(ToString::to_string),
            TokenTree::Ident(word) if name.is_none() && (word != "self" || path.is_empty()) => {
                path.push(word.to_string())
            }
            TokenTree::Group(parts) => {
                group = true;
                let parts: Vec<TokenTree> = parts.stream().into_iter().collect();
                let mut part = 0;
                while part < parts.len() {
                    part += 1 + tree(&parts[part..], &path, module);
                }
            }
            _ => {}
        }
        at += 1;
    }
    if !group && let Some(last) = path.last().cloned() {
        module.bound.insert(name.unwrap_or(last), path.clone());
        module.paths.push(path);
    }
    at
}

/// The module that defines the item of a path in another module, through any re-exports.
fn target(modules: &BTreeMap<Path, Module>, from: &[String], path: &[String], steps: usize) -> Option<Path> {
    let (first, mut rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Path::new(),
        "self" => from.to_vec(),
        "super" => {
            let mut up = from.split_last()?.1;
            while let Some(("super", more)) = rest.split_first().map(|(next, more)| (next.as_str(), more)) {
                (up, rest) = (up.split_last()?.1, more);
            }
            up.to_vec()
        }
        _ => {
            rest = path;
            from.to_vec()
        }
    };
    let start = at.clone();
    while let Some((next, more)) = rest.split_first()
        && modules.contains_key(&child(&at, next))
    {
        (at, rest) = (child(&at, next), more);
    }
    if let Some((next, more)) = rest.split_first()
        && let Some(bound) = modules.get(&at)?.bound.get(next)
        && steps > 0
        && (bound != path || at != from)
    {
        let further: Path = bound.iter().chain(more).cloned().collect();
        return target(modules, &at, &further, steps - 1).or(Some(at));
    }
    // A name that is neither a module nor bound belongs to the language or to another crate.
    (at != start || first == "crate" || first == "super").then_some(at)
}

/// The files that each file uses, except its parent and its parts.
fn edges(modules: &BTreeMap<Path, Module>) -> BTreeMap<Path, BTreeSet<Path>> {
    let of_module = |(from, module): (&Path, &Module)| {
        let targets = module.paths.iter().filter_map(|path| target(modules, from, path, 8));
        (from.clone(), targets.filter(|to| !to.starts_with(from) && !from.starts_with(to)).collect())
    };
    modules.iter().map(of_module).collect()
}

/// The rooms that each room uses.
fn between_rooms(edges: &BTreeMap<Path, BTreeSet<Path>>) -> BTreeMap<Path, BTreeSet<Path>> {
    let mut rooms: BTreeMap<Path, BTreeSet<Path>> = BTreeMap::new();
    for (from, targets) in edges {
        rooms.entry(room(from)).or_default().extend(targets.iter().map(|to| room(to)).filter(|to| *to != room(from)));
    }
    rooms
}

fn room(path: &[String]) -> Path {
    path[..path.len().min(1)].to_vec()
}

/// The circles among the files of a crate, and those among its rooms that no circle of files shows: each with the files, or
/// rooms, of the circle that it uses.
fn circles(root: &str, modules: &BTreeMap<Path, Module>) -> Vec<BTreeMap<String, Vec<String>>> {
    let edges = edges(modules);
    let rooms = |circle: &BTreeSet<Path>| circle.iter().map(|path| room(path)).collect::<BTreeSet<Path>>();
    let files = circles_of(&edges);
    let between_rooms = between_rooms(&edges);
    let mut of_rooms = circles_of(&between_rooms);
    of_rooms.retain(|circle| !files.iter().any(|files| rooms(files) == *circle));
    let file = |path: &Path| format!("{root}{}.rs", if path.is_empty() { "lib".to_owned() } else { path.join("/") });
    let shown = |circle: BTreeSet<Path>, edges: &BTreeMap<Path, BTreeSet<Path>>| {
        let uses = |from: &Path| edges[from].iter().filter(|to| circle.contains(*to)).map(file).collect();
        circle.iter().map(|from| (file(from), uses(from))).collect()
    };
    let files = files.into_iter().map(|circle| shown(circle, &edges));
    files.chain(of_rooms.into_iter().map(|circle| shown(circle, &between_rooms))).collect()
}

fn circles_of(edges: &BTreeMap<Path, BTreeSet<Path>>) -> BTreeSet<BTreeSet<Path>> {
    let reached = |from: &Path| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&Path> = edges[from].iter().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(&edges[next]);
            }
        }
        seen
    };
    let reached: BTreeMap<&Path, BTreeSet<&Path>> = edges.keys().map(|from| (from, reached(from))).collect();
    let in_circles = reached.iter().filter(|(from, targets)| targets.contains(*from));
    in_circles
        .map(|(from, targets)| {
            targets.iter().filter(|to| reached[**to].contains(from)).map(|to| (*to).clone()).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let sources: Vec<_> = files.iter().map(|(path, text)| source(&format!("a/src/{path}"), text)).collect();
        circles("a/src/", &crate_of(&sources, "a/src/").unwrap())
            .into_iter()
            .map(|circle| circle.into_keys().map(|file| file.replace("a/src/", "")).collect())
            .collect()
    }

    #[test]
    fn two_files_that_use_each_other_are_a_circle() {
        let circle = [vec!["b.rs".to_owned(), "c.rs".to_owned()]];
        for (b, c) in [
            ("use crate::c::C;", "use super::b::{self, B};"),
            ("use super::{c as d, e};\nfn f() {}", "fn f() { crate::b::g() }"),
            ("use crate::{e, c};", "use crate::e;\nfn f(b: &super::b::B) {}"),
        ] {
            assert_eq!(
                found(&[("lib.rs", "mod b; mod c; mod e;"), ("b.rs", b), ("c.rs", c), ("e.rs", "")]),
                circle,
                "{b}"
            );
        }
        assert_eq!(
            found(&[("lib.rs", "mod b; mod c;"), ("b.rs", "use crate::c::C;"), ("c.rs", "use std::fmt;")]).len(),
            0
        );
    }

    #[test]
    fn a_re_export_leads_to_the_file_that_defines_the_item() {
        let files = [
            ("lib.rs", "mod b; mod c; pub use c::{C, D as E};"),
            ("b.rs", "use crate::E;"),
            ("c.rs", "mod d;\npub use self::d::D;"),
            ("c/d.rs", "use crate::b::B;"),
        ];
        assert_eq!(found(&files), [["b.rs", "c/d.rs"]]);
    }

    #[test]
    fn a_file_and_its_parts_and_what_only_tests_use_are_no_circle() {
        let files = [
            ("main.rs", "mod b; mod e;"),
            ("b.rs", "mod c;\nuse c::C;\n#[cfg(test)]\nmod tests;"),
            ("b/c.rs", "use super::B;\n#[cfg(test)]\nmod tests { use crate::e::E; }"),
            ("b/tests.rs", "use crate::e::E;"),
            ("e.rs", "use crate::b::B;\nfn f() { crate::b::c::C }"),
        ];
        assert_eq!(found(&files), [[""; 0]; 0]);
    }

    #[test]
    fn two_folders_that_use_each_other_are_a_circle_even_without_a_circle_of_files() {
        let files = [
            ("lib.rs", "mod b; mod c;"),
            ("b.rs", "mod one; mod two;"),
            ("b/one.rs", "use crate::c::three::C;"),
            ("b/two.rs", ""),
            ("c.rs", "mod three; mod four;"),
            ("c/three.rs", ""),
            ("c/four.rs", "use crate::b::two::B;"),
        ];
        assert_eq!(found(&files), [["b.rs", "c.rs"]]);
        assert_eq!(found(&files[..6]), [[""; 0]; 0]);
    }
}
