//! Checks that manifests skip no test: targets that are not built as tests contain none, and every file beside
//! `tests/main.rs` is a module of it or a separate program.

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::{Source, Violation};

const MARKS: [&str; 3] = ["#[test]", "#[tokio::test", "proptest! {"];

/// Checks the manifests that switch a target's tests off, and those that list the programs of their tests.
pub(super) fn check(sources: &[Source]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for manifest in sources.iter().filter(|source| source.path.ends_with("/Cargo.toml")) {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        let table: Table = manifest.text.parse().with_context(|| format!("{} is not a manifest", manifest.path))?;
        if !switched_off(&table).is_empty() {
            violations.extend(without_tests(sources, folder));
        }
        if table["package"].get("autotests") == Some(&Value::Boolean(false)) {
            violations.extend(beside_main(sources, folder, &table));
        }
    }
    Ok(violations)
}

fn targets<'a>(table: &'a Table, kind: &str) -> impl Iterator<Item = &'a Value> {
    let found = table.get(kind);
    found.and_then(Value::as_array).into_iter().flatten().chain(found.filter(|found| found.is_table()))
}

fn switched_off(table: &Table) -> Vec<&Value> {
    let off = |target: &&Value| target.get("test") == Some(&Value::Boolean(false));
    ["lib", "bin"].into_iter().flat_map(|kind| targets(table, kind).filter(off)).collect()
}

/// Which file belongs to which target is not asked: with one of them off, the folder holds no test.
fn without_tests<'a>(sources: &'a [Source], folder: &'a str) -> impl Iterator<Item = Violation> + 'a {
    let of_the_target = move |source: &&Source| source.path.starts_with(&format!("{folder}src/"));
    let tests = move |source: &&Source| MARKS.iter().any(|mark| source.text.contains(mark));
    sources.iter().filter(of_the_target).filter(tests).map(move |source| {
        let remedy = "move it to tests/, or remove the line";
        Violation::new(&source.path, format!("holds a test that {folder}Cargo.toml keeps from being built"), remedy)
    })
}

fn beside_main(sources: &[Source], folder: &str, table: &Table) -> Vec<Violation> {
    let tests = format!("{folder}tests/");
    let main = sources.iter().find(|source| source.path == format!("{tests}main.rs"));
    let declared = |name: &str| main.is_some_and(|main| main.text.lines().any(|line| line == format!("mod {name};")));
    let listed = |file: &str| {
        targets(table, "test").any(|test| test.get("path").and_then(Value::as_str) == Some(&format!("tests/{file}")))
    };
    let mut violations = Vec::new();
    for source in sources {
        let Some(file) = source.path.strip_prefix(&tests) else { continue };
        let name = file.strip_suffix("/mod.rs").or_else(|| file.strip_suffix("/main.rs"));
        let name = name.or_else(|| file.strip_suffix(".rs").filter(|name| !name.contains('/')));
        let Some(name) = name.filter(|name| !name.contains('/')) else { continue };
        // A folder with a manifest is a package of its own.
        let package = sources.iter().any(|other| other.path == format!("{tests}{name}/Cargo.toml"));
        let module = declared(name) && !file.ends_with("/main.rs");
        if !package && !module && !listed(file) {
            let remedy = format!("write `mod {name};` into {tests}main.rs, or list it as a [[test]]");
            violations.push(Violation::new(&source.path, "belongs to no program of tests", remedy));
        }
    }
    violations
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
            let sources = [("a/Cargo.toml", off), ("a/src/b.rs", test), ("a/tests/c.rs", test), ("b/src/b.rs", test)];
            assert_eq!(places(&sources), ["a/src/b.rs"]);
        }
        assert_eq!(places(&[("a/Cargo.toml", "[package]\n[lib]\nbench = false"), ("a/src/b.rs", test)]), [""; 0]);
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
                ("a/tests/two/mod.rs", ""),
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
}
