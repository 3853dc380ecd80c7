//! The control interface below `/_sandbox/`: JSON to inspect and control the sandbox itself. The inspector shows the
//! same data to people, and its buttons make the same calls.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode};
use serde_json::{Value, json};

use super::{Context, Refusal, Reply, callback};
use crate::{
    addresses, cards,
    form::{Form, FormError, FormLimits},
    metrics::Metrics,
    settings::Settings,
};

mod access;
mod accounts;
mod batches;
mod body;
mod callbacks;
mod clock;
mod destinations;
mod faults;
mod listing;
mod lists;
mod requests;
mod updater;

pub(super) use access::{Denied, check};
use body::{members, parsed};
pub(super) use listing::Listing;
pub(super) use lists::{List, unknown_account};

/// The path below `/_sandbox/` that replies while the process runs, whatever the state of its store. Load balancers and
/// container platforms call it and [`READY`]. Both are open to every machine and reveal nothing else.
pub(crate) const LIVE: &str = "health/live";
/// The path that checks the store, and returns an error if requests cannot be answered at present.
pub(crate) const READY: &str = "health/ready";
/// The path of the counters of this process.
pub(crate) const METRICS: &str = "metrics";

/// Answers a call of the control interface; `path` is the part after `/_sandbox/`. The changes of a refused call
/// are undone.
pub(super) fn answer(context: &mut Context<'_>, path: &str, request: &Request<Bytes>) -> Result<Reply, Refusal> {
    if request.method() == Method::GET && [LIVE, READY].contains(&path) {
        // A request that reaches this point has an open transaction.
        let status = path.trim_start_matches("health/");
        return Ok(Reply::json(StatusCode::OK, &json!({ "status": status })));
    }
    if path == METRICS && request.method() == Method::GET {
        return Ok(metrics(context.settings, context.metrics, request));
    }
    if let Err(denied) = check(context.settings, request) {
        return Ok(refuse(denied));
    }
    Ok(call(context, path, request)?.into_reply())
}

/// Answers a call for the counters of this process, which need no store.
pub(crate) fn metrics(settings: &Settings, metrics: &Metrics, request: &Request<Bytes>) -> Reply {
    match check(settings, request) {
        Ok(()) => Reply::text(StatusCode::OK, &metrics.text()),
        Err(denied) => refuse(denied),
    }
}

