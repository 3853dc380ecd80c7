//! A trial of the archive in an empty root.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::steps;

/// Checks the sum, unpacks the archive, and starts the program with an empty folder as its whole file system.
pub(super) fn in_an_empty_root(archive: &Path, name: &str) -> Result<()> {
    let folder = archive.parent().context("an archive lies in a folder")?;
    steps::execute(Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(folder))?;
    let unpacked = tempfile::tempdir()?;
    steps::execute(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(unpacked.path()))?;
    let content = unpacked.path().join(name);
    for file in
        ["completions/_pg", "completions/pg.bash", "man/pg.1", "man/pg-call.1", "THIRD-PARTY.md", "sbom.cdx.json"]
    {
        if fs::metadata(content.join(file)).map_or(0, |found| found.len()) < 200 {
            bail!("{file} is missing or as good as empty");
        }
    }
    let root = tempfile::tempdir()?;
    fs::copy(content.join("pg"), root.path().join("pg"))?;
    for arguments in [&["--version"][..], &["demo"]] {
        let mut command = enter(root.path());
        let output = command.arg("/pg").args(arguments).output().context("nothing can change its root")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(if output.stderr.is_empty() { &output.stdout } else { &output.stderr });
            let last = said.trim().lines().next_back().unwrap_or("no reason given");
            bail!("pg {} in an empty root: {last}", arguments.join(" "));
        }
        steps::say(&format!("    pg {} in an empty root: done", arguments.join(" ")));
    }
    reaches_for_a_database(root.path())?;
    let left: Vec<_> = fs::read_dir(root.path())?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
    if left != ["pg"] {
        bail!("the demo leaves something behind: {left:?}");
    }
    Ok(())
}

/// Nothing listens at the address; a command without PostgreSQL would not even try it.
fn reaches_for_a_database(root: &Path) -> Result<()> {
    let mut command = enter(root);
    let output = command.args(["/pg", "intents", "--store", "postgres://pg@127.0.0.1:1/shop"]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains("refused") {
        bail!("pg intents in an empty root does not try to reach a database: {}", said.trim());
    }
    steps::say("    pg intents in an empty root: tries to reach its database");
    Ok(())
}

/// A user who is not root becomes root of a user namespace, if the system allows it.
fn enter(root: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "chroot"]).arg(root);
    // Its own way to `chroot` is all that it learns of this machine.
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}
