//! Entries of the control interface, member by member.

use std::borrow::Cow;

use serde_json::Value;

use super::{Facts, Html};
use crate::service::money;

/// An entry as the control interface returns it, already masked. Pages have no other source.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Shown<'a>(pub(in super::super) &'a Value);

impl<'a> Shown<'a> {
    /// Returns a member as text: empty if it is missing, a number in digits.
    pub(in super::super) fn text(self, name: &str) -> Cow<'a, str> {
        as_text(&self.0[name])
    }

    /// Returns the entry as text.
    pub(in super::super) fn own_text(self) -> Cow<'a, str> {
        as_text(self.0)
    }

    /// Whether a member exists and is not empty.
    pub(in super::super) fn has(self, name: &str) -> bool {
        !self.text(name).is_empty()
    }

    /// Returns a boolean member.
    pub(in super::super) fn flag(self, name: &str) -> bool {
        self.0[name] == true
    }

    /// Returns a numeric member.
    pub(in super::super) fn count(self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or(0)
    }

    /// Returns a nested object.
    pub(in super::super) fn inner(self, name: &str) -> Self {
        Self(&self.0[name])
    }

    /// Returns the entries of a list, here or in a member.
    pub(in super::super) fn entries(self) -> impl Iterator<Item = Self> {
        self.0.as_array().into_iter().flatten().map(Self)
    }

    /// Returns names and values of an object.
    pub(in super::super) fn pairs(self, name: &str) -> Vec<(String, String)> {
        let members = self.0[name].as_object().into_iter().flatten();
        members.map(|(name, value)| (name.clone(), as_text(value).into_owned())).collect()
    }

    /// Returns a member that is an instant.
    pub(in super::super) fn time(self, name: &str) -> Html {
        time(&self.text(name))
    }

    /// Returns a member in minor units of the entry's currency.
    pub(in super::super) fn money(self, name: &str) -> String {
        let currency = self.text("currency");
        // Amount and currency stay on one line.
        format!("{}\u{a0}{currency}", money::in_english(self.count(name), &currency))
    }

    /// Returns the last four digits of the card in the member `card`; empty without one.
    pub(in super::super) fn last_digits(self) -> Html {
        let number = self.inner("card").text("cardNumber").into_owned();
        let skipped = number.chars().count().saturating_sub(4);
        let last: String = number.chars().skip(skipped).collect();
        if last.is_empty() {
            return Html::new();
        }
        Html::new().raw("<span class=\"card\"><span aria-hidden=\"true\">••••\u{a0}</span>").text(&last).raw("</span>")
    }

    /// Returns the known facts about the card in the member `card`.
    pub(in super::super) fn card(self) -> Facts {
        let card = self.inner("card");
        let expiry = [card.text("cardExpiryMonth"), card.text("cardExpiryYear")].join("/");
        Facts::new()
            .code("Number", &card.text("cardNumber"))
            .quoted("Expires", if expiry == "/" { "" } else { &expiry })
            .quoted("Scheme", &card.text("cardScheme"))
            .quoted("Type", &card.text("cardType"))
            .quoted("Bank", &card.text("cardBank"))
    }
}

fn as_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Bool(true) => Cow::Borrowed("yes"),
        Value::Bool(false) => Cow::Borrowed("no"),
        other => Cow::Owned(other.to_string()),
    }
}

/// An instant such as `2026-05-04T10:00:00Z`, to the second.
fn time(instant: &str) -> Html {
    let Some((date, rest)) = instant.split_once('T') else { return Html::of(instant) };
    let clock = rest.get(..8).unwrap_or(rest);
    let element = Html::new().raw("<time").attribute("datetime", instant).raw(">");
    element.text(date).raw(" ").text(clock).raw("</time>")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_become_text() {
        let value = json!({ "a": "<b>", "n": 12, "none": null, "currency": "JPY", "o": { "x": 1, "y": true } });
        let shown = Shown(&value);
        assert_eq!((&*shown.text("a"), &*shown.text("n"), &*shown.text("none")), ("<b>", "12", ""));
        assert_eq!((&*shown.text("missing"), shown.count("a"), shown.count("n")), ("", 0, 12));
        assert_eq!(shown.money("n"), "12\u{a0}JPY");
        let dear = json!({ "n": 123_456_789, "currency": "EUR", "card": { "cardNumber": "400000******2008" } });
        assert_eq!(Shown(&dear).money("n"), "1,234,567.89\u{a0}EUR");
        assert!(Shown(&dear).last_digits().into_string().ends_with("</span>2008</span>"));
        assert!(shown.last_digits().is_empty());
        assert_eq!(shown.pairs("o"), [("x", "1"), ("y", "yes")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert!(shown.inner("o").card().into_html().is_empty());
    }

    #[test]
    fn instants_are_shown_to_the_second() {
        let shown = time("2026-05-04T10:00:00.250Z").into_string();
        assert_eq!(shown, "<time datetime=\"2026-05-04T10:00:00.250Z\">2026-05-04 10:00:00</time>");
        assert_eq!(time("<never>").into_string(), "&#60;never&#62;");
    }
}
