//! The one exception from the ban on unsafe code: the names under which the compiled decoder exports its functions.

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::{Source, Violation};

/// The crate that exports names to JavaScript. `forbid` knows no exception, so it spells the workspace's lints out.
const FOLDER: &str = "crates/pg-wasm/";
const MANIFEST: &str = "crates/pg-wasm/Cargo.toml";

/// Its one file that may, and what alone it may.
const EXPORTS: &str = "crates/pg-wasm/src/exports.rs";
const NAME: &str = concat!("#[un", "safe(no_mangle)]");

const ROOT: &str = "Cargo.toml";

/// In two pieces, so that this file does not find itself.
const UNSAFE: &str = concat!("un", "safe");
const LINT: &str = concat!("un", "safe_code");

/// True for the manifest that cannot inherit the workspace's lints.
pub(super) fn spells_its_own_lints(manifest: &str) -> bool {
    manifest == MANIFEST
}

/// Holds the crate's lints to the workspace's but for one, and the exception to its file and its attribute.
pub(super) fn check(sources: &[Source]) -> Result<Vec<Violation>> {
    let mut violations: Vec<Violation> = sources
        .iter()
        .filter(|source| source.path.starts_with(FOLDER) && source.path.ends_with(".rs"))
        .flat_map(unsafe_lines)
        .collect();
    violations.extend(lints(sources)?);
    Ok(violations)
}

fn unsafe_lines(source: &Source) -> Vec<Violation> {
    let lines = source.text.lines().enumerate().filter(|(_, line)| {
        let code = line.split("//").next().unwrap_or_default().trim();
        let allowed =
            source.path == EXPORTS && (code == NAME || code.starts_with(&format!("#![expect({LINT}, reason")));
        code.contains(UNSAFE) && !allowed
    });
    lines
        .map(|(index, _)| {
            Violation::new(
                format!("{}:{}", source.path, index + 1),
                format!("is {UNSAFE} beyond an exported name"),
                format!("keep to {NAME} in {EXPORTS}, and to safe code in all else"),
            )
        })
        .collect()
}

fn lints(sources: &[Source]) -> Result<Option<Violation>> {
    let Some(manifest) = sources.iter().find(|source| source.path == MANIFEST) else { return Ok(None) };
    let root = sources.iter().find(|source| source.path == ROOT).context("there is no Cargo.toml at the root")?;
    let root: Table = root.text.parse().context("Cargo.toml is not TOML")?;
    let manifest: Table = manifest.text.parse().with_context(|| format!("{MANIFEST} is not TOML"))?;
    let mut wanted = root.get("workspace").and_then(|workspace| workspace.get("lints")).cloned();
    if let Some(lint) = wanted.as_mut().and_then(|lints| lints.get_mut("rust")?.get_mut(LINT)) {
        *lint = Value::String("deny".to_owned());
    }
    let differ = manifest.get("lints") != wanted.as_ref();
    Ok(differ.then(|| {
        let remedy = format!("copy [workspace.lints] of Cargo.toml into it as [lints], with {LINT} = \"deny\"");
        Violation::new(MANIFEST, "has other lints than the workspace", remedy)
    }))
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    fn complaints(path: &str, text: &str) -> usize {
        check(&[source("Cargo.toml", ""), source(path, text)]).unwrap().len()
    }

    #[test]
    fn only_names_are_exported_and_only_there() {
        let exports =
            format!("#![expect({LINT}, reason = \"names\")]\n{NAME} // a name\nfn a() {{}}\n// no {UNSAFE}\n");
        assert_eq!(complaints(EXPORTS, &exports), 0);
        assert_eq!(complaints("crates/pg-wasm/src/lib.rs", &exports), 2);
        assert_eq!(complaints(EXPORTS, &format!("fn a() {{\n    {UNSAFE} {{ b() }}\n}}\n")), 1);
        assert_eq!(complaints("crates/pg-wasm/src/lib.rs", &format!("//! no {UNSAFE} code\n")), 0);
    }

    #[test]
    fn the_lints_are_those_of_the_workspace_but_for_one() {
        let root = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nother = \"warn\"\n";
        let complaints = |own: &str| check(&[source("Cargo.toml", root), source(MANIFEST, own)]).unwrap().len();
        assert_eq!(complaints("[lints.rust]\nunsafe_code = \"deny\"\nother = \"warn\"\n"), 0);
        assert_eq!(complaints("[lints.rust]\nunsafe_code = \"allow\"\nother = \"warn\"\n"), 1);
        assert_eq!(complaints("[lints.rust]\nunsafe_code = \"deny\"\n"), 1);
        assert_eq!(complaints(""), 1);
    }
}
