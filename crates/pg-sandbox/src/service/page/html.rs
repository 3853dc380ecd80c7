//! The frame of every hosted page.

use std::sync::LazyLock;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

pub(super) use crate::html::{text, value};

/// Returns a page of one column; `title` and `body` are HTML.
pub(super) fn page(title: &str, body: &str) -> String {
    framed(title, "<main>", body)
}

/// Returns an error with its code, in HTML.
pub(in super::super) fn failure(code: &str, message: &str) -> String {
    let body = format!(
        "<h1>This page cannot be shown</h1>\n\
         <p>What your browser sent could not be processed. Please go back and try again.</p>\n\
         <dl><dt>Error</dt><dd>{}</dd><dt>Message</dt><dd>{}</dd></dl>",
        text(code),
        text(message),
    );
    page("Error", &body)
}

/// Returns a whole page with two columns if there is room: `bill` on the left, `form` on the right.
pub(super) fn wide_page(title: &str, bill: &str, form: &str) -> String {
    let body = format!("<div class=\"bill\">\n{bill}</div>\n<div class=\"form\">\n{form}</div>");
    framed(title, "<main class=\"wide\">", &body)
}

/// Returns the title of a page that belongs to a shop; both are HTML already.
pub(super) fn title_at(title: &str, shop: &str) -> String {
    format!("{title} \u{2013} {shop}")
}

fn framed(title: &str, main: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n{ICON}\n<style>{STYLE}</style>\n</head>\n<body>\n{MODE}\n\
         {main}\n{body}\n</main>\n</body>\n</html>\n"
    )
}

/// The style of the pages. A content security policy allows it by its hash.
const STYLE: &str = include_str!("style.css");

/// The banner of every page for customers.
const MODE: &str = "<header class=\"mode\"><strong>Test mode</strong>\
     No money moves here. Use a test card, never a real one.</header>";

/// The icon of all pages. It is part of each page, since their policy allows no other file.
pub(in super::super) const ICON: &str = "<link rel=\"icon\" href=\"data:image/svg+xml,\
     %3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E\
     %3Crect x='2' y='6' width='28' height='20' rx='3' fill='%230b5cad'/%3E\
     %3Cpath d='M2 11h28v4H2z' fill='%23fff'/%3E\
     %3Cpath d='M6 20h9' stroke='%23ffd98a' stroke-width='2'/%3E%3C/svg%3E\">";

/// Returns the source of the pages' style for a content security policy.
pub(in super::super) fn style_source() -> &'static str {
    static SOURCE: LazyLock<String> = LazyLock::new(|| source_of(STYLE));
    &SOURCE
}

/// Returns the source of an inline style for a content security policy.
pub(in super::super) fn source_of(style: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(style.as_bytes())))
}
