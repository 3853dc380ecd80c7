//! The formats that a field may have: one row a format, with all that the generator knows of it.
//!
//! `crates/pg-model/src/format.rs` has the same formats as hand-written code. Tests of the `tests` member compare the two.

use std::str::FromStr;

use regex::Regex;

/// One format.
pub(super) struct Format {
    /// Its name in the tables.
    pub(super) name: &'static str,
    /// Its variant of `pg_model::format::Format`.
    pub(super) variant: &'static str,
    /// What a value must be, for the reference.
    pub(super) description: &'static str,
    /// The lengths that a value can have, in characters, where the format itself limits them.
    pub(super) lengths: &'static [u16],
    /// The pattern of a value (ECMA 262, without anchors); empty if it adds nothing to the type.
    pub(super) pattern: &'static str,
    /// The types that a field of this format must have; without any, every text type is allowed.
    pub(super) types: &'static [&'static str],
    /// Whether an optional value may be sent empty.
    pub(super) may_be_empty: bool,
    /// A value for examples.
    pub(super) example: &'static str,
}

impl Format {
    /// Whether the pattern admits a value.
    pub(super) fn admits(&self, value: &str) -> bool {
        let pattern = || Regex::new(&format!("^({})$", self.pattern)).expect("a test reads every pattern");
        self.pattern.is_empty() || pattern().is_match(value)
    }
}

const TEXT: &str = r"[^\u0000-\u001F\u007F-\u009F]*";
const LINES: &str = r"[^\u0000-\u0009\u000B\u000C\u000E-\u001F\u007F-\u009F]*";
const NUMBERS: &[&str] = &["u64", "i64"];
const NATURAL: &[&str] = &["u64"];

/// Every format, in the order of `pg_model::format::Format`.
pub(super) const FORMATS: &[Format] = &[
    format("text", "Text", "text without control characters", TEXT, "Example"),
    format("lines", "Lines", "text without control characters except line breaks", LINES, "Example"),
    format("alphanumeric", "Alphanumeric", "letters and digits", "[A-Za-z0-9]+", "A1"),
    format("digits", "Digits", "digits", "[0-9]+", "12345"),
    Format { types: NUMBERS, may_be_empty: false, ..format("integer", "Integer", "a whole number", "", "1") },
    Format {
        types: NATURAL,
        may_be_empty: false,
        ..format("minor", "Minor", "a whole number of minor units", "", "499")
    },
    Format {
        types: &["Decimal"],
        may_be_empty: false,
        ..format("decimal", "Decimal", "currency units, such as 5.95", r"[0-9]+(\.[0-9]+)?", "5.95")
    },
    Format {
        types: &["Url"],
        ..format(
            "url",
            "Url",
            "an absolute http or https URL",
            r#"[Hh][Tt][Tt][Pp][Ss]?://[^\s/?#:<>"\\\u0000-\u001F\u007F-\u009F][^\s<>"\\\u0000-\u001F\u007F-\u009F]*"#,
            "https://shop.example/",
        )
    },
    Format {
        types: &["Currency"],
        lengths: &[3],
        may_be_empty: false,
        ..format("currency", "Currency", "a currency code, three capital letters", "[A-Z]{3}", "GBP")
    },
    Format { lengths: &[2], ..format("country", "Country", "a country code, two letters", "[A-Za-z]{2}", "GB") },
    Format { lengths: &[2], ..format("month", "Month", "a month, 01 to 12", "(0[1-9]|1[0-2])", "12") },
    Format {
        lengths: &[2, 4],
        ..format("year", "Year", "a year in two or four digits", "[0-9]{2}([0-9]{2})?", "2030")
    },
    Format { lengths: &[2], ..format("year2", "Year2", "a year in two digits", "[0-9]{2}", "30") },
    Format {
        lengths: &[4, 6],
        ..format("expiry", "Expiry", "MMYY or MMYYYY", "(0[1-9]|1[0-2])[0-9]{2}([0-9]{2})?", "1230")
    },
    Format {
        lengths: &[8],
        ..format(
            "date-ymd",
            "DateYmd",
            "a date that exists, as YYYYMMDD",
            "[0-9]{4}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])",
            "19800131",
        )
    },
    Format {
        lengths: &[8],
        ..format(
            "date-dmy",
            "DateDmy",
            "a date that exists, as DDMMYYYY",
            "(0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{4}",
            "31011980",
        )
    },
    Format {
        types: NATURAL,
        may_be_empty: false,
        ..format("unix-time", "UnixTime", "a Unix timestamp in seconds", "", "1893456000")
    },
    Format {
        types: &["CardNumber"],
        ..format("card-number", "CardNumber", "a card number, digits only", "[0-9]+", "4000000000001000")
    },
    Format { types: &["Cv2"], lengths: &[3, 4], ..format("cv2", "Cv2", "three or four digits", "[0-9]{3,4}", "123") },
    Format { may_be_empty: false, ..format("one-of", "OneOf", "one of a list of values", "", "") },
    Format { types: &["Flag"], lengths: &[1], may_be_empty: false, ..format("flag", "Flag", "1 or 0", "[01]", "1") },
    Format {
        types: &["Vec<CardKey>"],
        ..format("card-keys", "CardKeys", "1 to 5,000 card keys separated by commas, none twice", "", "")
    },
    format("msisdn", "Msisdn", "a telephone number in international format", r"\+?[0-9]+", "447700900123"),
    format("phone", "Phone", "digits with the country code, no leading zero", "[1-9][0-9]*", "447700900123"),
];

const fn format(
    name: &'static str,
    variant: &'static str,
    description: &'static str,
    pattern: &'static str,
    example: &'static str,
) -> Format {
    Format { name, variant, description, lengths: &[], pattern, types: &[], may_be_empty: true, example }
}

/// The format of that name.
pub(super) fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The bounds of a length, in characters: `"32"`, `"..50"` or `"3..4"`.
pub(super) fn bounds(length: &str) -> Option<(u16, u16)> {
    match length.split_once("..") {
        None => number(length).map(|exact| (exact, exact)),
        Some(("", most)) => number(most).map(|most| (0, most)),
        Some((least, most)) => Some((number(least)?, number(most)?)),
    }
}

/// The bounds of a number: `"-1..127"`.
pub(super) fn range_bounds(range: &str) -> Option<(i64, i64)> {
    let (least, most) = range.split_once("..")?;
    Some((number(least)?, number(most)?))
}

/// A number without a plus sign and without zeros in front.
pub(super) fn number<N: FromStr + ToString>(text: &str) -> Option<N> {
    text.parse().ok().filter(|number: &N| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_admits_its_example_and_not_two_lines() {
        for format in FORMATS.iter().filter(|format| !format.pattern.is_empty()) {
            assert!(format.admits(format.example), "{}", format.name);
            assert!(!format.admits("\u{7f}\n\t"), "{}", format.name);
        }
    }
}