fn refuse(denied: Denied) -> Reply {
    let reply = error(denied.status, denied.reason).into_reply();
    if denied.status == StatusCode::UNAUTHORIZED { reply.asking_for_a_password() } else { reply }
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct Answer {
    /// The HTTP status.
    pub(super) status: StatusCode,
    /// The content; for a refused call, an object with the reason as `error`.
    pub(super) shown: Value,
    link: Option<HeaderValue>,
    allow: Option<&'static str>,
}

impl Answer {
    /// Returns why the call is refused; `None` if it is not.
    pub(super) fn refused(&self) -> Option<&str> {
        if self.status.is_success() { None } else { self.shown["error"].as_str() }
    }

    /// The same with a `Link` to the next page.
    fn linking(self, link: HeaderValue) -> Self {
        Self { link: Some(link), ..self }
    }

    fn into_reply(self) -> Reply {
        let reply = Reply::json(self.status, &self.shown);
        let reply = match self.allow {
            Some(methods) => reply.allowing(methods),
            None => reply,
        };
        match self.link {
            Some(link) => reply.linking(link),
            None => reply,
        }
    }
}

/// Executes a call of an authorised caller.
pub(super) fn call(context: &mut Context<'_>, path: &str, request: &Request<Bytes>) -> Result<Answer, Refusal> {
    if let Some(unread) = request.extensions().get::<FormError>() {
        return Ok(error(StatusCode::BAD_REQUEST, &unread.to_string()));
    }
    if let Err(problem) = check_account(request) {
        return Ok(error(StatusCode::BAD_REQUEST, problem));
    }
    if let Some(name) = &context.missing_account {
        return Ok(accounts::missing(context, name));
    }
    let segments: Vec<&str> = path.split('/').collect();
    if let Some(list) = of_another_account(context, &segments, request)? {
        return Ok(list.no_such_entry());
    }
    if accepted(&segments).is_some()
        && !is_list(&segments)
        && let Err(problem) = check_parameters(request)
    {
        return Ok(error(StatusCode::BAD_REQUEST, &problem));
    }
    if matches!(&*segments, ["accounts" | "merchants", ..]) && named_account(request).is_some() {
        let problem = "account is not accepted here: a path below accounts names the account itself";
        return Ok(error(StatusCode::BAD_REQUEST, problem));
    }
    match (request.method(), &*segments) {
        (&Method::GET, ["merchants"]) => Ok(shown(context.merchants().view())),
        (&Method::GET, ["accounts"]) => accounts::list(context),
        (&Method::POST, ["accounts"]) => accounts::create(context, request),
        (&Method::GET, ["accounts", name]) => accounts::show(context, name),
        (&Method::DELETE, ["accounts", name]) => accounts::remove(context, name),
        (&Method::GET, ["cards"]) => Ok(shown(cards::view())),
        (&Method::GET, ["cards", "updater"]) => updater::list(context),
        (&Method::POST, ["cards", "updater"]) => updater::tell(context, request),
        (&Method::DELETE, ["cards", "updater"]) => updater::forget(context),
        (&Method::GET, ["clock"]) => Ok(clock::show(context)),
        (&Method::POST, ["clock"]) => Ok(clock::change(context, request)),
        (&Method::GET, ["faults"]) => Ok(faults::list(context)),
        (&Method::POST, ["faults"]) => faults::add(context, request),
        (&Method::DELETE, ["faults"]) => faults::clear(context),
        (&Method::DELETE, ["faults", id]) => faults::remove(context, id),
        (&Method::POST, ["batches", key, "spoil"]) => batches::spoil(context, key),
        (&Method::GET, ["callbacks", "behaviour"]) => callbacks::behaviour(context),
        (&Method::POST, ["callbacks", "behaviour"]) => callbacks::misbehave(context, request),
        (&Method::DELETE, ["callbacks", "behaviour"]) => callbacks::behave(context),
        (&Method::GET, ["callbacks", "destinations"]) => destinations::list(context),
        (&Method::POST, ["callbacks", "destinations"]) => destinations::register(context, request),
        (&Method::DELETE, ["callbacks", "destinations"]) => destinations::clear(context),
        (&Method::DELETE, ["callbacks", "destinations", id]) => destinations::remove(context, id),
        (&Method::POST, ["callbacks", id, "redeliver"]) => callbacks::redeliver(context, id),
        (&Method::GET, ["addresses"]) => Ok(shown(addresses::view())),
        (method, known) => match (method, known, known.first().and_then(|name| List::named(name))) {
            (&Method::GET, [_], Some(list)) => list.show(context, request),
            (&Method::GET, [_, key], Some(list)) => list.show_entry(context, key, request),
            _ => Ok(not_accepted(known)),
        },
    }
}

/// Returns the list of the entry on which a call or a button acts, if it names an account without this entry.
pub(super) fn of_another_account(
    context: &mut Context<'_>,
    segments: &[&str],
    request: &Request<Bytes>,
) -> Result<Option<List>, Refusal> {
    let [list, key, "spoil" | "redeliver"] = segments else { return Ok(None) };
    let (Some(list), Some(_)) = (List::named(list), named_account(request)) else { return Ok(None) };
    Ok(list.entry_of_account(context, key, request)?.is_none().then_some(list))
}

/// Returns the account that a call, or a page of the inspector, names by `?account=`.
pub(crate) fn named_account(request: &Request<Bytes>) -> Option<String> {
    accounts_of(request).next().filter(|account| !account.is_empty()).map(Cow::into_owned)
}

/// Refuses a call that names two accounts, or changes something and names none: the name of a script's variable may be
/// missing, and the change would apply to all configured accounts.
pub(super) fn check_account(request: &Request<Bytes>) -> Result<(), &'static str> {
    let mut accounts = accounts_of(request);
    match (accounts.next(), accounts.next()) {
        (_, Some(_)) => Err("account is given twice"),
        (Some(account), None) if account.is_empty() && *request.method() != Method::GET => {
            Err("account must not be empty: name an account, or leave it out to change all configured accounts")
        }
        _ => Ok(()),
    }
}

