//! What is linked into the program: its crate and all below it, and what is no crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{CargoOpt, DependencyKind, MetadataCommand, Package, PackageId};

use super::bundled::{self, Bundled};

pub(super) struct Contents {
    /// By name and version, the program's own crate among them.
    pub(super) packages: Vec<Package>,
    /// What each links in turn.
    pub(super) links: BTreeMap<PackageId, Vec<PackageId>>,
    /// The crate of the program.
    pub(super) program: PackageId,
    /// SHA-256 of the downloaded packages, from the lock file, by name and version.
    pub(super) checksums: BTreeMap<(String, String), String>,
    /// What is no crate.
    pub(super) bundled: Vec<Bundled>,
}

impl Contents {
    pub(super) fn of(root: &Path, target: &str, features: &str) -> Result<Self> {
        let mut command = MetadataCommand::new();
        command.manifest_path(root.join("crates/pg-cli/Cargo.toml"));
        let options = ["--locked", "--filter-platform", target].map(str::to_owned).to_vec();
        let metadata = command
            .features(CargoOpt::SomeFeatures(vec![features.to_owned()]))
            .other_options(options)
            .exec()
            .context("cargo metadata failed")?;
        let resolved = metadata.resolve.context("cargo metadata resolves nothing")?;
        let nodes: BTreeMap<_, _> = resolved.nodes.into_iter().map(|node| (node.id.clone(), node)).collect();
        let program = metadata.packages.iter().find(|package| package.name == "pg-cli").context("no crate pg-cli")?;
        let program = program.id.clone();
        let (mut links, mut waiting) = (BTreeMap::new(), vec![program.clone()]);
        while let Some(id) = waiting.pop() {
            if links.contains_key(&id) {
                continue;
            }
            let node = nodes.get(&id).context("cargo metadata has a gap")?;
            // What builds or tests is not linked, and neither is a macro.
            let linked = node.deps.iter().filter(|dependency| {
                dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
                    && metadata.packages.iter().any(|package| package.id == dependency.pkg && !is_macro(package))
            });
            let linked: BTreeSet<PackageId> = linked.map(|dependency| dependency.pkg.clone()).collect();
            waiting.extend(linked.iter().cloned());
            links.insert(id, linked.into_iter().collect::<Vec<_>>());
        }
        let mut packages: Vec<Package> =
            metadata.packages.into_iter().filter(|package| links.contains_key(&package.id)).collect();
        packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
        let bundled = bundled::all(&packages, target)?;
        Ok(Self { packages, links, program, checksums: checksums(root)?, bundled })
    }
}

fn is_macro(package: &Package) -> bool {
    package.targets.iter().any(|target| target.is_proc_macro())
}

fn checksums(root: &Path) -> Result<BTreeMap<(String, String), String>> {
    let lock: toml::Table =
        fs::read_to_string(root.join("Cargo.lock"))?.parse().context("Cargo.lock cannot be read")?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock has no packages")?;
    let text = |package: &toml::Value, key: &str| package.get(key)?.as_str().map(str::to_owned);
    Ok(packages
        .iter()
        .filter_map(|package| Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?)))
        .collect())
}
