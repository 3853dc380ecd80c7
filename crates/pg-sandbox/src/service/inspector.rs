//! The inspector: pages that show the data of the control interface to people, with buttons that make its calls.
//!
//! `/_sandbox/` and everything below `/_sandbox/pages/` is for people, the rest of `/_sandbox/` for programs. A caller who may
//! use the control interface may use the pages. They show only the data of its responses, with the same masks.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode};

use super::{
    Context, Refusal, Reply,
    control::{self, Answer, Denied, List, Listing},
    method, page,
};
use crate::{codes::SandboxErrorCode, form::Form, html::Html};

mod accounts;
mod assumptions;
mod authentications;
mod basis;
mod batches;
mod callbacks;
mod calls;
mod checkouts;
mod clock;
mod decoder;
mod faults;
mod frame;
mod guard;
mod lists;
mod look;
mod overview;
mod requests;
mod sessions;
mod site;
mod sms;
mod story;
pub(super) mod style;
mod tokens;
mod transactions;
mod updater;
mod view;

use site::Place;

/// Answers a request for a page, or of one of its buttons; `path` follows `/_sandbox/pages/`.
pub(super) fn answer(context: &mut Context<'_>, path: &str, request: &Request<Bytes>) -> Result<Reply, Refusal> {
    if let Err(denied) = control::check(context.settings, request) {
        return Ok(refused(denied));
    }
    if let Err(reason) = control::check_account(request) {
        return Ok(problem(context, StatusCode::BAD_REQUEST, reason));
    }
    if let Some(name) = context.missing_account.take() {
        let reason = format!("There is no account {:?} that was created at run time.", pg_model::mask::text(&name));
        return Ok(problem(context, StatusCode::NOT_FOUND, &reason));
    }
    let segments: Vec<&str> = path.split('/').collect();
    match *request.method() {
        Method::GET => show(context, &segments, request),
        Method::POST => match guard::check(request) {
            Ok(()) => act(context, &segments, request),
            Err(reason) => Ok(refused(Denied { status: StatusCode::FORBIDDEN, reason })),
        },
        _ => Ok(wrong_method(context, "GET, HEAD, POST")),
    }
}

fn show(context: &mut Context<'_>, segments: &[&str], request: &Request<Bytes>) -> Result<Reply, Refusal> {
    match segments {
        [""] => overview::show(context),
        ["clock"] => clock::show(context, None),
        ["faults"] => faults::show(context, None),
        ["updater"] => updater::show(context, None),
        ["accounts"] => accounts::show(context, None),
        ["decoder"] => Ok(decoder::show(context)),
        ["decoder", file] => Ok(decoder::file(context, file).unwrap_or_else(|| missing(context))),
        ["assumptions"] => Ok(assumptions::list(context)),
        ["assumptions", number] => Ok(assumptions::show(context, number).unwrap_or_else(|| missing(context))),
        _ => match (segments, segments.first().and_then(|name| List::named(name))) {
            ([_], Some(list)) => lists::show(context, list, request),
            ([_, key], Some(list)) => {
                Ok(lists::entry(context, list, key, request)?.unwrap_or_else(|| missing(context)))
            }
            _ => Ok(missing(context)),
        },
    }
}

fn act(context: &mut Context<'_>, segments: &[&str], request: &Request<Bytes>) -> Result<Reply, Refusal> {
    let form = match method::form(context.settings, request) {
        Ok(form) => form,
        Err(error) => return Ok(problem(context, StatusCode::BAD_REQUEST, &error.to_string())),
    };
    if control::of_another_account(context, segments, request)?.is_some() {
        return Ok(missing(context));
    }
    match segments {
        ["clock"] => clock::turn(context, &form),
        ["faults"] => faults::add(context, &form),
        ["faults", "clear"] => faults::clear(context),
        ["faults", id, "remove"] => faults::remove(context, id),
        ["accounts"] => accounts::make(context, &form),
        ["accounts", name, "remove"] => accounts::remove(context, name),
        ["updater"] => updater::tell(context, &form),
        ["updater", "forget"] => updater::forget(context),
        ["batches", key, "spoil"] => batches::spoil(context, key),
        ["callbacks", "behaviour"] => callbacks::misbehave(context, &form),
        ["callbacks", "behave"] => callbacks::behave(context),
        ["callbacks", id, "redeliver"] => callbacks::redeliver(context, id),
        ["decoder"] => Ok(decoder::decode(context, &form)),
        _ => Ok(wrong_method(context, "GET, HEAD")),
    }
}

/// Returns a page of the inspector.
fn shown(context: &Context<'_>, place: Place, heading: &str, content: Html) -> Reply {
    Reply::inspector(StatusCode::OK, frame::page(context, Some(place), heading, content))
}

/// Returns an error page.
fn problem(context: &Context<'_>, status: StatusCode, reason: &str) -> Reply {
    let heading = if status == StatusCode::NOT_FOUND { "There is no such page" } else { "This cannot be done" };
    Reply::inspector(status, frame::page(context, None, heading, Html::new().raw("<p>").text(reason).raw("</p>\n")))
}

fn missing(context: &Context<'_>) -> Reply {
    let reason = "There is no page at this URL. Entries that a restart or the journal dropped are gone.";
    problem(context, StatusCode::NOT_FOUND, reason)
}

fn wrong_method(context: &Context<'_>, allowed: &'static str) -> Reply {
    let reason = "This URL does not accept this HTTP method.";
    problem(context, StatusCode::METHOD_NOT_ALLOWED, reason).allowing(allowed)
}

/// Redirects to a page after a button.
fn see(path: &str) -> Result<Reply, Refusal> {
    let location = HeaderValue::try_from(path).map_err(|_| Refusal::from(SandboxErrorCode::SANDBOX_FAILURE))?;
    Ok(Reply::see_other(location))
}

/// Returns the response to a caller without access, which gets no page.
fn refused(denied: Denied) -> Reply {
    let page = Reply::inspector(denied.status, frame::bare("Access to the inspector is denied", denied.reason));
    if denied.status == StatusCode::UNAUTHORIZED { page.asking_for_a_password() } else { page }
}