/// Returns the values of `?account=`.
fn accounts_of(request: &Request<Bytes>) -> impl Iterator<Item = Cow<'_, str>> {
    let query = request.uri().query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "account").map(|(_, account)| account)
}

/// Whether a path is that of a list. Lists have more parameters, and check them themselves.
fn is_list(segments: &[&str]) -> bool {
    matches!(segments, [name] if List::named(name).is_some())
}

/// Refuses a misspelt `?account=`: without it, a call applies to all configured accounts.
fn check_parameters(request: &Request<Bytes>) -> Result<(), String> {
    let query = request.uri().query().unwrap_or_default();
    let query = Form::parse(query.as_bytes(), &FormLimits::default()).map_err(|error| error.to_string())?;
    if let Some((name, _)) = query.iter().find(|(name, _)| *name != "account") {
        return Err(format!("unknown parameter {:?}: only account is accepted here", pg_model::mask::text(name)));
    }
    Ok(())
}

fn not_accepted(segments: &[&str]) -> Answer {
    match accepted(segments) {
        Some((reason, methods)) => Answer { allow: Some(methods), ..error(StatusCode::METHOD_NOT_ALLOWED, reason) },
        None => coded(StatusCode::NOT_FOUND, "no-such-call", NO_SUCH_CALL),
    }
}

const NO_SUCH_CALL: &str = "unknown path; the control interface has merchants, accounts, cards, clock, faults, \
     addresses, requests, transactions, tokens, sessions, authentications, checkouts, batches, callbacks, sms, metrics, \
     health/live and health/ready";

/// Returns the HTTP methods of a known path: in words, and for the header `Allow`.
fn accepted(segments: &[&str]) -> Option<(&'static str, &'static str)> {
    const READ: (&str, &str) = ("only GET is accepted here", "GET, HEAD");
    Some(match segments {
        ["accounts"] => ("only GET and POST are accepted here", "GET, HEAD, POST"),
        ["accounts", _] => ("only GET and DELETE are accepted here", "GET, HEAD, DELETE"),
        ["clock"] => ("only GET and POST are accepted here", "GET, HEAD, POST"),
        ["faults", _] | ["callbacks", "destinations", _] => ("only DELETE is accepted here", "DELETE"),
        ["faults"] | ["cards", "updater"] | ["callbacks", "behaviour" | "destinations"] => {
            ("only GET, POST and DELETE are accepted here", "GET, HEAD, POST, DELETE")
        }
        ["merchants" | "cards" | "addresses" | "metrics"] | ["health", "live" | "ready"] => READ,
        _ if is_list(segments) => READ,
        [list, _] if List::named(list).is_some() => READ,
        ["batches", _, "spoil"] | ["callbacks", _, "redeliver"] => ("only POST is accepted here", "POST"),
        _ => return None,
    })
}

fn shown(value: Value) -> Answer {
    Answer { status: StatusCode::OK, shown: value, link: None, allow: None }
}

/// Refuses a call about an entry that its account does not have; `what` names the entry.
fn not_here(what: &str) -> Answer {
    let reason = format!("{what} of an account that was created at run time needs ?account=NAME");
    error(StatusCode::NOT_FOUND, &reason)
}

/// Returns a refused call, with a code for programs and the reason as text.
fn error(status: StatusCode, reason: &str) -> Answer {
    let code = match status {
        StatusCode::UNAUTHORIZED => "no-token",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::NOT_FOUND => "no-such-entry",
        StatusCode::METHOD_NOT_ALLOWED => "no-such-method",
        _ => "invalid",
    };
    coded(status, code, reason)
}

fn coded(status: StatusCode, code: &str, reason: &str) -> Answer {
    Answer { status, shown: json!({ "error": reason, "code": code }), link: None, allow: None }
}
