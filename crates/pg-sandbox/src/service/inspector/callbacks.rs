//! Callbacks, their content, and the behaviour of the next ones.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Context, Html, List, Refusal, Reply, calls, frame,
    look::Look,
    missing, see,
    site::{self, Place},
    view::{self, Facts, Field, Form, Select, Shown, Table, Tone, badge},
};
use crate::form;

pub(super) const LOOK: Look = Look {
    about: "Callbacks to merchants, sent or due: finished batches and paid checkouts.",
    empty: "No callback has been sent yet.",
    one: "Callback",
    key: "id",
    heads: &["Time", "About", "To", "State", "Sent", "Account"],
    row,
    entry,
};

const KINDS: [(&str, &str); 3] = [("fail", "is never sent"), ("late", "comes late"), ("twice", "comes twice")];

fn row(context: &Context<'_>, callback: Shown<'_>) -> Vec<Html> {
    vec![
        site::opening(context, List::Callbacks, callback, &callback.text("id"), callback.time("created")),
        Html::of(&callback.text("kind")),
        view::quoted(&callback.text("url")),
        state(callback),
        Html::of(&times(callback.count("attempts"))),
        view::quoted(&callback.text("merchant")),
    ]
}

fn state(callback: Shown<'_>) -> Html {
    let state = callback.text("status");
    let tone = match &*state {
        "delivered" => Tone::Good,
        "pending" => Tone::Waiting,
        _ => Tone::Bad,
    };
    badge(tone, &state)
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

fn entry(context: &mut Context<'_>, callback: Shown<'_>) -> Result<Html, Refusal> {
    let about = match &*callback.text("kind") {
        "account-updater" => site::by_key(context, List::Batches, callback, &callback.text("about")),
        _ => site::by_key(context, List::Transactions, callback, &callback.text("about")),
    };
    let last = callback.inner("lastResult");
    let result = Html::of(&[last.text("status"), last.text("error")].join(""));
    let facts = Facts::new()
        .fact("State", state(callback))
        .quoted("About", &callback.text("kind"))
        .fact("About", about)
        .quoted("Goes to", &callback.text("url"))
        .quoted("In place of", &callback.text("requestedUrl"))
        .fact("Due", callback.time("due"))
        .quoted("Sent", &times(callback.count("attempts")))
        .quoted("Still to be sent", &callback.text("deliveriesLeft"))
        .quoted("Retries left", &callback.text("retriesLeft"))
        .fact("Last answer", result)
        .fact("Last sent", last.time("at"))
        .quoted("Account", &callback.text("merchant"));
    let again = Form::post(&site::action(context, List::Callbacks, callback, &callback.text("id"), "redeliver"));
    let body =
        Facts::new().code("Content type", &callback.text("contentType")).quoted("Bytes", &callback.text("bodyBytes"));
    Ok(view::section("What it is", facts.into_html().put(again.button("Send it again")))
        .put(view::section("Body", body.into_html().put(view::lines(&callback.text("body"))))))
}

/// Sends a callback again, through the control interface.
pub(super) fn redeliver(context: &mut Context<'_>, id: &str) -> Result<Reply, Refusal> {
    let answer = calls::post(context, &format!("callbacks/{id}/redeliver"), &Value::Null)?;
    if answer.refused().is_some() {
        Ok(missing(context))
    } else {
        see(&site::here(context, Place::List(List::Callbacks).below(id)))
    }
}

/// Returns the behaviour of the next callbacks, and a form to change it.
pub(super) fn behaviour(context: &mut Context<'_>, entered: Option<&form::Form>) -> Result<Html, Refusal> {
    let told = calls::get(context, "callbacks/behaviour")?;
    let rows: Vec<_> = Shown(&told)
        .entries()
        .map(|one| {
            let kind = one.text("kind");
            let words = KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, words)| words);
            [Html::new().raw(words), Html::of(&one.text("seconds")), Html::of(&one.text("times"))]
        })
        .collect();
    let forget = if rows.is_empty() {
        Html::new()
    } else {
        Form::post(&site::here(context, Place::List(List::Callbacks).below("behave")))
            .quiet_button("Restore normal delivery")
    };
    let table = Table::new("In the order of delivery", &["The callback", "Seconds late", "Callbacks"]).rows(rows);
    Ok(view::section("Behaviour of the next callbacks", table.or("Callbacks arrive once and on time.").put(forget))
        .put(view::section("Registered destinations", destinations(context)?))
        .put(view::section("Set the behaviour", telling(context, entered))))
}

/// Returns the addresses that receive callbacks in place of those that requests name.
fn destinations(context: &mut Context<'_>) -> Result<Html, Refusal> {
    let all = calls::get(context, "callbacks/destinations")?;
    let rows: Vec<_> = Shown(&all)
        .entries()
        .map(|one| {
            let [account, kind, url, retries] = ["merchant", "kind", "url", "retries"].map(|name| one.text(name));
            [view::quoted(&account), Html::of(&kind), view::quoted(&url), Html::of(&retries)]
        })
        .collect();
    let table = Table::new(
        "Registered destinations replace the URLs of requests",
        &["Account", "Callbacks", "Address", "Retries"],
    );
    Ok(table.rows(rows).or("None: callbacks go to the URLs of the requests."))
}

fn telling(context: &Context<'_>, entered: Option<&form::Form>) -> Html {
    let value = |name, usual| entered.and_then(|form| form.get(name)).unwrap_or(usual);
    let kind = Select { name: "kind", label: "The callback", options: &KINDS, chosen: value("kind", "fail") };
    let seconds = Field {
        name: "seconds",
        label: "Seconds late",
        value: value("seconds", "60"),
        hint: "On the sandbox’s clock; only for late callbacks.",
        keyboard: "numeric",
    };
    let times = Field {
        name: "times",
        label: "Callbacks",
        value: value("times", "1"),
        keyboard: "numeric",
        ..Field::default()
    };
    Form::post(&site::here(context, Place::List(List::Callbacks).below("behaviour")))
        .select(kind)
        .field(seconds)
        .field(times)
        .button("Set the behaviour")
}

/// Sets the behaviour of the next callbacks, through the control interface.
pub(super) fn misbehave(context: &mut Context<'_>, form: &form::Form) -> Result<Reply, Refusal> {
    let kind = form.get("kind").unwrap_or_default();
    let mut asked = json!({ "kind": kind });
    if let Some(times) = form.given("times") {
        asked["times"] = calls::number(times);
    }
    if kind == "late" {
        asked["seconds"] = calls::number(form.get("seconds").unwrap_or_default());
    }
    let answer = calls::post(context, "callbacks/behaviour", &asked)?;
    let Some(problem) = answer.refused() else { return see(&Place::List(List::Callbacks).here(context)) };
    let content = view::alert(problem).put(behaviour(context, Some(form))?);
    let page = frame::page(context, Some(Place::List(List::Callbacks)), "Callbacks", content);
    Ok(Reply::inspector(StatusCode::BAD_REQUEST, page))
}

/// Restores the normal behaviour of callbacks, through the control interface.
pub(super) fn behave(context: &mut Context<'_>) -> Result<Reply, Refusal> {
    calls::delete(context, "callbacks/behaviour")?;
    see(&Place::List(List::Callbacks).here(context))
}
