//! English: a sentence names its subject. The words of `REFUSED` hide it, so they are refused. A heading that the
//! documentation of a function has stands alone on its line: text behind it would be a part of it.

use super::{Source, Violation};

/// The refused words, split so that this file may list them.
const REFUSED: &[&str] = &[
    concat!("no", "body"),
    concat!("some", "body"),
    concat!("who", "ever"),
    concat!("whom", "ever"),
    concat!("no ", "one"),
];

/// Files and folders that still have such sentences. Remove an entry when its sentences are rewritten.
const NOT_YET: &[&str] = &["CHANGELOG.md"];

/// Checks every sentence of code, tables and pages.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let checked = sources.iter().filter(|source| {
        let kind = [".rs", ".md", ".toml"].iter().any(|end| source.path.ends_with(end));
        kind && !NOT_YET.iter().any(|place| source.path.starts_with(place))
    });
    checked.flat_map(of_file).collect()
}

fn of_file(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let place = || format!("{}:{}", source.path, index + 1);
        if source.path.ends_with(".rs") && is_heading_with_text(line) {
            violations.push(Violation::new(place(), "has text behind a heading", "begin a line below the heading"));
        }
        if is_shown(&source.path, line) && line.contains("Outcome::Other(") && line.contains("Declined(") {
            violations.push(Violation::new(
                place(),
                "shows an unknown outcome together with a decline",
                "give `Outcome::Other` an arm of its own: it is neither paid nor unpaid, and readers copy examples",
            ));
        }
        let lower = line.to_ascii_lowercase();
        for word in REFUSED.iter().filter(|word| has(&lower, word)) {
            violations.push(Violation::new(
                place(),
                format!("says `{word}`"),
                "name the subject: the client, the customer, the caller, or use the passive voice",
            ));
        }
    }
    violations
}

fn is_heading_with_text(line: &str) -> bool {
    let heading = line.trim_start().strip_prefix("/// # ");
    let rest = heading.and_then(|text| ["Errors", "Panics"].iter().find_map(|name| text.strip_prefix(name)));
    rest.is_some_and(|rest| !rest.trim().is_empty())
}

/// Whether a line is in a page or in documentation, which may have examples.
fn is_shown(path: &str, line: &str) -> bool {
    path.ends_with(".md") || line.trim_start().starts_with("//")
}

/// Whether a line has the word in a sentence. Directly after a quote or `=` it is a value of a test.
fn has(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let value = matches!(before, Some('"' | '\'' | '=')) && !matches!(after, Some(' '));
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !value && !inside(before) && !inside(after)
    })
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        check(&[source(path, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn sentences_without_a_subject_are_refused() {
        let word = REFUSED[0];
        assert_eq!(
            complaints("xtask/src/a.rs", &format!("\n/// When {word} waits.\n")),
            [format!(
                "xtask/src/a.rs:2: says `{word}`; name the subject: the client, the customer, the caller, or use the passive voice"
            )]
        );
        assert_eq!(complaints("docs/a.md", &format!("{} knows.", REFUSED[4])).len(), 1);
        assert_eq!(complaints("a.toml", &format!("why = \"{} asks\"", REFUSED[2])).len(), 1);
    }

    #[test]
    fn headings_with_text_behind_them_are_refused() {
        for (line, refused) in
            [("    /// # Errors If it fails.", true), ("    /// # Errors", false), ("/// # Panics None.", true)]
        {
            assert_eq!(!complaints("crates/a/src/a.rs", line).is_empty(), refused, "{line}");
        }
        assert!(complaints("docs/a.md", "/// # Errors If it fails.").is_empty());
    }

    #[test]
    fn examples_that_take_an_unknown_outcome_for_a_decline_are_refused() {
        let arm = "Outcome::Declined(not) | Outcome::Other(not) => println!(\"not paid\"),";
        for (path, line, refused) in [
            ("crates/a/src/lib.rs", format!("//!     {arm}"), true),
            ("docs/guide/a.md", arm.to_owned(), true),
            ("crates/a/src/a.rs", arm.to_owned(), false),
            ("docs/guide/a.md", "Outcome::Other(open) => {}".to_owned(), false),
        ] {
            assert_eq!(!complaints(path, &line).is_empty(), refused, "{path} {line}");
        }
    }

    #[test]
    fn values_of_tests_names_and_other_words_are_fine() {
        let word = REFUSED[0];
        for text in [
            format!("find(\"{word}\")"),
            format!("apiKey={word}&x=1"),
            format!("let {word}_else = 1;"),
            "no ones".into(),
        ] {
            assert!(complaints("crates/a/src/a.rs", &text).is_empty(), "{text}");
        }
        assert!(complaints("crates/a/a.py", word).is_empty());
    }
}
