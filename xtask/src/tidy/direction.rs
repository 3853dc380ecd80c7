//! Which of our crates may depend on which.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata};

use super::{Source, Violation};

const ARCHITECTURE: &str = "docs/internals/architecture.md";

/// The layers. A crate may name the crates of its row, and what those may name in turn, since they
/// bring it along anyway. `pg-sandbox` has no way to `pg-proto`: an encoder's bug must not meet
/// itself in the peer that it is tested against.
const EDGES: &[(&str, &[&str])] = &[
    ("pg-model", &[]),
    ("pg-crypto", &[]),
    ("pg-proto", &["pg-model", "pg-crypto"]),
    // Both servers, of the sandbox and of the receiver, face hostile peers. Both stores in PostgreSQL need TLS.
    ("pg-connections", &[]),
    ("pg-hyper", &["pg-proto", "pg-connections"]),
    ("pg-sandbox", &["pg-model", "pg-crypto", "pg-connections"]),
    // What a service decides, found out over any transport.
    ("pg-survey", &["pg-proto"]),
    // It judges integrations by the sandbox's ledger, and shares no encoder with them.
    ("pg-rehearse", &["pg-sandbox"]),
    // Machines in a database that many processes share; the core and the client stay free of it.
    ("pg-intents", &["pg-connections", "pg-hyper", "pg-sandbox"]),
    ("pg-cli", &["pg-hyper", "pg-intents", "pg-rehearse", "pg-sandbox", "pg-survey"]),
    ("pg-wasm", &["pg-crypto", "pg-model"]),
    // Examples to copy: each depends only on what it demonstrates.
    ("axum-shop", &["pg-hyper", "pg-intents", "pg-sandbox"]),
    ("decode-text", &["pg-crypto"]),
    ("decode-record", &["pg-crypto", "pg-model"]),
    // It generates and checks the others, so it must build when they do not.
    ("xtask", &[]),
    (BENCHMARKS, &[]),
    (STORES, &["pg-sandbox", SUPPORT]),
    (SUPPORT, &["pg-sandbox"]),
    // The examples of runtimes and HTTP libraries that are not ours, run against the sandbox.
    ("pg-runtimes", &["pg-hyper", "pg-sandbox"]),
    // A charge compiled for bare wasm32.
    ("pg-wasm-charge", &["pg-proto"]),
    // The machines, and workers that share a database, against the sandbox, in one thread.
    ("pg-simulation", &[FAULTY, "pg-hyper", "pg-intents", "pg-proto", "pg-sandbox", "pg-survey"]),
    // Between workers and the store that they share.
    (FAULTY, &["pg-intents"]),
    // The sandbox from outside.
    ("pg-sandbox-tests", &["pg-sandbox"]),
    // Properties of every reader.
    ("pg-fuzz", &["pg-hyper", "pg-sandbox"]),
];

/// The member that measures the others, which may all have it as a dev-dependency.
const BENCHMARKS: &str = "pg-measure";

/// The member with stores for tests; any other may have it as a dev-dependency.
const STORES: &str = "pg-stores";

/// The member with a store of intents that has a planted bug: for tests of fleets; any other may have it as a dev-dependency.
const FAULTY: &str = "pg-faulty-intents";

/// The member with what tests share; any other may have it as a dev-dependency.
const SUPPORT: &str = "pg-support";

/// The member that may depend on all others, and on which no other may depend.
const JOURNEYS: &str = "pg-tests";

/// A workspace member and the members that its manifest names, as dependency of any kind; but the
/// one that measures is there only where it is more than a dev-dependency.
pub(super) struct Member {
    name: String,
    names: BTreeSet<String>,
}

/// The members of the workspace with the edges between them.
pub(super) fn members(metadata: &Metadata) -> Vec<Member> {
    let packages = metadata.workspace_packages();
    let ours: BTreeSet<String> = packages.iter().map(|package| package.name.to_string()).collect();
    packages
        .into_iter()
        .map(|package| Member {
            name: package.name.to_string(),
            names: package
                .dependencies
                .iter()
                .filter(|edge| {
                    ![BENCHMARKS, FAULTY, STORES, SUPPORT].contains(&&*edge.name)
                        || edge.kind != DependencyKind::Development
                })
                .map(|edge| edge.name.clone())
                // A crate names itself to have its tests with a feature that is off by default.
                .filter(|name| ours.contains(name) && **name != *package.name)
                .collect(),
        })
        .collect()
}

