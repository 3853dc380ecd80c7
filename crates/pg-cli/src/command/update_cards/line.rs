//! Lines of the input: a card key, a row with a card key in one column, or nothing.

use pg_model::{format::luhn_valid, mask};

/// The name of the column with the card keys; case, spaces, hyphens and underscores do not matter.
const COLUMN: &str = "cardkey";
/// The columns that identify a file of results. Its card keys are the old ones.
const RESULTS: [&str; 2] = ["oldcardkey", "status"];
/// The fewest groups of a hexadecimal card key. Those of the documents' examples and of the sandbox have five (spec 1 §2.1, A66).
const FEWEST_GROUPS: usize = 5;
/// The maximum length of a card key. The documents give no limit; their examples have 36 characters (spec 1 §2.1).
const LONGEST_KEY: usize = 255;

/// The message for a row of a table without a header.
const NO_TABLE: &str = "a line holds one card key; a table needs a header with the column cardKey";

/// The layout of the lines, detected from the first non-empty line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One card key per line.
    Keys,
    /// Rows under a header, with the card keys in this column, counted from 0: the first of this name.
    Column { separator: char, at: usize, is_only: bool },
}

impl Layout {
    /// Returns the layout of a file with this first non-empty line; and whether that line is a header.
    pub(super) fn of(first: &str) -> (Self, bool) {
        for separator in [',', ';', '\t'] {
            let names: Vec<String> = fields(first, separator).map(plain).collect();
            let is_results = RESULTS.iter().all(|name| names.iter().any(|found| found == name));
            let wanted = if is_results { RESULTS[0] } else { COLUMN };
            let mut columns = (0..names.len()).filter(|at| names[*at] == wanted);
            if let Some(at) = columns.next() {
                return (Self::Column { separator, at, is_only: columns.next().is_none() }, true);
            }
        }
        (Self::Keys, false)
    }

    /// Returns the card key of a non-empty line, or why it has none.
    pub(super) fn read(self, line: &str) -> Result<&str, &'static str> {
        let key = match self {
            Self::Keys => Some(line.trim()),
            Self::Column { separator, .. } if has_open_quote(line, separator) => {
                return Err("a quoted field has no end on this line; remove line breaks within fields");
            }
            Self::Column { separator, at, .. } => fields(line, separator).nth(at),
        };
        let key = key.ok_or("the row ends before the column cardKey")?;
        wrong(key).map_or(Ok(key), Err)
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a line is empty or a comment.
pub(super) fn says_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Returns why a text is not a card key.
fn wrong(key: &str) -> Option<&'static str> {
    if key.is_empty() {
        Some("the card key is empty")
    } else if key.len() > LONGEST_KEY {
        Some("a card key has at most 255 bytes")
    } else if key.contains([',', '"']) {
        Some(NO_TABLE)
    } else if key.chars().any(|c| c.is_whitespace() || c.is_control()) {
        Some("a card key contains no spaces or control characters")
    } else {
        None
    }
}

/// Returns why a new run refuses a card key. Earlier versions accepted some of these, and their runs are resumed with them.
pub(super) fn unusual(key: &str) -> Option<&'static str> {
    if key.contains([';', '|']) {
        Some(NO_TABLE)
    } else if is_card_number(key) {
        Some("it looks like a card number, not a card key")
    } else {
        None
    }
}

/// Whether a text is almost certainly a card number, perhaps in groups or beside an expiry date or a name. Letters that touch digits make a
/// card key of them, and so do hexadecimal groups beside them: a random key may contain such digits too.
fn is_card_number(text: &str) -> bool {
    let is_hexadecimal = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    if is_hexadecimal && text.contains(char::is_alphabetic) && text.split('-').count() >= FEWEST_GROUPS {
        return false;
    }
    let hyphenated = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    let words = text.split(|c: char| !c.is_alphanumeric());
    // Results mask a key without letters if it contains a likely card number.
    !text.contains(char::is_alphabetic) && mask::has_card_number(text)
        || [text].into_iter().chain(hyphenated).chain(words).any(has_its_digits)
}

/// Whether a text, without punctuation, is 13 to 19 digits with a valid check digit (Luhn).
fn has_its_digits(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| !c.is_ascii_punctuation()).collect();
    (13..=19).contains(&digits.len()) && luhn_valid(&digits)
}

/// Returns the fields of a row, without their quotes. A card key contains no quote, so a field with an inner quote is
/// not unescaped.
fn fields(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let quoted = text.trim_start().strip_prefix('"');
        let end = quoted.and_then(closing_quote);
        let (field, after) = match (quoted, end) {
            (Some(inner), Some(end)) => (&inner[..end], &inner[end + 1..]),
            _ => {
                let end = text.find(separator).unwrap_or(text.len());
                (&text[..end], &text[end..])
            }
        };
        rest = after.find(separator).map(|at| &after[at + separator.len_utf8()..]);
        Some(field.trim())
    })
}

