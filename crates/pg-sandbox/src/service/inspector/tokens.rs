//! Card tokens.

use super::{
    Context, Html, List, Refusal,
    look::Look,
    site,
    view::{self, Facts, Shown, Tone, badge},
};

pub(super) const LOOK: Look = Look {
    about: "Card keys, which merchants use to charge stored cards.",
    empty: "No card has been tokenised yet.",
    one: "Card token",
    key: "cardKey",
    heads: &["Time", "Card key", "Card", "Expires", "State", "Account"],
    row,
    entry,
};

fn row(context: &Context<'_>, token: Shown<'_>) -> Vec<Html> {
    let (key, card) = (token.text("cardKey"), token.inner("card"));
    vec![
        site::opening(context, List::Tokens, token, &key, token.time("created")),
        view::code(&key),
        view::code(&card.text("cardNumber")),
        Html::of(&[card.text("cardExpiryMonth"), card.text("cardExpiryYear")].join("/")),
        state(token),
        view::quoted(&token.text("merchant")),
    ]
}

fn state(token: Shown<'_>) -> Html {
    if token.flag("enabled") { badge(Tone::Good, "enabled") } else { badge(Tone::Bad, "disabled") }
}

fn entry(context: &mut Context<'_>, token: Shown<'_>) -> Result<Html, Refusal> {
    let facts = Facts::new()
        .fact("State", state(token))
        .code("Card key", &token.text("cardKey"))
        .pair("cardUniqueIdentifier", &token.text("cardUniqueIdentifier"))
        .pair("merchantCustomerReference", &token.text("merchantCustomerReference"))
        .fact("Came from", site::by_key(context, List::Transactions, token, &token.text("parent")))
        .fact("When", token.time("created"))
        .quoted("Account", &token.text("merchant"))
        .wire(&token.pairs("details"));
    Ok(view::section("What it is", facts.into_html()).put(view::section("Card", token.card().into_html())))
}
