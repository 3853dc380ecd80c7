//! The workspace: its folder, its members, its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};

/// The folder of the workspace's `Cargo.toml`.
pub(crate) fn root() -> Result<PathBuf> {
    // Cargo sets the variable when it runs us; the compiled-in value serves a binary started by hand.
    let manifest_dir =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = manifest_dir.parent().context("xtask is directly below the workspace's folder")?;
    Ok(root.to_path_buf())
}

/// The Cargo that runs this program, in the workspace's folder.
///
/// Its own environment variables are removed: the build script of `ring` reads them, so alternating `cargo test` and
/// `cargo xtask test` would rebuild everything above it each time.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    without_us(command.current_dir(root));
    command
}

/// Removes the variables with which Cargo describes this program from a command.
pub(crate) fn without_us(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// The workspace's packages as Cargo sees them, without resolving their dependencies.
pub(crate) fn metadata(root: &Path) -> Result<Metadata> {
    MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec().context("cargo metadata failed")
}

/// Package and target names of all targets of one kind, in a stable order.
pub(crate) fn targets(metadata: &Metadata, kind: &TargetKind) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = metadata
        .workspace_packages()
        .into_iter()
        .flat_map(|package: &Package| {
            package
                .targets
                .iter()
                .filter(|target| target.kind.contains(kind))
                .map(|target| (package.name.to_string(), target.name.clone()))
        })
        .collect();
    found.sort();
    found
}

/// What a command prints, named `what` in errors.
///
/// # Errors
/// If it cannot be started or fails, or prints no UTF-8.
pub(crate) fn printed(what: &str, command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{what} could not be started"))?;
    if !output.status.success() {
        bail!("{what} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{what} printed no UTF-8"))
}

/// Every file that is tracked, or new and not ignored, relative to the root.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let listing = printed("git ls-files", &mut git)?;
    let mut files: Vec<PathBuf> = listing
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|path| root.join(path).is_file())
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Writes a file below a folder, and makes the folders that lead to it.
pub(crate) fn write(folder: &Path, file: impl AsRef<Path>, text: &str) -> Result<()> {
    let target = folder.join(&file);
    fs::create_dir_all(target.parent().unwrap_or(folder))
        .and_then(|()| fs::write(&target, text))
        .with_context(|| format!("cannot write {}", file.as_ref().display()))
}

/// True on a continuous-integration machine, where no check may be skipped.
pub(crate) fn on_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{cargo, root};

    /// Cargo passes the same variables to every test.
    #[test]
    fn cargo_is_not_told_who_runs_it() {
        let root = root().unwrap();
        let command = cargo(&root);
        let removed: BTreeSet<_> =
            command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        // Those that the build script of `ring` reads.
        for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION_MAJOR", "CARGO_PKG_VERSION_PRE"] {
            assert!(removed.contains(std::ffi::OsStr::new(name)), "{name}");
        }
    }
}
