//! Public names have one meaning each: `docs/internals/glossary.md` says which, and lists the names that must not come back.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, Violation};

const GLOSSARY: &str = "docs/internals/glossary.md";
/// The crates whose types a client uses side by side.
const CLIENTS: &[&str] = &["pg_model", "pg_crypto", "pg_proto", "pg_hyper"];

/// Compares the glossary with the public API.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let Some(glossary) = sources.iter().find(|source| source.path == GLOSSARY) else { return Vec::new() };
    let mut names = BTreeSet::new();
    let mut types: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut violations = Vec::new();
    let retired = retired(&glossary.text);
    for source in sources.iter().filter(|source| is_api(&source.path)) {
        for (at, line) in source.text.lines().enumerate() {
            let Some(Item { name, of }) = item(line) else { continue };
            names.insert(name);
            if let Some(krate) = of {
                types.entry(name).or_default().insert(krate);
            }
            if let Some((_, instead)) = retired.iter().find(|(old, _)| *old == name) {
                violations.push(Violation::new(
                    format!("{}:{}", source.path, at + 1),
                    format!("{name} is a retired name"),
                    format!("{GLOSSARY} names its replacement: {instead}"),
                ));
            }
        }
    }
    for (name, crates) in types {
        let crates: Vec<&str> = crates.into_iter().filter(|krate| CLIENTS.contains(krate)).collect();
        if crates.len() > 1 {
            let what = format!("{name} is a type of {}", crates.join(" and of "));
            violations.push(Violation::new("docs/reference/api", what, "one name, one meaning: rename one of them"));
        }
    }
    for term in terms(&glossary.text).filter(|term| !names.contains(term)) {
        violations.push(Violation::new(
            GLOSSARY,
            format!("{term} is not a public type"),
            "name the type that there is",
        ));
    }
    violations
}

fn is_api(path: &str) -> bool {
    path.starts_with("docs/reference/api/") && path.ends_with(".txt")
}

/// A public name, and of types the crate.
struct Item<'l> {
    name: &'l str,
    of: Option<&'l str>,
}

/// The item that a line of `docs/reference/api` defines.
fn item(line: &str) -> Option<Item<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let keyword = words.iter().position(|word| ["struct", "enum", "trait", "type", "fn"].contains(word))?;
    if words[..keyword].iter().any(|word| ["use", "impl", "derive", "{", "=>"].contains(word)) {
        return None;
    }
    let path = words.get(keyword + 1)?.split(['<', '(', ':']).next()?;
    let whole = words[keyword + 1].split(['<', '(']).next()?.trim_end_matches(':');
    let name = whole.rsplit("::").next()?;
    let is_type = words[keyword] != "fn" && whole.contains("::");
    Some(Item { name, of: is_type.then_some(path) })
}

/// The types of the table of terms.
fn terms(glossary: &str) -> impl Iterator<Item = &str> {
    let table = glossary.split("\n## ").find(|part| part.starts_with("Terms")).unwrap_or_default();
    first_cells(table).map(|(cell, _)| cell).filter(|cell| cell.starts_with(char::is_uppercase))
}

/// The names that are not used, with what is used instead.
fn retired(glossary: &str) -> Vec<(&str, &str)> {
    let table = glossary.split("\n## ").find(|part| part.starts_with("Names that are not used")).unwrap_or_default();
    first_cells(table).collect()
}

/// The code in the first cells of a table's rows, with the second cells.
fn first_cells(table: &str) -> impl Iterator<Item = (&str, &str)> {
    table.lines().filter_map(|line| {
        let (first, rest) = line.strip_prefix("| `")?.split_once("` |")?;
        Some((first, rest.split('|').next()?.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    const PAGE: &str = "# Glossary\n\n## Terms\n\n| term | meaning |\n|---|---|\n| `Endpoint` | a URL |\n| lookup | a request |\n| `Gone` | was |\n\n\
        ## Names that are not used\n\n| not | but |\n|---|---|\n| `Door` | `Endpoint` |\n| `tell` | `handle_input` |\n";

    fn found(api: &[(&str, &str)]) -> Vec<String> {
        let mut sources = vec![source(GLOSSARY, PAGE)];
        sources.extend(api.iter().map(|(path, text)| source(path, text)));
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn retired_names_double_names_and_terms_without_a_type_are_violations() {
        let hyper = "struct pg_hyper::Endpoint\n    derive Clone\n#[non_exhaustive] enum pg_hyper::Door\nstruct pg_hyper::Drive<M>\n    \
            fn tell(&mut self, input: M::Input)\ntype pg_hyper::Retry<T> = u8\nuse pg_hyper::Door from elsewhere\n";
        let model = "enum pg_model::method::Retry\nstruct pg_model::Gone\nstruct pg_model::dialect::Gone\n";
        assert_eq!(
            found(&[("docs/reference/api/pg-hyper.txt", hyper), ("docs/reference/api/pg-model.txt", model)]),
            [
                "docs/reference/api/pg-hyper.txt:3: Door is a retired name; docs/internals/glossary.md names its replacement: `Endpoint`",
                "docs/reference/api/pg-hyper.txt:5: tell is a retired name; docs/internals/glossary.md names its replacement: `handle_input`",
                "docs/reference/api: Retry is a type of pg_hyper and of pg_model; one name, one meaning: rename one of them",
            ]
        );
    }

    #[test]
    fn a_glossary_term_without_its_type_is_reported() {
        let api = "struct pg_hyper::Endpoint\n";
        assert_eq!(
            found(&[("docs/reference/api/pg-hyper.txt", api)]),
            ["docs/internals/glossary.md: Gone is not a public type; name the type that there is"]
        );
    }
}
