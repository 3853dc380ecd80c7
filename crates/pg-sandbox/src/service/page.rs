//! Pages for the customer's browser: plain HTML that needs no JavaScript. This file has the pages that report an error.

use bytes::Bytes;
use http::{Request, StatusCode};
use pg_model::ErrorCode;

use super::{Basis, Context, Refusal, Reply};
use crate::{
    assumed,
    codes::SandboxErrorCode,
    form::{Form, FormLimits},
};

mod challenge;
pub(super) mod html;
mod pay;

pub(super) use challenge::challenge;
pub(super) use pay::pay;

/// Returns the answer to a request for a page with an HTTP method that the page does not accept.
pub(super) fn wrong_method(allowed: &'static str) -> Reply {
    let message = format!("Only {} are accepted", allowed.replace(", ", " and "));
    let page = html::failure(SandboxErrorCode::METHOD_NOT_ALLOWED.as_str(), &message);
    Reply::page(StatusCode::METHOD_NOT_ALLOWED, page).allowing(allowed)
}

/// Returns the page for a browser whose session is unknown, since then no merchant's page is known (spec 2 §4.2; A79):
/// the page for the code in the query, or without a known code for an invalid session key.
pub(super) fn session_error(context: &mut Context<'_>, request: &Request<Bytes>) -> Reply {
    let query = request.uri().query().unwrap_or_default();
    let form = Form::parse(query.as_bytes(), &FormLimits::default()).unwrap_or_default();
    let asked = form.get("errorCode").unwrap_or_default();
    let known = ErrorCode::KNOWN.iter().find(|code| code.as_str() == asked);
    let refusal = Refusal::from(known.unwrap_or(&ErrorCode::INVALID_SESSION_KEY).clone());
    let body = format!(
        "<h1>This page cannot be shown</h1>\n\
         <p>The shop's payment form could not be processed. Please go back to the shop and try again.</p>\n\
         <dl><dt>Error</dt><dd>{}</dd><dt>Message</dt><dd>{}</dd><dt>Trace</dt><dd>{}</dd></dl>",
        html::text(refusal.code()),
        html::text(refusal.message()),
        context.trace_code(),
    );
    context.basis = Basis::assuming("2 §4.2", assumed::THE_SERVICE_HOSTED_ERROR_PAGE);
    Reply::page(StatusCode::BAD_REQUEST, html::page("Payment error", &body))
}
