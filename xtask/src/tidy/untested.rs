//! Checks that no test is skipped unnoticed: targets that are not built as tests contain none, programs of tests are always run, a
//! test is ignored with a reason only, every source is a program of its package or a module at its place, and one function decides what is left out on CI. The page of the coverage names tests by these places.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::{Source, Violation};

/// The file whose function tests call when they skip something, and the tools that run it.
const LEFT_OUT: &str = "tests/support/src/left_out.rs";
const TOOLS: &str = "xtask/";

/// Attributes that remove a test from every build, or leave it out without a reason.
const REMOVED: [&str; 5] = ["#[cfg(any())]", "#![cfg(any())]", "#[cfg(false)]", "#![cfg(false)]", "#[ignore]"];

const MARKS: [&str; 3] = ["#[test]", "#[tokio::test", "proptest! {"];

/// Checks the manifests that switch a target's tests off, and that every source is compiled.
pub(super) fn check(sources: &[Source]) -> Result<Vec<Violation>> {
    let mut violations = own_verdicts(sources);
    violations.extend(sources.iter().filter(|source| source.path.ends_with(".rs")).flat_map(removed));
    let mut packages = BTreeMap::new();
    for manifest in sources.iter().filter(|source| source.path.ends_with("/Cargo.toml")) {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        let table: Table = manifest.text.parse().with_context(|| format!("{} is not a manifest", manifest.path))?;
        if !switched_off(&table).is_empty() {
            violations.extend(without_tests(sources, folder));
        }
        if let Some(key) = targets(&table, "test").find_map(not_always_run) {
            let what = format!("has a [[test]] with {key}, so that its tests may not run");
            violations.push(Violation::new(&manifest.path, what, "remove the key"));
        }
        packages.insert(folder, table);
    }
    let texts: BTreeMap<&str, &str> = sources.iter().map(|source| (&*source.path, &*source.text)).collect();
    for path in texts.keys().filter(|path| path.ends_with(".rs")) {
        let package =
            packages.iter().filter(|(folder, _)| path.starts_with(**folder)).max_by_key(|(folder, _)| folder.len());
        let Some((folder, table)) = package else { continue };
        if !is_program(&path[folder.len()..], table) && !is_module(path, &texts) {
            let remedy = "declare it in the file above it, or list it in the manifest";
            violations.push(Violation::new(*path, "belongs to no program", remedy));
        }
    }
    Ok(violations)
}

/// Sources that ask themselves whether they run on CI: what their tests skip would be missing from the summary of `cargo xtask test`.
fn own_verdicts(sources: &[Source]) -> Vec<Violation> {
    let asks = |source: &&Source| {
        let ours = source.path == LEFT_OUT || source.path.starts_with(TOOLS);
        !ours && source.path.ends_with(".rs") && source.text.contains("\"CI\"")
    };
    let found = sources.iter().filter(asks);
    found.map(|source| Violation::new(&source.path, "asks for CI", "call pg_support::left_out")).collect()
}

/// Items that no build has, and tests that are ignored without a reason.
fn removed(source: &Source) -> impl Iterator<Item = Violation> {
    let lines = source.text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| REMOVED.contains(line)).map(|(number, line)| {
        let remedy = "remove it with its item, or give the reason: #[ignore = \"…\"]";
        Violation::new(format!("{}:{number}", source.path), format!("leaves tests out with {line}"), remedy)
    })
}

/// The key of a target of tests that keeps `cargo test` from running all of them.
fn not_always_run(target: &Value) -> Option<&'static str> {
    if target.get("required-features").is_some() {
        return Some("required-features");
    }
    ["test", "harness"].into_iter().find(|key| target.get(*key) == Some(&Value::Boolean(false)))
}

/// Whether Cargo compiles the file, named from the folder of its package, as a program or a library.
fn is_program(file: &str, manifest: &Table) -> bool {
    let found = manifest["package"].get("autotests") != Some(&Value::Boolean(false));
    let listed = |kind| targets(manifest, kind).any(|one| one.get("path").and_then(Value::as_str) == Some(file));
    match file.split('/').collect::<Vec<_>>()[..] {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] | ["src", "bin", ..] | ["benches" | "examples", ..] => true,
        ["tests", _] | ["tests", _, "main.rs"] if found => true,
        _ => ["test", "bin"].into_iter().any(listed),
    }
}

/// Whether the file above it declares the file as a module, or another does with `#[path]`.
fn is_module(path: &str, texts: &BTreeMap<&str, &str>) -> bool {
    let place = path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
    let Some((folder, name)) = place.rsplit_once('/') else { return false };
    let above = [".rs", "/mod.rs", "/lib.rs", "/main.rs"].map(|ending| format!("{folder}{ending}"));
    let declaration = format!("mod {name};");
    let declares = |text: &&str| {
        text.lines().any(|line| line.trim_start().starts_with(['m', 'p']) && line.ends_with(&declaration))
    };
    let elsewhere = format!("/{name}.rs\"]");
    above.iter().filter_map(|above| texts.get(&**above)).any(declares)
        || texts
            .values()
            .any(|text| text.lines().any(|line| line.starts_with("#[path = ") && line.ends_with(&elsewhere)))
}

fn targets<'a>(table: &'a Table, kind: &str) -> impl Iterator<Item = &'a Value> {
    let found = table.get(kind);
    found.and_then(Value::as_array).into_iter().flatten().chain(found.filter(|found| found.is_table()))
}

fn switched_off(table: &Table) -> Vec<&Value> {
    let off = |target: &&Value| target.get("test") == Some(&Value::Boolean(false));
    ["lib", "bin"].into_iter().flat_map(|kind| targets(table, kind).filter(off)).collect()
}

