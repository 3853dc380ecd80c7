//! The page of a simulated card issuer, on which a customer authenticates (spec 2 §3.3; A107 and 110).

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode};

use super::{
    super::{method, money, transaction::authentication},
    Basis, Context, Refusal, Reply, html, wrong_method,
};
use crate::records::{Authentication, CHALLENGE_TIME, Payment};
use crate::{assumed, codes::SandboxErrorCode};
use authentication::CustomerAnswer;

/// Shows the challenge of an authentication and takes its answer. When the challenge has ended, every request redirects
/// to the shop. The key is the only credential of a customer's browser.
pub(in super::super) fn challenge(
    context: &mut Context<'_>,
    key: &str,
    request: &Request<Bytes>,
) -> Result<Reply, Refusal> {
    context.basis = Basis::assuming("2 §3.3", assumed::UNKNOWN_AUTHENTICATION_KEYS_AND_THEIR_LIFETIME);
    if *request.method() != Method::GET && *request.method() != Method::POST {
        return Ok(wrong_method("GET, HEAD, POST"));
    }
    let reply = match context.records.get::<Authentication>(key)? {
        Some(authentication) => answered(context, authentication, request)?,
        None => unknown(),
    };
    Ok(reply.in_frames())
}

fn answered(
    context: &mut Context<'_>,
    mut authentication: Authentication,
    request: &Request<Bytes>,
) -> Result<Reply, Refusal> {
    let posted = *request.method() == Method::POST;
    if posted && let Some(answer) = answer_in(context, request) {
        authentication::answer(context, &mut authentication, answer)?;
    }
    if authentication.ended(context.now).is_some() {
        return way_back(context, &authentication, posted);
    }
    let check = authentication::check_of(context, &authentication)?;
    let page = question(&authentication, &check, posted);
    Ok(Reply::page(if posted { StatusCode::BAD_REQUEST } else { StatusCode::OK }, page).leading_away())
}

/// Returns the pressed button; `None` for a form that this page does not send.
fn answer_in(context: &Context<'_>, request: &Request<Bytes>) -> Option<CustomerAnswer> {
    match method::form(context.settings, request).ok()?.get("outcome")? {
        "authenticate" => Some(CustomerAnswer::Authenticate),
        "fail" => Some(CustomerAnswer::Fail),
        "abandon" => Some(CustomerAnswer::Abandon),
        _ => None,
    }
}

/// Redirects to the merchant's page, at exactly the given URL; without one, to a page that shows the result (A110).
fn way_back(context: &mut Context<'_>, authentication: &Authentication, posted: bool) -> Result<Reply, Refusal> {
    context.basis.assume(assumed::COMING_BACK_FROM_THE_CHALLENGE);
    let own = posted.then(|| authentication.page());
    if let Some(address) = authentication.return_to.as_ref().or(own.as_ref()) {
        let location = HeaderValue::try_from(address).map_err(|_| Refusal::from(SandboxErrorCode::SANDBOX_FAILURE))?;
        return Ok(Reply::see_other(location));
    }
    let body = "<h1>You are done here</h1>\n<p>Close this page and go back to the shop.</p>";
    Ok(Reply::page(StatusCode::OK, html::page("Back to the shop", body)))
}

fn question(authentication: &Authentication, check: &Payment, again: bool) -> String {
    const QUESTION: &str = "Confirm it\u{2019}s you";
    let row = |name: &str, value: &str| format!("<dt>{name}</dt><dd><bdi>{}</bdi></dd>", html::text(value));
    // Without a script, `autofocus` tells a screen reader that something has changed.
    let (prefix, alert) = if again {
        let alert =
            "<p class=\"alert\" role=\"alert\" tabindex=\"-1\" autofocus>Choose one of the three answers.</p>\n";
        ("Error: ", alert)
    } else {
        ("", "")
    };
    let amount = money::with_currency(check.amount, &check.currency);
    let card = check.card.as_ref().map(|card| card.masked.as_str()).unwrap_or_default();
    let reference = check.merchant_reference.as_ref().map(|reference| row("Reference", reference));
    let until = authentication.created.plus(CHALLENGE_TIME).with_offset();
    let time = until.split(['T', '+']).nth(1).unwrap_or_default();
    let body = format!(
        "<p class=\"shop\">3-D Secure</p>\n<h1>{QUESTION}</h1>\n{alert}\
         <p>The bank of a real card would ask its customer for a code here. Choose how the challenge ends.</p>\n\
         <dl>{}{}{}{}</dl>\n\
         <form method=\"post\" action=\"{}\">\n\
         <button name=\"outcome\" value=\"authenticate\">Authenticate</button>\n\
         <button class=\"other\" name=\"outcome\" value=\"fail\">Fail the challenge</button>\n\
         <button class=\"other\" name=\"outcome\" value=\"abandon\">Go back without an answer</button>\n\
         </form>\n\
         <p class=\"note after\">Without an answer, the challenge times out at {time} UTC.</p>",
        row("Shop", &check.merchant),
        row("Amount", &amount),
        row("Card", card),
        reference.unwrap_or_default(),
        html::value(&authentication.page()),
    );
    html::page(&format!("{prefix}{}", html::title_at(QUESTION, &html::text(&check.merchant))), &body)
}

fn unknown() -> Reply {
    let code = SandboxErrorCode::UNKNOWN_AUTHENTICATION_KEY;
    let page = html::failure(code.as_str(), code.message());
    Reply::page(StatusCode::NOT_FOUND, page)
}
