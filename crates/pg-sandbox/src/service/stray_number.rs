//! Card numbers in fields that must not contain any: the request is processed, and the reply has a warning (A200 and
//! A225).

use http::Request;
use percent_encoding::percent_decode;
use pg_model::{
    format::Format,
    method::{AuthScheme, MethodInfo},
};

use super::{gate, names::Names};
use crate::warning::Warnings;
use crate::{
    card_numbers,
    form::{Form, shown},
};

/// The shortest number (spec 2 §8).
const FEWEST_DIGITS: usize = 12;
/// Longer values are lists of keys, or were not typed by a person.
const LONGEST: usize = 1_024;

/// Warns about each parameter whose value looks like a card number. Returns whether there is such a parameter.
pub(super) fn warn(info: &MethodInfo, form: &Form, warnings: &mut Warnings) -> bool {
    // The card form masks such numbers and reports them itself.
    if info.credentials == AuthScheme::Session {
        return false;
    }
    let mut found = false;
    for (name, value) in form.iter().filter(|(_, value)| has_digits(value)) {
        // The update masks such texts, and reports them itself.
        let is_masked = info.name == "updateCardKeyDetails" && is_of_token(name);
        if !is_masked && takes_any_text(info, name) && is_likely(name, value) {
            found = true;
            let told = "contains a value like a card number, which belongs in cardNumber only";
            if warnings.is_full() { warnings.leave_out(1) } else { warnings.add(&format!("{} {told}", shown(name))) }
        }
    }
    found
}

/// Warns about a URL and headers that contain a likely card number, since proxies and servers log them. Returns whether
/// there is such a number.
pub(super) fn warn_of_head<B>(request: &Request<B>, warnings: &mut Warnings) -> bool {
    let address = request.uri().path_and_query().map_or("", |address| address.as_str());
    let headers = request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let mut found = false;
    for (name, value) in [("", address.as_bytes())].into_iter().chain(headers) {
        let value = percent_decode(value).decode_utf8_lossy();
        if has_digits(&value) && is_likely(name, &value) {
            found = true;
            let place = if name.is_empty() { "the address".to_owned() } else { format!("the header {}", shown(name)) };
            warnings.add(&format!("{place} contains a value like a card number, and URLs and headers are logged"));
        }
    }
    found
}

fn has_digits(value: &str) -> bool {
    (FEWEST_DIGITS..=LONGEST).contains(&value.len())
        && value.bytes().filter(|byte| byte.is_ascii_digit() || !byte.is_ascii()).count() >= FEWEST_DIGITS
}

/// Whether the caller chooses the value freely. A key of the service may look like a card number by chance.
fn takes_any_text(info: &MethodInfo, name: &str) -> bool {
    if gate::is_credential(info.credentials, name) || name.ends_with("Key") {
        return false;
    }
    let names = Names::of(info);
    names.find(name).map(|known| names.field(known)).is_none_or(|field| {
        !field.sensitive
            && matches!(
                field.format,
                Format::Text | Format::Lines | Format::Alphanumeric | Format::Digits | Format::Url
            )
    })
}

/// Whether a token has this text.
pub(super) fn is_of_token(name: &str) -> bool {
    let customer = name.starts_with("customer") && !name.starts_with("customerAddress");
    is_of_card(name) || customer || name.starts_with("cardholderAddress")
}

/// Whether a text belongs to the card itself.
pub(super) fn is_of_card(name: &str) -> bool {
    matches!(name, "cardholderName" | "cardDescription")
}

fn is_likely(name: &str, value: &str) -> bool {
    !is_article(value) && card_numbers::masked(value, None, card_numbers::search_in(name)) != value
}

/// Whether a value is an article number (EAN). It is as long as old Visa numbers, and has the same first digits in some
/// countries, but a different check digit.
fn is_article(value: &str) -> bool {
    let digits = value.bytes().map(|byte| char::from(byte).to_digit(10)).collect::<Option<Vec<u32>>>();
    digits.is_some_and(|digits| {
        let sum: u32 = digits.iter().enumerate().map(|(at, digit)| if at % 2 == 0 { *digit } else { 3 * digit }).sum();
        digits.len() == 13 && sum.is_multiple_of(10)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(request: http::request::Builder) -> Vec<String> {
        let mut warnings = Warnings::default();
        let found = warn_of_head(&request.body(()).unwrap(), &mut warnings);
        let told = warnings.sentences();
        assert_eq!(found, !told.is_empty());
        assert!(!told.concat().contains("4000000000001000"));
        told
    }

    // spec: 2 §1.1, A225: A card number in a URL or a header gives a warning; numbers of orders and articles rarely do.
    #[test]
    fn addresses_and_headers_are_looked_at() {
        let path = "/v3/transaction/auth/json";
        for (uri, name, value, wanted) in [
            (format!("{path}?card=4000000000001000"), "accept", "*/*", Some("the address")),
            (format!("{path}?card=4000%2000000000%201000"), "accept", "*/*", Some("the address")),
            (path.to_owned(), "user-agent", "shop/1.0 (card 4000-0000-0000-1000)", Some("the header user-agent")),
            (path.to_owned(), "referer", "https://shop.example/?c=4000000000001000", Some("the header referer")),
            (path.to_owned(), "x-request-id", "4000000000001000", Some("the header x-request-id")),
            (path.to_owned(), "x-request-id", "5f0c1d2e-4000-4000-8000-001000123456", None),
            (
                path.to_owned(),
                "user-agent",
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0.6099.109",
                None,
            ),
            (path.to_owned(), "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None),
            (path.to_owned(), "content-length", "1024", None),
        ] {
            let told = told(Request::post(&uri).header(name, value));
            assert_eq!(told.len(), usize::from(wanted.is_some()), "{uri} {name}: {told:?}");
            assert!(wanted.is_none_or(|wanted| told[0].starts_with(wanted)), "{told:?}");
        }
    }

    /// How many of a thousand order numbers are mistaken for card numbers.
    fn mistaken(number: impl Fn(u64) -> String) -> usize {
        (0..1_000).filter(|at| is_likely("merchantReference", &number(*at))).count()
    }

    // spec: 2 §1.1, A225
    #[test]
    fn numbers_of_orders_are_seldom_taken_for_a_card() {
        let spread = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert_eq!(mistaken(|at| format!("{}", 1_700_000_000_000 + at * 977)), 0, "milliseconds");
        assert_eq!(mistaken(|at| format!("20261122-{at:06}")), 0, "a day and a count");
        assert_eq!(mistaken(|at| format!("20261122{at:08}")), 0, "a day and a longer count");
        assert_eq!(mistaken(|at| format!("ORD-{:010}", spread(at) % 10_000_000_000)), 0, "ten digits");
        assert_eq!(mistaken(|at| format!("{:016x}", spread(at) | 0xa << 60)), 0, "hexadecimal");
        let article = |at: u64| {
            let start = format!("400{:09}", spread(at) % 1_000_000_000);
            let digits = start.bytes().map(|byte| u64::from(byte - b'0')).enumerate();
            let sum: u64 = digits.map(|(at, digit)| if at % 2 == 0 { digit } else { 3 * digit }).sum();
            format!("{start}{}", (10 - sum % 10) % 10)
        };
        assert_eq!(mistaken(article), 0, "articles");
        // Every tenth number has the right check digit, and cards begin with some digits only.
        let any = mistaken(|at| format!("{:016}", spread(at) % 10_000_000_000_000_000));
        assert!(any < 80, "{any} of a thousand numbers of 16 digits");
    }
}
