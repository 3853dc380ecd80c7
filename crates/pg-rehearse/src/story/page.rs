//! Reads the message of a shop's page like a customer.

use crate::shop::Seen;

const PAID: [&str; 14] = [
    "payment accepted",
    "payment successful",
    "payment was successful",
    "payment complete",
    "payment approved",
    "payment received",
    "successfully paid",
    "order confirmed",
    "order is confirmed",
    "order complete",
    "thank you for your order",
    "thank you for your payment",
    "thank you for your purchase",
    "paid",
];
/// What turns one of these around if it is among the words shortly before it.
const DENIALS: [&str; 15] = [
    "not", "no", "never", "if", "once", "until", "when", "unless", "to", "hasn't", "isn't", "wasn't", "haven't",
    "cannot", "can't",
];
/// So many words before a phrase may turn it around.
const NEAR: usize = 4;

/// Whether the page says that something was paid: by its claim, or in its text.
pub(crate) fn says_paid(seen: &Seen) -> bool {
    if let Some(claim) = claim(seen) {
        return claim == "paid";
    }
    if seen.status >= 400 {
        return false;
    }
    let text = words(&seen.body);
    PAID.iter().any(|phrase| text.match_indices(phrase).any(|(at, _)| says(&text, at, phrase)))
}

/// Returns the claim, if the response contains one.
pub(crate) fn claim(seen: &Seen) -> Option<String> {
    let line = seen.body.lines().rev().find(|line| !line.trim().is_empty())?;
    let value: serde_json::Value = serde_json::from_str(line).or_else(|_| serde_json::from_str(&seen.body)).ok()?;
    value.get("claim")?.as_str().map(ToOwned::to_owned)
}

/// Whether the phrase at this place consists of whole words, and the sentence before it does not deny it.
fn says(text: &str, at: usize, phrase: &str) -> bool {
    let (before, after) = (&text[..at], &text[at + phrase.len()..]);
    if before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric) {
        return false;
    }
    let sentence = before.rsplit(['.', '!', '?', ':', ';']).next().unwrap_or_default();
    !sentence.split(' ').rev().filter(|word| !word.is_empty()).take(NEAR).any(|word| DENIALS.contains(&word))
}

/// Returns the text of a page without tags, in lower case, with one space between words.
fn words(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut in_tag = false;
    for letter in html.chars() {
        match letter {
            '<' => {
                in_tag = true;
                text.push(' ');
            }
            '>' => in_tag = false,
            _ if !in_tag => text.push(letter.to_ascii_lowercase()),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the first sign of the program's internals that the page shows, if any.
pub(crate) fn inside(body: &str) -> Option<&'static str> {
    const SIGNS: [&str; 14] = [
        "Traceback (most recent call last)",
        "padding is incorrect",
        "Padding is incorrect",
        "BadPaddingException",
        "Incorrect padding",
        "bad decrypt",
        "Stack trace:",
        "Fatal error:",
        "UnicodeDecodeError",
        "JSONDecodeError",
        "    at Object.",
        "at java.base/",
        "goroutine 1 [",
        "thread 'main' panicked",
    ];
    SIGNS.into_iter().find(|sign| body.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(body: &str) -> Seen {
        Seen { status: 200, body: body.to_owned(), ..Seen::default() }
    }

    #[test]
    fn pages_are_read_as_customers_read_them() {
        assert!(says_paid(&seen("<h1>Thank you</h1><p>Payment\n <b>successful</b></p>")));
        assert!(says_paid(&seen("{\"claim\": \"paid\"}")));
        assert!(!says_paid(&seen("{\"claim\": \"unknown\", \"text\": \"your order is paid\"}")));
        assert!(!says_paid(&seen("<p>Your order is not paid yet. Please check your card details.</p>")));
        assert!(says_paid(&seen("<h1>Paid</h1><p>Your order: 9.98 GBP paid with thanks. It ships today.</p>")));
        assert!(says_paid(&seen("<p>Not to worry! Your order is paid.</p>")));
        for text in [
            "Your order has not been paid yet.",
            "This order is unpaid.",
            "We ship your order once it is paid.",
            "The amount is still to be paid.",
            "Prepaid cards are welcome.",
            "Was soll das? Die Bestellung ist bezahlt.",
        ] {
            assert!(!says_paid(&seen(text)), "{text}");
        }
        assert!(!says_paid(&Seen { status: 402, ..seen("payment successful") }));
    }
}
