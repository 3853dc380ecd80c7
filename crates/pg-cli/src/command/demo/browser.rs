//! What a customer's browser does: posts the card form, and is sent on.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use pg_hyper::Transport;
use pg_proto::CardForm;

use super::wire::Wire;

/// Posts a card form with its hidden fields and what the customer typed. Returns where the browser is sent.
///
/// # Errors
/// When the answer is no redirect (303, spec 2 §4.2), in words.
pub(super) async fn post(wire: &Wire, form: &CardForm, typed: &[(&str, &str)]) -> Result<String, String> {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form.hidden_fields()).extend_pairs(typed);
    let request = http::Request::post(form.action())
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "text/html")
        .body(Bytes::from(body.finish()))
        .map_err(|error| error.to_string())?;
    let response = wire.send(request).await.map_err(|error| error.to_string())?;
    let location = response.headers().get(http::header::LOCATION).and_then(|location| location.to_str().ok());
    match location {
        Some(location) if response.status() == http::StatusCode::SEE_OTHER => Ok(location.to_owned()),
        _ => Err(format!("the card form was answered with HTTP {} and no redirect", response.status().as_u16())),
    }
}
