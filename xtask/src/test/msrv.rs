//! Builds of the published crates with the oldest compiler that they promise.

use std::path::Path;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package};

use crate::{
    dist, oldest, package,
    steps::{self, Outcome, Step},
    workspace,
};

/// These build SQLite, which takes longer than all the others together, so they are built on CI only.
const SLOW: [&str; 2] = ["pg-sandbox", "pg-cli"];

/// All published crates at once, so that shared dependencies are compiled once, with all features and the versions of the lock file. On
/// CI the archive of `cargo xtask dist` is made of the result: its command is one of them.
pub(super) fn step<'a>(root: &'a Path, metadata: &'a Metadata) -> Step<'a> {
    let title =
        "the published crates with the oldest Rust that they promise, and the archive of `cargo xtask dist` of them";
    Step::new(title, move || {
        let published = package::published(metadata);
        let version = promised(&published)?;
        if let Err(why) = oldest::install(&version, workspace::on_ci().then(dist::target).as_deref()) {
            return Ok(Outcome::LeftOut(why));
        }
        let names: Vec<&str> = published.iter().map(|package| package.name.as_str()).collect();
        if workspace::on_ci() {
            dist::run(root, &dist::Build::With { version: &version, packages: &names })?;
            return Ok(Outcome::Done);
        }
        let (mut check, folder) = oldest::cargo(root, metadata.target_directory.as_std_path(), &version);
        check.args(["check", "--locked", "--all-features", "--target-dir"]).arg(folder);
        // The C code of ring is built for this as well, and never run.
        check.env("CFLAGS", "-O0");
        let quick = names.into_iter().filter(|name| !SLOW.contains(name));
        steps::execute(check.args(quick.flat_map(|name| ["-p", name])))?;
        let slow = SLOW.join(" and ");
        Ok(Outcome::LeftOut(format!(
            "{slow} compile SQLite again for that, so CI builds them; `cargo xtask dist --quick` makes the archive"
        )))
    })
}

/// The version of the compiler that every published crate states.
fn promised(published: &[&Package]) -> Result<String> {
    let mut promised = None;
    for package in published {
        let version =
            package.rust_version.as_ref().with_context(|| format!("{} states no rust-version", package.name))?;
        let version = format!("{}.{}", version.major, version.minor);
        match &promised {
            None => promised = Some((version, &package.name)),
            Some((other, _)) if *other == version => {}
            Some((other, name)) => {
                bail!("{} promises Rust {version} and {name} {other}: state one version", package.name)
            }
        }
    }
    Ok(promised.context("no crate is published")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_crates_promise_one_compiler() {
        let metadata = workspace::metadata(&workspace::root().unwrap()).unwrap();
        let published = package::published(&metadata);
        promised(&published).unwrap();
        for slow in SLOW {
            assert!(published.iter().any(|package| package.name == slow), "{slow} is not published");
        }
        // Only crates of this workspace have the workspace's own version, which is newer.
        let unpublished = metadata.packages.iter().find(|package| package.name == "xtask").unwrap();
        let error = promised(&[published[0], unpublished]).unwrap_err().to_string();
        assert!(error.contains("xtask promises Rust") && error.ends_with("state one version"), "{error}");
    }
}
