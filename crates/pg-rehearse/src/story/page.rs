//! Reads the message of a shop's page like a customer.

use crate::{finding::Finding, house::Account, judge::fault, shop::Seen};

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
/// What turns one of these around if it is among the words shortly before it, in the same sentence.
const DENIALS: [&str; 29] = [
    "not", "never", "nothing", "neither", "nor", "if", "whether", "once", "until", "when", "unless", "be", "cannot",
    "soon", "after", "case", "should", "will", "which", "can't", "hasn't", "haven't", "isn't", "wasn't", "aren't",
    "weren't", "don't", "didn't", "doesn't",
];
/// What makes one of these a condition if it follows in the same sentence. "Your order is confirmed as soon as we have your payment."
const CONDITIONS: [&str; 5] = [" as soon as ", " when ", " once ", " if ", " until "];
/// What makes one of these a condition if its sentence begins so. "After your payment is checked and your order is paid, we ship."
const BEGINNINGS: [&str; 7] = ["after ", "as soon as ", "if ", "in case ", "once ", "should ", "when "];
/// What a page says that waits for a payment: then neither thanks for an order nor a step that is called "Paid" says anything.
const WAITS: [&str; 7] = ["waiting", "checking", "looking for", "pending", "yet", "will confirm", "processing it"];
/// The same in a sentence about a payment, or one of them about an order. "You will receive an e-mail shortly" and "We are processing
/// your parcel" say nothing about one.
const SOON: [&str; 3] = ["shortly", "being processed", "processing"];
/// What the sentence about a payment has.
const PAYMENTS: [&str; 5] = ["payment", "bank", "transaction", "transfer", "card"];
/// What the page of an unpaid order has, of the words that deny or wait.
const REFUSALS: [&str; 13] = [
    "not",
    "nothing",
    "never",
    "neither",
    "unpaid",
    "cannot",
    "no",
    "open",
    "failed",
    "due",
    "verifying",
    "progress",
    "still",
];
/// What is paid, or who pays: of these the bare word "paid" is said. Other sentences with it stand on every page of a shop.
const SUBJECTS: [&str; 6] = ["order", "payment", "purchase", "booking", "invoice", "you"];
/// What ends a sentence.
const ENDS: [char; 5] = ['.', '!', '?', ':', ';'];
/// So many words before a phrase may turn it around, or are its subject.
const NEAR: usize = 5;
/// So many characters before a phrase are read.
const READ_BEFORE: usize = 200;
/// So many characters after it.
const READ_AFTER: usize = 200;

/// Whether the page says that something was paid: by its claim, or in its text.
pub(crate) fn says_paid(seen: &Seen) -> bool {
    if let Some(claim) = claim(seen) {
        return claim == "paid";
    }
    if seen.status >= 400 {
        return false;
    }
    let text = words(&seen.body);
    let waits = waits(&text);
    PAID.iter().any(|phrase| text.match_indices(phrase).any(|(at, _)| says(&text, at, phrase, waits)))
}

/// Whether the page of an unpaid order could also be that of a paid one: it thanks or speaks of a payment, and neither denies a payment
/// nor waits for one.
pub(crate) fn is_ambiguous(seen: &Seen) -> bool {
    if claim(seen).is_some() || seen.status >= 400 || says_paid(seen) {
        return false;
    }
    let text = words(&seen.body);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '\'';
    let mut all = text.split(|letter| !is_word(letter));
    let is_refused = all.any(|word| REFUSALS.contains(&word) || word.ends_with("n't"));
    let is_conditional = |sentence: &str| {
        let told = sentence.find("paid").or_else(|| sentence.find("payment")).unwrap_or_default();
        sentence[..told].split(' ').any(|word| word != "which" && DENIALS.contains(&word))
    };
    // Neither in a question nor as a label.
    let is_said =
        |at: usize| !matches!(text[at..].chars().take(READ_AFTER).find(|sign| ENDS.contains(sign)), Some('?' | ':'));
    let mut phrases = ["thank you", "thanks"].iter().chain(&PAID);
    let is_paid = phrases.any(|phrase| text.match_indices(phrase).any(|(at, _)| is_said(at)));
    is_paid && !is_refused && !waits(&text) && !text.split(ENDS).any(is_conditional)
}

/// Whether it is known what the page says: it claims something, says that something was paid, or is an error.
pub(crate) fn is_read(seen: &Seen) -> bool {
    seen.status >= 400 || claim(seen).is_some() || says_paid(seen)
}

/// Returns where the response redirects, if that page was not opened.
pub(crate) fn not_opened(seen: &Seen) -> Option<String> {
    let location = seen.location()?;
    Some(format!("redirects to {location}, which was not opened (it is on another host, or followed five redirects)"))
}