/// Files are not assigned to targets: if one target is off, its folder must contain no test.
fn without_tests<'a>(sources: &'a [Source], folder: &'a str) -> impl Iterator<Item = Violation> + 'a {
    let of_the_target = move |source: &&Source| source.path.starts_with(&format!("{folder}src/"));
    let tests = move |source: &&Source| MARKS.iter().any(|mark| source.text.contains(mark));
    sources.iter().filter(of_the_target).filter(tests).map(move |source| {
        let remedy = "move it to tests/, or remove the line";
        Violation::new(&source.path, format!("holds a test that {folder}Cargo.toml keeps from being built"), remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::source;

    fn places(sources: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> = sources.iter().map(|(path, text)| source(path, text)).collect();
        check(&sources).unwrap().into_iter().map(|violation| violation.place).collect()
    }

    #[test]
    fn a_test_in_a_target_that_is_not_built_as_one_is_found() {
        let test = "#[tokio::test]\nasync fn it_is() {}";
        for off in ["[package]\n[lib]\ntest = false", "[package]\n[[bin]]\nname = \"a\"\ntest = false"] {
            let sources = [
                ("a/Cargo.toml", off),
                ("a/src/lib.rs", "mod b;"),
                ("a/src/b.rs", test),
                ("a/tests/c.rs", test),
                ("b/src/b.rs", test),
            ];
            assert_eq!(places(&sources), ["a/src/b.rs"]);
        }
        assert_eq!(places(&[("a/Cargo.toml", "[package]\n[lib]\nbench = false"), ("a/src/lib.rs", test)]), [""; 0]);
    }

    #[test]
    fn a_test_program_that_is_not_always_run_is_found() {
        let program = |key: &str| format!("[package]\n[[test]]\nname = \"all\"\npath = \"tests/main.rs\"\n{key}");
        for (key, found) in [
            ("", false),
            ("test = true", false),
            ("test = false", true),
            ("harness = false", true),
            ("required-features = [\"never\"]", true),
        ] {
            let found = if found { vec!["a/Cargo.toml"] } else { vec![] };
            assert_eq!(places(&[("a/Cargo.toml", &program(key)), ("a/tests/main.rs", "")]), found, "{key}");
        }
    }

    #[test]
    fn a_test_that_is_left_out_without_a_reason_is_found() {
        let sources = |text| [("a/Cargo.toml", "[package]"), ("a/src/lib.rs", text)];
        for text in [
            "#[test]\n    #[ignore]\nfn a() {}",
            "#[cfg(any())]\nmod a {}",
            "#![cfg(any())]",
            "#[cfg(false)]\nfn a() {}",
        ] {
            assert_eq!(places(&sources(text)).len(), 1, "{text}");
        }
        for text in ["#[ignore = \"a measurement\"]\nfn a() {}", "#[cfg(any(test, miri))]\nmod a {}"] {
            assert_eq!(places(&sources(text)), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_test_that_decides_by_itself_what_is_left_out_is_found() {
        let asks = "if env::var(\"CI\").is_err() { return; }";
        let sources = [
            ("tests/support/Cargo.toml", "[package]"),
            ("tests/support/src/lib.rs", "mod left_out;"),
            ("tests/support/src/left_out.rs", asks),
            ("a/Cargo.toml", "[package]"),
            ("a/tests/c.rs", asks),
            ("a/tests/d.rs", "env::vars().any(|(name, _)| name == \"CI\")"),
            ("xtask/Cargo.toml", "[package]"),
            ("xtask/src/main.rs", asks),
        ];
        assert_eq!(places(&sources), ["a/tests/c.rs", "a/tests/d.rs"]);
    }

    #[test]
    fn a_file_beside_the_one_program_is_a_module_of_it_or_a_program() {
        let manifest = "[package]\nautotests = false\n[[test]]\nname = \"all\"\npath = \"tests/main.rs\"\n\
                        [[test]]\nname = \"own\"\npath = \"tests/own/main.rs\"";
        let sources = |main| {
            [
                ("a/Cargo.toml", manifest),
                ("a/tests/main.rs", main),
                ("a/tests/one.rs", ""),
                ("a/tests/two/mod.rs", "mod part;"),
                ("a/tests/two/part.rs", ""),
                ("a/tests/own/main.rs", ""),
                ("a/tests/rows/1.sql", ""),
            ]
        };
        assert_eq!(places(&sources("mod one;\nmod two;\n")), [""; 0]);
        assert_eq!(places(&sources("mod two;\n")), ["a/tests/one.rs"]);
        assert_eq!(places(&sources("mod one;\n")), ["a/tests/two/mod.rs"]);
        assert_eq!(places(&[("a/Cargo.toml", manifest), ("a/tests/other/main.rs", "")]), ["a/tests/other/main.rs"]);
    }

    #[test]
    fn a_source_that_no_file_declares_is_found() {
        let sources = |manifest, lib| {
            [
                ("a/Cargo.toml", manifest),
                ("a/build.rs", ""),
                ("a/src/lib.rs", lib),
                ("a/src/b.rs", "pub(in crate::b) mod c;"),
                ("a/src/b/c.rs", ""),
                ("a/src/odd.rs", ""),
                ("a/src/bin/d.rs", ""),
                ("a/tests/e.rs", ""),
                ("a/own/f.rs", ""),
            ]
        };
        let listed = "[package]\n[[bin]]\nname = \"f\"\npath = \"own/f.rs\"";
        assert_eq!(places(&sources(listed, "mod b;\n#[path = \"x/odd.rs\"]\nmod named;")), [""; 0]);
        assert_eq!(places(&sources("[package]", "mod b;")), ["a/own/f.rs", "a/src/odd.rs"]);
        assert_eq!(places(&sources(listed, "mod odd;\n// mod b;\n")), ["a/src/b.rs"]);
    }
}
