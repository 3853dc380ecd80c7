//! The names that a method accepts, in tables: a request may contain thousands of names, and they are looked up before
//! its credentials are checked.

use std::{collections::HashSet, sync::LazyLock};

use pg_model::{
    METHODS,
    field::{Field, item_number},
    method::{AuthScheme, MethodInfo, RetrySafety},
};
use strsim::osa_distance;

use crate::name_hash::NameMap;

/// The maximum number of unknown names of one request that are compared with the known ones: a request may contain
/// thousands.
pub(super) const MOST_COMPARED: usize = 32;
/// A longer name is not a typo, and comparing it takes time.
const LONGEST: usize = 64;

/// The names of one method.
pub(super) struct Names {
    info: &'static MethodInfo,
    /// Fields with a fixed name, by that name and its other spellings, and their places in the method's table.
    plain: NameMap<usize>,
    /// Fields of items: the text before and after the number, and their places.
    numbered: Vec<(&'static str, &'static str, usize)>,
    /// The prefixes of fields' names, and the places of these fields.
    prefixes: Vec<(&'static str, usize)>,
    /// Every field's name in the tables.
    wires: NameMap<()>,
    /// Whether the method makes a payment, or moves the money of one.
    moves_money: bool,
    /// The letters of every field's name.
    letters: HashSet<String>,
    /// The names that a misspelt name may mean, including credentials.
    meant: Vec<Meant>,
}

struct Meant {
    wire: &'static str,
    letters: String,
    set: u32,
}

/// The field that a method has for a name.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// The place of the field in the method's table.
    pub(super) place: usize,
    /// Whether the field has one name, apart from its spellings.
    pub(super) plain: bool,
}

impl Names {
    /// Creates the names of a method.
    pub(super) fn of(info: &MethodInfo) -> &'static Self {
        static ALL: LazyLock<Vec<Names>> = LazyLock::new(|| METHODS.iter().map(|info| Names::new(info)).collect());
        let all = &*ALL;
        let at = METHODS.iter().position(|known| std::ptr::eq(*known, info));
        &all[at.expect("every method is in the list of methods")]
    }

    fn new(info: &'static MethodInfo) -> Self {
        let (mut plain, mut numbered, mut prefixes) = (NameMap::default(), Vec::new(), Vec::new());
        for (place, field) in info.fields.iter().enumerate() {
            for wire in std::iter::once(&field.wire).chain(field.aliases).copied() {
                if let Some((before, after)) = wire.split_once("{n}") {
                    numbered.push((before, after, place));
                } else if let Some(prefix) = wire.strip_suffix('*') {
                    prefixes.push((prefix, place));
                } else {
                    plain.entry(wire).or_insert(place);
                }
            }
        }
        let credentials: &[&'static str] = match info.credentials {
            AuthScheme::Signed => &["apiKey", "apiPassword", "shaSignature"],
            AuthScheme::Enterprise => &["api_key", "api_password", "version"],
            AuthScheme::Session => &[],
        };
        let wires = info.fields.iter().map(|field: &&'static Field| field.wire);
        let has = |wire| info.fields.iter().any(|field| field.wire == wire);
        let meant = wires.clone().filter(|wire| !wire.ends_with('*')).chain(credentials.iter().copied());
        Self {
            info,
            plain,
            numbered,
            prefixes,
            wires: wires.clone().map(|wire| (wire, ())).collect(),
            moves_money: has("trans_value")
                || has("item_price[{n}]")
                || (has("uniqueMerchantReference") && info.retry != RetrySafety::Safe),
            letters: wires.map(letters).collect(),
            meant: meant
                .map(|wire| {
                    let letters = letters(wire);
                    Meant { wire, set: set(&letters), letters }
                })
                .collect(),
        }
    }

    /// Returns the field of a name, in any of its spellings.
    pub(super) fn find(&self, name: &str) -> Option<Known> {
        if let Some(&place) = self.plain.get(name) {
            return Some(Known { place, plain: true });
        }
        let number = |(before, after, _): &&(&str, &str, usize)| {
            name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).and_then(item_number).is_some()
        };
        let numbered = self.numbered.iter().find(number).map(|(_, _, place)| *place);
        let of_prefix = || self.prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, place)| *place);
        numbered.or_else(of_prefix).map(|place| Known { place, plain: false })
    }

    /// Returns the field at a place.
    pub(super) fn field(&self, known: Known) -> &'static Field {
        self.info.fields[known.place]
    }

    /// Whether the tables have a field with exactly this name.
    pub(super) fn has(&self, wire: &str) -> bool {
        self.wires.contains_key(wire)
    }

    /// Whether the method makes a payment, or moves the money of one.
    pub(super) const fn moves_money(&self) -> bool {
        self.moves_money
    }

    /// Whether the method charges a card, or is a step of a payment that does: not an operation on an earlier payment.
    pub(super) fn makes_payment(&self) -> bool {
        self.moves_money && !self.has("transactionValue") && (!self.has("trans_value") || self.has("trans_type"))
    }

    /// Whether a field has these letters.
    pub(super) fn has_letters(&self, letters: &str) -> bool {
        self.letters.contains(letters)
    }

    /// Returns the name that was probably meant.
    pub(super) fn meant(&self, name: &str) -> Option<String> {
        if name.len() > LONGEST {
            return None;
        }
        if let Some(rest) = self.collected(name) {
            return Some(format!("collect{rest}"));
        }
        let letters = letters(name);
        let slips = slips(&letters);
        if slips == 0 {
            return None;
        }
        // The distance is at least the difference in length, and at least half the number of letters that only one of
        // the two has. Both are cheap to compute.
        let set = set(&letters);
        let is_near = |meant: &&Meant| {
            meant.letters.len().abs_diff(letters.len()) <= slips && (meant.set ^ set).count_ones() as usize <= 2 * slips
        };
        let (distance, nearest) = self
            .meant
            .iter()
            .filter(is_near)
            .map(|meant| (osa_distance(&letters, &meant.letters), meant.wire))
            .min_by_key(|&(distance, _)| distance)?;
        (distance <= slips).then(|| nearest.replace("{n}", number(name).unwrap_or("0")))
    }

    /// Returns the part after `collect` of a name with this prefix in another letter case. Such inputs are recognised
    /// by their prefix.
    fn collected<'n>(&self, name: &'n str) -> Option<&'n str> {
        const PREFIX: &str = "collect";
        let takes = self.prefixes.iter().any(|(prefix, _)| *prefix == PREFIX);
        let (start, rest) = name.split_at_checked(PREFIX.len()).filter(|_| takes)?;
        start.eq_ignore_ascii_case(PREFIX).then_some(rest)
    }
}

