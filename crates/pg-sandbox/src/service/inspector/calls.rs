//! Calls of the control interface, as buttons make them.

use bytes::Bytes;
use http::{Method, Request};
use serde_json::Value;

use super::{Answer, Context, Refusal, control};

/// Returns the result of a call with GET.
pub(super) fn get(context: &mut Context<'_>, path: &str) -> Result<Value, Refusal> {
    Ok(make(context, Method::GET, path, &Value::Null)?.shown)
}

/// Returns the result of a call with POST.
pub(super) fn post(context: &mut Context<'_>, path: &str, body: &Value) -> Result<Answer, Refusal> {
    make(context, Method::POST, path, body)
}

/// Returns the result of a call with DELETE.
pub(super) fn delete(context: &mut Context<'_>, path: &str) -> Result<Answer, Refusal> {
    make(context, Method::DELETE, path, &Value::Null)
}

fn make(context: &mut Context<'_>, method: Method, path: &str, body: &Value) -> Result<Answer, Refusal> {
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let mut request = Request::new(body);
    *request.method_mut() = method;
    control::call(context, path, &request)
}

/// Returns a number from a form as JSON; other text stays a string, which calls refuse.
pub(super) fn number(text: &str) -> Value {
    text.trim().parse::<serde_json::Number>().map_or_else(|_| text.into(), Value::Number)
}
