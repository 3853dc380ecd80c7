//! The configured responses of the card schemes to the account updater.

use http::StatusCode;
use pg_model::CardRetrievalCode;
use serde_json::json;

use super::{
    Context, Form, Html, Refusal, Reply, calls, frame, see,
    site::{Place, here},
    view::{self, Field, Select, Shown, Table},
};

/// Returns the configured responses, and a form to add one, with its error if there is one.
pub(super) fn show(context: &mut Context<'_>, problem: Option<(&str, &Form)>) -> Result<Reply, Refusal> {
    let told = calls::get(context, "cards/updater")?;
    let entered = problem.map(|(_, form)| form);
    let content = view::lead("Answers of the card schemes for a card, beginning with the next batch. An account that was created at run time has its own answers; all other accounts share theirs.")
        .put(problem.map(|(problem, _)| view::alert(problem)).unwrap_or_default())
        .put(view::section("Configured answers", list(context, Shown(&told))))
        .put(view::section("Set an answer", telling(context, entered)));
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(Reply::inspector(status, frame::page(context, Some(Place::Updater), Place::Updater.title(), content)))
}

fn list(context: &Context<'_>, told: Shown<'_>) -> Html {
    let rows: Vec<_> = told
        .entries()
        .map(|answer| {
            let code = answer.text("response");
            [view::code(&answer.text("card")), Html::of(&worded(&code))]
        })
        .collect();
    let forget = if rows.is_empty() {
        Html::new()
    } else {
        let form =
            view::Form::post(&here(context, Place::Updater.below("forget"))).quiet_button("Restore the default answer");
        Html::new().raw("<div class=\"after\">\n").put(form).raw("</div>\n")
    };
    Table::new("By card", &["Card", "Answer"]).rows(rows).or("The schemes give their default answers.").put(forget)
}

/// Returns a code with its message.
fn worded(code: &str) -> String {
    let known = CardRetrievalCode::from(code);
    format!("{code} {}", known.message().unwrap_or_default()).trim_end().to_owned()
}

fn telling(context: &Context<'_>, entered: Option<&Form>) -> Html {
    let value = |name, usual| entered.and_then(|form| form.get(name)).unwrap_or(usual);
    let codes: Vec<String> = (700..=712).map(|code| code.to_string()).collect();
    let words: Vec<String> = codes.iter().map(|code| worded(code)).collect();
    let options: Vec<(&str, &str)> = codes.iter().map(String::as_str).zip(words.iter().map(String::as_str)).collect();
    let key = Field {
        name: "cardKey",
        label: "Card key",
        value: value("cardKey", ""),
        hint: "The key of any token of the card.",
        ..Field::default()
    };
    view::Form::post(&Place::Updater.here(context))
        .field(key)
        .select(Select { name: "response", label: "Answer", options: &options, chosen: value("response", "705") })
        .button("Set the answer")
}

/// Sets an answer through the control interface.
pub(super) fn tell(context: &mut Context<'_>, form: &Form) -> Result<Reply, Refusal> {
    let text = |name| form.get(name).unwrap_or_default().trim().to_owned();
    let asked = json!({ "cardKey": text("cardKey"), "response": text("response") });
    let answer = calls::post(context, "cards/updater", &asked)?;
    match answer.refused() {
        Some(problem) => show(context, Some((problem, form))),
        None => see(&Place::Updater.here(context)),
    }
}

/// Removes the configured answers through the control interface.
pub(super) fn forget(context: &mut Context<'_>) -> Result<Reply, Refusal> {
    calls::delete(context, "cards/updater")?;
    see(&Place::Updater.here(context))
}
