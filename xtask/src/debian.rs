//! Tools that tests need and Debian has: installed where that is allowed.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::steps::{self, Outcome};

/// Programs, each with its package, or with several packages that must have one version.
pub(crate) type Tools = &'static [(&'static str, &'static str)];

/// The browser in which the pages are tested, and the driver that belongs to it.
pub(super) const BROWSER: Tools = &[("chromium", "chromium"), ("chromedriver", "chromium-driver")];
/// Chromium without what surrounds its pages, which most tests of pages do without. The driver refuses another version.
pub(super) const SHELL: Tools = &[("chromium-headless-shell", "chromium chromium-driver chromium-headless-shell")];

/// The host of the decoder for JavaScript, and the client of its registry.
pub(super) const NODE: Tools = &[("node", "nodejs"), ("npm", "npm")];

/// The database of fleets and of shared stores. Debian keeps its server out of the path, in a folder for each version.
pub(super) const POSTGRES: Tools = &[("postgres", "postgresql")];
/// A pooler of connections before it. Debian keeps it where only root looks for programs.
pub(super) const BOUNCER: Tools = &[("/usr/sbin/pgbouncer", "pgbouncer")];
const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";

/// The languages in which `pg rehearse init` writes an integration, and which no other test brings along.
pub(super) const LANGUAGES: Tools =
    &[("php", "php-cli"), (PHP_CURL, "php-curl"), ("javac", "default-jdk-headless"), ("jq", "jq")];
/// Not a program: PHP loads it.
const PHP_CURL: &str = "PHP's curl extension";

/// Installs missing tools where that is allowed; otherwise the tests that need them are skipped, which is reported
/// here.
pub(crate) fn install(otherwise: &str, tools: Tools) -> Result<Outcome> {
    if missing(tools).is_empty() {
        return Ok(Outcome::Done);
    }
    let left_out = |why: &str| {
        let programs: Vec<&str> = missing(tools).iter().map(|(program, _)| *program).collect();
        Ok(Outcome::LeftOut(format!("{} not found, so {otherwise}: {why}", programs.join(" and "))))
    };
    let packages: Vec<&str> = missing(tools).iter().flat_map(|(_, packages)| packages.split(' ')).collect();
    if !steps::succeeds(Command::new("apt-get").arg("--version")) {
        return left_out("there is no apt-get here");
    }
    if !is_root() {
        return left_out(&format!("only root may run `apt-get install {}`", packages.join(" ")));
    }
    let installed = steps::execute(apt_get().args(["update", "-qq"])).and_then(|_| {
        steps::execute(apt_get().args(["install", "-y", "-qq", "--no-install-recommends"]).args(&packages))
    });
    match installed {
        Err(error) => left_out(&error.to_string()),
        Ok(_) if missing(tools).is_empty() => Ok(Outcome::Done),
        Ok(_) => left_out("its packages were installed and it does not answer"),
    }
}

/// Whether one of them is missing.
pub(super) fn is_missing(tools: Tools) -> bool {
    !missing(tools).is_empty()
}

fn missing(tools: Tools) -> Vec<(&'static str, &'static str)> {
    tools.iter().copied().filter(|(program, _)| !runs(program)).collect()
}

fn runs(program: &str) -> bool {
    if program == PHP_CURL {
        return steps::succeeds(Command::new("php").args(["-r", "exit((int) !extension_loaded('curl'));"]));
    }
    let answers = |path: &Path| steps::succeeds(Command::new(path).arg("--version"));
    let versions = fs::read_dir(POSTGRES_VERSIONS).into_iter().flatten().flatten();
    answers(Path::new(program))
        || versions.into_iter().any(|version| answers(&version.path().join("bin").join(program)))
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