/// Compares the edges, dev- and build-dependencies among them, with the layers.
pub(super) fn check(members: &[Member]) -> Vec<Violation> {
    let layers: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    let mut violations = Vec::new();
    for Member { name, names } in members.iter().filter(|member| member.name != JOURNEYS) {
        if !layers.contains_key(name.as_str()) {
            violations.push(Violation::new(
                name,
                "this crate has no place in the layers",
                "give it a row in EDGES of xtask/src/tidy/direction.rs and in docs/internals/architecture.md",
            ));
            continue;
        }
        let allowed = closure(name, &layers);
        for edge in names.iter().filter(|edge| !allowed.contains(edge.as_str())) {
            let list = if allowed.is_empty() { "no crate of the workspace".to_owned() } else { join(&allowed) };
            violations.push(Violation::new(
                name,
                format!("depends on {edge}, but may depend only on {list}"),
                format!("remove {edge} from its manifest, or move the test that needs it to tests/"),
            ));
        }
    }
    violations
}

/// Reports each member that has no row in the tables of the architecture page.
pub(super) fn check_page(members: &[Member], sources: &[Source]) -> Vec<Violation> {
    let Some(page) = sources.iter().find(|source| source.path == ARCHITECTURE) else { return Vec::new() };
    let cells = page.text.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next());
    let named: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let missing = members.iter().filter(|member| !named.contains(member.name.as_str()));
    missing
        .map(|Member { name, .. }| Violation::new(ARCHITECTURE, format!("{name} has no row"), "say what it knows"))
        .collect()
}

fn closure<'a>(name: &str, layers: &BTreeMap<&'a str, &'a [&'a str]>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = layers.get(name).map_or_else(Vec::new, |edges| edges.to_vec());
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(layers.get(next).into_iter().flat_map(|edges| edges.iter()));
        }
    }
    found
}

fn join(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(graph: &[(&str, &[&str])]) -> Vec<Member> {
        let member = |(name, names): &(&str, &[&str])| Member {
            name: (*name).to_owned(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        graph.iter().map(member).collect()
    }

    fn complaints(graph: &[(&str, &[&str])]) -> Vec<String> {
        check(&members(graph)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_crate_without_a_row_on_the_architecture_page_is_reported() {
        let page = super::super::source(ARCHITECTURE, "`pg-c`\n| crate | knows |\n| `pg-a`, `pg-b` | `pg-d` |\n");
        let members = members(&[("pg-a", &[]), ("pg-b", &[]), ("pg-c", &[]), ("pg-d", &[])]);
        let found: Vec<String> = check_page(&members, &[page]).iter().map(ToString::to_string).collect();
        let row = |name: &str| format!("{ARCHITECTURE}: {name} has no row; say what it knows");
        assert_eq!(found, [row("pg-c"), row("pg-d")]);
    }

    #[test]
    fn the_layers_themselves_pass_and_so_does_what_they_bring() {
        assert_eq!(complaints(EDGES), Vec::<String>::new());
        assert!(
            complaints(&[("pg-hyper", &["pg-proto", "pg-model"]), ("pg-cli", &["pg-hyper", "pg-crypto"])]).is_empty()
        );
    }

    #[test]
    fn the_sandbox_may_not_use_the_encoder_it_judges() {
        let complaints = complaints(&[("pg-sandbox", &["pg-model", "pg-proto"])]);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with(
            "pg-sandbox: depends on pg-proto, but may depend only on pg-connections, pg-crypto, pg-model;"
        ));
    }

    #[test]
    fn no_edge_goes_upwards_or_into_the_bottom() {
        for (name, edge) in [
            ("pg-model", "pg-crypto"),
            ("pg-crypto", "pg-model"),
            ("pg-proto", "pg-hyper"),
            ("pg-hyper", "pg-sandbox"),
            ("pg-sandbox", "pg-hyper"),
            ("pg-wasm", "pg-proto"),
            ("pg-cli", "pg-tests"),
            ("xtask", "pg-model"),
            ("pg-model", BENCHMARKS),
        ] {
            assert_eq!(complaints(&[(name, &[edge])]).len(), 1, "{name} -> {edge}");
        }
    }

    #[test]
    fn the_journeys_may_use_everything_and_unknown_crates_are_reported() {
        assert!(complaints(&[("pg-tests", &["pg-cli", "pg-sandbox", "pg-proto", "xtask"])]).is_empty());
        assert!(complaints(&[("pg-extra", &[])])[0].contains("has no place in the layers"));
    }
}
