//! The invented properties that the address lookup knows (spec 3 §4.7; A128).

use serde_json::{Value, json};

/// One property. Its postcode is well-formed, in an area that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct KnownAddress {
    /// The `property_name` to search for.
    pub property: &'static str,
    /// The `postcode` to search for, in the reply's notation.
    pub postcode: &'static str,
    /// First line of the reply.
    pub address_1: &'static str,
    /// Second line of the reply; may be empty.
    pub address_2: &'static str,
    /// Town of the reply.
    pub town: &'static str,
    /// County of the reply; may be empty.
    pub county: &'static str,
}

/// All properties.
pub(crate) const KNOWN: &[KnownAddress] = &[
    KnownAddress {
        property: "1",
        postcode: "ZZ1 1AA",
        address_1: "1 Sandbox Street",
        address_2: "",
        town: "Testford",
        county: "Testshire",
    },
    KnownAddress {
        property: "2",
        postcode: "ZZ1 1AA",
        address_1: "2 Sandbox Street",
        address_2: "",
        town: "Testford",
        county: "Testshire",
    },
    KnownAddress {
        property: "Rose Cottage",
        postcode: "ZZ26 9QX",
        address_1: "Rose Cottage",
        address_2: "Mill Lane",
        town: "Little Mocking",
        county: "Stubshire",
    },
    KnownAddress {
        property: "Flat 3B",
        postcode: "ZZ1A 4ZZ",
        address_1: "Flat 3B, Fixture House",
        address_2: "40 Harness Road",
        town: "Simulton",
        county: "",
    },
];

impl KnownAddress {
    fn view(&self) -> Value {
        json!({
            "property_name": self.property,
            "postcode": self.postcode,
            "address_1": self.address_1,
            "address_2": self.address_2,
            "town": self.town,
            "county": self.county,
        })
    }
}

/// Returns all properties as `GET /_sandbox/addresses` shows them.
#[must_use]
pub(crate) fn view() -> Value {
    KNOWN.iter().map(KnownAddress::view).collect()
}

/// Returns a text for comparison: in one case and without spaces.
pub(crate) fn compared(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_uppercase).collect()
}

/// Whether a text without spaces, in upper case, is a well-formed UK postcode (BS 7666): `A9`, `A99`,
/// `AA9`, `AA99`, `A9A` or `AA9A`, then a digit and two letters; or the exception `GIR 0AA`.
pub(crate) fn is_postcode(text: &str) -> bool {
    let Some((outward, inward)) =
        text.is_ascii().then(|| text.split_at_checked(text.len().saturating_sub(3))).flatten()
    else {
        return false;
    };
    let shape = |part: &str| -> String {
        let class = |letter: char| match letter {
            'A'..='Z' => 'A',
            '0'..='9' => '9',
            _ => '-',
        };
        part.chars().map(class).collect()
    };
    text == "GIR0AA"
        || matches!(shape(outward).as_str(), "A9" | "A99" | "AA9" | "AA99" | "A9A" | "AA9A") && shape(inward) == "9AA"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_postcodes_have_the_form_of_one() {
        for known in KNOWN {
            assert!(is_postcode(&compared(known.postcode)), "{}", known.postcode);
        }
        for text in ["M11AE", "m601nw", "CR2 6XH", "w1a 0ax", "EC1A1BB", "GIR 0AA"] {
            assert!(is_postcode(&compared(text)), "{text}");
        }
        for text in ["", "1AA", "12345", "ZZ1 1A", "ZZ1 AAA", "GIR 1AA", "Z\u{e9}1 1AA", "ZZ111 1AA", "ZZ1-1AA"] {
            assert!(!is_postcode(&compared(text)), "{text}");
        }
    }
}
