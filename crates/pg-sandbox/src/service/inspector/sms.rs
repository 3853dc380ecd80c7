//! Text messages, which are only listed.

use super::{
    Context, Html, List, Refusal,
    look::Look,
    site,
    view::{self, Facts, Shown, Tone, badge},
};

pub(super) const LOOK: Look = Look {
    about: "Text messages that merchants requested. The sandbox does not send them.",
    empty: "No message has been sent yet.",
    one: "Text message",
    key: "id",
    heads: &["Time", "To", "Message", "State", "Account"],
    row,
    entry,
};

fn row(context: &Context<'_>, message: Shown<'_>) -> Vec<Html> {
    vec![
        site::opening(context, List::Sms, message, &message.text("id"), message.time("created")),
        view::code(&message.text("msisdn")),
        view::quoted(&message.text("message")),
        state(message),
        view::quoted(&message.text("merchant")),
    ]
}

fn state(message: Shown<'_>) -> Html {
    if message.text("status") == "1" { badge(Tone::Good, "accepted") } else { badge(Tone::Bad, "not accepted") }
}

fn entry(_: &mut Context<'_>, message: Shown<'_>) -> Result<Html, Refusal> {
    let facts = Facts::new()
        .fact("State", state(message))
        .code("To", &message.text("msisdn"))
        .quoted("Message", &message.text("message"))
        .pair("messid", &message.text("messid"))
        .fact("When", message.time("created"))
        .quoted("Account", &message.text("merchant"));
    Ok(view::section("Message", facts.into_html()))
}
