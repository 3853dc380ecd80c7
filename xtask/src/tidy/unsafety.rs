//! The one exception from the ban on unsafe code: the names under which a module compiled for JavaScript exports its
//! functions.

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::{Source, Violation};

/// The crates that export names to JavaScript. `forbid` knows no exception, so they spell the workspace's lints out.
const EXPORTERS: [&str; 2] = ["crates/pg-wasm", "tests/wasm-charge"];

/// The only file that has the exception, and the only allowed attribute.
const EXPORTS: &str = "src/exports.rs";
const NAME: &str = concat!("#[un", "safe(no_mangle)]");

const ROOT: &str = "Cargo.toml";

/// In two pieces, so that this file does not find itself.
const UNSAFE: &str = concat!("un", "safe");
const LINT: &str = concat!("un", "safe_code");

/// True for a manifest that cannot inherit the workspace's lints.
pub(super) fn spells_its_own_lints(manifest: &str) -> bool {
    EXPORTERS.iter().any(|folder| is_in(manifest, folder, "Cargo.toml"))
}

/// Checks that the crates' lints are the workspace's, with one exception that is limited to its file and its attribute.
pub(super) fn check(sources: &[Source]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for source in sources {
        let Some(folder) = EXPORTERS.iter().find(|folder| source.path.starts_with(&format!("{folder}/"))) else {
            continue;
        };
        if source.path.ends_with(".rs") {
            violations.extend(unsafe_lines(source, is_in(&source.path, folder, EXPORTS)));
        } else if is_in(&source.path, folder, "Cargo.toml") {
            violations.extend(lints(source, sources)?);
        }
    }
    Ok(violations)
}

fn is_in(path: &str, folder: &str, file: &str) -> bool {
    path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) == Some(file)
}

fn unsafe_lines(source: &Source, exports: bool) -> Vec<Violation> {
    let lines = source.text.lines().enumerate().filter(|(_, line)| {
        let code = line.split("//").next().unwrap_or_default().trim();
        let allowed = exports && (code == NAME || code.starts_with(&format!("#![expect({LINT}, reason")));
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

fn lints(manifest: &Source, sources: &[Source]) -> Result<Option<Violation>> {
    let root = sources.iter().find(|source| source.path == ROOT).context("there is no Cargo.toml at the root")?;
    let root: Table = root.text.parse().context("Cargo.toml is not TOML")?;
    let own: Table = manifest.text.parse().with_context(|| format!("{} is not TOML", manifest.path))?;
    let mut wanted = root.get("workspace").and_then(|workspace| workspace.get("lints")).cloned();
    if let Some(lint) = wanted.as_mut().and_then(|lints| lints.get_mut("rust")?.get_mut(LINT)) {
        *lint = Value::String("deny".to_owned());
    }
    let differ = own.get("lints") != wanted.as_ref();
    Ok(differ.then(|| {
        let remedy = format!("copy [workspace.lints] of Cargo.toml into it as [lints], with {LINT} = \"deny\"");
        Violation::new(&manifest.path, "has other lints than the workspace", remedy)
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
        assert_eq!(complaints("crates/pg-wasm/src/exports.rs", &exports), 0);
        assert_eq!(complaints("crates/pg-wasm/src/lib.rs", &exports), 2);
        assert_eq!(complaints("crates/pg-wasm/src/exports.rs", &format!("fn a() {{\n    {UNSAFE} {{ b() }}\n}}\n")), 1);
        assert_eq!(complaints("crates/pg-wasm/src/lib.rs", &format!("//! no {UNSAFE} code\n")), 0);
    }

    #[test]
    fn the_lints_are_those_of_the_workspace_but_for_one() {
        let root = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nother = \"warn\"\n";
        let complaints =
            |own: &str| check(&[source("Cargo.toml", root), source("crates/pg-wasm/Cargo.toml", own)]).unwrap().len();
        assert_eq!(complaints("[lints.rust]\nunsafe_code = \"deny\"\nother = \"warn\"\n"), 0);
        assert_eq!(complaints("[lints.rust]\nunsafe_code = \"allow\"\nother = \"warn\"\n"), 1);
        assert_eq!(complaints("[lints.rust]\nunsafe_code = \"deny\"\n"), 1);
        assert_eq!(complaints(""), 1);
    }
}
