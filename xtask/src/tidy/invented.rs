//! The codes that the sandbox invents are named by the sandbox and its dialect, and by no other crate: a client asks the
//! dialect of its account, so that it can talk to a service with other codes.

use anyhow::{Context, Result};
use toml::Table;

use super::{Source, Violation};

/// Where the codes stand.
const DIALECT: &str = "crates/pg-sandbox/dialects/sandbox.toml";
/// The crates of clients, and their dependencies.
const CLIENTS: &[&str] =
    &["pg-model", "pg-crypto", "pg-proto", "pg-hyper", "pg-intents", "pg-survey", "pg-cli", "pg-wasm"];
/// How a module of tests begins.
const TESTS: &str = "#[cfg(test)]\nmod ";
/// Codes below are the documents'.
const FIRST: &str = "900";

/// Looks for the codes as texts outside tests.
pub(super) fn check(sources: &[Source]) -> Result<Vec<Violation>> {
    let Some(dialect) = sources.iter().find(|source| source.path == DIALECT) else { return Ok(Vec::new()) };
    let codes = codes(&dialect.text)?;
    let tests = test_modules(sources);
    let of_client = |source: &&Source| {
        let folder =
            CLIENTS.iter().map(|name| format!("crates/{name}/src/")).find(|folder| source.path.starts_with(folder));
        folder.is_some() && source.path.ends_with(".rs") && !tests.iter().any(|test| source.path.starts_with(test))
    };
    let mut violations = Vec::new();
    for source in sources.iter().filter(of_client) {
        for (at, line) in
            without_tests(&source.text).lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for code in codes.iter().filter(|code| line.contains(&format!("\"{code}\""))) {
                violations.push(Violation::new(
                    format!("{}:{}", source.path, at + 1),
                    format!("names {code}, which the sandbox invents"),
                    "ask the dialect of the account",
                ));
            }
        }
    }
    Ok(violations)
}

/// The codes of the dialect that no document has.
fn codes(text: &str) -> Result<Vec<String>> {
    let table: Table = text.parse().with_context(|| format!("{DIALECT} is no TOML"))?;
    let rows = ["declined", "authentication", "error"].iter().filter_map(|kind| table.get(*kind)?.as_array()).flatten();
    let codes = rows.filter_map(|row| row.get("code")?.as_str());
    Ok(codes.filter(|code| *code >= FIRST).map(str::to_owned).collect())
}

/// A text up to the module of its tests.
fn without_tests(text: &str) -> &str {
    let is_inline = |at: &usize| {
        let name = text[at + TESTS.len()..].lines().next().unwrap_or_default();
        name.ends_with('{')
    };
    let end = text.match_indices(TESTS).map(|(at, _)| at).find(is_inline);
    &text[..end.unwrap_or(text.len())]
}

/// Where modules lie that are built for tests alone: the beginnings of their paths.
fn test_modules(sources: &[Source]) -> Vec<String> {
    let mut modules = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".rs")) {
        let folder = source.path.trim_end_matches("/mod.rs").trim_end_matches("/lib.rs").trim_end_matches("/main.rs");
        let folder = folder.trim_end_matches(".rs");
        for rest in source.text.split(TESTS).skip(1) {
            let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
            if rest[name.len()..].starts_with(';') {
                modules.extend([format!("{folder}/{name}.rs"), format!("{folder}/{name}/")]);
            }
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    #[test]
    fn a_client_names_no_code_of_the_sandbox_outside_its_tests() {
        let dialect = "[[declined]]\ncode = \"901\"\n[[error]]\ncode = \"107\"\n[[error]]\ncode = \"950\"\n";
        let sources = [
            source(DIALECT, dialect),
            source(
                "crates/pg-proto/src/lib.rs",
                "#[cfg(test)]\nmod played;\n// \"950\"\nif code == \"107\" {}\nif code == \"950\" {}\n",
            ),
            source("crates/pg-proto/src/played.rs", "\"950\""),
            source("crates/pg-model/src/outcome.rs", "\"902\"\n#[cfg(test)]\nmod tests {\n\"901\"\n}\n"),
            source("crates/pg-sandbox/src/bank.rs", "\"901\""),
            source("crates/pg-intents/src/lib.rs", "\"901\""),
        ];
        let found = check(&sources).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0].to_string(),
            "crates/pg-proto/src/lib.rs:5: names 950, which the sandbox invents; ask the dialect of the account"
        );
        assert_eq!(found[1].place, "crates/pg-intents/src/lib.rs:1");
    }
}
