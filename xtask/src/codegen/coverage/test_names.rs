//! Which tests there are, from the sources: the functions that `cargo test` would run, by their full paths, and the
//! walks of the independent client.

use std::{collections::BTreeSet, fs, path::Path};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta};

/// Where the walks are.
const WALKS: &str = "tests/independent";

/// The tests of the workspace below the root.
///
/// A test has the path `package::target::module::function`; those inside a library, a command, or the one program of
/// `tests/main.rs` have no target.
pub(super) fn of_workspace(root: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let places = ["crates", "docs/examples", "tests"].map(|place| root.join(place));
    let packages = places.iter().flat_map(|place| folders(place)).chain([root.join("tests"), root.join("xtask")]);
    for package in packages.filter(|package| package.join("Cargo.toml").exists()) {
        let manifest = read(&package.join("Cargo.toml"));
        let name = manifest.split("name = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        for file in ["src/lib.rs", "src/main.rs"].map(|file| package.join(file)).iter().filter(|file| file.exists()) {
            of_file(file, true, name, &mut names);
        }
        of_targets(&package.join("tests"), name, &mut names);
    }
    for file in files(&root.join(WALKS)) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("walk_") {
            names.extend(walks(&read(&file)).into_iter().map(|walk| format!("{WALKS}/{name}::{walk}")));
        }
    }
    names
}

/// The tests in the folder beside the sources: each file and folder is a program, or a module of the one in `main.rs`.
fn of_targets(tests: &Path, name: &str, names: &mut BTreeSet<String>) {
    let main = tests.join("main.rs");
    if main.exists() {
        of_file(&main, true, name, names);
    } else {
        for file in files(tests).iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
            of_file(file, true, &format!("{name}::{}", stem(file)), names);
        }
    }
    for folder in folders(tests) {
        let main = folder.join("main.rs");
        if main.exists() {
            of_file(&main, true, &format!("{name}::{}", stem(&folder)), names);
        }
    }
}

/// The tests of a file and of the modules that it declares. The modules of a `root` stand beside it, those of another
/// file in a folder of its name.
fn of_file(path: &Path, root: bool, name: &str, names: &mut BTreeSet<String>) {
    let file = syn::parse_file(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let beside = path.parent().unwrap();
    let folder = if root || stem(path) == "mod" { beside.to_owned() } else { beside.join(stem(path)) };
    of_items(&file.items, &folder, name, names);
}

fn of_items(items: &[Item], folder: &Path, name: &str, names: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Fn(function) if is_test(&function.attrs) => {
                names.insert(format!("{name}::{}", function.sig.ident));
            }
            Item::Mod(module) => of_module(module, folder, name, names),
            Item::Macro(call) if call.mac.path.segments.last().is_some_and(|last| last.ident == "proptest") => {
                names.extend(properties(call.mac.tokens.clone()).iter().map(|function| format!("{name}::{function}")));
            }
            _ => {}
        }
    }
}

fn of_module(module: &ItemMod, folder: &Path, name: &str, names: &mut BTreeSet<String>) {
    let own = module.ident.to_string();
    let name = format!("{name}::{own}");
    if let Some((_, items)) = &module.content {
        return of_items(items, &folder.join(own), &name, names);
    }
    let elsewhere = module.attrs.iter().find_map(path_of);
    let places = match elsewhere {
        Some(path) => vec![folder.join(path)],
        None => vec![folder.join(format!("{own}.rs")), folder.join(&own).join("mod.rs")],
    };
    if let Some(file) = places.iter().find(|place| place.exists()) {
        of_file(file, false, &name, names);
    }
}

/// Whether the function is run: `#[test]` or `#[tokio::test]`, and not `#[ignore]`.
fn is_test(attributes: &[Attribute]) -> bool {
    let named = |name: &str| {
        attributes.iter().any(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == name))
    };
    named("test") && !named("ignore")
}

fn path_of(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The names of the functions in a `proptest!`.
fn properties(tokens: TokenStream) -> Vec<String> {
    let mut names = Vec::new();
    let mut after_fn = false;
    for token in tokens {
        if let TokenTree::Ident(word) = &token {
            if after_fn {
                names.push(word.to_string());
            }
            after_fn = word == "fn";
        } else {
            after_fn = false;
        }
    }
    names
}

/// The functions of a Python file that are handed to the walk, as its decorators say.
fn walks(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let decorated = lines.windows(2).filter(|pair| pair[0].starts_with("@walk"));
    let named = decorated.filter_map(|pair| pair[1].strip_prefix("def ")?.split('(').next());
    named.map(str::to_owned).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folders(folder: &Path) -> Vec<std::path::PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_file()).collect()
}

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}
