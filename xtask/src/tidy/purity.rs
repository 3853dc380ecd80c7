//! The sans-IO cores reach no runtime, no socket, no clock and no dice, however many crates away.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Violation;
use crate::workspace;

/// The crates that promise it.
pub(super) const CORES: &[&str] = &["pg-model", "pg-crypto", "pg-proto", "pg-wasm"];

/// The forbidden dependencies, and what each would bring in.
const BANNED: &[(&str, &[&str])] = &[
    ("a runtime", &["async-std", "smol", "async-io", "mio", "monoio", "glommio", "polling", "embassy-executor"]),
    ("a socket", &["socket2", "rustls", "native-tls", "openssl", "reqwest", "ureq", "curl", "h2", "quinn"]),
    (
        "a clock",
        &["time", "chrono", "jiff", "web-time", "instant", "quanta", "coarsetime", "embassy-time", "futures-timer"],
    ),
    ("dice", &["getrandom", "rand", "fastrand", "nanorand", "oorandom", "turborand", "uuid", "ulid", "tempfile"]),
];

/// Families, banned with everything whose name continues with a hyphen.
const BANNED_FAMILIES: &[(&str, &str)] = &[("a runtime", "tokio"), ("a socket", "hyper"), ("a clock", "wasm-timer")];

/// Cargo's tree of a core: normal dependencies, all features, every platform, one `DEPTH NAME` a line.
///
/// The tree of this package alone, because the workspace's resolve would also show what other
/// members switch on in shared dependencies.
pub(super) fn tree(root: &Path, core: &str) -> Result<String> {
    let mut cargo = workspace::cargo(root);
    cargo.args(["tree", "--package", core, "--edges", "normal", "--all-features", "--target", "all"]);
    cargo.args(["--prefix", "depth", "--format", " {p}", "--color", "never"]);
    workspace::printed(&format!("cargo tree -p {core}"), &mut cargo)
}

/// Looks for banned crates in a core's tree, and names the way to each.
pub(super) fn check(core: &str, tree: &str) -> Result<Vec<Violation>> {
    let mut path: Vec<&str> = Vec::new();
    let mut violations = Vec::new();
    for line in tree.lines().filter(|line| !line.trim().is_empty()) {
        let (depth, name) = parse(line).with_context(|| format!("cargo tree printed `{line}`"))?;
        path.truncate(depth);
        path.push(name);
        if let Some(smuggled) = smuggles(name) {
            violations.push(Violation::new(
                core,
                format!("reaches {smuggled}: {}", path.join(" -> ")),
                "time, random bytes and transports are arguments of the cores; drop the dependency or the feature that brings it",
            ));
        }
    }
    if path.first() != Some(&core) {
        bail!("cargo tree does not start with {core}");
    }
    Ok(violations)
}

fn parse(line: &str) -> Option<(usize, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?))
}

fn smuggles(name: &str) -> Option<&'static str> {
    let exact = BANNED.iter().find(|(_, names)| names.contains(&name)).map(|(what, _)| *what);
    exact.or_else(|| {
        let family =
            |family: &str| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        BANNED_FAMILIES.iter().find(|(_, prefix)| family(prefix)).map(|(what, _)| *what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: &str =
        "0 pg-proto v0.1.0 (/somewhere)\n1 bytes v1.12.1\n1 http v1.5.0\n2 bytes v1.12.1\n2 itoa v1.0.18\n";

    #[test]
    fn a_pure_core_passes() {
        assert_eq!(check("pg-proto", CLEAN).unwrap(), []);
    }

    #[test]
    fn the_way_to_a_banned_crate_is_shown_whole() {
        let tree = format!("{CLEAN}1 pg-model v0.1.0\n2 quick-xml v0.42.0\n3 tokio v1.54.1\n1 hyper-util v0.1.21\n");
        let lines: Vec<String> =
            check("pg-proto", &tree).unwrap().iter().map(|violation| violation.what.clone()).collect();
        assert_eq!(
            lines,
            [
                "reaches a runtime: pg-proto -> pg-model -> quick-xml -> tokio",
                "reaches a socket: pg-proto -> hyper-util",
            ]
        );
    }

    #[test]
    fn clocks_and_dice_are_found_and_look_alikes_are_not() {
        for banned in ["time", "chrono", "jiff", "rand", "getrandom", "tokio-util", "hyper"] {
            let tree = format!("0 pg-crypto v0.1.0\n1 {banned} v1.0.0 (*)\n");
            assert_eq!(check("pg-crypto", &tree).unwrap().len(), 1, "{banned}");
        }
        for innocent in ["timeless", "rand_core", "hyperloglog", "tokiolike", "http"] {
            let tree = format!("0 pg-crypto v0.1.0\n1 {innocent} v1.0.0\n");
            assert_eq!(check("pg-crypto", &tree).unwrap(), [], "{innocent}");
        }
    }

    #[test]
    fn output_that_is_no_tree_of_this_core_is_an_error_not_a_pass() {
        assert!(check("pg-model", "").is_err());
        assert!(check("pg-model", CLEAN).is_err());
        assert!(check("pg-model", "warning: something else").is_err());
    }
}
