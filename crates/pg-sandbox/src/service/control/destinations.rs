//! `/_sandbox/callbacks/destinations`: registers addresses that receive an account's callbacks (A346).

use bytes::Bytes;
use http::{Request, StatusCode};
use serde::{Deserialize, Deserializer, de::IntoDeserializer as _};
use serde_json::Value;

use super::{Answer, Context, Refusal, callback, error, parsed, shown};
use crate::{
    outgoing::Target,
    records::{Callback, CallbackDestination, CallbackKind},
};

/// The maximum number of destinations.
const MOST: usize = 100;

pub(super) fn list(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    let list = callback::destinations(context)?;
    Ok(shown(list.iter().map(CallbackDestination::view).collect()))
}

pub(super) fn clear(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    callback::set_destinations(context, &[])?;
    list(context)
}

pub(super) fn remove(context: &mut Context<'_>, id: &str) -> Result<Answer, Refusal> {
    let mut all = callback::destinations(context)?;
    let before = all.len();
    all.retain(|one| one.id != id);
    if all.len() == before {
        return Ok(error(StatusCode::NOT_FOUND, "there is no such destination"));
    }
    callback::set_destinations(context, &all)?;
    list(context)
}

/// Registers an address, in place of an earlier one of the same account and kind.
pub(super) fn register(context: &mut Context<'_>, request: &Request<Bytes>) -> Result<Answer, Refusal> {
    let asked = match parse(request.body()) {
        Ok(asked) => asked,
        Err(problem) => return Ok(error(StatusCode::BAD_REQUEST, &problem)),
    };
    if let Err(problem) = check_account(context, &asked.merchant) {
        return Ok(error(StatusCode::BAD_REQUEST, &problem));
    }
    if let Err(reason) = Target::parse(&asked.url, asked.kind, &context.settings.outgoing) {
        return Ok(error(StatusCode::BAD_REQUEST, &format!("the URL is not allowed for callbacks: {reason}")));
    }
    let mut all = callback::destinations(context)?;
    all.retain(|one| one.merchant != asked.merchant || one.kind != asked.kind);
    if all.len() == MOST {
        return Ok(error(StatusCode::BAD_REQUEST, "too many destinations; DELETE removes all of them"));
    }
    let new = CallbackDestination {
        id: context.keys.record(context.now),
        merchant: asked.merchant,
        kind: asked.kind,
        url: asked.url,
        retries: asked.retries.unwrap_or(context.settings.callback_retries),
    };
    let view: Value = new.view();
    all.push(new);
    callback::set_destinations(context, &all)?;
    Ok(shown(view))
}

/// Checks that callbacks of this account can reach the destination: an account that was created at run time keeps its own.
fn check_account(context: &Context<'_>, name: &str) -> Result<(), String> {
    match context.own_name() {
        "" if context.merchant(name).is_none() => Err(format!(
            "merchant must be the name of an account of this sandbox; for one that was created at run time, add ?account={}",
            pg_model::mask::text(name)
        )),
        own if !own.is_empty() && own != name => Err(format!("merchant must be {own}, the account of ?account={own}")),
        _ => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    merchant: String,
    #[serde(deserialize_with = "kind")]
    kind: CallbackKind,
    url: String,
    retries: Option<u32>,
}

/// Reads a text: the derived reader would take `{"checkout": null}` too.
fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CallbackKind, D::Error> {
    CallbackKind::deserialize(String::deserialize(deserializer)?.into_deserializer())
}

fn parse(body: &[u8]) -> Result<Asked, String> {
    const EXAMPLE: &str = r#"the body must be a JSON object such as {"merchant": "main", "kind": "checkout", "url": "http://127.0.0.1:8490/…", "retries": 5}; kind is account-updater or checkout"#;
    let asked: Asked = parsed(body, EXAMPLE)?;
    match asked.retries {
        Some(retries) if retries > Callback::MOST_RETRIES => {
            Err(format!("retries must be a whole number from 0 to {}", Callback::MOST_RETRIES))
        }
        _ => Ok(asked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_destinations_are_named() {
        for (body, problem) in [
            ("", "JSON object"),
            (r#"{"merchant":"main","kind":"sms","url":"http://localhost/"}"#, "account-updater or checkout"),
            (r#"{"merchant":"main","kind":"checkout"}"#, "missing field `url`"),
            (r#"{"merchant":"main","kind":"checkout","url":"x","often":1}"#, "unknown field `often`, expected one of"),
            (
                r#"{"merchant":"main","kind":"checkout","url":4111111111111111}"#,
                "invalid type: integer `411111******1111`",
            ),
            (r#"{"merchant":"main","kind":"checkout","url":"x","retries":-1}"#, "invalid value: integer `-1`"),
            (r#"{"merchant":"main","kind":"checkout","url":"x","retries":10}"#, "retries must"),
        ] {
            let found = parse(body.as_bytes()).err().unwrap();
            assert!(found.contains(problem), "{body}: {found}");
        }
    }
}
