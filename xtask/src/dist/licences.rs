//! What those ask for whose work is in the program: their names and the texts of their licences.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};
use cargo_metadata::Package;

use super::contents::Contents;

/// How the files begin that say it.
const FILES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// One page: who, under which licence; and then each text once.
pub(super) fn page(contents: &Contents) -> Result<String> {
    let mut page = String::from("# Third parties\n\nWhat is linked into `pg`, and under which licences.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in contents.packages.iter().filter(|package| package.source.is_some()) {
        let who = format!("{} {}", package.name, package.version);
        let Some(licence) = &package.license else { bail!("{who} names no licence") };
        let _ = writeln!(page, "- {who}: {licence}");
        for text in texts_of(package)? {
            texts.entry(text).or_default().push(who.clone());
        }
    }
    if let Some(version) = &contents.sqlite {
        let _ = writeln!(page, "- SQLite {version}: public domain");
    }
    for (text, who) in texts {
        let _ = write!(page, "\n## {}\n\n```text\n{}\n```\n", who.join(", "), text.replace("```", "'''"));
    }
    Ok(page)
}

/// The licence texts in the folder of a crate; if there are none, only the licence's name is listed.
fn texts_of(package: &Package) -> Result<Vec<String>> {
    let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
    let mut files: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && FILES.iter().any(|beginning| name.starts_with(beginning))
    });
    files.sort();
    files.iter().map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).trim().replace("\r\n", "\n"))).collect()
}
