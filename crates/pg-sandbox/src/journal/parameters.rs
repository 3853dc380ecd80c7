//! Parameters in the journal's form.

use std::{borrow::Cow, sync::LazyLock};

use pg_model::{METHODS, format::Format, mask};

use super::parts;
use crate::{
    card_numbers::{self, Search},
    cards, form,
    name_hash::NameMap,
    secret_parameter::{self, HIDDEN},
};

/// The maximum number of characters of a value.
const MOST_CHARACTERS: usize = 300;
/// The maximum total size of names and values of a request in bytes; the value that exceeds it is still kept.
const MOST_BYTES: usize = 8 << 10;
/// The maximum number of parameters of a request.
pub(crate) const MOST: usize = 500;
/// The minimum number of digits of a card number (spec 2 §8).
const CARD_NUMBER_DIGITS: usize = 12;

/// Names with masked values, in their original order.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    /// All names and values in one text.
    text: String,
    /// The end of each name and each value.
    ends: Vec<(usize, usize)>,
    left_out: usize,
}

impl Parameters {
    /// Returns names and values, masked.
    ///
    /// A card number shows its first six and last four digits; credentials and sensitive values are
    /// hidden. For an unknown name only the value's length is shown: it could be a misspelt secret.
    pub(crate) fn of<N: AsRef<str>, V: AsRef<str>>(form: &[(N, V)]) -> Self {
        Self::of_pairs(form.iter().map(|(name, value)| (name.as_ref(), value.as_ref())))
    }

    /// The same for names and values from any source.
    pub(crate) fn of_pairs<'a>(form: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Self {
        let number = form.clone().find(|(name, _)| *name == "cardNumber");
        let number = number.map(|(_, number)| card_numbers::digits(start_of(number)));
        let number = number.filter(|number| number.len() >= CARD_NUMBER_DIGITS);
        let (count, bytes) = form.clone().fold((0, 0), |(count, bytes), (name, value)| {
            (count + 1, bytes + name.len() + value.len().min(MOST_CHARACTERS).max(HIDDEN.len()))
        });
        let mut parameters = Self {
            text: String::with_capacity(bytes.min(MOST_BYTES)),
            ends: Vec::with_capacity(count.min(MOST)),
            left_out: 0,
        };
        for (name, value) in form {
            if parameters.text.len() > MOST_BYTES || parameters.ends.len() == MOST {
                parameters.left_out += 1;
            } else {
                parameters.push(name, &shown(name, value, number.as_deref()));
            }
        }
        parameters
    }

    /// The same with more parameters that were dropped.
    pub(crate) fn and_left_out(self, more: usize) -> Self {
        Self { left_out: self.left_out + more, ..self }
    }

    /// Returns a path in the journal's form. No path of the service contains a parameter, so a path ends where one begins:
    /// `/v3/transaction/auth/json&cardCV2=…`.
    pub(crate) fn masked_path(path: &str) -> String {
        let end = path.find(['&', ';', '=', '%']).unwrap_or(path.len());
        let shown = text(&path[..end], None);
        if end == path.len() { shown.into_owned() } else { format!("{shown}… ({} characters)", path.chars().count()) }
    }

    /// Returns names and masked values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|ends| ends.1));
        starts.zip(&self.ends).map(|(start, &(name, value))| (&self.text[start..name], &self.text[name..value]))
    }

    /// Returns the number of parameters that were dropped.
    pub(crate) const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Appends them to other parts of an entry.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        parts::push_number(bytes, self.left_out);
        parts::push(bytes, self.text.as_bytes());
        parts::push_number(bytes, self.ends.len());
        for &(name, value) in &self.ends {
            parts::push_number(bytes, name);
            parts::push_number(bytes, value);
        }
    }

    /// Reverses [`Parameters::write`].
    pub(super) fn read(bytes: &mut &[u8]) -> Self {
        let left_out = parts::pop_number(bytes);
        let text = String::from_utf8_lossy(parts::pop(bytes)).into_owned();
        let ends = (0..parts::pop_number(bytes)).map(|_| (parts::pop_number(bytes), parts::pop_number(bytes)));
        Self { ends: ends.collect(), text, left_out }
    }

    fn push(&mut self, name: &str, value: &str) {
        self.text.push_str(form::shown(name));
        let name = self.text.len();
        self.text.push_str(value);
        self.ends.push((name, self.text.len()));
    }
}

/// The visible part of a parameter's value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Text,
    CardNumber,
    Nothing,
}

