//! Tokens of the hosted checkout.

use super::{
    Context, Html, List, Refusal,
    look::Look,
    site,
    view::{self, Facts, Shown, Table, Tone, badge},
};

pub(super) const LOOK: Look = Look {
    about: "Payment pages that merchants send their customers to.",
    empty: "No payment page has been requested yet.",
    one: "Checkout",
    key: "tokenid",
    heads: &["Time", "Token", "Type", "Amount", "State", "Account", "Reference"],
    row,
    entry,
};

fn row(context: &Context<'_>, checkout: Shown<'_>) -> Vec<Html> {
    let key = checkout.text("tokenid");
    vec![
        site::opening(context, List::Checkouts, checkout, &key, checkout.time("created")),
        view::code(&key),
        Html::of(&checkout.text("transactionType")),
        Html::of(&checkout.money("amount")),
        state(checkout),
        view::quoted(&checkout.text("merchant")),
        view::quoted(&checkout.text("transReference")),
    ]
}

fn state(checkout: Shown<'_>) -> Html {
    let state = checkout.text("state");
    let tone = match &*state {
        "open" => Tone::Good,
        "not-started" => Tone::Waiting,
        "used-up" => Tone::Plain,
        _ => Tone::Bad,
    };
    badge(tone, &state)
}

fn entry(_: &mut Context<'_>, checkout: Shown<'_>) -> Result<Html, Refusal> {
    let page = checkout.text("page");
    let facts = Facts::new()
        .fact("State", state(checkout))
        .code("Token", &checkout.text("tokenid"))
        .fact("Payment page", view::link(&page, &page))
        .quoted("Type", &checkout.text("transactionType"))
        .quoted("Amount", &checkout.money("amount"))
        .quoted("Payments left", &checkout.text("usesLeft"))
        .quoted("Visits left", &checkout.text("redemptionsLeft"))
        .fact("Starts", checkout.time("starts"))
        .fact("Expires", checkout.time("expires"))
        .quoted("3-D Secure", &checkout.text("threeDSecure"))
        .quoted("Reference", &checkout.text("transReference"))
        .quoted("Category", &checkout.text("transCategory"))
        .quoted("Applet", &checkout.text("applet"))
        .wire(&checkout.pairs("options"))
        .quoted("Account", &checkout.text("merchant"));
    let addresses = Facts::new()
        .quoted("After success", &checkout.text("successUrl"))
        .quoted("Redirected there at once", &checkout.text("autoRedirect"))
        .quoted("On redemption", &checkout.text("redemptionRedirectUrl"))
        .quoted("After cancelling", &checkout.text("cancelUrl"))
        .quoted("Callback", &checkout.text("callbackUrl"));
    let items = checkout
        .inner("items")
        .entries()
        .map(|item| ["name", "price", "quantity"].map(|name| view::quoted(&item.text(name))));
    let items = Table::new("Items", &["Item", "Price", "Quantity"]).rows(items);
    let customer = Facts::new().wire(&checkout.pairs("user")).into_html();
    let customer = if customer.is_empty() { view::note("The merchant sent no customer data.") } else { customer };
    Ok(view::section("What it is", facts.into_html())
        .put(view::section("Items", items.or("There are none.")))
        .put(view::section("Links", addresses.into_html()))
        .put(view::section("Customer", customer)))
}
