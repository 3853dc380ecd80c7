//! Programs of other languages, which may be missing.

use std::process::{Command, Stdio};

use crate::left_out;

/// Whether all these programs are installed. If one is missing, reports what is skipped, and panics on CI.
///
/// # Panics
///
/// On CI, if a program is missing.
#[must_use]
pub fn installed(programs: &[&str], what: &str) -> bool {
    let Some(missing) = programs.iter().find(|program| !works(program)) else { return true };
    let needed = if *missing == "php" { "PHP with its curl extension" } else { missing };
    left_out(&format!("{needed} is not installed: {what}"));
    false
}

/// The adapter in PHP needs an extension that is a separate package on Debian.
fn works(program: &str) -> bool {
    let mut command = Command::new(program);
    match program {
        "php" => command.args(["-r", "exit((int) !extension_loaded('curl'));"]),
        "openssl" => command.arg("version"),
        _ => command.arg("--version"),
    };
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    // An old program may not know the argument.
    ended.is_ok_and(|ended| program != "php" || ended.success())
}