/// Every parameter name of a method, and the common names of methods and pages.
static NAMES: LazyLock<NameMap<Shown>> = LazyLock::new(|| {
    let mut names: NameMap<Shown> =
        ["version", "outcome", "cardExpiry"].into_iter().map(|name| (name, Shown::Text)).collect();
    for name in ["apiKey", "apiPassword", "shaSignature", "api_key", "api_password"] {
        names.insert(name, Shown::Nothing);
    }
    for field in METHODS.iter().flat_map(|info| info.fields) {
        let shown = match (field.sensitive, field.format) {
            (false, _) => Shown::Text,
            (true, Format::CardNumber) => Shown::CardNumber,
            (true, _) => Shown::Nothing,
        };
        for name in std::iter::once(&field.wire).chain(field.aliases) {
            let held = names.entry(name).or_insert(shown);
            // A name that is secret in one method is secret everywhere.
            *held = shown.max(*held);
        }
    }
    names
});

/// Prefixes of names that a merchant may complete freely.
const PREFIXES: [&str; 2] = ["collect", "bank"];

fn rule(name: &str) -> Option<Shown> {
    if let Some(&shown) = NAMES.get(name) {
        return Some(shown);
    }
    if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        // A merchant chooses these names, perhaps for a secret: `collectCV2`.
        return (!mask::names_a_secret(name)).then_some(Shown::Text);
    }
    let start = name.find(|letter: char| letter.is_ascii_digit())?;
    let (before, rest) = name.split_at(start);
    let after = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    NAMES.get(&*[before, "{n}", after].concat()).copied()
}

fn shown<'a>(name: &str, value: &'a str, number: Option<&str>) -> Cow<'a, str> {
    if value.is_empty() {
        return Cow::Borrowed("");
    }
    match rule(name) {
        Some(Shown::Text) if secret_parameter::find(start_of(value)).is_some() => HIDDEN.into(),
        Some(Shown::Text) => text(value, number),
        Some(Shown::CardNumber) => cut(mask::card_number(start_of(value)).into(), value).into_owned().into(),
        Some(Shown::Nothing) => HIDDEN.into(),
        None if value.chars().nth(1).is_none() => "(1 character)".into(),
        None => format!("({} characters)", value.chars().count()).into(),
    }
}

/// Returns the start of a text, with its card numbers masked, and its length if there is more. The whole text is hidden
/// if it contains a number that masking does not find.
fn text<'a>(text: &'a str, number: Option<&str>) -> Cow<'a, str> {
    let start = start_of(text);
    let masked = mask::masked(start);
    if has_few_digits(start) {
        return cut(masked, text);
    }
    let found = card_numbers::masked(&masked, number, Search::Likely) != masked;
    if found || has_spread_number(&masked) { HIDDEN.into() } else { cut(masked, text) }
}

/// Whether a text cannot contain a card number, in the digits of any script.
fn has_few_digits(text: &str) -> bool {
    let digits = if text.is_ascii() {
        // Many bytes at once.
        text.bytes().filter(u8::is_ascii_digit).count()
    } else {
        text.chars().filter(|letter| letter.is_numeric()).count()
    };
    digits < CARD_NUMBER_DIGITS
}

/// Returns the searched part of a text: a little more than is shown, so that a number at the end is complete.
fn start_of(text: &str) -> &str {
    &text[..end_of(text, MOST_CHARACTERS + 40)]
}

/// Whether a text has the digits of a card number, with single separators between some of them.
fn has_spread_number(text: &str) -> bool {
    let mut run = String::new();
    let mut separated = true;
    let could_be = |run: &str| (CARD_NUMBER_DIGITS..=19).contains(&run.len()) && cards::luhn_valid(run);
    for letter in text.chars() {
        if letter.is_ascii_digit() {
            run.push(letter);
            separated = false;
        } else if separated || letter.is_alphanumeric() {
            if could_be(&run) {
                return true;
            }
            run.clear();
        } else {
            separated = true;
        }
    }
    could_be(&run)
}

/// Returns the first characters of the visible part of a text, and the length of the whole text.
fn cut<'a>(shown: Cow<'a, str>, whole: &str) -> Cow<'a, str> {
    let end = end_of(&shown, MOST_CHARACTERS);
    if end == shown.len() {
        return shown;
    }
    format!("{}… ({} characters)", &shown[..end], whole.chars().count()).into()
}

