//! Batches of the account updater, and the results of their cards.

use super::{
    Context, Html, List, Refusal, Reply, calls,
    look::Look,
    missing, see,
    site::{self, Place},
    view::{self, Facts, Form, Shown, Table, Tone, badge},
};

pub(super) const LOOK: Look = Look {
    about: "Batches of the account updater. A batch finishes two minutes after its request, on the sandbox’s clock.",
    empty: "No batch has been requested yet.",
    one: "Batch",
    key: "batchKey",
    heads: &["Time", "Batch key", "Cards", "State", "Responses", "Account"],
    row,
    entry,
};

fn row(context: &Context<'_>, batch: Shown<'_>) -> Vec<Html> {
    let key = batch.text("batchKey");
    let responses = batch.pairs("responses");
    let responses: Vec<String> = responses.iter().map(|(response, cards)| format!("{cards} × {response}")).collect();
    vec![
        site::opening(context, List::Batches, batch, &key, batch.time("created")),
        view::code(&key),
        Html::of(&batch.text("cards")),
        state(batch),
        Html::of(&responses.join(", ")),
        view::quoted(&batch.text("merchant")),
    ]
}

fn state(batch: Shown<'_>) -> Html {
    let state = if batch.text("status") == "finished" {
        badge(Tone::Good, "finished")
    } else {
        badge(Tone::Waiting, "pending")
    };
    if batch.flag("spoiled") { state.raw(" ").put(badge(Tone::Bad, "spoiled")) } else { state }
}

fn entry(context: &mut Context<'_>, batch: Shown<'_>) -> Result<Html, Refusal> {
    let facts = Facts::new()
        .fact("State", state(batch))
        .code("Batch key", &batch.text("batchKey"))
        .fact("Requested", batch.time("created"))
        .fact("Finishes", batch.time("due"))
        .quoted("Calls back", &batch.text("callbackUrl"))
        .quoted("Encoding", &batch.text("encoding"))
        .quoted("Account", &batch.text("merchant"));
    let spoil = if batch.flag("spoiled") { Html::new() } else { spoiling(context, batch) };
    let cards = batch.inner("entries").entries().map(|card| {
        let expiry = card.text("cardExpiry");
        [
            site::by_key(context, List::Tokens, batch, &card.text("oldCardKey")),
            view::code(&card.text("response")),
            site::by_key(context, List::Tokens, batch, &card.text("cardKey")),
            view::code(&card.text("cardNumber")),
            Html::of(&expiry),
        ]
    });
    let cards = Table::new("In the order of the request", &["Old key", "Response", "New key", "New card", "Expires"])
        .rows(cards);
    Ok(view::section("What it is", facts.into_html().put(spoil))
        .put(view::section("Cards", cards.or("There are none."))))
}

fn spoiling(context: &Context<'_>, batch: Shown<'_>) -> Html {
    let path = site::action(context, List::Batches, batch, &batch.text("batchKey"), "spoil");
    view::note("The results of a spoiled batch cannot be read: error 181 once the batch has finished.")
        .put(Form::post(&path).quiet_button("Spoil it"))
}

/// Spoils a batch through the control interface.
pub(super) fn spoil(context: &mut Context<'_>, key: &str) -> Result<Reply, Refusal> {
    let answer = calls::post(context, &format!("batches/{key}/spoil"), &serde_json::Value::Null)?;
    if answer.refused().is_some() {
        Ok(missing(context))
    } else {
        see(&site::here(context, Place::List(List::Batches).below(key)))
    }
}
