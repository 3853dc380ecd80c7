//! `cargo xtask package`: packs the published crates as for a registry, and checks that each contains what its users
//! need.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use cargo_metadata::{DependencyKind, Metadata, Package};

use crate::steps::{self, Outcome};
use crate::workspace::{self, cargo};

/// Crates of `crates/` that are not published, and why.
const NOT_PUBLISHED: [(&str, &str); 1] = [("pg-wasm", "`cargo xtask wasm` makes a package for JavaScript of it")];

/// Files without which no crate is packed.
const NEEDED: [&str; 5] = ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// A registry accepts at most five keywords of at most twenty characters.
const KEYWORDS: usize = 5;
const KEYWORD_LENGTH: usize = 20;

/// The crates that say `publish = true`, in the order of their names.
pub(crate) fn published(metadata: &Metadata) -> Vec<&Package> {
    let mut found: Vec<&Package> =
        metadata.packages.iter().filter(|package| package.publish.as_ref().is_none_or(|to| !to.is_empty())).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// Packs the crates, builds them from their packages on request, and lists them.
pub(crate) fn run(root: &Path, verify: bool) -> Result<Outcome> {
    let metadata = workspace::metadata(root)?;
    let packages = published(&metadata);
    let mut lacking = unpublished(&metadata);
    for package in &packages {
        lacking.extend(lacks(package)?.into_iter().map(|what| format!("{}: {what}", package.name)));
    }
    let mut command = cargo(root);
    command.args(["package", "--allow-dirty", "--quiet"]);
    if !verify {
        command.arg("--no-verify");
    }
    steps::execute(command.args(packages.iter().flat_map(|package| ["-p", package.name.as_str()])))?;
    steps::say(&format!("{:<16} {:>6} {:>6} {:>9}", "crate", "Rust", "files", "bytes"));
    for package in &packages {
        let files = files(root, package)?;
        let absent = NEEDED.iter().filter(|file| !files.iter().any(|packed| packed == *file));
        lacking.extend(absent.map(|file| format!("{}: {file} is not packed", package.name)));
        let archive = format!("package/{}-{}.crate", package.name, package.version);
        let bytes = fs::metadata(metadata.target_directory.join(archive)).context("a package that was written")?.len();
        let oldest = package.rust_version.as_ref().map_or_else(String::new, |v| format!("{}.{}", v.major, v.minor));
        steps::say(&format!("{:<16} {oldest:>6} {:>6} {bytes:>9}", package.name.as_str(), files.len()));
    }
    if !lacking.is_empty() {
        bail!("{} cannot be published as they are:\n{}", "crates", lacking.join("\n"));
    }
    Ok(Outcome::Done)
}

fn files(root: &Path, package: &Package) -> Result<Vec<String>> {
    let mut list = cargo(root);
    list.args(["package", "--list", "--allow-dirty", "-p", package.name.as_str()]);
    Ok(workspace::printed("cargo package --list", &mut list)?.lines().map(str::to_owned).collect())
}

/// Crates of `crates/` that neither are published nor have a reason.
fn unpublished(metadata: &Metadata) -> Vec<String> {
    let crates = metadata.workspace_root.join("crates");
    let known = |name: &str| NOT_PUBLISHED.iter().any(|(one, _)| *one == name);
    let published = published(metadata);
    metadata
        .packages
        .iter()
        .filter(|package| package.manifest_path.starts_with(&crates) && !known(&package.name))
        .filter(|package| !published.iter().any(|one| one.id == package.id))
        .map(|package| format!("{}: say `publish = true`, or in {} why not", package.name, file!()))
        .collect()
}

/// What a crate's manifest and documentation lack.
fn lacks(package: &Package) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut need = |holds: bool, what: &str| {
        if !holds {
            found.push(what.to_owned());
        }
    };
    need(package.description.as_ref().is_some_and(|text| text.ends_with('.')), "`description`, a sentence");
    need(package.readme.is_some(), "`readme`");
    need(package.license.is_some(), "`license`");
    need(package.rust_version.is_some(), "`rust-version`");
    need((1..=KEYWORDS).contains(&package.keywords.len()), "`keywords`, one to five");
    need(package.keywords.iter().all(|word| word.len() <= KEYWORD_LENGTH), "`keywords` of at most twenty characters");
    need(!package.categories.is_empty(), "`categories`");
    let library = package.targets.iter().find(|target| target.is_lib());
    let docs_rs = &package.metadata["docs"]["rs"]["all-features"];
    need(library.is_none() || docs_rs == true, "`[package.metadata.docs.rs]` with `all-features = true`");
    for dependency in &package.dependencies {
        // A dev-dependency without a version is removed from the package.
        let ours = dependency.path.is_some() && dependency.kind != DependencyKind::Development;
        let exact = format!("={}", package.version);
        let named =
            format!("`version = \"{exact}\"` for {}: another version may be another project's", dependency.name);
        need(!ours || dependency.req.to_string() == exact, &named);
    }
    if let Some(library) = library {
        let text = fs::read_to_string(&library.src_path)?;
        for feature in undocumented(&text, package.features.keys().map(String::as_str)) {
            need(false, &format!("a word about the feature `{feature}` below `# Features` in its documentation"));
        }
    }
    Ok(found)
}

/// The features that a crate's documentation does not mention.
fn undocumented<'a>(source: &str, features: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let docs = source.lines().filter_map(|line| line.strip_prefix("//!")).map(str::trim);
    let described: Vec<&str> = docs.skip_while(|line| *line != "# Features").collect();
    let says = |feature: &str| described.iter().any(|line| line.starts_with(&format!("- `{feature}`")));
    features.filter(|feature| *feature != "default" && !says(feature)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_for_others_has_what_a_registry_needs() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        assert_eq!(unpublished(&metadata), Vec::<String>::new());
        for package in published(&metadata) {
            assert_eq!(lacks(package).unwrap(), Vec::<String>::new(), "{}", package.name);
        }
        for (name, why) in NOT_PUBLISHED {
            assert!(metadata.packages.iter().any(|package| package.name == name), "{name} is not a crate, but {why}");
        }
    }

    #[test]
    fn missing_package_metadata_is_named() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        let mut package = (*published(&metadata).iter().find(|package| package.name == "pg-model").unwrap()).clone();
        package.keywords = vec!["a word that is too long for it".to_owned()];
        package.readme = None;
        package.metadata = serde_json::Value::Null;
        package.features.insert("secret".to_owned(), Vec::new());
        let mut ours = package.dependencies[0].clone();
        ours.name = "pg-other".to_owned();
        ours.path = Some(package.manifest_path.clone());
        ours.req = cargo_metadata::semver::VersionReq::parse("0.1.0").unwrap();
        package.dependencies.push(ours);
        let lacking = lacks(&package).unwrap();
        for part in
            ["`readme`", "twenty characters", "docs.rs", "the feature `secret`", "`version = \"=0.1.0\"` for pg-other"]
        {
            assert!(lacking.iter().any(|line| line.contains(part)), "{part}: {lacking:?}");
        }
    }

    #[test]
    fn a_feature_counts_as_documented_below_its_heading() {
        let source = "//! # A\n//! - `early`: no.\n//! # Features\n//! - `tls` (default): https.\nfn a() {}";
        assert_eq!(undocumented(source, ["default", "early", "tls"].into_iter()), ["early"]);
    }
}