/// Returns the claim, if the response contains one.
pub(crate) fn claim(seen: &Seen) -> Option<String> {
    let line = seen.body.lines().rev().find(|line| !line.trim().is_empty())?;
    let value: serde_json::Value = serde_json::from_str(line).or_else(|_| serde_json::from_str(&seen.body)).ok()?;
    value.get("claim")?.as_str().map(ToOwned::to_owned)
}

/// Whether the page says that it waits for a payment.
fn waits(text: &str) -> bool {
    let is_soon = |sentence: &str| {
        let has = |word: &&str| sentence.contains(*word);
        SOON.iter().any(has) && is_about_payment(sentence) || SOON[1..].iter().any(has) && sentence.contains("order")
    };
    WAITS.iter().any(|word| text.contains(word)) || text.split(ENDS).any(is_soon)
}

fn is_about_payment(text: &str) -> bool {
    PAYMENTS.iter().any(|word| text.contains(word))
}

/// Whether the phrase at this place consists of whole words, is no label, is neither denied, a question nor a condition in its
/// sentence, and is about this payment.
fn says(text: &str, at: usize, phrase: &str, waits: bool) -> bool {
    let (before, after) = (&text[..at], &text[at + phrase.len()..]);
    let is_inside = before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
    if waits && phrase == "thank you for your order" {
        return false;
    }
    let is_label = after.trim_start_matches(['"', '\'']).trim_start().starts_with(':');
    if is_inside || is_label {
        return false;
    }
    let read = after.char_indices().nth(READ_AFTER).map_or(after, |(end, _)| &after[..end]);
    let (rest, end) = read.find(ENDS).map_or((read, ""), |end| read.split_at(end));
    // "Your order is paid and will ship when it is packed."
    let is_said_before = phrase == "paid" && rest.starts_with(" and ") && !is_about_payment(rest);
    if end.starts_with('?') || (!is_said_before && CONDITIONS.iter().any(|condition| rest.contains(condition))) {
        return false;
    }
    let start = before.char_indices().rev().take(READ_BEFORE).last().map_or(0, |(start, _)| start);
    let shortly_before = &before[start..];
    let sentence = shortly_before.rsplit(ENDS).next().unwrap_or_default();
    let near: Vec<&str> = sentence.split_whitespace().rev().take(NEAR).collect();
    // "No payment received", "Amount paid 0.00".
    let is_denied = near.first().is_some_and(|word| *word == "no" || word.ends_with("amount"));
    let is_condition = BEGINNINGS.iter().any(|begin| sentence.trim_start().starts_with(begin));
    if is_denied || is_condition || near.iter().any(|word| DENIALS.contains(word)) {
        return false;
    }
    let is_alone = !waits && near.is_empty() && (after.trim_start().is_empty() || after.trim_start().starts_with(ENDS));
    phrase != "paid" || is_alone || near.iter().any(|word| SUBJECTS.contains(word))
}

/// Returns the text of a page without tags, scripts and styles, in lower case, with one space between words. A tag that
/// does not only mark words ends a sentence.
fn words(html: &str) -> String {
    let html = html.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'").replace("&#39;", "'").replace("&rsquo;", "'");
    let mut text = String::with_capacity(html.len());
    let mut rest = html.as_str();
    while let Some((before, tagged)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, after) = tagged.split_once('>').unwrap_or((tagged, ""));
        let name =
            tag.trim_start_matches('/').split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        text.push_str(match name {
            name if MARKS.contains(&name) => "",
            name if LABELS.contains(&name) && tag.starts_with('/') => " : ",
            _ => " . ",
        });
        rest = after;
        if is_hidden(name, tag) {
            rest = after_element(name, after);
        }
    }
    text.push_str(rest);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a tag begins an element that no customer reads.
fn is_hidden(name: &str, tag: &str) -> bool {
    if tag.starts_with(['/', '!']) || tag.ends_with('/') || EMPTY.contains(&name) {
        return false;
    }
    let attributes = attributes(&tag[name.len()..]);
    let has = |wanted: &str| attributes.iter().any(|(name, _)| *name == wanted);
    let is_styled_away = attributes.iter().any(|(name, value)| {
        let style: String = value.chars().filter(|letter| !letter.is_whitespace()).collect();
        *name == "style" && (style.contains("display:none") || style.contains("visibility:hidden"))
    });
    HIDDEN.contains(&name) || has("hidden") || is_styled_away || (name == "dialog" && !has("open"))
}

/// Returns the attributes of a tag.
fn attributes(mut tag: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    loop {
        tag = tag.trim_start();
        let Some(end) = tag.find(|letter: char| letter == '=' || letter.is_whitespace()) else {
            found.push((tag, ""));
            return found;
        };
        let (name, rest) = tag.split_at(end);
        let Some(value) = rest.trim_start().strip_prefix('=').map(str::trim_start) else {
            found.push((name, ""));
            tag = rest;
            continue;
        };
        let (value, rest) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        found.push((name, value));
        tag = rest;
    }
}