/// Returns the end of this many characters of a text.
fn end_of(text: &str, characters: usize) -> usize {
    // Most texts have no more bytes than that.
    let end = (text.len() > characters).then(|| text.char_indices().nth(characters)).flatten();
    end.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAN: &str = "4000000000001000";

    fn of(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        Parameters::of(pairs).iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn one(name: &str, value: &str) -> String {
        of(&[(name, value)]).remove(0).1
    }

    #[test]
    fn secrets_show_nothing_and_numbers_six_and_four() {
        assert_eq!(one("cardNumber", PAN), "400000******1000");
        assert_eq!(one("cardNumber", "40000"), "*****");
        for name in ["cardCV2", "apiKey", "apiPassword", "shaSignature", "api_key", "api_password", "accountUpdaterKey"]
        {
            assert_eq!(one(name, "9173"), "(hidden)", "{name}");
        }
        for name in ["mccSurname", "mccDateOfBirth", "date_of_birth"] {
            assert_eq!(one(name, "x"), "(hidden)", "{name}");
        }
        assert_eq!(one("apiPassword", ""), "");
        for joined in
            ["499apiPassword=canary", "Tea%26api_password=canary&x=1", "a=b;cardCV2=917", "Tea,security-code=917"]
        {
            assert_eq!(one("itemName0", joined), "(hidden)", "a `&` was forgotten");
        }
        assert_eq!(one("itemName0", "1 password, a=b"), "1 password, a=b");
        assert_eq!(one("collect_quantity", "917"), "917");
        assert_eq!(one("cardcv2", "9173"), "(4 characters)");
        assert_eq!(one("cvv", "917"), "(3 characters)");
        for name in ["collectCV2", "collect_security_code", "collect-security.code", "collect card verification value"]
        {
            assert_eq!(one(name, "917"), "(3 characters)", "{name}");
        }
        assert_eq!(one("bankPassword", "secret"), "(6 characters)");
        assert_eq!(one("cvv", "9"), "(1 character)");
    }

    #[test]
    fn other_parameters_are_shown_in_their_order() {
        let pairs = [
            ("itemName0", "Tea"),
            ("item_price[12]", "4.99"),
            ("collectSize", "M"),
            ("bankCode", "7"),
            ("version", "5"),
            ("cardholderName", "Zoë"),
        ];
        let owned: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(of(&pairs), owned);
    }

    #[test]
    fn card_numbers_in_the_wrong_place_are_found() {
        assert_eq!(one("merchantReference", PAN), "400000******1000");
        assert_eq!(one("merchantReference", "4000.0000.0000.1000"), "4000.00**.****.1000");
        assert_eq!(one("merchantReference", "40.00.00.00.00.00.10.00"), "40.00.00.**.**.**.10.00");
        assert_eq!(one("merchantReference", "4-0.00,00.00.00.00.10.00"), "(hidden)");
        assert_eq!(one("merchantReference", "NDAwMDAwMDAwMDAwMTAwMA=="), "**********************==");
        assert_eq!(one("merchantReference", "%34000000000001000"), "%340000*******1000");
        assert_eq!(of(&[(PAN, "1")])[0].0, "(name not shown)");
        let other = of(&[("cardNumber", PAN), ("collectNote", "no 4000/00/00/00/00/1000, 4 times")]);
        assert_eq!(other[1].1, "(hidden)");
        assert_eq!(one("merchantReference", "2026-11-21 / 10.00.00"), "2026-11-21 / 10.00.00");
    }

    #[test]
    fn parameters_in_a_path_are_not_shown() {
        let path = "/v3/transaction/auth/json";
        assert_eq!(Parameters::masked_path(path), path);
        for joined in ["&cardCV2=864", ";cardNumber=40000;cvv=864", "%26apiPassword%3Dcanary", "=864"] {
            let shown = Parameters::masked_path(&format!("{path}{joined}"));
            assert_eq!(shown, format!("{path}… ({} characters)", path.len() + joined.len()));
        }
        let (number, masked) = (format!("/pay/{PAN}"), "/pay/400000******1000");
        assert_eq!(Parameters::masked_path(&number), masked);
    }

    #[test]
    fn bodies_that_are_no_forms_are_not_shown() {
        let json = format!(r#"{{"cardNumber": "{PAN}", "cardCV2": "9173"}}"#);
        let parameters = Parameters::of(&[(&*json, "")]);
        assert_eq!(parameters.iter().collect::<Vec<_>>(), [("(name not shown)", "")]);
    }

    #[test]
    fn long_requests_are_cut() {
        let keys = "01234567-89ab,".repeat(5_000);
        let shown = one("cardKeys", &keys);
        assert!(shown.len() < 400, "{shown}");
        let form: Vec<_> = (0..2_000).map(|number| (format!("itemName{number}"), "Tea")).collect();
        let parameters = Parameters::of(&form);
        assert!(parameters.text.len() <= MOST_BYTES + 400);
        assert_eq!(parameters.iter().count() + parameters.left_out(), 2_000);
        let short: Vec<_> = (0..2_000).map(|number| (number.to_string(), "")).collect();
        let parameters = Parameters::of(&short).and_left_out(7);
        assert_eq!((parameters.iter().count(), parameters.left_out()), (MOST, 2_000 - MOST + 7));
    }

    proptest! {
        #[test]
        fn any_texts_are_accepted(form in proptest::collection::vec((".{0,400}", ".{0,400}"), 0..9)) {
            Parameters::of(&form).iter().for_each(drop);
        }

        #[test]
        fn no_number_comes_through(before in "[a-z0-9 .%-]{0,5}", after in "[a-z .%-]{0,5}", name in "(cardNumber|itemName0|x)") {
            let shown = one(&name, &format!("{before}{PAN}{after}"));
            prop_assert!(!shown.contains(PAN), "{}", shown);
        }
    }
}
