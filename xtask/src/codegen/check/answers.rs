//! Where the operator's answer to a question goes: an entry of the dialect, or a setting of the client.

use super::{
    super::{place::allowed, tables::Assumption},
    Checker,
    codes::{REMEDIES, SCOPES},
};

/// The tables and keys of a dialect file, as in `pg_model::dialect`.
const ENTRIES: &[&str] = &[
    "refused_reference",
    "shared_codes",
    "[lookup]",
    "nothing",
    "no_card",
    "immediate",
    "found_by_initiation",
    "[checkout]",
    "paid",
    "pending",
    "failed",
    "refused_cancel_means_ended",
    "cancel_closes_open_pages",
    "found_by_reference",
    "[session_data]",
    "key",
    "iv",
    "padding",
    "text",
    "[[declined]]",
    "[[pending]]",
    "[[authentication]]",
    "[[error]]",
];
/// Keys within an entry, which alone say nothing about its place.
const KEYS: &[&str] = &["code", "situations", "means", "http", "remedy", "scope"];
/// Settings of a client, as fields of their types.
const SETTINGS: &[&str] =
    &["ThrottleLimits::per_minute", "ThrottleLimits::longest_way", "ChargeBounds::lookups", "ChargeBounds::within"];

impl Checker<'_> {
    /// Checks that the answer to a question has a place that exists, or that the text says that it has none.
    pub(super) fn answer(&mut self, one: &Assumption) {
        let (Some(answer), place) = (one.answer.as_deref(), one.places.of("answer")) else { return };
        let named = || answer.split('`').skip(1).step_by(2);
        let is_place = |name: &str| ENTRIES.contains(&name) || SETTINGS.contains(&name);
        if !named().any(is_place) && !answer.starts_with("Nowhere") {
            let what = "answer names, in backticks, no entry of a dialect and no setting of a client; if there is none, begin with Nowhere";
            self.problem(place, what);
        }
        let codes = self.tables.codes.iter().filter(|table| table.is_invented()).flat_map(|table| &table.codes);
        let situations: Vec<String> = codes.map(|code| code.situation()).collect();
        let known = || {
            let words = [ENTRIES, KEYS, SETTINGS, REMEDIES, SCOPES].into_iter().flatten().copied();
            words.chain(situations.iter().map(String::as_str))
        };
        for name in named().filter(|name| known().all(|word| word != *name)) {
            let what =
                format!("{name:?} is no entry of a dialect and no setting of a client{}", allowed(name, known()));
            self.problem(place, what);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::codegen::tests::root;

    #[test]
    fn every_place_of_an_answer_exists() {
        let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
        let file = read("crates/pg-model/src/dialect/file.rs");
        for name in ENTRIES.iter().chain(KEYS) {
            let name = name.trim_matches(['[', ']']);
            assert!(file.contains(&format!("\n    {name}: ")), "{name}");
        }
        let machines =
            ["throttle.rs", "charge/bounds.rs"].map(|name| read(&format!("crates/pg-proto/src/machine/{name}")));
        for setting in SETTINGS {
            let (kind, name) = setting.split_once("::").unwrap();
            let has = |text: &String| {
                text.contains(&format!("pub struct {kind} ")) && text.contains(&format!("pub {name}: "))
            };
            assert!(machines.iter().any(has), "{setting}");
        }
    }
}