/// Returns what follows the end of an element that has begun; nothing if it does not end.
fn after_element<'a>(name: &str, mut rest: &'a str) -> &'a str {
    let mut depth = 1;
    while let Some((_, tagged)) = rest.split_once('<') {
        let is_end = tagged.starts_with('/');
        let is_same = tagged
            .trim_start_matches('/')
            .strip_prefix(name)
            .is_some_and(|after| !after.starts_with(char::is_alphanumeric));
        rest = tagged;
        // The text of these two is no markup.
        if is_same && (is_end || !["script", "style"].contains(&name)) {
            depth = if is_end { depth - 1 } else { depth + 1 };
        }
        if depth == 0 {
            return tagged.split_once('>').map_or("", |(_, after)| after);
        }
    }
    ""
}

/// Tags without an end.
const EMPTY: [&str; 8] = ["br", "col", "hr", "img", "input", "link", "meta", "source"];
/// Tags within a sentence.
const MARKS: [&str; 9] = ["a", "b", "em", "i", "small", "span", "strong", "code", "u"];
/// Tags of the name of a value, which says nothing by itself.
const LABELS: [&str; 4] = ["dt", "label", "option", "th"];
/// Tags whose content no customer reads, or that stand on every page.
const HIDDEN: [&str; 7] = ["script", "style", "template", "noscript", "footer", "nav", "aside"];

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

