//! The page for what went wrong with a page.

use http::StatusCode;

use super::Reply;
use crate::codes::SandboxErrorCode;

/// The answer to a browser that asks for a page with an HTTP method that the page does not take.
pub(in super::super) fn wrong_method(allowed: &'static str) -> Reply {
    let message = format!("Only {} are accepted", allowed.replace(", ", " and "));
    let page = failure(SandboxErrorCode::METHOD_NOT_ALLOWED.as_str(), &message);
    Reply::page(StatusCode::METHOD_NOT_ALLOWED, page).allowing(allowed)
}

/// An error with its code, in HTML.
pub(in super::super) fn failure(code: &str, message: &str) -> String {
    let body = format!(
        "<h1>This page cannot be shown</h1>\n\
         <p>What your browser sent could not be processed. Please go back and try again.</p>\n\
         <dl><dt>Error</dt><dd>{}</dd><dt>Message</dt><dd>{}</dd></dl>",
        super::html::text(code),
        super::html::text(message),
    );
    super::html::page("Error", &body)
}
