//! Hides secrets of the account and of the request in a reply. A service, or a proxy in front of it, may repeat the
//! request that it received in a message, a page or a field.
//!
//! While a reply is awaited, no secret is held for this purpose: a [`Redactor`] has the length and a keyed hash of each
//! secret.

pub(crate) mod cards;
mod reply;
mod view;

use std::{
    hash::{BuildHasher as _, RandomState},
    ops::Range,
};

use bytes::Bytes;
use http::Request;
use pg_model::mask;

use crate::{
    account::{Details, Setting},
    argument,
};
use view::View;

/// A shorter value is not hidden, since it would match anywhere.
const SHORTEST: usize = 3;
/// A value of up to this length, such as a CV2, is hidden as a whole word only.
const LONGEST_WORD: usize = 4;
/// The shortest card number (spec 2 §8).
const CARD_NUMBER: usize = 12;

/// The secrets that replies must not show.
#[derive(Clone)]
pub(crate) struct Redactor {
    key: RandomState,
    secrets: Vec<Secret>,
}

/// A secret without its text.
#[derive(Clone, PartialEq, Eq)]
struct Secret {
    length: usize,
    /// The sum of its bytes, so that the hash is computed at few places.
    sum: u64,
    hash: u64,
}

impl Redactor {
    /// Creates a redactor without secrets.
    #[expect(clippy::disallowed_methods, reason = "randomness enters the program in its commands")]
    fn empty() -> Self {
        Self { key: RandomState::new(), secrets: Vec::new() }
    }

    /// Creates a redactor with the secret settings of an account.
    pub(crate) fn of(details: &Details) -> Self {
        let mut redactor = Self::empty();
        let secrets = Setting::ALL.into_iter().filter(|setting| setting.is_secret());
        secrets.filter_map(|setting| details.get(setting)).for_each(|value| redactor.hide(value));
        redactor
    }

    /// Adds the sensitive parameters of a request.
    pub(crate) fn learn(&mut self, request: &Request<Bytes>) {
        for (name, value) in form_urlencoded::parse(request.body()) {
            if is_secret(&name) {
                self.hide(&value);
            }
        }
    }

    fn hide(&mut self, value: &str) {
        let bytes = value.as_bytes();
        let secret = Secret { length: bytes.len(), sum: sum(bytes), hash: self.key.hash_one(bytes) };
        if secret.length >= SHORTEST && !self.secrets.contains(&secret) {
            self.secrets.push(secret);
        }
    }

    /// Returns the places of secrets in a text, in order and without overlaps. `escapes` says whether it is the inside of a
    /// JSON string, whose escapes are read first.
    fn places(&self, text: &[u8], escapes: bool) -> Vec<Range<usize>> {
        if self.secrets.iter().all(|secret| secret.length > text.len()) {
            return Vec::new();
        }
        let whole = View::plain(text);
        let plain = if escapes { whole.unescaped() } else { View::plain(text) };
        let mut places = Vec::new();
        for view in [plain.percent_decoded(), plain.unescaped(), plain.without_entities()] {
            if !view.is_same_as(&plain) {
                self.find(&view, &mut places);
            }
        }
        self.find(&plain, &mut places);
        places.sort_by_key(|place| place.start);
        places.dedup_by(|next, place| {
            let overlaps = next.start < place.end;
            if overlaps {
                place.end = place.end.max(next.end);
            }
            overlaps
        });
        places
    }

    /// Adds the places of a view that contain a secret.
    fn find(&self, view: &View<'_>, places: &mut Vec<Range<usize>>) {
        let text = view.bytes();
        for secret in self.secrets.iter().filter(|secret| secret.length <= text.len()) {
            let mut summed = sum(&text[..secret.length]);
            for start in 0..=text.len() - secret.length {
                let end = start + secret.length;
                if start > 0 {
                    summed = summed - u64::from(text[start - 1]) + u64::from(text[end - 1]);
                }
                let may_be = summed == secret.sum && (secret.length > LONGEST_WORD || is_word(text, start..end));
                if may_be && self.key.hash_one(&text[start..end]) == secret.hash {
                    places.push(view.place(start..end));
                }
            }
        }
    }
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().copied().map(u64::from).sum()
}

/// Whether a place has no letter or digit beside it.
fn is_word(text: &[u8], place: Range<usize>) -> bool {
    let before = place.start.checked_sub(1).map(|at| text[at]);
    ![before, text.get(place.end).copied()].into_iter().flatten().any(|byte| byte.is_ascii_alphanumeric())
}

/// Whether the value of a parameter is secret, by its name.
fn is_secret(name: &str) -> bool {
    argument::is_secret(name) || mask::names_a_secret(name)
}

/// Returns what is shown instead of a secret: the visible digits of a card number, and no part of other secrets.
fn shown(secret: &[u8]) -> String {
    match std::str::from_utf8(secret) {
        Ok(digits) if digits.len() >= CARD_NUMBER && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            mask::card_number(digits)
        }
        _ => "***".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text as it is shown in a reply to this request.
    pub(super) fn redactor(body: &'static str) -> Redactor {
        let mut redactor = Redactor::empty();
        redactor.learn(&Request::new(Bytes::from_static(body.as_bytes())));
        redactor
    }

    const REQUEST: &str =
        "apiKey=KKKKkkkk0123&apiPassword=p%26ss+w%22rd%2F%C3%A9&cardNumber=4929420573595709&cardCV2=917&currency=GBP";

    #[test]
    fn every_spelling_of_a_secret_is_hidden() {
        let redactor = redactor(REQUEST);
        for (text, shown) in [
            ("apiKey=KKKKkkkk0123&currency=GBP", "apiKey=***&currency=GBP"),
            ("xKKKKkkkk0123x", "x***x"),
            ("%4b%4B%4BKkkkk0123", "***"),
            ("apiPassword=p%26ss+w%22rd%2F%C3%A9&x", "apiPassword=***&x"),
            ("p%26ss%20w%22rd/é", "***"),
            ("the password p&ss w\"rd/é is wrong", "the password *** is wrong"),
            (r#"{"apiPassword": "p&ss w\"rd\/\u00e9"}"#, r#"{"apiPassword": "***"}"#),
            ("<td>p&amp;ss w&quot;rd/&#xe9;</td>", "<td>***</td>"),
            ("&#75;&#x4b;KKkkkk0123", "***"),
            ("card 4929420573595709.", "card 492942******5709."),
            ("KKKKkkkk0123KKKKkkkk0123", "******"),
            ("GBP KKKKkkkk012 kkkkkkkk0123", "GBP KKKKkkkk012 kkkkkkkk0123"),
        ] {
            assert_eq!(redactor.text(text), shown, "{text}");
        }
    }

    #[test]
    fn a_cv2_is_hidden_as_a_word_only() {
        assert_eq!(redactor("cardCV2=12").text("12"), "12");
        let redactor = redactor(REQUEST);
        for (text, shown) in [
            ("cardCV2=917&x=1", "cardCV2=***&x=1"),
            ("cardCV2%3D917%26x", "cardCV2%3D***%26x"),
            ("917", "***"),
            ("(917) 9179 1917 a917 917b", "(***) 9179 1917 a917 917b"),
        ] {
            assert_eq!(redactor.text(text), shown, "{text}");
        }
    }

    #[test]
    fn the_text_of_a_secret_is_not_held() {
        let redactor = redactor(REQUEST);
        assert_eq!(redactor.secrets.len(), 4);
        assert!(size_of::<Secret>() <= 24);
    }
}
