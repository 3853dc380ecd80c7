//! 3-D Secure authentications.

use super::{
    Context, Html, List, Refusal,
    look::Look,
    site,
    view::{self, Facts, Shown, Tone, badge},
};

pub(super) const LOOK: Look = Look {
    about: "Challenges of the simulated card issuer, and how they ended.",
    empty: "No authentications yet.",
    one: "Authentication",
    key: "authenticationKey",
    heads: &["Time", "Authentication key", "State", "Service", "Account"],
    row,
    entry,
};

fn row(context: &Context<'_>, authentication: Shown<'_>) -> Vec<Html> {
    let key = authentication.text("authenticationKey");
    vec![
        site::opening(context, List::Authentications, authentication, &key, authentication.time("created")),
        view::code(&key),
        state(authentication),
        Html::of(&authentication.text("service")),
        view::quoted(&authentication.text("merchant")),
    ]
}

fn state(authentication: Shown<'_>) -> Html {
    let state = authentication.text("state");
    let tone = match &*state {
        "pending" => Tone::Waiting,
        "authenticated" | "used" => Tone::Good,
        "not-enrolled" => Tone::Plain,
        _ => Tone::Bad,
    };
    badge(tone, &state)
}

fn entry(context: &mut Context<'_>, authentication: Shown<'_>) -> Result<Html, Refusal> {
    let transaction = |name| site::by_key(context, List::Transactions, authentication, &authentication.text(name));
    let page = authentication.text("page");
    let page = if page.is_empty() { Html::new() } else { view::link(&page, &page) };
    let facts = Facts::new()
        .fact("State", state(authentication))
        .code("Authentication key", &authentication.text("authenticationKey"))
        .fact("Challenge page", page)
        .quoted("Leads back to", &authentication.text("returnTo"))
        .fact("Check", transaction("check"))
        .fact("Payment", transaction("payment"))
        .fact("When", authentication.time("created"))
        .quoted("Account", &authentication.text("merchant"))
        .quoted("Service", &authentication.text("service"));
    Ok(view::section("What it is", facts.into_html()))
}
