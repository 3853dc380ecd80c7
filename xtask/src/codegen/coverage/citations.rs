//! Which assumptions the code names: as `A59`, or by a constant such as `assumed::LIFE_OF_A_PREAUTH`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::super::{check::mentioned_assumptions, names, tables::Tables};

/// Folders whose sources may name assumptions.
const SOURCES: [&str; 3] = ["crates", "tests", "xtask"];
/// The register itself, and what lists it.
const REGISTERS: [&str; 4] = [
    "crates/pg-model/tables/assumptions.toml",
    "crates/pg-sandbox/src/generated/assumed.rs",
    "crates/pg-sandbox/src/generated/assumptions.rs",
    "tests/coverage",
];

/// Others are made up, by tests that want one which does not exist.
const REAL: std::ops::Range<u16> = 1..900;

/// The numbers that sources below the root name, each with the files that do.
pub(super) fn of_workspace(root: &Path, tables: &Tables) -> BTreeMap<u16, BTreeSet<PathBuf>> {
    let constants: BTreeMap<String, u16> =
        tables.assumptions.iter().map(|row| (names::constant(&row.title), row.number)).collect();
    let mut found: BTreeMap<u16, BTreeSet<PathBuf>> = BTreeMap::new();
    for folder in SOURCES {
        walk(&root.join(folder), &mut |path| {
            let name = path.strip_prefix(root).unwrap();
            let read = name.extension().is_some_and(|ending| ["rs", "toml", "py"].iter().any(|known| ending == *known));
            // Tests of the generator name numbers that exist nowhere.
            let made_up = name.starts_with("xtask/src/codegen") || REGISTERS.iter().any(|own| name.starts_with(own));
            if read && !made_up {
                let text = fs::read_to_string(path).unwrap();
                // A citation in a test is not a citation in the code.
                let text: String = text
                    .lines()
                    .filter(|line| !line.contains("// spec: "))
                    .fold(String::new(), |all, line| all + line + "\n");
                let written = mentioned_assumptions(&text).into_iter().filter(|number| REAL.contains(number));
                for number in written.chain(by_constant(&text, &constants)) {
                    found.entry(number).or_default().insert(name.to_owned());
                }
            }
        });
    }
    found
}

/// The numbers of constants such as `assumed::LIFE_OF_A_PREAUTH`.
fn by_constant<'a>(text: &'a str, constants: &'a BTreeMap<String, u16>) -> impl Iterator<Item = u16> + 'a {
    let name = |rest: &'a str| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
    text.split("assumed::").skip(1).filter_map(move |rest| constants.get(name(rest)?).copied())
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            walk(&path, visit);
        } else {
            visit(&path);
        }
    }
}
