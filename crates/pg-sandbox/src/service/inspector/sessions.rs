//! Client sessions, in which customers enter their cards.

use super::{
    Context, Html, List, Refusal,
    look::Look,
    site,
    view::{self, Facts, Shown, Tone, badge},
};

pub(super) const LOOK: Look = Look {
    about: "Sessions of the merchants’ own card forms. They end after thirty minutes.",
    empty: "No session has been opened yet.",
    one: "Session",
    key: "sessionKey",
    heads: &["Time", "Session key", "Card", "State", "Account"],
    row,
    entry,
};

fn row(context: &Context<'_>, session: Shown<'_>) -> Vec<Html> {
    let key = session.text("sessionKey");
    vec![
        site::opening(context, List::Sessions, session, &key, session.time("created")),
        view::code(&key),
        view::code(&session.inner("card").text("cardNumber")),
        state(session),
        view::quoted(&session.text("merchant")),
    ]
}

fn state(session: Shown<'_>) -> Html {
    if session.flag("expired") {
        badge(Tone::Bad, "expired")
    } else if session.inner("card").has("cardNumber") {
        badge(Tone::Good, "has a card")
    } else {
        badge(Tone::Waiting, "open")
    }
}

fn entry(_: &mut Context<'_>, session: Shown<'_>) -> Result<Html, Refusal> {
    let facts = Facts::new()
        .fact("State", state(session))
        .code("Session key", &session.text("sessionKey"))
        .fact("Opened", session.time("created"))
        .fact("Expires", session.time("expires"))
        .quoted("Account", &session.text("merchant"))
        .pair("errorPageUrl", &session.text("errorPageUrl"))
        .pair("merchantCustomerReference", &session.text("merchantCustomerReference"));
    let entered = session.card().wire(&session.pairs("details")).into_html();
    let collected = Facts::new().wire(&session.pairs("collected")).into_html();
    let nothing = |content: Html| if content.is_empty() { view::note("Nothing yet.") } else { content };
    Ok(view::section("What it is", facts.into_html())
        .put(view::section("Entered", nothing(entered)))
        .put(view::section("Collected inputs", nothing(collected))))
}
