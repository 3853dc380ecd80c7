//! The sections of the three documents, to find sources that do not exist.

use super::super::place::allowed;

/// Every numbered heading, made from the documents and not from the tables; a section that they gain is added here.
const SECTIONS: [(&str, &str); 3] = [
    ("1", "1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6 7 8 9"),
    ("2", "1 1.1 1.2 2 2.1 2.2 2.3 2.4 2.5 2.6 3 3.1 3.2 3.3 4 4.1 4.2 4.3 4.4 5 6 7 8 9"),
    ("3", "1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6 7 8 9"),
];

/// The error in a source such as `2 §4.3`, if the section does not exist.
pub(super) fn problem(source: &str) -> Option<String> {
    let all: Vec<String> = SECTIONS
        .iter()
        .flat_map(|(document, sections)| sections.split(' ').map(move |section| format!("{document} §{section}")))
        .collect();
    if all.iter().any(|known| known == source) {
        return None;
    }
    let hint = allowed(source, all.iter().map(String::as_str));
    Some(format!("source {source:?} is in none of the documents{hint}"))
}
