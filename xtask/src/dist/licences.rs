//! What those ask for whose work is in the program: their names and the texts of their licences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::Package;

use super::{
    bundled::{Bundled, Notices},
    contents::Contents,
};

/// How the files begin that say it.
const FILES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];
/// Folders of a package of which nothing is linked.
const NOT_LINKED: [&str; 5] = ["tests", "test", "benches", "examples", "fuzz"];

/// One page: who, under which licence; and then each text once.
pub(super) fn page(contents: &Contents) -> Result<String> {
    let mut page = String::from("# Third parties\n\nWhat is linked into `pg`, and under which licences.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in contents.packages.iter().filter(|package| package.source.is_some()) {
        let who = format!("{} {}", package.name, package.version);
        let Some(licence) = &package.license else { bail!("{who} names no licence") };
        let _ = writeln!(page, "- {who}: {licence}");
        let own: BTreeSet<String> = texts_of(package)?.into_iter().collect();
        for text in own {
            texts.entry(text).or_default().push(who.clone());
        }
    }
    for Bundled { name, version, licence, within, notices } in &contents.bundled {
        let who = [name, version.as_deref().unwrap_or("of unknown version")].join(" ");
        let within = within.map_or_else(String::new, |within| format!(", in {within}"));
        let _ = match notices {
            Notices::Elsewhere(place) => writeln!(page, "- {who}{within}: {licence}; its notices: {place}"),
            Notices::OfTheCrate | Notices::Text(_) => writeln!(page, "- {who}{within}: {licence}"),
        };
        if let Notices::Text(text) = notices {
            texts.entry(text.clone()).or_default().push(who);
        }
    }
    for (text, who) in texts {
        let _ = write!(page, "\n## {}\n\n```text\n{}\n```\n", who.join(", "), text.replace("```", "'''"));
    }
    Ok(page)
}

/// The licence texts in the folder of a crate, also those of the work of others in it; if there are none, only the
/// licence's name is listed.
fn texts_of(package: &Package) -> Result<Vec<String>> {
    let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
    let mut files = Vec::new();
    collect(folder.as_std_path(), &mut files)?;
    files.sort();
    files.iter().map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).trim().replace("\r\n", "\n"))).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_source = path.extension().is_some_and(|ending| ending == "rs");
        if path.is_dir() {
            if !NOT_LINKED.contains(&name.as_str()) {
                collect(&path, files)?;
            }
        } else if !is_source && FILES.iter().any(|beginning| name.to_uppercase().starts_with(beginning)) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dist, workspace};

    #[test]
    fn everything_that_is_linked_is_named_with_its_notices() {
        let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let contents = Contents::of(&workspace::root().unwrap(), &target, dist::FEATURES).unwrap();
        let page = page(&contents).unwrap();
        for wanted in [
            "Microsoft Corporation",
            "the fiat-crypto authors",
            "- musl ",
            "- mimalloc 3.",
            "- sqlite 3.",
            "- rust-std 1.",
        ] {
            assert!(page.contains(wanted), "{wanted}");
        }
        let list = dist::sbom::document(&contents).unwrap();
        for wanted in ["\"sqlite\"", "\"mimalloc\"", "\"musl\"", "\"rust-std\""] {
            assert!(list.contains(&format!("\"name\": {wanted}")), "{wanted}");
        }
    }
}
