//! Creates and removes accounts at run time (A335), and switches between them.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Context, Form, Html, List, Refusal, Reply, calls, frame, see,
    site::{Place, here, of_account},
    view::{self, Facts, Field, Select, Shown, Table},
};

/// Lifetimes in seconds, and their labels.
const TIMES: [(&str, &str); 5] = [
    ("3600", "One hour"),
    ("28800", "Eight hours"),
    ("86400", "One day"),
    ("604800", "One week"),
    ("", "Until it is removed"),
];
/// The credentials of a new account, each by its environment variable and its JSON member.
const CREDENTIALS: [(&str, &str); 6] = [
    ("apiKey", "apiKey"),
    ("apiPassword", "apiPassword"),
    ("shaKey", "shaKey"),
    ("accountUpdaterKey", "accountUpdaterKey"),
    ("Version 5 api_key", "enterpriseApiKey"),
    ("Version 5 api_password", "enterpriseApiPassword"),
];

/// Returns the accounts, and a form to create one, with the error of the last attempt.
pub(super) fn show(context: &mut Context<'_>, problem: Option<(&str, &Form)>) -> Result<Reply, Refusal> {
    let entered = problem.map(|(_, form)| form);
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let alert = problem.map(|(problem, _)| view::alert(problem)).unwrap_or_default();
    page(context, status, alert, entered)
}

fn page(context: &mut Context<'_>, status: StatusCode, top: Html, entered: Option<&Form>) -> Result<Reply, Refusal> {
    let accounts = calls::get(context, "accounts")?;
    let lead = "Each account has its own clock, faults, callbacks and requests. A CI job can create its own account.";
    let content = view::lead(lead)
        .put(top)
        .put(view::section("Accounts created at run time", list(context, Shown(&accounts))))
        .put(view::section("Create an account", making(context, entered)));
    let page = frame::page(context, Some(Place::Accounts), Place::Accounts.title(), content);
    Ok(Reply::inspector(status, page))
}

fn list(context: &Context<'_>, accounts: Shown<'_>) -> Html {
    let current = context.account.map(|own| &*own.account.name);
    let rows = accounts.entries().map(|account| {
        let name = account.text("name");
        let expires = match account.text("expires") {
            never if never.is_empty() => Html::of("when it is removed"),
            _ => account.time("expires"),
        };
        let switch = if current == Some(&*name) {
            Html::of("shown now")
        } else {
            view::link(&of_account(Place::Clock.path(), &name), "Switch to it")
        };
        let requests = view::link(&of_account(Place::List(List::Requests).path(), &name), "Requests");
        let remove =
            view::Form::post(&here(context, format!("{}/remove", Place::Accounts.below(&name)))).quiet_button("Remove");
        let clock = account.inner("clock").time("now");
        [view::code(&name), account.time("created"), expires, clock, switch, requests, remove]
    });
    let heads = &["Name", "Made", "Ends", "Its clock", "Clock and faults", "What it did", "Remove"];
    let back = match current {
        None => Html::new(),
        Some(_) => Html::new()
            .raw("<p>")
            .put(view::link(&Place::Clock.path(), "Switch back to the clock and faults of all other accounts"))
            .raw("</p>\n"),
    };
    Table::new("Oldest first", heads).rows(rows).or("There are none.").put(back)
}

fn making(context: &Context<'_>, entered: Option<&Form>) -> Html {
    let value = |name, usual| entered.and_then(|form| form.get(name)).unwrap_or(usual);
    let models: Vec<(&str, &str)> =
        context.merchants().all().iter().map(|merchant| (&*merchant.name, &*merchant.name)).collect();
    let name = Field {
        name: "name",
        label: "Name",
        value: value("name", ""),
        hint: "Lower-case letters, digits and hyphens, such as ci-17. If empty, the sandbox chooses a name.",
        ..Field::default()
    };
    view::Form::post(&Place::Accounts.here(context))
        .field(name)
        .select(Select {
            name: "ttlSeconds",
            label: "Lifetime, on the real clock",
            options: &TIMES,
            chosen: value("ttlSeconds", "3600"),
        })
        .select(Select { name: "like", label: "Same permissions as", options: &models, chosen: value("like", "main") })
        .button("Create the account")
}

/// Creates an account through the control interface, and shows its credentials once.
pub(super) fn make(context: &mut Context<'_>, form: &Form) -> Result<Reply, Refusal> {
    let mut asked = json!({});
    for name in ["name", "like"] {
        if let Some(text) = form.given(name) {
            asked[name] = text.into();
        }
    }
    if let Some(seconds) = form.given("ttlSeconds") {
        asked["ttlSeconds"] = calls::number(seconds);
    }
    let answer = calls::post(context, "accounts", &asked)?;
    match answer.refused() {
        Some(problem) => show(context, Some((problem, form))),
        None => {
            let made = credentials(&answer.shown);
            page(context, StatusCode::OK, view::section("The new account", made), None)
        }
    }
}

fn credentials(account: &Value) -> Html {
    let account = Shown(account);
    let facts = Facts::new().fact("Name", view::to_copy(&account.text("name")));
    let facts = CREDENTIALS.into_iter().fold(facts, |facts, (name, member)| {
        let value = account.text(member);
        if value.is_empty() { facts } else { facts.fact(name, view::to_copy(&value)) }
    });
    view::note("Copy the credentials now: they are not shown again.").put(facts.into_html())
}

/// Removes an account through the control interface. Removing a removed account is not an error.
pub(super) fn remove(context: &mut Context<'_>, name: &str) -> Result<Reply, Refusal> {
    calls::delete(context, &format!("accounts/{name}"))?;
    let is_own = context.account.is_some_and(|own| own.account.name == name);
    see(&if is_own { Place::Accounts.path() } else { Place::Accounts.here(context) })
}
