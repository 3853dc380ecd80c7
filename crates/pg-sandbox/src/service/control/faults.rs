//! `/_sandbox/faults`: faults of the next calls.

use bytes::Bytes;
use http::{Request, StatusCode};
use pg_model::METHODS;
use serde_json::{Map, Value, json};

use super::{Answer, Context, Refusal, error, members, shown};
use crate::{
    faults::MOST,
    records::{Fault, FaultKind, asks_bank},
};

/// The maximum number of calls that one fault affects.
const MOST_TIMES: u32 = 1_000_000;
/// The longest delay: an hour.
const MOST_MILLISECONDS: u64 = 3_600_000;
/// The default HTTP status of [`FaultKind::Status`].
const USUAL_STATUS: u16 = 500;

/// Returns the faults, oldest first.
pub(super) fn list(context: &Context<'_>) -> Answer {
    shown(context.faults.all().iter().map(Fault::view).collect())
}

pub(super) fn add(context: &mut Context<'_>, request: &Request<Bytes>) -> Result<Answer, Refusal> {
    Ok(match Asked::parse(request.body()) {
        Err(problem) => error(StatusCode::BAD_REQUEST, &problem),
        Ok(asked) => match put(context, asked)? {
            Some(fault) => shown(fault.view()),
            None => error(StatusCode::BAD_REQUEST, &full()),
        },
    })
}

pub(super) fn clear(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    let removed = context.faults.clear(&mut context.records)?;
    Ok(shown(json!({ "removed": removed })))
}

pub(super) fn remove(context: &mut Context<'_>, id: &str) -> Result<Answer, Refusal> {
    Ok(if context.faults.remove(id, &mut context.records)? {
        shown(json!({ "removed": 1 }))
    } else {
        error(StatusCode::NOT_FOUND, "there is no such fault")
    })
}

/// Adds a fault; `None` if there are too many already.
pub(super) fn put(context: &mut Context<'_>, asked: Asked) -> Result<Option<Fault>, Refusal> {
    let fault = Fault {
        key: context.keys.record(context.now),
        method: asked.method,
        kind: asked.kind,
        times: asked.times,
        remaining: asked.times,
        created: context.now,
    };
    let added = context.faults.add(fault.clone(), &mut context.records)?;
    Ok(added.then_some(fault))
}

/// Returns why a fault cannot be added.
pub(super) fn full() -> String {
    format!("{MOST} faults are already pending; DELETE removes them")
}

/// A requested fault.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    method: String,
    kind: FaultKind,
    times: u32,
}

const EXAMPLE: &str =
    r#"the body must be a JSON object such as {"method": "transaction/auth", "kind": "drop-reply", "times": 1}"#;
const KNOWN: [&str; 6] = ["method", "kind", "times", "delaySeconds", "milliseconds", "status"];

impl Asked {
    /// Reads the body of `POST /_sandbox/faults`, or reports the invalid member and its valid values.
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        Self::read(&members(body, EXAMPLE)?)
    }

    /// Reads the members of that object.
    fn read(members: &Map<String, Value>) -> Result<Self, String> {
        if let Some(name) = members.keys().find(|name| !KNOWN.contains(&&***name)) {
            let name = crate::form::shown(name);
            return Err(format!("unknown member {name:?}: only {} are accepted", KNOWN.join(", ")));
        }
        let method = method(members.get("method"))?;
        let kind = kind(members)?;
        fits(&method, kind)?;
        let times = match members.get("times") {
            None | Some(Value::Null) => Some(1),
            Some(times) => times.as_u64().and_then(|times| u32::try_from(times).ok()),
        };
        let times = times.filter(|times| (1..=MOST_TIMES).contains(times));
        let times = times.ok_or_else(|| format!("times must be a whole number from 1 to {MOST_TIMES}"))?;
        Ok(Self { method, kind, times })
    }
}

fn method(value: Option<&Value>) -> Result<String, String> {
    let asked = value.and_then(Value::as_str).unwrap_or_default();
    if [Fault::ANY, Fault::PAGE].contains(&asked) {
        return Ok(asked.to_owned());
    }
    match pg_model::method::method(asked) {
        Some(info) => Ok(format!("{info:?}")),
        None => {
            let known: Vec<String> = METHODS.iter().map(|info| format!("{info:?}")).collect();
            Err(format!("method must be \"*\" for any, or one of {}, {}", Fault::PAGE, known.join(", ")))
        }
    }
}

