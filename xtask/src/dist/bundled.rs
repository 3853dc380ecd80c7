//! What is linked into the program and is no crate: libraries in C, and the standard library of Rust.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use cargo_metadata::Package;

use crate::workspace;

/// The notices of the standard library and of all that is in it, as a file of the archive.
pub(super) const RUST_NOTICES: &str = "COPYRIGHT-library.html";
/// The notices of musl, in the package that brings the C compiler of the archive.
const MUSL_NOTICES: &str = "/usr/share/doc/musl-tools/copyright";

pub(super) struct Bundled {
    pub(super) name: &'static str,
    /// Unknown if its files do not say it.
    pub(super) version: Option<String>,
    pub(super) licence: &'static str,
    /// The crate that brings it, whose folder has its licence; every program has the others.
    pub(super) within: Option<&'static str>,
    /// Its notices, or else where they are.
    pub(super) notices: Notices,
}

pub(super) enum Notices {
    /// In the folder of the crate that brings it; none for what is in the public domain.
    OfTheCrate,
    Text(String),
    Elsewhere(String),
}

/// Everything of the kind, with `packages` as the crates that may bring some.
pub(super) fn all(packages: &[Package], target: &str) -> Result<Vec<Bundled>> {
    let (sysroot, release) = toolchain()?;
    let sqlite = version_in(packages, "libsqlite3-sys", "sqlite3/sqlite3.h", "SQLITE_VERSION");
    let sqlite = sqlite.map(|version| version.trim_matches('"').to_owned());
    // Without the feature `v2` its crate compiles the third generation.
    let mimalloc = version_in(packages, "libmimalloc-sys", "c_src/mimalloc/v3/include/mimalloc.h", "MI_MALLOC_VERSION");
    let of_a_crate = |name, version, licence, within| Bundled {
        name,
        version,
        licence,
        within: Some(within),
        notices: Notices::OfTheCrate,
    };
    let mut all = vec![
        of_a_crate("sqlite", sqlite, "public domain", "libsqlite3-sys"),
        of_a_crate("mimalloc", mimalloc.as_deref().and_then(dotted), "MIT", "libmimalloc-sys"),
    ];
    all.retain(|one| packages.iter().any(|package| one.within == Some(package.name.as_str())));
    let musl = fs::read(sysroot.join("lib/rustlib").join(target).join("lib/self-contained/libc.a"));
    let musl = musl.ok().and_then(|library| version_of_musl(&library));
    all.push(Bundled { name: "musl", version: musl, licence: "MIT", within: None, notices: notices_of_musl() });
    let notices = if sysroot.join(RUST_PATH).exists() {
        format!("{RUST_NOTICES}, beside this file")
    } else {
        format!("{RUST_PATH} of the distribution of Rust {release}, https://www.rust-lang.org/tools/install")
    };
    all.push(Bundled {
        name: "rust-std",
        version: Some(release),
        licence: "MIT OR Apache-2.0",
        within: None,
        notices: Notices::Elsewhere(notices),
    });
    Ok(all)
}

/// Where a toolchain has them, below its folder.
const RUST_PATH: &str = "share/doc/rust/COPYRIGHT-library.html";

/// Copies the notices of the standard library into a folder, if the toolchain has them.
pub(super) fn copy_notices_of_rust(folder: &Path) -> Result<()> {
    let notices = toolchain()?.0.join(RUST_PATH);
    if notices.exists() {
        fs::copy(notices, folder.join(RUST_NOTICES))?;
    }
    Ok(())
}

/// The folder of the toolchain, and its release.
fn toolchain() -> Result<(std::path::PathBuf, String)> {
    let said = |flags: &[&str]| workspace::printed("rustc", Command::new("rustc").args(flags));
    let version = said(&["-vV"])?;
    let release = version.lines().find_map(|line| line.strip_prefix("release: ")).context("rustc states no release")?;
    Ok((said(&["--print", "sysroot"])?.trim().into(), release.to_owned()))
}

fn notices_of_musl() -> Notices {
    fs::read_to_string(MUSL_NOTICES).map_or_else(
        |_| Notices::Elsewhere("https://git.musl-libc.org/cgit/musl/tree/COPYRIGHT".to_owned()),
        |text| Notices::Text(text.trim().to_owned()),
    )
}

/// What a header of a crate defines as a version.
fn version_in(packages: &[Package], package: &str, header: &str, name: &str) -> Option<String> {
    let package = packages.iter().find(|one| one.name == package)?;
    let header = fs::read_to_string(package.manifest_path.parent()?.join(header)).ok()?;
    let define = format!("#define {name} ");
    let value = header.lines().find_map(|line| line.strip_prefix(&define))?;
    value.split_whitespace().next().map(str::to_owned)
}

/// `3.3.2` for `30302`.
fn dotted(number: &str) -> Option<String> {
    let number: u32 = number.parse().ok()?;
    Some(format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
}

/// The text of the library that is nothing but a version.
fn version_of_musl(library: &[u8]) -> Option<String> {
    let is_version = |text: &&[u8]| {
        let parts: Vec<&[u8]> = text.split(|byte| *byte == b'.').collect();
        parts.len() == 3
            && parts.iter().all(|part| (1..=2).contains(&part.len()) && part.iter().all(u8::is_ascii_digit))
    };
    let text = library.split(|byte| *byte == 0).find(is_version)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_libraries_in_c_are_read() {
        assert_eq!(dotted("30302").as_deref(), Some("3.3.2"));
        assert_eq!(version_of_musl(b"!<arch>\n\0GLIBC\x001.2.5\x00x.1.2\0").as_deref(), Some("1.2.5"));
        assert_eq!(version_of_musl(b"1.2\x001.2.3.4\0"), None);
    }
}
