//! The dialect of the services that this crate's tests simulate: the sandbox's, from its file.

use std::sync::{Arc, OnceLock};

use pg_model::Dialect;

const FILE: &str = include_str!("../../pg-sandbox/dialects/sandbox.toml");

/// The errors with which the simulated services answer. To read the others too, Miri needs minutes.
const ANSWERED: [&str; 18] = [
    "107", "129", "936", "937", "938", "940", "942", "943", "950", "951", "952", "956", "960", "961", "962", "963",
    "998", "999",
];

/// Returns the sandbox's dialect. This crate does not depend on `pg-sandbox`, so that a mistake cannot hide in both.
pub(crate) fn sandbox() -> Arc<Dialect> {
    static DIALECT: OnceLock<Arc<Dialect>> = OnceLock::new();
    let read = || {
        let text = if cfg!(miri) { without_unanswered_errors(FILE) } else { FILE.to_owned() };
        Dialect::from_toml(&text).expect("a dialect file")
    };
    Arc::clone(DIALECT.get_or_init(|| Arc::new(read())))
}

/// Leaves out comments, and errors with which no simulated service answers.
fn without_unanswered_errors(file: &str) -> String {
    let answered = |entry: &&str| {
        !entry.contains("[[error]]") || ANSWERED.iter().any(|code| entry.contains(&format!("\"{code}\"")))
    };
    let lines = file.split("\n\n").filter(answered).flat_map(str::lines).filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(not(miri))]
#[test]
fn what_miri_reads_has_every_answered_error() {
    let whole = sandbox();
    let mut short = Dialect::from_toml(&without_unanswered_errors(FILE)).expect("a dialect file");
    assert_eq!(short.errors.len(), ANSWERED.len());
    assert!(short.errors.iter().all(|entry| whole.errors.contains(entry)));
    short.errors.clone_from(&whole.errors);
    assert_eq!(short, *whole);
}
