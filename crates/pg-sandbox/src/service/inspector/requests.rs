//! Requests of the services and their pages, and the responses.

use super::{
    Context, Html, List, Refusal, basis,
    look::Look,
    site::{self, Place},
    view::{self, Facts, Form, Shown, Table, Tone, badge},
};

pub(super) const LOOK: Look = Look {
    about: "Requests of merchants’ servers and customers’ browsers, with the replies. A restart clears the list.",
    empty: "No requests yet.",
    one: "Request",
    key: "id",
    heads: &["Time", "Request", "Account", "Answer", "Fault"],
    row,
    entry,
};

fn row(context: &Context<'_>, request: Shown<'_>) -> Vec<Html> {
    vec![
        site::opening(context, List::Requests, request, &request.text("id"), request.time("time")),
        view::code(&name(request)),
        view::quoted(&request.text("merchant")),
        answer(request).put(warned_of(request)),
        badge(Tone::Waiting, &request.text("fault")),
    ]
}

/// Returns the method, or else the path.
fn name(request: Shown<'_>) -> String {
    let method = request.text("method");
    if method.is_empty() { [request.text("httpMethod"), request.text("path")].join(" ") } else { method.into_owned() }
}

/// Returns how many warnings the answer carried.
fn warned_of(request: Shown<'_>) -> Html {
    match request.inner("warnings").entries().count() {
        0 => Html::new(),
        1 => Html::new().raw(" ").put(badge(Tone::Waiting, "warning")),
        many => Html::new().raw(" ").put(badge(Tone::Waiting, &format!("{many} warnings"))),
    }
}

/// Returns the HTTP status and the error code.
fn answer(request: Shown<'_>) -> Html {
    let (status, code) = (request.count("status"), request.text("errorCode"));
    match status {
        0 => badge(Tone::Bad, "nothing"),
        _ if !code.is_empty() => badge(Tone::Bad, &format!("{status}, error {code}")),
        200..=399 => badge(Tone::Good, &status.to_string()),
        _ => badge(Tone::Bad, &status.to_string()),
    }
}

fn entry(context: &mut Context<'_>, request: Shown<'_>) -> Result<Html, Refusal> {
    Ok(view::section("Asked", asked(request))
        .put(view::section("Parameters", parameters(request)))
        .put(view::section("Answered", answered(context, request)))
        .put(warned(request))
        .put(rests_on(context, &request.text("basis"))))
}

fn asked(request: Shown<'_>) -> Html {
    let method = request.text("method");
    let title = pg_model::method::method(&method)
        .map(|info| view::code(&method).raw(" <span class=\"note\">").raw(info.title).raw("</span>"));
    Facts::new()
        .fact("ApiRequest", title.unwrap_or_default())
        .fact("Request", view::code(&[request.text("httpMethod"), request.text("path")].join(" ")))
        .fact("When", request.time("time"))
        .quoted("Account", &request.text("merchant"))
        .code("From", &request.text("peer"))
        .into_html()
}

fn parameters(request: Shown<'_>) -> Html {
    let pairs = request.pairs("parameters");
    let rows = pairs.iter().map(|(name, value)| [view::code(name), view::quoted(value)]);
    let table = Table::new("Masked: no card number in full, no CV2, no credential", &["Name", "Value"]).rows(rows);
    let left_out = request.count("parametersLeftOut");
    let rest = if left_out == 0 {
        Html::new()
    } else {
        Html::new().raw("<p class=\"note\">").text(&left_out.to_string()).raw(" more were not kept.</p>\n")
    };
    table.or("There were no parameters, or the body was not a form.").put(rest)
}

fn answered(context: &Context<'_>, request: Shown<'_>) -> Html {
    let location = request.text("location");
    let facts = Facts::new()
        .fact("Answer", answer(request))
        .fact("Fault", badge(Tone::Waiting, &request.text("fault")))
        .fact("What it did", Html::new().raw(effect(&request.text("fault"))))
        .fact("Browser sent to", view::code(&location));
    let body = request.text("reply");
    let body = if body.trim().is_empty() { Html::new() } else { view::lines(&body) };
    facts.into_html().put(body).put(decoder(context, &location, &request.text("merchant")))
}

/// Returns the effect of a fault on the answer.
fn effect(fault: &str) -> &'static str {
    match fault {
        "drop-request" => "The call was not executed, and the connection was closed.",
        "drop-reply" => "The call was executed and is durable; the connection was closed without the reply below.",
        "delay" => "The call was executed; the reply was late.",
        "status" => "The call was not executed; the reply was injected.",
        "garble" => "The call was executed; the reply below was damaged.",
        "duplicate" => "The call was executed twice; the second reply was sent.",
        _ => "",
    }
}

/// Returns a button that decodes the redirect, if it is one.
fn decoder(context: &Context<'_>, location: &str, account: &str) -> Html {
    if !location.contains("data=") || !location.contains("iv=") {
        return Html::new();
    }
    let form = Form::post(&Place::Decoder.here(context)).hidden("address", location).hidden("merchant", account);
    form.quiet_button("Decode this redirect")
}

/// Returns the warnings for the caller.
fn warned(request: Shown<'_>) -> Html {
    let warnings = request.inner("warnings").entries();
    let items = Html::new().all(warnings.map(|text| Html::new().raw("<li>").text(&text.own_text()).raw("</li>\n")));
    if items.is_empty() {
        return items;
    }
    view::section("Warnings", Html::new().raw("<ul>\n").put(items).raw("</ul>\n"))
}

fn rests_on(context: &Context<'_>, basis: &str) -> Html {
    let explained = basis::explained(context.account, basis);
    if explained.is_empty() { explained } else { view::section("Basis of the reply", explained) }
}
