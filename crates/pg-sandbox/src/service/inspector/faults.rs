//! Faults of the next calls of a method.

use http::StatusCode;
use pg_model::METHODS;
use serde_json::json;

use super::{
    Context, Form, Html, Refusal, Reply, calls, frame, see,
    site::{Place, here},
    view::{self, Field, Select, Shown, Table, Tone, badge},
};
use crate::records::{Fault, FaultKind};

/// The effect of each kind, in the order of [`FaultKind::NAMES`].
const MEANINGS: [&str; 8] = [
    "drop-request: not executed, the connection is closed",
    "drop-reply: executed and durable, the connection is closed",
    "delay: executed, the reply is late",
    "status: not executed, the reply is an error",
    "garble: executed, the reply is damaged",
    "duplicate: executed twice",
    "no-response: error 119, nothing is charged",
    "no-response-charged: error 119, and the card is charged",
];

/// Returns the faults, and a form to add one, with the error of the last attempt.
pub(super) fn show(context: &mut Context<'_>, problem: Option<(&str, &Form)>) -> Result<Reply, Refusal> {
    let faults = calls::get(context, "faults")?;
    let entered = problem.map(|(_, form)| form);
    let content = view::lead("Each call gets at most one fault: the oldest one for its method that has calls left.")
        .put(problem.map(|(problem, _)| view::alert(problem)).unwrap_or_default())
        .put(view::section("Faults of the next calls", list(context, Shown(&faults))))
        .put(view::section("Add a fault", adding(context, entered)));
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(Reply::inspector(status, frame::page(context, Some(Place::Faults), Place::Faults.title(), content)))
}

fn list(context: &Context<'_>, faults: Shown<'_>) -> Html {
    let rows: Vec<_> = faults.entries().map(|fault| row(context, fault)).collect();
    let clear = if rows.is_empty() {
        Html::new()
    } else {
        let form = view::Form::post(&here(context, Place::Faults.below("clear"))).quiet_button("Remove all of them");
        Html::new().raw("<div class=\"after\">\n").put(form).raw("</div>\n")
    };
    let heads = &["Kind", "ApiRequest", "Calls left", "More", "Remove"];
    Table::new("Oldest first", heads).rows(rows).or("There are no faults.").put(clear)
}

fn row(context: &Context<'_>, fault: Shown<'_>) -> [Html; 5] {
    let (left, times) = (fault.text("remaining"), fault.text("times"));
    let tone = if left == "0" { Tone::Plain } else { Tone::Waiting };
    let method = match &*fault.text("method") {
        Fault::ANY => Html::of("any"),
        method => view::code(method),
    };
    let more = match &*fault.text("kind") {
        "delay" => format!("{} ms", fault.text("milliseconds")),
        "status" => format!("HTTP {}", fault.text("status")),
        _ => String::new(),
    };
    let path = here(context, format!("{}/remove", Place::Faults.below(&fault.text("id"))));
    [
        badge(tone, &fault.text("kind")),
        method,
        Html::of(&format!("{left} of {times}")),
        Html::of(&more),
        view::Form::post(&path).quiet_button("Remove"),
    ]
}

fn adding(context: &Context<'_>, entered: Option<&Form>) -> Html {
    let value = |name, usual| entered.and_then(|form| form.get(name)).unwrap_or(usual);
    let names: Vec<String> = METHODS.iter().map(|info| format!("{info:?}")).collect();
    let methods: Vec<(&str, &str)> = [(Fault::ANY, "Any method"), (Fault::PAGE, "The hosted page")]
        .into_iter()
        .chain(names.iter().map(|name| (&**name, &**name)))
        .collect();
    let kinds: Vec<(&str, &str)> = FaultKind::NAMES.into_iter().zip(MEANINGS).collect();
    let number = |name, label, usual, hint| Field { name, label, value: value(name, usual), hint, keyboard: "numeric" };
    view::Form::post(&Place::Faults.here(context))
        .select(Select { name: "method", label: "Calls of", options: &methods, chosen: value("method", Fault::ANY) })
        .select(Select { name: "kind", label: "Fault", options: &kinds, chosen: value("kind", "drop-reply") })
        .field(number("times", "How many calls", "1", ""))
        .field(number("milliseconds", "Delay in milliseconds", "1500", "Only for delay. On the real clock."))
        .field(number("status", "HTTP status", "500", "Only for status: 400 to 599."))
        .button("Add the fault")
}

/// Adds a fault through the control interface.
pub(super) fn add(context: &mut Context<'_>, form: &Form) -> Result<Reply, Refusal> {
    let text = |name| form.get(name).unwrap_or_default();
    let mut asked = json!({ "method": text("method"), "kind": text("kind"), "times": calls::number(text("times")) });
    // The form sends these values for every kind. The call accepts them only for the kinds that need them.
    for (name, owner) in [("milliseconds", "delay"), ("status", "status")] {
        if text("kind") == owner {
            asked[name] = calls::number(text(name));
        }
    }
    let answer = calls::post(context, "faults", &asked)?;
    match answer.refused() {
        Some(problem) => show(context, Some((problem, form))),
        None => see(&Place::Faults.here(context)),
    }
}

/// Removes all faults through the control interface.
pub(super) fn clear(context: &mut Context<'_>) -> Result<Reply, Refusal> {
    calls::delete(context, "faults")?;
    see(&Place::Faults.here(context))
}

/// Removes a fault through the control interface. Removing a removed fault is not an error.
pub(super) fn remove(context: &mut Context<'_>, id: &str) -> Result<Reply, Refusal> {
    calls::delete(context, &format!("faults/{id}"))?;
    see(&Place::Faults.here(context))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_meaning() {
        for (name, meaning) in FaultKind::NAMES.into_iter().zip(MEANINGS) {
            assert!(meaning.starts_with(&format!("{name}: ")), "{name}");
        }
    }
}
