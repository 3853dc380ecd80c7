//! Slips in names on the wire: the documents, or the tables elsewhere, spell almost the same name in another way.

use std::collections::{BTreeMap, BTreeSet};

use strsim::osa_distance;

use super::{
    super::{
        names,
        place::Place,
        tables::{Row, Tables},
    },
    Checker,
};

/// Names of the documents, made from their text and not from the tables.
const SPELLINGS: &str = include_str!("spellings.txt");
/// Shorter names are too often near to each other.
const SHORTEST: usize = 6;
/// From this length on two letters may be wrong.
const LONG: usize = 12;

/// A name in a table, its place and its struct: names within one struct must differ.
struct Given<'t> {
    name: &'t str,
    place: Place,
    holder: &'t str,
    /// Where the documents have it, such as `1 §4.6`.
    source: &'t str,
}

impl Checker<'_> {
    /// Reports names that are misspelt in the documents, or that are probably typing errors for names of the documents or of other rows.
    pub(super) fn spellings(&mut self) {
        let (spellings, given) = (Spellings::of_documents(), names(self.tables));
        let elsewhere = Elsewhere::new(&given);
        for one in &given {
            let name = plain(one.name);
            if let Some(right) = spellings.misspelt.get(name) {
                let what = format!(
                    "the documents misspell {right:?} here and there as {name:?}; did you mean {right:?}, with \
                     aliases = [{name:?}]?"
                );
                self.problem(one.place, what);
            } else if spellings.right.contains(name) {
                continue;
            } else if let Some(right) = nearest_slip(name, &spellings.right) {
                self.problem(one.place, format!("the documents spell {name:?} as {right:?}; did you mean {right:?}?"));
            } else if let Some(other) = elsewhere.meant_by(name) {
                let at = other.place;
                let right = plain(other.name);
                self.problem(one.place, format!("{name:?} is spelt {right:?} at {at}; did you mean {right:?}?"));
            } else if let Some(usual) = usual_style(name, one.source) {
                let document = one.source.split(' ').next().unwrap_or_default();
                let what = format!("{name:?} is not written as the names of document {document} are");
                self.problem(one.place, format!("{what}; did you mean {usual:?}?"));
            }
        }
    }
}

struct Spellings {
    right: BTreeSet<&'static str>,
    misspelt: BTreeMap<&'static str, &'static str>,
}

impl Spellings {
    fn of_documents() -> Self {
        let mut spellings = Self { right: BTreeSet::new(), misspelt: BTreeMap::new() };
        for line in SPELLINGS.lines().filter(|line| !line.starts_with('#')) {
            match line.split_once(" = ") {
                Some((wrong, right)) => drop(spellings.misspelt.insert(wrong, right)),
                None => drop(spellings.right.insert(line)),
            }
        }
        spellings
    }
}

/// Names that are not in the documents, with their number and the names beside them.
struct Elsewhere<'g, 't> {
    given: BTreeMap<&'t str, Vec<&'g Given<'t>>>,
}

impl<'g, 't> Elsewhere<'g, 't> {
    fn new(all: &'g [Given<'t>]) -> Self {
        let mut given: BTreeMap<&str, Vec<&Given<'_>>> = BTreeMap::new();
        for one in all {
            given.entry(plain(one.name)).or_default().push(one);
        }
        Self { given }
    }

    /// The name that a row elsewhere has, more rows having it, or as many and earlier ones.
    fn meant_by(&self, name: &str) -> Option<&'g Given<'t>> {
        let own = self.given.get(name)?;
        let rank = |rows: &[&Given<'_>]| (std::cmp::Reverse(rows.len()), rows[0].place);
        self.given
            .iter()
            .filter(|(other, rows)| is_slip(name, other) && rank(rows) < rank(own))
            .find(|(_, rows)| !own.iter().any(|one| rows.iter().any(|row| row.holder == one.holder)))
            .map(|(_, rows)| rows[0])
    }
}

