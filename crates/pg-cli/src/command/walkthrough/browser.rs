//! A customer's browser: opens pages, posts forms, and follows redirects.

use bytes::Bytes;
use http::{
    Request, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, LOCATION},
};
use pg_hyper::Transport;
use pg_proto::CardForm;

use super::{page::Page, wire::Wire};

/// Opens a page. Returns its status and content.
///
/// # Errors
/// If there is no response.
pub(in crate::command) async fn open(wire: &Wire, address: &str) -> Result<(StatusCode, Page), String> {
    let request = Request::get(address).header(ACCEPT, "text/html").body(Bytes::new());
    let response = wire.send(request.map_err(|error| error.to_string())?).await.map_err(|error| error.to_string())?;
    let html = String::from_utf8_lossy(response.body());
    Ok((response.status(), Page::read(&html)))
}

/// Sends the form of a page with the customer's input. Returns the redirect target.
///
/// # Errors
/// If the response is not a redirect.
pub(in crate::command) async fn submit(
    wire: &Wire,
    opened: &str,
    page: &Page,
    typed: &[(&str, &str)],
) -> Result<String, String> {
    let origin = opened
        .parse::<http::Uri>()
        .ok()
        .and_then(|uri| Some((uri.scheme_str()?.to_owned(), uri.authority()?.to_string())));
    let (scheme, host) = origin.ok_or_else(|| format!("{opened} is not the URL of a page"))?;
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(&page.hidden).extend_pairs(typed);
    let response = send(wire, &format!("{scheme}://{host}{}", page.action), body.finish()).await?;
    location(&response)
}

/// Posts a card form with its hidden fields and the customer's input. Returns the redirect target.
///
/// # Errors
/// If the response is not a redirect (303, spec 2 §4.2).
pub(in crate::command) async fn post(wire: &Wire, form: &CardForm, typed: &[(&str, &str)]) -> Result<String, String> {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form.hidden_fields()).extend_pairs(typed);
    location(&send(wire, form.action(), body.finish()).await?)
}

async fn send(wire: &Wire, action: &str, body: String) -> Result<Response<Bytes>, String> {
    let request = Request::post(action)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "text/html")
        .body(Bytes::from(body))
        .map_err(|error| error.to_string())?;
    wire.send(request).await.map_err(|error| error.to_string())
}

fn location(response: &Response<Bytes>) -> Result<String, String> {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    match location {
        Some(location) if response.status() == StatusCode::SEE_OTHER => Ok(location.to_owned()),
        _ => Err(format!("the form returned HTTP {} and no redirect", response.status().as_u16())),
    }
}