fn kind(members: &Map<String, Value>) -> Result<FaultKind, String> {
    let [drop_request, drop_reply, delay, status, garble, duplicate, no_response, charged] = FaultKind::NAMES;
    let asked = members.get("kind").and_then(Value::as_str).unwrap_or_default();
    let kind = if asked == drop_request {
        FaultKind::DropRequest
    } else if asked == drop_reply {
        FaultKind::DropReply
    } else if asked == delay {
        FaultKind::Delay { milliseconds: milliseconds(members)? }
    } else if asked == status {
        FaultKind::Status { status: http_status(members.get("status"))? }
    } else if asked == garble {
        FaultKind::Garble
    } else if asked == duplicate {
        FaultKind::Duplicate
    } else if asked == no_response {
        FaultKind::NoResponse
    } else if asked == charged {
        FaultKind::NoResponseCharged
    } else {
        return Err(format!("kind must be one of {}", FaultKind::NAMES.join(", ")));
    };
    for (name, owner) in [("delaySeconds", delay), ("milliseconds", delay), ("status", status)] {
        if owner != asked && members.contains_key(name) {
            return Err(format!("{name} applies only to the kind {owner}"));
        }
    }
    Ok(kind)
}

/// Whether a kind applies to a method: a failing bank needs a method that asks it, and the hosted page needs a failing bank.
fn fits(method: &str, kind: FaultKind) -> Result<(), String> {
    let silent = kind.silence().is_some();
    let asks = pg_model::method::method(method).is_none_or(asks_bank);
    if silent && !asks {
        Err(format!(
            "{} applies only to methods that ask the bank: payments, captures, cancellations, refunds, repeats",
            kind.name()
        ))
    } else if method == Fault::PAGE && !silent {
        let [.., no_response, charged] = FaultKind::NAMES;
        Err(format!("the only kinds for {} are {no_response} and {charged}", Fault::PAGE))
    } else {
        Ok(())
    }
}

fn milliseconds(members: &Map<String, Value>) -> Result<u64, String> {
    let longest = MOST_MILLISECONDS / 1000;
    let (asked, problem) = match (members.get("delaySeconds"), members.get("milliseconds")) {
        (Some(seconds), None) => (
            seconds.as_f64().and_then(whole_milliseconds),
            format!("delaySeconds must be a number from 0 to {longest}"),
        ),
        (None, Some(milliseconds)) => {
            (milliseconds.as_u64(), format!("milliseconds must be a whole number from 0 to {MOST_MILLISECONDS}"))
        }
        _ => return Err("a delay needs either delaySeconds or milliseconds".to_owned()),
    };
    asked.filter(|asked| *asked <= MOST_MILLISECONDS).ok_or(problem)
}

/// Rounded to the nearest.
fn whole_milliseconds(seconds: f64) -> Option<u64> {
    let milliseconds = (seconds * 1000.0).round();
    // Far below 2^53, where every whole number is exact.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    (0.0..=1e12).contains(&milliseconds).then_some(milliseconds as u64)
}

