//! Masks card numbers and CV2s that a reply should not contain. The documents say that the service masks card numbers and sends no CV2;
//! a faulty service, or a proxy, may not keep to that.

use std::borrow::Cow;

use pg_model::mask;

use super::reply::{self, Token};

/// Endings of names of keys, addresses and encrypted data, in lower case and without separators. A key may contain the digits of a card
/// number by chance, and with a masked digit it would be useless.
const KEYS: [&str; 8] = ["key", "identifier", "id", "url", "iv", "pareq", "creq", "data"];
/// The digits of a CV2. A longer or shorter value under its name is the result of a check.
const CV2: std::ops::RangeInclusive<usize> = 3..=4;

/// Returns a JSON text in which every card number in a string or a number is masked, and every CV2 under a name that says so. Keys are
/// unchanged unless they have no letter.
pub(crate) fn masked(json: &str) -> Cow<'_, str> {
    let hidden = reply::edited(json.as_bytes(), |name, token| {
        let text = match token {
            Token::Name(_) => return None,
            Token::Text(text) => serde_json::from_str(&format!("\"{}\"", std::str::from_utf8(text).ok()?)).ok()?,
            Token::Number(digits) => String::from_utf8(digits.to_vec()).ok()?,
        };
        let shown = match value(std::str::from_utf8(name).ok()?, &text) {
            Cow::Borrowed(_) => return None,
            Cow::Owned(shown) => serde_json::to_string(&shown).ok()?,
        };
        // The walk adds the quotes.
        Some(shown.get(1..shown.len() - 1)?.as_bytes().to_vec())
    });
    hidden.and_then(|hidden| String::from_utf8(hidden).ok()).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Returns the value of a member, masked if it is a CV2 or contains a card number.
pub(crate) fn value<'a>(name: &str, text: &'a str) -> Cow<'a, str> {
    if mask::names_a_cv2(name) && CV2.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Cow::Owned("***".to_owned());
    }
    let name = mask::plain_name(name);
    let is_key = KEYS.iter().any(|ending| name.ends_with(ending)) && text.contains(char::is_alphabetic);
    if is_key || !mask::has_card_number(text) { Cow::Borrowed(text) } else { mask::masked(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_card_number_or_a_cv2_is_masked_and_the_rest_is_unchanged() {
        for (reply, shown) in [
            (r#"{"newPan":"4929420573595709"}"#, r#"{"newPan":"492942******5709"}"#),
            (
                r#"{"a":["4929 4205 7359 5709",4929420573595709]}"#,
                r#"{"a":["4929 42** **** 5709","492942******5709"]}"#,
            ),
            (r#"{"note":"was \"4929420573595709\"\n"}"#, r#"{"note":"was \"492942******5709\"\n"}"#),
            (r#"{"note":"\\4929420573595709\""}"#, r#"{"note":"\\492942******5709\""}"#),
            (r#"{"cardCV2":"917","securityCode":9173}"#, r#"{"cardCV2":"***","securityCode":"***"}"#),
            (r#"{"cardKey":"4929420573595709"}"#, r#"{"cardKey":"492942******5709"}"#),
        ] {
            assert_eq!(masked(reply), shown, "{reply}");
        }
        for same in [
            r#"{"cardKey":"0d5c4929-4205-4735-9570-494111111111111111"}"#,
            r#"{"redemption_url":"https://gateway.example/pay/a4111111111111111b"}"#,
            r#"{"transactionValue":"499","n":12345678901234,"order":"202611220000"}"#,
            r#"{"cv2Response":"M","cardCV2Result":"2","cardExpiryYear":"49","cardNumber":"492942******5709"}"#,
        ] {
            assert!(matches!(masked(same), Cow::Borrowed(_)), "{same}: {}", masked(same));
        }
    }
}
