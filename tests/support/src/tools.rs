//! Programs of other languages, which may be missing.

use std::{
    env,
    process::{Command, Stdio},
};

/// Whether all these programs are installed. If one is missing, prints what is skipped, and panics on CI.
///
/// # Panics
///
/// On CI, if a program is missing.
#[must_use]
pub fn installed(programs: &[&str], what: &str) -> bool {
    let Some(missing) = programs.iter().find(|program| !works(program)) else { return true };
    let needed = if *missing == "php" { "PHP with its curl extension" } else { missing };
    let on_ci = env::var("CI").is_ok_and(|value| value == "true" || value == "1");
    assert!(!on_ci, "CI needs {needed}: {what}");
    eprintln!("left out, because {needed} is not installed: {what}");
    false
}

/// The adapter in PHP needs an extension that is a separate package on Debian.
fn works(program: &str) -> bool {
    let mut command = Command::new(program);
    let php = program == "php";
    command.args(if php { &["-r", "exit((int) !extension_loaded('curl'));"][..] } else { &["--version"] });
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ended.is_ok_and(|ended| !php || ended.success())
}