fn http_status(value: Option<&Value>) -> Result<u16, String> {
    let status = match value {
        None => Some(USUAL_STATUS),
        Some(value) => value.as_u64().and_then(|status| u16::try_from(status).ok()),
    };
    let status = status.filter(|status| (400..=599).contains(status));
    status.ok_or_else(|| "status must be a whole number from 400 to 599".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: &str) -> (String, FaultKind, u32) {
        let asked = Asked::parse(body.as_bytes()).unwrap();
        (asked.method, asked.kind, asked.times)
    }

    #[test]
    fn faults_are_read() {
        let any = || "*".to_owned();
        for (body, wanted) in [
            (
                r#"{"method":"transaction/auth","kind":"drop-reply","times":3}"#,
                ("transaction/auth".to_owned(), FaultKind::DropReply, 3),
            ),
            (r#"{"method":"*","kind":"drop-request"}"#, (any(), FaultKind::DropRequest, 1)),
            (
                r#"{"method":"checkout/gettoken","kind":"garble"}"#,
                ("enterprise/gettoken".to_owned(), FaultKind::Garble, 1),
            ),
            (r#"{"method":"*","kind":"duplicate"}"#, (any(), FaultKind::Duplicate, 1)),
            (
                r#"{"method":"*","kind":"delay","delaySeconds":1.5}"#,
                (any(), FaultKind::Delay { milliseconds: 1500 }, 1),
            ),
            (r#"{"method":"*","kind":"delay","milliseconds":0}"#, (any(), FaultKind::Delay { milliseconds: 0 }, 1)),
            (
                r#"{"method":"page/pay","kind":"no-response-charged"}"#,
                ("page/pay".to_owned(), FaultKind::NoResponseCharged, 1),
            ),
            (r#"{"method":"*","kind":"status"}"#, (any(), FaultKind::Status { status: 500 }, 1)),
            (r#"{"method":"*","kind":"status","status":429}"#, (any(), FaultKind::Status { status: 429 }, 1)),
        ] {
            assert_eq!(asked(body), wanted, "{body}");
        }
    }

    #[test]
    fn invalid_values_are_named_with_the_valid_ones() {
        for (body, problem) in [
            ("", "the body must be a JSON object"),
            ("[]", "the body must be a JSON object"),
            (r#"{"method":"*","kind":"garble","often":1}"#, "unknown member \"often\": only method, kind, times,"),
            (r#"{"kind":"garble"}"#, "method must be \"*\" for any, or one of "),
            (r#"{"method":"transaction/nothing","kind":"garble"}"#, "method must be"),
            (r#"{"method":7,"kind":"garble"}"#, "method must be"),
            (
                r#"{"method":"*"}"#,
                "kind must be one of drop-request, drop-reply, delay, status, garble, duplicate, no-response",
            ),
            (r#"{"method":"*","kind":"drop"}"#, "kind must be one of"),
            (r#"{"method":"*","kind":"garble","times":0}"#, "times must be a whole number from 1 to 1000000"),
            (r#"{"method":"*","kind":"garble","times":1.5}"#, "times must be"),
            (r#"{"method":"*","kind":"garble","times":"1"}"#, "times must be"),
            (r#"{"method":"*","kind":"garble","times":4294967297}"#, "times must be"),
            (r#"{"method":"*","kind":"delay"}"#, "a delay needs either delaySeconds or milliseconds"),
            (r#"{"method":"*","kind":"delay","delaySeconds":1,"milliseconds":1}"#, "a delay needs either"),
            (r#"{"method":"*","kind":"delay","delaySeconds":-1}"#, "delaySeconds must be a number from 0 to 3600"),
            (r#"{"method":"*","kind":"delay","delaySeconds":3601}"#, "delaySeconds must be"),
            (
                r#"{"method":"*","kind":"delay","milliseconds":0.5}"#,
                "milliseconds must be a whole number from 0 to 3600000",
            ),
            (r#"{"method":"*","kind":"status","status":200}"#, "status must be a whole number from 400 to 599"),
            (r#"{"method":"*","kind":"status","status":"503"}"#, "status must be"),
            (
                r#"{"method":"transaction/lookup","kind":"no-response"}"#,
                "no-response applies only to methods that ask the bank",
            ),
            (
                r#"{"method":"page/pay","kind":"garble"}"#,
                "the only kinds for page/pay are no-response and no-response-charged",
            ),
            (r#"{"method":"*","kind":"garble","status":503}"#, "status applies only to the kind status"),
            (r#"{"method":"*","kind":"status","delaySeconds":1}"#, "delaySeconds applies only to the kind delay"),
        ] {
            let found = Asked::parse(body.as_bytes()).unwrap_err();
            assert!(found.starts_with(problem), "{body}: {found}");
        }
    }

    #[test]
    fn a_kind_is_stored_under_the_name_that_it_is_asked_for_by() {
        for name in FaultKind::NAMES {
            let more = if name == "delay" { r#","milliseconds":5"# } else { "" };
            let (_, kind, _) = asked(&format!(r#"{{"method":"*","kind":"{name}"{more}}}"#));
            assert_eq!((kind.name(), &serde_json::to_value(kind).unwrap()["kind"]), (name, &json!(name)));
        }
    }
}
