//! `cargo xtask bench --build`: the cost of building a crate from nothing, for its dependents, and the size of `pg`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::{REPORT, report};
use crate::steps;
use crate::workspace;

/// What is built, and how.
const BUILDS: [Build; 5] = [
    Build { name: "pg-crypto", package: "pg-crypto", target: &["--lib"], features: &[] },
    Build { name: "pg-proto", package: "pg-proto", target: &["--lib"], features: &[] },
    Build {
        name: "pg-hyper without TLS",
        package: "pg-hyper",
        target: &["--lib"],
        features: &["--no-default-features"],
    },
    Build { name: "pg-hyper", package: "pg-hyper", target: &["--lib"], features: &[] },
    // As the first command of the README builds it: without naming the package, which makes features others.
    Build { name: "pg, the first command", package: "pg-cli", target: &["--bin", "pg"], features: &[] },
];

struct Build {
    name: &'static str,
    package: &'static str,
    target: &'static [&'static str],
    features: &'static [&'static str],
}

impl Build {
    /// The arguments for Cargo.
    fn arguments(&self) -> Vec<&'static str> {
        let package: &[&str] = if self.target.contains(&"--lib") { &["-p", self.package] } else { &[] };
        [package, self.target, self.features].concat()
    }
}

/// The largest `pg` in bytes, as `cargo install` leaves it.
const LARGEST: u64 = 15_000_000;

const BEGIN: &str = "\n## Build times\n";
const END: &str = "<!-- end of build times -->\n";

/// Builds each in a temporary folder, and writes the section of the report.
///
/// # Errors
///
/// Also if `pg` is larger than [`LARGEST`]; the section is written before.
pub(super) fn run(root: &Path) -> Result<()> {
    let bytes = installed(root)?;
    let mut rows = String::from("| what | crates | processor seconds |\n|---|---|---|\n");
    let target = workspace::metadata(root)?.target_directory;
    for build in BUILDS {
        let name = build.name;
        let folder = tempfile::tempdir_in(&target).context("no folder to build in")?;
        let before = children_seconds()?;
        let mut cargo = workspace::cargo(root);
        cargo.args(["build", "--quiet", "--locked"]).args(build.arguments());
        steps::execute(cargo.env("CARGO_TARGET_DIR", folder.path()).env("CARGO_INCREMENTAL", "1"))?;
        let seconds = children_seconds()? - before;
        let crates = crates(root, &build)?;
        println!("{name}: {crates} crates, {seconds:.0} s");
        let _ = writeln!(rows, "| {name} | {crates} | {seconds:.0} |");
    }
    println!("pg as `cargo install` leaves it: {bytes} bytes of {LARGEST}");
    let path = root.join(REPORT);
    let page = std::fs::read_to_string(&path).with_context(|| format!("{REPORT} cannot be read"))?;
    std::fs::write(&path, with(&page, &section(&rows, bytes)))
        .with_context(|| format!("{REPORT} cannot be written"))?;
    println!("{REPORT} written");
    ensure!(
        bytes <= LARGEST,
        "pg is too large: look for code that is compiled again for each type (`nm -S --size-sort -C`)"
    );
    Ok(())
}

/// The size of `pg` as `cargo install` leaves it, in bytes.
fn installed(root: &Path) -> Result<u64> {
    let mut cargo = workspace::cargo(root);
    cargo.args(["build", "--quiet", "--locked", "--release", "-p", "pg-cli", "--bin", "pg"]);
    steps::execute(&mut cargo)?;
    let program = workspace::metadata(root)?.target_directory.join("release");
    let program = program.join(format!("pg{}", std::env::consts::EXE_SUFFIX));
    Ok(std::fs::metadata(&program).with_context(|| format!("no {program}"))?.len())
}

fn section(rows: &str, bytes: u64) -> String {
    format!(
        "{BEGIN}\nFrom an empty target folder with packages downloaded, in the development profile, dependencies included.\n\
         Processor seconds of all cores together, which depend less on the load of a machine than elapsed time does.\n\
         `cargo xtask bench --build` measures them again.\n\n{rows}\n\
         `pg` as `cargo install` leaves it has {bytes} bytes, of {LARGEST} that it may have.\n\n{END}"
    )
}

/// A page with its section in place of the one that it had, if it had one.
fn with(page: &str, section: &str) -> String {
    report::with_section(page, [BEGIN, END], section)
}

/// Returns the section of a page, which its next version keeps.
pub(super) fn kept(page: &str) -> &str {
    match (page.find(BEGIN), page.find(END)) {
        (Some(begin), Some(end)) => &page[begin..end + END.len()],
        _ => "",
    }
}

/// The number of compiled crates; build scripts and macros count separately.
fn crates(root: &Path, build: &Build) -> Result<usize> {
    let mut cargo = workspace::cargo(root);
    cargo.args(["tree", "--locked", "-p", build.package, "-e", "normal,build", "--prefix", "none"]);
    let tree = workspace::printed("cargo tree", cargo.args(["--format", "{p}"]).args(build.features))?;
    let mut names: Vec<String> =
        tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).filter(|line| !line.is_empty()).collect();
    names.sort();
    names.dedup();
    Ok(names.len())
}

/// Processor time of all processes that have ended and that we, or they, have started.
fn children_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("processor time is known on Linux alone")?;
    seconds_of(&stat).context("/proc/self/stat has another form")
}

/// Fields 16 and 17 of the line, in hundredths of a second; the name before them may contain anything, and ends at the last `)`.
fn seconds_of(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::{kept, seconds_of, section, with};

    #[test]
    fn processor_time_is_read_behind_any_name() {
        let stat = "7 (a ) b) S 1 1 1 0 -1 4194304 90 2000 0 0 3 4 1250 50 20 0 1 0 100 0 0";
        assert_eq!(seconds_of(stat), Some(13.0));
        assert_eq!(seconds_of("7 (a"), None);
    }

    #[test]
    fn the_section_takes_the_place_of_the_last_one_and_survives_the_rest_of_the_page() {
        let page = "# Performance\n\n| a |\n\n## How to measure again\n\nrun it\n";
        let once = with(page, &section("| pg | 1 | 2 |\n", 14));
        assert!(once.starts_with("# Performance\n\n| a |\n\n## Build times\n"), "{once}");
        assert!(once.ends_with("\n## How to measure again\n\nrun it\n"), "{once}");
        let twice = with(&once, &section("| pg | 3 | 4 |\n", 15));
        assert!(twice.contains("| pg | 3 | 4 |") && !twice.contains("| 1 |"), "{twice}");
        assert_eq!(with(page, kept(&twice)), twice);
    }
}
