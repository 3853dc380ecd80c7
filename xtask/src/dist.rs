//! `cargo xtask dist`: the command as an archive that needs no other files of a system.

mod bundled;
mod contents;
mod licences;
mod paths;
mod sbom;
mod tried;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::{
    debian, oldest,
    steps::{self, Outcome},
    targets, workspace,
};
use contents::Contents;
use paths::Paths;

/// The C compiler for SQLite and ring, and its package.
const COMPILER: debian::Tools = &[("musl-gcc", "musl-tools")];

/// The features of the packed command: who has no compiler cannot add one.
const FEATURES: &str = "postgres";

/// The shells that get completions, and the names of their files.
const SHELLS: [(&str, &str); 5] =
    [("bash", "pg.bash"), ("elvish", "pg.elv"), ("fish", "pg.fish"), ("powershell", "_pg.ps1"), ("zsh", "_pg")];

/// How the command is compiled for the archive.
pub(crate) enum Build<'a> {
    /// As it is published.
    Optimised,
    /// Without optimisation, to see that it works.
    Quick,
    /// The same with another version of Rust, which compiles all that is in these packages, with all features.
    With { version: &'a str, packages: &'a [&'a str] },
}

/// The target of the archive: static, so that it needs no libraries.
pub(crate) fn target() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// Builds, packs and tries the archive.
pub(crate) fn run(root: &Path, build: &Build<'_>) -> Result<()> {
    let target = target();
    targets::install(&target).map_err(anyhow::Error::msg)?;
    if let Outcome::LeftOut(why) = debian::install("nothing static can be built", COMPILER)? {
        bail!("{why}");
    }
    let metadata = workspace::metadata(root)?;
    let version = metadata.packages.iter().find(|package| package.name == "pg-cli").context("no crate pg-cli")?;
    let name = format!("pg-{}-{target}", version.version);
    let target_directory = metadata.target_directory.as_std_path();
    let paths = Paths::of(root, target_directory)?;
    let program = compiled(root, target_directory, &target, build, &paths)?;
    paths.are_not_in(&fs::read(&program)?)?;

    let dist = metadata.target_directory.join("dist").into_std_path_buf();
    let folder = dist.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fill(root, &folder, &program, &Contents::of(root, &target, FEATURES)?)?;
    let archive = dist.join(format!("{name}.tar.gz"));
    pack(&dist, &name, &archive)?;
    let sum = write_sum(&archive)?;
    tried::in_an_empty_root(&archive, &name)?;
    let bytes = |path: &Path| fs::metadata(path).map(|found| found.len());
    steps::say(&format!("{}: {} bytes, pg in it {} bytes", archive.display(), bytes(&archive)?, bytes(&program)?));
    steps::say(&format!("SHA-256 {sum}"));
    Ok(())
}

/// Its flags are those of this target only, which no other command builds for: none has to build anything again.
fn compiled(root: &Path, target_directory: &Path, target: &str, build: &Build<'_>, paths: &Paths) -> Result<PathBuf> {
    let compiler = format!("CC_{}", target.replace('-', "_"));
    let (mut cargo, folder) = match build {
        Build::With { version, .. } => oldest::cargo(root, target_directory, version),
        Build::Optimised | Build::Quick => (workspace::cargo(root), target_directory.to_path_buf()),
    };
    cargo.args(["build", "--locked", "--target", target]).arg("--target-dir").arg(&folder);
    match build {
        Build::With { packages, .. } => cargo.arg("--all-features").args(packages.iter().flat_map(|name| ["-p", name])),
        Build::Optimised | Build::Quick => cargo.args(["-p", "pg-cli", "--bin", "pg", "--features", FEATURES]),
    };
    let (profile, within, flags) = match build {
        Build::Optimised => ("dist", "dist", ""),
        Build::Quick | Build::With { .. } => ("dev", "debug", "-O0 "),
    };
    cargo.args(["--profile", profile]).env(compiler, "musl-gcc");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", paths.rust_flags()).env_remove("RUSTFLAGS");
    // The time that C code says it was compiled at, which mimalloc prints.
    cargo.env("SOURCE_DATE_EPOCH", "0");
    cargo.env("CFLAGS", format!("{flags}{}", paths.c_flags()));
    steps::execute(&mut cargo)?;
    Ok(folder.join(target).join(within).join("pg"))
}

/// Everything that is packed. The program writes its own completions and manual.
fn fill(root: &Path, folder: &Path, program: &Path, contents: &Contents) -> Result<()> {
    fs::create_dir_all(folder.join("completions"))?;
    fs::create_dir_all(folder.join("man"))?;
    fs::copy(program, folder.join("pg"))?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        fs::copy(root.join(file), folder.join(file))?;
    }
    for (shell, file) in SHELLS {
        fs::write(folder.join("completions").join(file), said(program, &["completions", shell])?)?;
    }
    said(program, &["man", &folder.join("man").to_string_lossy()])?;
    bundled::copy_notices_of_rust(folder)?;
    fs::write(folder.join("THIRD-PARTY.md"), licences::page(contents)?)?;
    fs::write(folder.join("sbom.cdx.json"), sbom::document(contents)?)?;
    Ok(())
}

fn said(program: &Path, arguments: &[&str]) -> Result<String> {
    workspace::printed(&format!("pg {}", arguments.join(" ")), Command::new(program).args(arguments))
}

/// Reproducible: the same bytes at any time and for any user, whose mask would else be in them.
fn pack(dist: &Path, name: &str, archive: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.args([
        "--format=gnu",
        "--sort=name",
        "--mode=u=rwX,go=rX",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--use-compress-program=gzip -9n",
    ]);
    steps::execute(tar.arg("-cf").arg(archive).arg("-C").arg(dist).arg(name)).map(drop)
}

/// Beside the archive, in the form that `sha256sum --check` reads.
fn write_sum(archive: &Path) -> Result<String> {
    let digest = Sha256::digest(fs::read(archive)?);
    let sum: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let name = archive.file_name().context("an archive has a name")?.to_string_lossy();
    fs::write(archive.with_file_name("SHA256SUMS"), format!("{sum}  {name}\n"))?;
    Ok(sum)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// The archive of a user whose new files are readable for that user alone, or for a group.
    fn packed(file_mode: u32, program_mode: u32) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let content = folder.path().join("pg-1");
        fs::create_dir(&content).unwrap();
        for (name, mode) in [("pg", program_mode), ("CHANGELOG.md", file_mode)] {
            fs::write(content.join(name), name).unwrap();
            fs::set_permissions(content.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&content, fs::Permissions::from_mode(program_mode | 0o100)).unwrap();
        let archive = folder.path().join("pg-1.tar.gz");
        pack(folder.path(), "pg-1", &archive).unwrap();
        fs::read(archive).unwrap()
    }

    #[test]
    fn an_archive_is_the_same_whatever_the_mask_of_its_builder() {
        let usual = packed(0o644, 0o755);
        assert_eq!(packed(0o600, 0o700), usual);
        assert_eq!(packed(0o664, 0o775), usual);
        assert_ne!(packed(0o644, 0o644), usual, "a program without the right to run it");
    }
}