/// Whether a quoted field continues on the next line, which would be read as another row.
fn has_open_quote(line: &str, separator: char) -> bool {
    // The quotes of a whole field are removed.
    fields(line, separator).any(|field| field.starts_with('"') && closing_quote(&field[1..]).is_none())
}

/// Returns the end of a quoted field: the first quote that is not doubled.
fn closing_quote(inner: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + inner[from..].find('"')?;
        if !inner[at + 1..].starts_with('"') {
            return Some(at);
        }
        from = at + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_one_key() {
        let read = |line| Layout::Keys.read(line);
        assert_eq!(read("  4F2C-91\t"), Ok("4F2C-91"));
        for nothing in ["", "   ", "# a comment", "  #"] {
            assert!(says_nothing(nothing), "{nothing:?}");
        }
        let long = "k".repeat(256);
        for bad in ["a,b", "a b", "a\u{7}b", "\"a\"", &long] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
        for row in ["a;b", "a|b", "sep=;"] {
            assert_eq!((read(row), unusual(row)), (Ok(row), Some(NO_TABLE)));
        }
        assert_eq!(read(&long[..255]), Ok(&long[..255]));
    }

    #[test]
    fn a_card_number_is_no_key_even_in_groups_or_beside_other_data() {
        for number in [
            "4111111111111111",
            "4111-1111-1111-1111",
            "411111111111-1111",
            "3782.822463.10005",
            "4111111111111111/12/29",
            "4111-1111-1111-1111/1229",
            "4111.1111.1111.1111:12/29",
            "4111111111111111-Ann",
            "Ann:4111-1111-1111-1111",
            "4111-1111-1111-1111-1229",
            "4111-1111-1111-1111-1111",
            "4111111111111111-Dee",
            "4111111111111111-1229-1f",
            "12-29-917-1-4111111111111111",
        ] {
            assert_eq!(unusual(number), Some("it looks like a card number, not a card key"), "{number}");
        }
        for key in [
            "4111111111111112",
            "411111111111",
            "4111-1111-1111-1112",
            "4111-1111-1111-111F",
            "41111111111111111111",
            "PAN4111111111111111",
            "0d5c4929-4205-4735-9570-411111111111",
        ] {
            assert_eq!(unusual(key), None, "{key}");
        }
    }

    /// Random digits of a key may be a card number by chance.
    #[test]
    fn no_group_of_a_hexadecimal_key_is_judged_alone() {
        let others = ["8159f6c7", "9be3", "b9fd", "557d"];
        for number in 0..1_000_u64 {
            for digits in [format!("{number:013}"), format!("{}", 2_471_534_966_697_000 + number)] {
                for place in 0..=others.len() {
                    let mut groups = others.to_vec();
                    groups.insert(place, &digits);
                    let key = groups.join("-");
                    assert_eq!(unusual(&key), None, "{key}");
                }
            }
        }
    }

    #[test]
    fn a_header_names_the_column() {
        for (header, expected) in [
            ("cardKey", Layout::Column { separator: ',', at: 0, is_only: true }),
            ("customer,\"cardKey\",since", Layout::Column { separator: ',', at: 1, is_only: true }),
            ("customer;since;CARDKEY", Layout::Column { separator: ';', at: 2, is_only: true }),
            ("customer\tcardkey", Layout::Column { separator: '\t', at: 1, is_only: true }),
            ("card_key", Layout::Column { separator: ',', at: 0, is_only: true }),
            ("customer,Card Key", Layout::Column { separator: ',', at: 1, is_only: true }),
            ("oldCardKey,status,response,cardKey", Layout::Column { separator: ',', at: 0, is_only: true }),
            ("oldCardKey,cardKey", Layout::Column { separator: ',', at: 1, is_only: true }),
        ] {
            assert_eq!(Layout::of(header), (expected, true), "{header}");
        }
        for (twice, separator) in [("cardKey,cardKey", ','), ("cardKey;since;card_key", ';')] {
            assert_eq!(Layout::of(twice), (Layout::Column { separator, at: 0, is_only: false }, true), "{twice}");
        }
        assert_eq!(Layout::of("4F2C-91"), (Layout::Keys, false));
        assert_eq!(Layout::of("oldCardKey"), (Layout::Keys, false));
    }

    #[test]
    fn rows_are_cut_at_their_separators() {
        let rows = Layout::Column { separator: ',', at: 1, is_only: true };
        assert_eq!(rows.read("Ann,4F2C-91,2024"), Ok("4F2C-91"));
        assert_eq!(rows.read("\"Smith, Ann \"\"A\"\"\" , \"4F2C-91\""), Ok("4F2C-91"));
        for bad in ["Ann", "Ann,,2024", "Ann,\"a,b\"", "Ann,a b"] {
            assert!(rows.read(bad).is_err(), "{bad:?}");
        }
        let cut = |line| fields(line, ';').collect::<Vec<_>>();
        assert_eq!(cut("a; b ;;\"c\"\"d\";"), ["a", "b", "", "c\"\"d", ""]);
        assert_eq!(cut("\"never closed;x"), ["\"never closed", "x"]);
    }
}
