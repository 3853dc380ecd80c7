//! The decoder for JavaScript as `cargo xtask wasm` builds it, and the program that runs it.
//!
//! If one is missing, tests print that and are skipped; on CI they fail.

use std::{env, path::PathBuf};

use pg_support::left_out;

/// The folder of the package.
///
/// # Panics
/// If it was not built, on CI.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    // A test lies in `target/debug/deps/`, or with a profile of another name.
    let program = env::current_exe().ok()?;
    let target = program.ancestors().nth(3)?;
    let folder = target.join("pg-wasm");
    let built = folder.join("pg_wasm.wasm").is_file();
    if !built {
        left_out("the decoder for JavaScript was not built (`cargo xtask wasm`)");
    }
    built.then_some(folder)
}

/// The program that runs JavaScript without a browser.
///
/// # Panics
/// If it is not installed, on CI.
#[must_use]
pub fn node() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let found = env::split_paths(&folders).map(|folder| folder.join("node")).find(|path| path.is_file());
    if found.is_none() {
        left_out("node is not installed (Debian: nodejs): the decoder for JavaScript");
    }
    found
}
