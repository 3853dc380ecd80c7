//! The browser in which the pages are tested: Debian's Chromium and the driver that belongs to it.

use std::process::Command;

use anyhow::Result;

use crate::steps::{self, Outcome};

const PROGRAMS: [&str; 2] = ["chromium", "chromedriver"];
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Installs what is missing where that is allowed; elsewhere tests without a browser leave themselves out, which is
/// told here.
pub(super) fn install() -> Result<Outcome> {
    if missing().is_empty() {
        return Ok(Outcome::Done);
    }
    if !steps::succeeds(Command::new("apt-get").arg("--version")) {
        return Ok(left_out("there is no apt-get here"));
    }
    if !is_root() {
        return Ok(left_out(&format!("only root may run `apt-get install {}`", PACKAGES.join(" "))));
    }
    let installed = steps::execute(apt_get().args(["update", "-qq"])).and_then(|_| {
        steps::execute(apt_get().args(["install", "-y", "-qq", "--no-install-recommends"]).args(PACKAGES))
    });
    Ok(match installed {
        Err(error) => left_out(&error.to_string()),
        Ok(_) if missing().is_empty() => Outcome::Done,
        Ok(_) => left_out("its packages were installed and it does not answer"),
    })
}

fn left_out(why: &str) -> Outcome {
    Outcome::LeftOut(format!("{} not found, so no page is tested in a browser: {why}", missing().join(" and ")))
}

fn missing() -> Vec<&'static str> {
    PROGRAMS.into_iter().filter(|program| !steps::succeeds(Command::new(program).arg("--version"))).collect()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}
