//! The journal of callbacks, and the settings for the next ones.

use bytes::Bytes;
use http::{Request, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Context, Refusal, callback, error, not_here, parsed, shown};
use crate::{
    clock::MAX_ADVANCE_SECONDS,
    records::{Callback, CallbackBehaviour, CallbackBody, Misbehaviour},
};

/// The maximum number of callbacks that one call affects.
const MOST: u32 = 1_000;
/// The maximum number of settings for the next callbacks.
const LONGEST_LIST: usize = 100;

/// Returns the callback with its body; `None` if it does not exist.
pub(super) fn whole(context: &mut Context<'_>, id: &str) -> Result<Option<Value>, Refusal> {
    let Some(callback) = context.records.get::<Callback>(id)? else { return Ok(None) };
    let body = context.records.get::<CallbackBody>(id)?;
    let mut view = callback.view();
    // The body contains references of the merchant, which are masked as elsewhere.
    view["body"] = body.map(|body| pg_model::mask::text(&body.text)).into();
    Ok(Some(view))
}

pub(super) fn redeliver(context: &mut Context<'_>, id: &str) -> Result<Answer, Refusal> {
    Ok(match callback::redeliver(context, id)? {
        Some(callback) => shown(callback.view()),
        None => not_here("there is no such callback; a callback"),
    })
}

pub(super) fn behaviour(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    let list = callback::behaviour(context)?;
    Ok(shown(list.iter().map(view).collect()))
}

pub(super) fn behave(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    callback::set_behaviour(context, &[])?;
    behaviour(context)
}

pub(super) fn misbehave(context: &mut Context<'_>, request: &Request<Bytes>) -> Result<Answer, Refusal> {
    let asked = match parse(request.body()) {
        Ok(asked) => asked,
        Err(problem) => return Ok(error(StatusCode::BAD_REQUEST, &problem)),
    };
    let mut list = callback::behaviour(context)?;
    if list.len() == LONGEST_LIST {
        return Ok(error(StatusCode::BAD_REQUEST, "too many settings; DELETE removes all of them"));
    }
    list.push(asked);
    callback::set_behaviour(context, &list)?;
    behaviour(context)
}

fn view(behaviour: &CallbackBehaviour) -> Value {
    let (kind, seconds) = match behaviour.misbehaviour {
        Misbehaviour::Fail => ("fail", None),
        Misbehaviour::Late { seconds } => ("late", Some(seconds)),
        Misbehaviour::Twice => ("twice", None),
    };
    let mut view = json!({ "kind": kind, "times": behaviour.times });
    if let Some(seconds) = seconds {
        view["seconds"] = seconds.into();
    }
    view
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    kind: String,
    seconds: Option<Value>,
    times: Option<Value>,
}

fn parse(body: &[u8]) -> Result<CallbackBehaviour, String> {
    const EXAMPLE: &str = r#"the body must be a JSON object such as {"kind": "late", "seconds": 60, "times": 1}"#;
    let asked: Asked = parsed(body, EXAMPLE)?;
    let seconds = asked.seconds.as_ref().map(|seconds| seconds.as_u64().unwrap_or(u64::MAX));
    let misbehaviour = match (&*asked.kind, seconds) {
        ("fail", None) => Misbehaviour::Fail,
        ("twice", None) => Misbehaviour::Twice,
        ("late", Some(seconds)) if seconds <= u64::from(MAX_ADVANCE_SECONDS) => Misbehaviour::Late { seconds },
        ("late", _) => return Err(format!("seconds must be a whole number from 0 to {MAX_ADVANCE_SECONDS}")),
        ("fail" | "twice", Some(_)) => return Err("seconds applies only to the kind late".to_owned()),
        _ => return Err("kind must be fail, late or twice".to_owned()),
    };
    let times = asked.times.as_ref().map_or(Some(1), Value::as_u64).and_then(|times| u32::try_from(times).ok());
    match times {
        Some(times @ 1..=MOST) => Ok(CallbackBehaviour { misbehaviour, times }),
        _ => Err(format!("times must be a whole number from 1 to {MOST}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaviours_are_read_and_shown_again() {
        for (body, wanted) in [
            (r#"{"kind":"fail"}"#, json!({"kind": "fail", "times": 1})),
            (r#"{"kind":"twice","times":3}"#, json!({"kind": "twice", "times": 3})),
            (r#"{"kind":"late","seconds":60}"#, json!({"kind": "late", "seconds": 60, "times": 1})),
        ] {
            let behaviour = parse(body.as_bytes()).unwrap();
            assert_eq!(view(&behaviour), wanted);
            let stored = serde_json::to_value(behaviour).unwrap();
            assert_eq!(serde_json::from_value::<CallbackBehaviour>(stored).unwrap(), behaviour);
        }
    }

    #[test]
    fn wrong_behaviours_are_named() {
        for (body, problem) in [
            ("", "JSON object"),
            ("[]", "JSON object"),
            (r#"{"kind":"fail","often":1}"#, "JSON object"),
            (r#"{"kind":"never"}"#, "fail, late or twice"),
            (r#"{"kind":"late"}"#, "seconds must"),
            (r#"{"kind":"late","seconds":99999999999}"#, "seconds must"),
            (r#"{"kind":"late","seconds":-1}"#, "seconds must"),
            (r#"{"kind":"late","seconds":"60"}"#, "seconds must"),
            (r#"{"kind":"fail","times":-1}"#, "times must"),
            (r#"{"kind":"fail","seconds":1}"#, "only to the kind late"),
            (r#"{"kind":"fail","times":0}"#, "times must"),
            (r#"{"kind":"fail","times":1001}"#, "times must"),
        ] {
            let found = parse(body.as_bytes()).unwrap_err();
            assert!(found.contains(problem), "{body}: {found}");
        }
    }
}