/// Searches the responses to a browser for credentials of the account.
pub(crate) fn secrets(account: &Account, seen: &Seen, place: &str) -> Vec<Finding> {
    let mut all = String::new();
    for one in seen.all() {
        all.push_str(&one.body);
        for value in one.headers.values() {
            all.push('\n');
            all.push_str(&String::from_utf8_lossy(value.as_bytes()));
        }
    }
    let found = account.secrets().into_iter().filter(|(_, secret)| all.contains(secret));
    found.map(|(name, _)| fault("credential-in-a-page", format!("{place} sends the {name} to browsers"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(body: &str) -> Seen {
        Seen { status: 200, body: body.to_owned(), ..Seen::default() }
    }

    /// Without a bound on what is read before each word, these take hours.
    #[test]
    fn a_page_of_any_size_is_read_in_time_that_grows_with_its_size() {
        for words in ["unpaid ", "not paid ", "paid: ", "paid goods ", "<p hidden>", "<p hidden></p>", "<p a=b c='d' >"]
        {
            assert!(!says_paid(&seen(&words.repeat(60_000))), "{words}");
        }
    }

    #[test]
    fn pages_are_read_as_customers_read_them() {
        assert!(says_paid(&seen("<h1>Thank you</h1><p>Payment\n <b>successful</b></p>")));
        assert!(says_paid(&seen("{\"claim\": \"paid\"}")));
        assert!(!says_paid(&seen("{\"claim\": \"unknown\", \"text\": \"your order is paid\"}")));
        assert!(!says_paid(&seen("<p>Your order is not paid yet. Please check your card details.</p>")));
        for text in [
            "<h1>Paid</h1><p>Your order: 9.98 GBP paid with thanks. It ships today.</p>",
            "<p>Not to worry! Your order is paid.</p>",
            "<title>Welcome to TeaShop</title><h1>Thank you for your order</h1>",
            "<a href=\"/\">Return to shop</a><h1>Payment successful</h1>",
            "Order no 12345 has been paid",
            "<h1>Your order <b>is</b> <em>paid</em></h1>",
            "<dl><dt>Status</dt><dd>Paid</dd></dl>",
            "You have paid 9.98 GBP.",
            "<table><tr><th>Status</th><td>Paid</td></tr></table>",
            "<h1>Thank you for your order</h1><p>A confirmation was sent to you. Your tea ships today.</p>",
            "<ol><li>Ordered</li><li>Paid</li><li>Shipped</li></ol>",
            "<h1>Thank you for your order!</h1><p>You will receive an e-mail shortly.</p>",
            "Your order is paid. We write to you when it ships. It has not left yet.",
            "Payment successful! Any questions?",
            "<div hidden><div>No.</div></div><input type=hidden hidden><p title=\"not hidden\" aria-hidden=true>Your order is paid</p>",
            "<dialog open>Your order is paid</dialog>",
            "Your order is paid and will ship when it is packed.",
            "<dl><dt>Status</dt><dd>Paid</dd></dl><p>Processing your parcel.</p>",
            "<h1>Thank you for your order!</h1><p>It will be shipped shortly.</p>",
        ] {
            assert!(says_paid(&seen(text)), "{text}");
        }
        for text in [
            "Your order has not been paid yet.",
            "This order is unpaid.",
            "We ship your order once it is paid.",
            "The amount is still to be paid.",
            "Prepaid cards are welcome.",
            "Was soll das? Die Bestellung ist bezahlt.",
            "Nothing was paid.",
            "We do not know yet whether you have paid.",
            "We do not know whether the order was paid.",
            "Amount paid: 0.00 GBP",
            "Paid: no",
            "{\"order\": \"o-1\", \"paid\": false}",
            "<style>.paid { color: green }</style><p>We are checking your payment.</p>",
            "<script>const texts = { paid: 'Paid' };</script><p>We are checking your payment.</p>",
            "It is neither shipped nor paid.",
            "The order hasn\u{2019}t been paid.",
            "The order hasn&#39;t been paid.",
            "<p>No payment received</p>",
            "<footer><p>Thank you for your order! Your order is paid once.</p></footer><h1>We look for your payment</h1>",
            "<h1>We could not find your payment</h1><p>Orders paid before 3 pm ship the same day.</p>",
            "Goods paid by card can be returned.",
            "<p>We are waiting for your bank</p><p hidden>Your order is paid</p>",
            "<p>We are waiting</p><div class='x' style=\"color: red; display: none\"><div>Shop</div>Your order is paid</div>",
            "<h1>Thank you for your order!</h1><p>We are still checking your payment and will write to you.</p>",
            "Your order is confirmed as soon as we have your payment.",
            "<ol class=steps><li class=done>Ordered</li><li>Paid</li><li>Shipped</li></ol><p>We are waiting for your payment.</p>",
            "We do not see your payment. Have you paid already? Then reload this page in a minute.",
            "<h1>Thank you for your order!</h1><p>Your payment is being processed. We will write to you within minutes.</p>",
            "<h1>Thank you for your order</h1><p>We will confirm your payment by e-mail.</p>",
            "<h1>Thank you for your order</h1><p>Your payment is confirmed shortly.</p>",
            "<h1>Thank you for your order</h1><p>Your transaction is being processed.</p>",
            "<h1>Thank you for your order</h1><p>We are processing your card details.</p>",
            "<h1>Thank you for your order</h1><p>We are processing it now.</p>",
            "<h1>Thank you for your order</h1><p>You will receive a confirmation of the transfer shortly.</p>",
            "Your order is paid and complete when you approve the transfer in your app.",
            "<h1>Thank you for your order</h1><p>Your order is being processed.</p>",
            "Your order is paid and confirmed once your bank has answered.",
            "As soon as your order is paid, we ship it.",
            "We ship as soon as your payment was successful.",
            "After your payment is approved by your bank, and your order is paid, we send it.",
            "In case your payment was successful, you get an e-mail.",
            "Should you have paid, reload this page.",
            "Goods are sent on the day on which the order is paid.",
            "Unpaid. Payment: open<p>You will see \"Payment received\" here.</p>",
            "<table><tr><th>Item</th><th>Paid</th></tr><tr><td>Tea</td><td>0.00</td></tr></table>",
            "<dl><dt>Paid</dt><dd>no</dd></dl>",
            "<label><input type=radio>Open</label><label><input type=radio>Paid</label><p>Open</p>",
            "<select><option>Open</option><option>Paid</option></select>",
            "<noscript>Your order is paid</noscript><dialog>Your order is paid</dialog><p>We are waiting</p>",
        ] {
            assert!(!says_paid(&seen(text)), "{text}");
        }
        assert!(!says_paid(&Seen { status: 402, ..seen("payment successful") }));
    }

    #[test]
    fn a_page_that_neither_says_paid_nor_denies_it_is_ambiguous() {
        for text in [
            "Your order 17, which ships today, is paid.",
            "Thank you! We have received your order and will ship it today.",
            "Thank you, we have your money.",
        ] {
            assert!(is_ambiguous(&seen(text)), "{text}");
        }
        for text in [
            "Your order is paid.",
            "Thank you! Your order is not paid yet.",
            "<h1>Thank you for your order!</h1><p>Your payment is being processed.</p>",
            "Your order is confirmed as soon as we have your payment.",
            "We ship your order once it is paid.",
            "We couldn't find your payment.",
            "Payment failed. Please try again. Thank you.",
            "Thank you. We are verifying your payment.",
            "Thank you. Payment due: 9.98 GBP",
            "Thank you. Your transfer is in progress.",
            "This order is unpaid.",
            "Your order waits",
            "Vielen Dank",
            "Have you already paid and see this page? Reload it.",
            "<table><tr><th>Item</th><th>Paid</th></tr><tr><td>Tea</td><td>0.00</td></tr></table>",
            "{\"claim\": \"unknown\", \"text\": \"thank you\"}",
        ] {
            assert!(!is_ambiguous(&seen(text)), "{text}");
        }
        assert!(!is_ambiguous(&Seen { status: 404, ..seen("thank you") }));
    }
}
