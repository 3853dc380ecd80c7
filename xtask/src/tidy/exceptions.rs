//! The files that may lift the ban on clocks and random numbers (`.clippy.toml`).

use super::{Source, Violation};

/// The edges of the system, where real time and real random bytes come in.
const EDGES_OF_THE_SYSTEM: &[&str] = &[
    "crates/pg-connections/",
    "crates/pg-hyper/",
    "crates/pg-intents/src/postgres/listener.rs",
    "crates/pg-intents/src/telemetry.rs",
    "crates/pg-intents/tests/figures.rs",
    "crates/pg-sandbox/src/server",
    "crates/pg-sandbox/src/store/postgres/patience.rs",
    "crates/pg-cli/",
    "crates/pg-rehearse/src/clock.rs",
    "docs/examples/axum-shop/",
    "tests/measure/",
    "tests/src/bin/attack/",
    "tests/src/bin/rehearsed.rs",
    "tests/runtimes/",
    "tests/sandbox/tests/postgres/figures.rs",
    "tests/simulation/src/main.rs",
    "xtask/",
];

/// The lints, and the groups that hold them. Built in two pieces so that this file does not find itself.
const LINTS: &[&str] = &[
    concat!("clippy::disallowed", "_methods"),
    concat!("clippy::disallowed", "_types"),
    concat!("clippy::", "style"),
    concat!("clippy::", "all"),
];

/// Finds exceptions in the wrong place, and those that do not give a reason.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    sources.iter().filter(|source| source.path.ends_with(".rs")).flat_map(exceptions).collect()
}

fn exceptions(source: &Source) -> Vec<Violation> {
    let mentions = LINTS.iter().flat_map(|lint| source.text.match_indices(lint));
    let is_whole = |at: usize| !source.text[at..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    mentions.filter(|(at, lint)| is_whole(at + lint.len())).filter_map(|(at, lint)| judge(source, at, lint)).collect()
}

fn judge(source: &Source, at: usize, lint: &str) -> Option<Violation> {
    let line = source.text[..at].lines().count().max(1);
    let place = format!("{}:{line}", source.path);
    if !at_the_edge(&source.path) {
        return Some(Violation::new(
            place,
            format!("lifts {lint} away from the edges of the system"),
            "take the time or the random bytes as an argument",
        ));
    }
    let attribute_start = source.text[..at].rfind('#').unwrap_or(0);
    let attribute_end = source.text[at..].find(']').map_or(source.text.len(), |end| at + end);
    let attribute = &source.text[attribute_start..attribute_end];
    let labelled = attribute.contains("expect(") && attribute.contains("reason");
    (!labelled).then(|| {
        Violation::new(place, format!("lifts {lint} without saying why"), "write #[expect(…, reason = \"…\")]")
    })
}

fn at_the_edge(path: &str) -> bool {
    path.contains("/benches/") || EDGES_OF_THE_SYSTEM.iter().any(|edge| path.starts_with(edge))
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    fn complaints(path: &str, attribute: &str) -> Vec<String> {
        let text = format!("fn a() {{}}\n{}\nfn b() {{}}\n", attribute.replace("LINT", LINTS[0]));
        check(&[source(path, &text)]).iter().map(|violation| violation.what.clone()).collect()
    }

    const LABELLED: &str = "#[expect(LINT, reason = \"the driver is where time comes in\")]";

    #[test]
    fn labelled_exceptions_at_the_edges_pass() {
        for path in
            ["crates/pg-hyper/src/client.rs", "crates/pg-sandbox/src/server.rs", "crates/pg-model/benches/decode.rs"]
        {
            assert!(complaints(path, LABELLED).is_empty(), "{path}");
        }
    }

    #[test]
    fn exceptions_in_the_cores_are_reported() {
        for path in ["crates/pg-proto/src/lib.rs", "crates/pg-sandbox/src/core.rs", "tests/tests/journey.rs"] {
            assert_eq!(
                complaints(path, LABELLED),
                [format!("lifts {} away from the edges of the system", LINTS[0])],
                "{path}"
            );
        }
    }

    #[test]
    fn a_group_that_holds_the_lints_is_reported_like_them() {
        for group in ["style", "all"] {
            let attribute = format!("#[allow(clippy::{group})]\nfn now() {{}}");
            let told = format!("lifts clippy::{group} away from the edges of the system");
            assert_eq!(complaints("crates/pg-proto/src/lib.rs", &attribute), [told]);
        }
        assert!(complaints("crates/pg-proto/src/lib.rs", "#[expect(clippy::allow_attributes)]").is_empty());
    }

    #[test]
    fn unlabelled_exceptions_are_reported() {
        for attribute in ["#[allow(LINT, reason = \"because\")]", "#[expect(LINT)]"] {
            assert_eq!(complaints("xtask/src/main.rs", attribute), [format!("lifts {} without saying why", LINTS[0])]);
        }
    }
}
