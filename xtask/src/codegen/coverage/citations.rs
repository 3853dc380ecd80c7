//! Which assumptions the code names: as `A59`, or by a constant such as `assumed::LIFE_OF_A_PREAUTH`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::super::{check::mentioned_assumptions, names, tables::Tables};
use crate::workspace;

/// The register itself, what lists it, and the generator, whose tests name numbers that do not exist.
const REGISTERS: [&str; 6] = [
    "crates/pg-model/tables/assumptions.toml",
    "crates/pg-sandbox/src/generated/assumed.rs",
    "crates/pg-sandbox/src/generated/assumptions.rs",
    "docs",
    "tests/coverage",
    "xtask/src/codegen",
];

/// Other numbers are invented by tests.
const REAL: std::ops::Range<u16> = 1..900;

/// Returns the numbers that sources below the root name, each with its files.
pub(super) fn of_workspace(root: &Path, tables: &Tables) -> BTreeMap<u16, BTreeSet<PathBuf>> {
    let constants: BTreeMap<String, u16> =
        tables.assumptions.iter().map(|row| (names::constant(&row.title), row.number)).collect();
    let mut found: BTreeMap<u16, BTreeSet<PathBuf>> = BTreeMap::new();
    for name in workspace::files(root).unwrap() {
        let is_source =
            name.extension().is_some_and(|ending| ["rs", "toml", "py"].iter().any(|known| ending == *known));
        if !is_source || REGISTERS.iter().any(|own| name.starts_with(own)) {
            continue;
        }
        // A citation in a test is not a citation in the code.
        let text = fs::read_to_string(root.join(&name)).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("// spec: ")).collect();
        let text = lines.join("\n");
        let written = mentioned_assumptions(&text).into_iter().filter(|number| REAL.contains(number));
        for number in written.chain(by_constant(&text, &constants)) {
            found.entry(number).or_default().insert(name.clone());
        }
    }
    found
}

/// The numbers of constants such as `assumed::LIFE_OF_A_PREAUTH`.
fn by_constant<'a>(text: &'a str, constants: &'a BTreeMap<String, u16>) -> impl Iterator<Item = u16> + 'a {
    let name = |rest: &'a str| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
    text.split("assumed::").skip(1).filter_map(move |rest| constants.get(name(rest)?).copied())
}