/// Returns the letters of a name in lower case: case, underscores, brackets and numbers do not distinguish names.
pub(super) fn letters(name: &str) -> String {
    let name = name.replace("{n}", "");
    name.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns the maximum number of typos in a misspelt name with these letters.
const fn slips(letters: &str) -> usize {
    match letters.len() {
        0..=2 => 0,
        3..=5 => 1,
        6..=11 => 2,
        _ => 3,
    }
}

/// Whether letters are probably a misspelling of other letters.
pub(super) fn is_near(letters: &str, meant: &str) -> bool {
    let slips = slips(letters);
    letters.len().abs_diff(meant.len()) <= slips && osa_distance(letters, meant) <= slips
}

/// Returns a bit set of the letters that occur.
fn set(letters: &str) -> u32 {
    letters.bytes().fold(0, |set, letter| set | 1 << (letter - b'a'))
}

/// Returns the number in a name.
fn number(name: &str) -> Option<&str> {
    let start = name.find(|letter: char| letter.is_ascii_digit())?;
    let digits = name[start..].split(|letter: char| !letter.is_ascii_digit()).next()?;
    let digits = if digits.bytes().all(|digit| digit == b'0') { "0" } else { digits.trim_start_matches('0') };
    (digits.len() <= 6).then_some(digits)
}

#[cfg(test)]
mod tests {
    use pg_model::{ApiRequest as _, AuthCardKey, GetToken, PostForm, TokenLookup, UpdateCardKeyDetails};

    use super::*;

    #[test]
    fn a_misspelt_parameter_gets_a_suggestion() {
        for (info, name, wanted) in [
            (UpdateCardKeyDetails::INFO, "cardHoldrName", Some("cardholderName")),
            (UpdateCardKeyDetails::INFO, "CardExpiryMonth", Some("cardExpiryMonth")),
            (UpdateCardKeyDetails::INFO, "card_expiry_month", Some("cardExpiryMonth")),
            (UpdateCardKeyDetails::INFO, "cardholderAddressLine22", Some("cardholderAddressLine1")),
            (UpdateCardKeyDetails::INFO, "orderNumber", None),
            (TokenLookup::INFO, "cardkey", Some("cardKey")),
            (TokenLookup::INFO, "api_key", Some("apiKey")),
            (TokenLookup::INFO, "x", None),
            (AuthCardKey::INFO, "item_price[3]", Some("itemPrice3")),
            (AuthCardKey::INFO, "itemPrize0", Some("itemPrice0")),
            (AuthCardKey::INFO, "uniqueMerchantRefrence", Some("uniqueMerchantReference")),
            (GetToken::INFO, "itemName0", Some("item_name[0]")),
            (GetToken::INFO, "callbackUrl", Some("callback_url")),
            (PostForm::INFO, "Collect-size", Some("collect-size")),
            (PostForm::INFO, "cardCvv", Some("cardCV2")),
        ] {
            assert_eq!(Names::of(info).meant(name).as_deref(), wanted, "{info:?} {name}");
        }
        assert_eq!(Names::of(TokenLookup::INFO).meant(&"cardKey".repeat(10)), None);
    }

    #[test]
    fn a_name_leads_to_the_field_that_the_table_gives() {
        let wires = || {
            METHODS
                .iter()
                .flat_map(|info| info.fields)
                .flat_map(|field| std::iter::once(&field.wire).chain(field.aliases))
        };
        let found_by = |info, name: &str| {
            let names = Names::of(info);
            names.find(name).map(|known| names.field(known).wire)
        };
        let mut found = 0;
        for info in METHODS {
            for wire in wires() {
                for name in [
                    (*wire).to_owned(),
                    wire.replace("{n}", "0"),
                    wire.replace("{n}", "12"),
                    wire.replace("{n}", "012"),
                    wire.replace('*', "Size"),
                    wire.to_uppercase(),
                    format!("{wire}x"),
                ] {
                    let wanted = info.field(&name).map(|field| field.wire);
                    assert_eq!(found_by(info, &name), wanted, "{info:?} {name}");
                    found += usize::from(wanted.is_some());
                }
            }
        }
        assert!(found > 1_000, "{found}");
    }
}