/// All names of the tables, in the order of their rows.
fn names(tables: &Tables) -> Vec<Given<'_>> {
    fn of_rows<'t>(rows: &'t [Row], holder: &'t str) -> impl Iterator<Item = Given<'t>> {
        rows.iter().filter_map(move |row| match row {
            Row::Field(field) => {
                Some(Given { name: &field.wire, place: field.places.of("wire"), holder, source: &field.source })
            }
            Row::Group(_) => None,
        })
    }
    let methods = || tables.methods().map(|(_, method)| method);
    let paths = methods().map(|method| Given {
        name: &method.name,
        place: method.places.of("name"),
        holder: "path",
        source: &method.source,
    });
    let of_methods = methods().flat_map(|method| of_rows(&method.fields, &method.rust));
    let of_groups = tables.groups.iter().flat_map(|group| of_rows(&group.fields, &group.rust));
    let of_records = tables.records.iter().flat_map(|record| {
        let parts = record.fields.iter();
        parts.map(|part| Given {
            name: &part.wire,
            place: part.places.of("wire"),
            holder: &record.name,
            source: &part.source,
        })
    });
    paths.chain(of_methods).chain(of_groups).chain(of_records).filter(|one| !one.name.is_empty()).collect()
}

/// The name that was probably meant, of those that the name may be a slip of.
fn nearest_slip<'n>(name: &str, names: &BTreeSet<&'n str>) -> Option<&'n str> {
    names.iter().copied().filter(|other| is_slip(name, other)).min_by_key(|other| osa_distance(name, other))
}

/// The name as its document would write it: `cardKey` in version 3, `trans_key` in version 5. `None` if it is.
fn usual_style(name: &str, source: &str) -> Option<String> {
    let words = || names::snake(name).split(['_', '-']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let words: Vec<String> = words();
    let (is_usual, usual) = if source.starts_with('3') {
        let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        (plain && !name.starts_with('_') && !name.ends_with('_') && !name.contains("__"), words.join("_"))
    } else {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
        let (first, rest) = words.split_first()?;
        let usual = first.clone() + &rest.iter().map(|word| capital(word)).collect::<String>();
        (plain && name.starts_with(|letter: char| letter.is_ascii_lowercase()), usual)
    };
    (!is_usual && usual != name).then_some(usual)
}

/// A name without the number of its item.
fn plain(name: &str) -> &str {
    name.trim_end_matches("[{n}]").trim_end_matches("{n}")
}

/// Whether one name is the other with a slip: capitals, a letter or two. Names that differ in a digit, in being many or
/// in their style are two names.
fn is_slip(name: &str, other: &str) -> bool {
    if name == other || name.len() < SHORTEST || name.contains('_') != other.contains('_') {
        return false;
    }
    let most = if name.len() >= LONG { 2 } else { 1 };
    // Each additional letter is one difference, which already separates most names.
    if name.chars().count().abs_diff(other.chars().count()) > most {
        return false;
    }
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let many = |one: &str, other: &str| one.strip_suffix('s') == Some(other);
    if digits(name) != digits(other) || many(name, other) || many(other, name) {
        return false;
    }
    osa_distance(&name.to_ascii_lowercase(), &other.to_ascii_lowercase()) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_those_of_their_document() {
        for (name, source, usual) in [
            ("customer_language", "1 §4.6", Some("customerLanguage")),
            ("CustomerLanguage", "1 §4.6", Some("customerLanguage")),
            ("customer-language", "2 §4.3", Some("customerLanguage")),
            ("customerLanguage", "1 §4.6", None),
            ("customerLanguage", "3 §4.1", Some("customer_language")),
            ("Customer_language", "3 §4.1", Some("customer_language")),
            ("customer__language", "3 §4.1", Some("customer_language")),
            ("customer_language", "3 §4.1", None),
            ("until", "1 §4.3", None),
        ] {
            assert_eq!(usual_style(name, source).as_deref(), usual, "{name}");
        }
    }

    #[test]
    fn a_slip_is_a_letter_or_two_and_nothing_that_makes_another_name() {
        for (one, other) in [
            ("callBackUrl", "callbackUrl"),
            ("terminlKey", "terminalKey"),
            ("cardholderAdressTwon", "cardholderAddressTown"),
        ] {
            assert!(is_slip(one, other) && is_slip(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("cardholderAddressLine1", "cardholderAddressLine2"),
            ("transaction", "transactions"),
            ("terminalKey", "terminal_key"),
            ("name", "nome"),
            ("cardKey", "cardKey"),
        ] {
            assert!(!is_slip(one, other), "{one} {other}");
        }
    }
}
