//! The decoder for JavaScript as `cargo xtask wasm` builds it, and the program that runs it.
//!
//! If one is missing, tests print that and are skipped; on CI they fail.

use std::{
    env,
    io::{self, Write as _},
    path::PathBuf,
    sync::Once,
};

/// The folder of the package.
///
/// # Panics
/// If it was not built, on CI.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    static ONCE: Once = Once::new();
    // A test lies in `target/debug/deps/`, or with a profile of another name.
    let program = env::current_exe().ok()?;
    let target = program.ancestors().nth(3)?;
    let folder = target.join("pg-wasm");
    let built = folder.join("pg_wasm.wasm").is_file();
    if !built {
        left_out(&ONCE, "the decoder was not built (`cargo xtask wasm`)");
    }
    built.then_some(folder)
}

/// The program that runs JavaScript without a browser.
///
/// # Panics
/// If it is not installed, on CI.
#[must_use]
pub fn node() -> Option<PathBuf> {
    static ONCE: Once = Once::new();
    let folders = env::var_os("PATH")?;
    let found = env::split_paths(&folders).map(|folder| folder.join("node")).find(|path| path.is_file());
    if found.is_none() {
        left_out(&ONCE, "node is not installed (Debian: nodejs)");
    }
    found
}

/// Skipped tests pass, so this is reported; the test harness captures the output of the print macros.
fn left_out(once: &Once, why: &str) {
    let on_ci = env::var("CI").is_ok_and(|value| value == "true" || value == "1");
    assert!(!on_ci, "nothing may be left out here, but {why}");
    once.call_once(|| {
        let _ = writeln!(io::stderr(), "left out: tests of the decoder for JavaScript, because {why}");
    });
}
