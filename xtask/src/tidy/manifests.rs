//! Manifests: the minimum supported Rust version stated where it belongs and nowhere else, the lints inherited by every crate.
//!
//! A published crate states its own version, as low as it can be. What is for this workspace alone inherits one.

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::{Source, Violation, unsafety};

const ROOT: &str = "Cargo.toml";

/// Measurements name the compiler they were made with, which is another fact than the MSRV.
const MEASUREMENTS: &str = "docs/internals/performance.md";

/// Checks every manifest, and every place that might repeat a version.
pub(super) fn check(sources: &[Source]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    let root = sources.iter().find(|source| source.path == ROOT).context("there is no Cargo.toml at the root")?;
    let root_table = parse(root)?;
    let mut stated: Vec<String> = version(&root_table, &["workspace", "package", "rust-version"]).into_iter().collect();
    if stated.is_empty() {
        violations.push(Violation::new(
            ROOT,
            "the MSRV is not stated",
            "state it as rust-version in [workspace.package]",
        ));
    }
    for source in sources.iter().filter(|source| source.path.ends_with("/Cargo.toml")) {
        let table = parse(source)?;
        stated.extend(version(&table, &["package", "rust-version"]));
        violations.extend(member(source, &table));
    }
    stated.sort();
    stated.dedup();
    for source in sources.iter().filter(|source| !source.path.ends_with("Cargo.toml")) {
        if toolchain_file(&source.path) {
            violations.push(Violation::new(
                &source.path,
                "pins a toolchain, a second statement of the Rust version",
                "delete it; rust-version in Cargo.toml is the one place",
            ));
        } else {
            violations.extend(repetition(source, &stated));
        }
    }
    Ok(violations)
}

fn version(table: &Table, keys: &[&str]) -> Option<String> {
    lookup(table, keys).and_then(Value::as_str).map(str::to_owned)
}

fn member(source: &Source, table: &Table) -> Vec<Violation> {
    let mut violations = Vec::new();
    let inherits = lookup(table, &["lints", "workspace"]) == Some(&Value::Boolean(true));
    if !inherits && !unsafety::spells_its_own_lints(&source.path) {
        violations.push(Violation::new(
            &source.path,
            "does not inherit the workspace lints",
            "add `[lints]` with `workspace = true`",
        ));
    }
    let published = lookup(table, &["package", "publish"]) == Some(&Value::Boolean(true));
    let inherits = lookup(table, &["package", "rust-version", "workspace"]) == Some(&Value::Boolean(true));
    if published && version(table, &["package", "rust-version"]).is_none() {
        violations.push(Violation::new(
            &source.path,
            "is published without an MSRV of its own",
            "state the lowest `rust-version` that it builds with",
        ));
    } else if !published && !inherits {
        violations.push(Violation::new(
            &source.path,
            "does not inherit the MSRV",
            "write `rust-version.workspace = true` and no version",
        ));
    }
    violations
}

/// Prose and settings that state a version again.
fn repetition(source: &Source, stated: &[String]) -> Option<Violation> {
    let remedy = "say \"the rust-version of Cargo.toml\" instead of the number";
    let prose =
        source.path.ends_with(".md") && !source.path.starts_with("docs/reference/") && source.path != MEASUREMENTS;
    let setting =
        source.path.ends_with("clippy.toml") || source.path.starts_with(".ci/") || source.path.starts_with(".cargo/");
    if !(prose || setting) {
        return None;
    }
    let repeats =
        |line: &str| stated.iter().any(|version| has_version(line, version)) || line.trim_start().starts_with("msrv");
    let line = source.text.lines().position(repeats)?;
    Some(Violation::new(format!("{}:{}", source.path, line + 1), "states the MSRV a second time", remedy))
}

/// True if the version stands alone or with a patch level after it.
fn has_version(line: &str, version: &str) -> bool {
    line.match_indices(version).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + version.len()..].chars().next();
        !before.is_some_and(|c| c.is_ascii_digit() || c == '.') && !after.is_some_and(|c| c.is_ascii_digit())
    })
}

fn toolchain_file(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("rust-toolchain" | "rust-toolchain.toml"))
}

fn parse(source: &Source) -> Result<Table> {
    source.text.parse().with_context(|| format!("{} is not TOML", source.path))
}

fn lookup<'a>(table: &'a Table, keys: &[&str]) -> Option<&'a Value> {
    let (last, parents) = keys.split_last()?;
    let parent = parents.iter().try_fold(table, |table, key| table.get(*key)?.as_table())?;
    parent.get(*last)
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\nrust-version.workspace = true\n[lints]\nworkspace = true\n";

    fn complaints(others: &[(&str, &str)]) -> Vec<String> {
        let mut sources = vec![source("Cargo.toml", "[workspace.package]\nrust-version = \"9.87\"\n")];
        sources.extend(others.iter().map(|(path, text)| source(path, text)));
        check(&sources).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_manifest_that_inherits_passes() {
        assert_eq!(
            complaints(&[("crates/a/Cargo.toml", GOOD), ("README.md", "needs Rust 19.87, 9.875 or 0.9.87")]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_missing_msrv_or_root_is_reported() {
        assert!(check(&[source("Cargo.toml", "[workspace]\n")]).unwrap()[0].what.contains("not stated"));
        assert!(check(&[]).is_err());
    }

    #[test]
    fn a_manifest_with_its_own_version_or_lints_is_reported() {
        let own = "[package]\nname = \"a\"\nrust-version = \"9.87\"\n[lints.rust]\nunsafe_code = \"allow\"\n";
        let complaints = complaints(&[("crates/a/Cargo.toml", own)]);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].starts_with("crates/a/Cargo.toml: does not inherit the workspace lints;"));
        assert!(complaints[1].starts_with("crates/a/Cargo.toml: does not inherit the MSRV;"));
    }

    #[test]
    fn a_published_crate_states_its_own_version() {
        let inheriting = GOOD.replace("[lints]", "publish = true\n[lints]");
        let complaints_of = |text: &str| complaints(&[("crates/a/Cargo.toml", text)]);
        assert!(complaints_of(&inheriting)[0].contains("is published without an MSRV of its own"));
        let own = inheriting.replace("rust-version.workspace = true", "rust-version = \"9.86\"");
        assert_eq!(complaints_of(&own), Vec::<String>::new());
        let repeated = complaints(&[("crates/a/Cargo.toml", &own), ("README.md", "Rust 9.86 or later")]);
        assert!(repeated[0].starts_with("README.md:1: states the MSRV a second time"));
    }

    #[test]
    fn a_second_statement_is_reported_with_its_line() {
        for (path, text) in [
            ("README.md", "# pg\nRust 9.87 or later\n"),
            ("docs/contributing.md", "#\nInstall Rust (9.87.0).\n"),
            (".ci/run", "#!/bin/sh\nrustup default 9.87\n"),
            ("crates/clippy.toml", "#\nmsrv = \"1.2\"\n"),
        ] {
            assert_eq!(
                complaints(&[(path, text)]),
                [format!(
                    "{path}:2: states the MSRV a second time; say \"the rust-version of Cargo.toml\" instead of the number"
                )]
            );
        }
        assert!(complaints(&[("rust-toolchain.toml", "")])[0].contains("pins a toolchain"));
        assert!(complaints(&[("docs/internals/performance.md", "rustc 9.87.0")]).is_empty());
    }
}
