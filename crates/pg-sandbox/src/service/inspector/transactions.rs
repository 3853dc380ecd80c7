//! Transactions, and the operations that are still possible.

use pg_model::StatusCode;

use super::{
    Context, Html, List, Refusal,
    look::Look,
    site, story,
    view::{self, Facts, Shown, Tone, badge},
};
use crate::records::PaymentKind;

pub(super) const LOOK: Look = Look {
    about: "Payments and reservations of both services, with their captures, cancellations and refunds.",
    empty: "No payments yet.",
    one: "Transaction",
    key: "transactionKey",
    heads: &["Time", "Transaction", "Type", "Amount", "Card", "State", "Still possible", "Account", "Reference"],
    row,
    entry,
};

fn row(context: &Context<'_>, payment: Shown<'_>) -> Vec<Html> {
    let possible = possible(payment).into_iter().map(|(what, most)| format!("{what} {most}")).collect::<Vec<_>>();
    let key = payment.text("transactionKey");
    vec![
        site::opening(context, List::Transactions, payment, &key, payment.time("created")),
        view::key(&key),
        Html::of(&payment.text("transactionType")),
        Html::of(&payment.money("amount")),
        payment.last_digits(),
        state(payment),
        Html::of(&possible.join(", ")),
        view::quoted(&payment.text("merchant")),
        view::quoted(&payment.text("merchantReference")),
    ]
}

fn state(payment: Shown<'_>) -> Html {
    let passed = payment.text("transactionStatusCode") == StatusCode::THREE_D_SECURE_SUCCESS.as_str();
    let tone = if payment.flag("approved") || passed { Tone::Good } else { Tone::Bad };
    badge(tone, &payment.text("transactionStatus"))
}

/// Returns the possible operations, and the maximum amount of each.
fn possible(payment: Shown<'_>) -> Vec<(&'static str, String)> {
    let operations = [("capture", "capturable"), ("cancel", "cancellable"), ("refund", "refundable")];
    let left = operations.into_iter().filter(|(_, member)| payment.count(member) > 0);
    left.map(|(what, member)| (what, payment.money(member))).collect()
}

fn entry(context: &mut Context<'_>, payment: Shown<'_>) -> Result<Html, Refusal> {
    let operations = List::operations_on(context, &payment.text("transactionKey"))?;
    let operations: Vec<Shown<'_>> = operations.iter().map(Shown).collect();
    let story = story::of(context, payment, &operations)?;
    let came_of_it = if operations.is_empty() {
        Html::new()
    } else {
        view::section("History", LOOK.table(context, &operations).or(""))
    };
    let wire = |name| Facts::new().wire(&payment.pairs(name)).into_html();
    Ok(view::section("What it is", facts(context, payment))
        .put(view::section("Possible operations", still_possible(payment)))
        .put(came_of_it)
        .put(story)
        .put(part("Card", paid_with(context, payment)))
        .put(part("Reply of the bank", wire("bank")))
        .put(part("Order and customer", wire("details"))))
}

fn part(heading: &'static str, content: Html) -> Html {
    if content.is_empty() { content } else { view::section(heading, content) }
}

fn facts(context: &Context<'_>, payment: Shown<'_>) -> Html {
    let moved = |name: &str| if payment.count(name) == 0 { String::new() } else { payment.money(name) };
    Facts::new()
        .fact("State", state(payment).raw(" ").put(view::code(&payment.text("transactionStatusCode"))))
        .quoted("Type", &payment.text("transactionType"))
        .quoted("Amount", &payment.money("amount"))
        .quoted("Captured", &moved("captured"))
        .quoted("Cancelled", &moved("cancelled"))
        .quoted("Refunded", &moved("refunded"))
        .fact("Came from", site::by_key(context, List::Transactions, payment, &payment.text("parent")))
        .fact("When", payment.time("created"))
        .quoted("Account", &payment.text("merchant"))
        .quoted("Service", &payment.text("service"))
        .pair("merchantReference", &payment.text("merchantReference"))
        .pair("uniqueMerchantReference", &payment.text("uniqueMerchantReference"))
        .pair("merchantCustomerReference", &payment.text("merchantCustomerReference"))
        .into_html()
}

fn still_possible(payment: Shown<'_>) -> Html {
    let items = possible(payment).into_iter().map(|(what, most)| {
        let until = if what == "refund" { Html::new() } else { payment.time("reservedUntil") };
        let until = if until.is_empty() { until } else { Html::new().raw(" until ").put(until).raw(" UTC") };
        Html::new().raw("<li>").raw(what).raw(" up to <strong>").text(&most).raw("</strong>").put(until).raw("</li>\n")
    });
    let items = Html::new().all(items);
    if !items.is_empty() {
        return Html::new().raw("<ul>\n").put(items).raw("</ul>\n");
    }
    view::paragraph(why_not(payment))
}

/// Returns why no operation is possible any more.
fn why_not(payment: Shown<'_>) -> &'static str {
    let kind = payment.text("transactionType");
    let is = |kinds: &[PaymentKind]| kinds.iter().any(|known| known.wire() == kind);
    if is(&[PaymentKind::ThreeDSecureCheck, PaymentKind::ThreeDsAuthenticatedOnly]) {
        "Nothing: it moved no money."
    } else if is(&[PaymentKind::CancelPreAuth, PaymentKind::Refund]) {
        "Nothing: it gave back the money of another transaction."
    } else if !payment.flag("approved") {
        "Nothing: the bank did not accept it."
    } else if is(&[PaymentKind::PreAuth]) {
        "Nothing: the reservation is used up, cancelled or expired."
    } else {
        "Nothing: the whole amount was refunded."
    }
}

fn paid_with(context: &Context<'_>, payment: Shown<'_>) -> Html {
    payment.card().fact("Token", site::by_key(context, List::Tokens, payment, &payment.text("cardKey"))).into_html()
}
