//! Paths of the machine that builds: they would be in the program, which would then be another one on each machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// Folders of this machine, and what the compilers write instead of them. Of several that fit, the last one counts.
pub(super) struct Paths(Vec<(PathBuf, String)>);

impl Paths {
    pub(super) fn of(root: &Path, target_directory: &Path) -> Result<Self> {
        let sysroot = workspace::printed("rustc", Command::new("rustc").args(["--print", "sysroot"]))?;
        let version = workspace::printed("rustc", Command::new("rustc").arg("-vV"))?;
        let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or("unknown");
        let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
        let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
        let cargo = cargo.or_else(home).context("neither CARGO_HOME nor HOME is set")?;
        Ok(Self(vec![
            (root.to_path_buf(), "/pg".to_owned()),
            (target_directory.to_path_buf(), "/target".to_owned()),
            (cargo, "/cargo".to_owned()),
            // What the compiler itself writes if the sources of the standard library are not installed.
            (library, format!("/rustc/{commit}")),
        ]))
    }

    /// For `CARGO_ENCODED_RUSTFLAGS`.
    pub(super) fn rust_flags(&self) -> String {
        let flags = self.0.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
        flags.collect::<Vec<_>>().join("\x1f")
    }

    /// For `CFLAGS`, which separates by blanks.
    pub(super) fn c_flags(&self) -> String {
        let without_blanks = self.0.iter().filter(|(from, _)| !from.to_string_lossy().contains(' '));
        let flags = without_blanks.map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display()));
        flags.collect::<Vec<_>>().join(" ")
    }

    /// Fails if a program holds a path in one of them. A folder with the name of a replacement shows nothing.
    pub(super) fn are_not_in(&self, program: &[u8]) -> Result<()> {
        for (path, _) in &self.0 {
            let is_replacement = self.0.iter().any(|(_, to)| Path::new(to).starts_with(path));
            if !is_replacement && holds_path_in(program, path.as_os_str().as_encoded_bytes()) {
                bail!("pg holds {}, a path of this machine", path.display());
            }
        }
        Ok(())
    }
}

/// Whether a path begins with this folder: texts stand in a program one after the other, and `/src` is in many paths.
fn holds_path_in(program: &[u8], folder: &[u8]) -> bool {
    let is_of_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-/".contains(byte);
    program.windows(folder.len()).enumerate().filter(|(_, part)| *part == folder).any(|(at, _)| {
        let is_begin = at.checked_sub(1).and_then(|before| program.get(before)).is_none_or(|byte| !is_of_path(byte));
        is_begin && program.get(at + folder.len()) == Some(&b'/')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_machine_are_mapped_and_found() {
        let paths =
            Paths(vec![("/builder/pg".into(), "/pg".to_owned()), ("/builder/.cargo".into(), "/cargo".to_owned())]);
        assert_eq!(
            paths.rust_flags(),
            "--remap-path-prefix=/builder/pg=/pg\x1f--remap-path-prefix=/builder/.cargo=/cargo"
        );
        assert_eq!(paths.c_flags(), "-ffile-prefix-map=/builder/pg=/pg -ffile-prefix-map=/builder/.cargo=/cargo");
        paths.are_not_in(b"\0/cargo/registry/src/a.rs\0").unwrap();
        let error = paths.are_not_in(b"\0/builder/.cargo/registry/src/a.rs\0").unwrap_err().to_string();
        assert_eq!(error, "pg holds /builder/.cargo, a path of this machine");
    }

    #[test]
    fn a_short_folder_is_found_only_where_a_path_begins() {
        let paths = Paths(vec![("/src".into(), "/pg".to_owned()), ("/cargo".into(), "/cargo".to_owned())]);
        paths.are_not_in(b"\0/cargo/registry/src/a.rs\0").unwrap();
        paths.are_not_in(b"\0/pg/src/a.rs\0/srcs/a.rs").unwrap();
        assert!(paths.are_not_in(b"\0/src/crates/a.rs\0").is_err());
    }
}
