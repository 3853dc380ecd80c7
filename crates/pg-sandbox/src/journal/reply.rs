//! Bodies of replies in the journal's form.

use std::{borrow::Cow, collections::BTreeSet, sync::LazyLock};

use pg_model::{METHODS, format::Format};

/// Fields of a request that must not be shown. A card number is shown masked.
static SENSITIVE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let fields = METHODS.iter().flat_map(|info| info.fields);
    let hidden = fields.filter(|field| field.sensitive && field.format != Format::CardNumber);
    hidden.flat_map(|field| std::iter::once(&field.wire).chain(field.aliases)).copied().collect()
});

const HIDDEN: &str = "(hidden)";

/// Returns a body in XML or JSON without the values of sensitive request fields.
pub(super) fn without_sensitive(body: &str) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(body);
    for name in &*SENSITIVE {
        for (before, end) in [(format!("<{name}>"), '<'), (format!("\"{name}\":\""), '"')] {
            if shown.contains(&before) {
                shown = Cow::Owned(hidden(&shown, &before, end));
            }
        }
    }
    shown
}

/// Returns the text with everything between `before` and `end` masked; empty values stay empty.
fn hidden(text: &str, before: &str, end: char) -> String {
    let mut parts = text.split(before);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut escaped = false;
        let length = part.find(|letter| {
            let ends = letter == end && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        // A truncated body ends within a value.
        let value = length.unwrap_or(part.len());
        shown.push_str(before);
        shown.push_str(if value == 0 { "" } else { HIDDEN });
        shown.push_str(&part[value..]);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_hides_what_its_request_hides() {
        for (body, shown) in [
            ("<a><date_of_birth>17091873</date_of_birth></a>", "<a><date_of_birth>(hidden)</date_of_birth></a>"),
            (r#"{"date_of_birth":"17\"091873","b":"1"}"#, r#"{"date_of_birth":"(hidden)","b":"1"}"#),
            (r#"{"cardCV2":"","mccSurname":"Name"}"#, r#"{"cardCV2":"","mccSurname":"(hidden)"}"#),
            ("<date_of_birth>170918", "<date_of_birth>(hidden)"),
            (r#"{"cardNumber":"400000******1000"}"#, r#"{"cardNumber":"400000******1000"}"#),
            ("", ""),
        ] {
            assert_eq!(without_sensitive(body), shown);
        }
    }
}
