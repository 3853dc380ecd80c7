//! The frame of every hosted page, and HTML in which text from outside stays text.

use std::{fmt::Write as _, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pg_model::mask::is_invisible;
use sha2::{Digest as _, Sha256};

/// A whole page of one column; `title` and `body` are HTML already.
pub(super) fn page(title: &str, body: &str) -> String {
    framed(title, "<main>", body)
}

/// An error with its code, in HTML.
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

/// A whole page of two columns where there is room for them: `bill` on the left, `form` on the right.
pub(super) fn wide_page(title: &str, bill: &str, form: &str) -> String {
    let body = format!("<div class=\"bill\">\n{bill}</div>\n<div class=\"form\">\n{form}</div>");
    framed(title, "<main class=\"wide\">", &body)
}

/// The title of a page that belongs to a shop; both are HTML already.
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

/// What pages look like; a policy admits it by its hash.
const STYLE: &str = include_str!("style.css");

/// The banner of every page for customers.
const MODE: &str = "<header class=\"mode\"><strong>Test mode</strong>\
     No money moves here. Use a test card, never a real one.</header>";

/// The icon of all pages. It is a part of them, since their policy admits no other file.
pub(in super::super) const ICON: &str = "<link rel=\"icon\" href=\"data:image/svg+xml,\
     %3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E\
     %3Crect x='2' y='6' width='28' height='20' rx='3' fill='%230b5cad'/%3E\
     %3Cpath d='M2 11h28v4H2z' fill='%23fff'/%3E\
     %3Cpath d='M6 20h9' stroke='%23ffd98a' stroke-width='2'/%3E%3C/svg%3E\">";

/// How a content security policy names the style of the pages.
pub(in super::super) fn style_source() -> &'static str {
    static SOURCE: LazyLock<String> = LazyLock::new(|| source_of(STYLE));
    &SOURCE
}

/// The source of an inline style for a content security policy.
pub(in super::super) fn source_of(style: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(style.as_bytes())))
}

/// HTML in the making. Markup can only be a literal of this program; everything else is escaped.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Html(String);

impl Html {
    /// Nothing yet.
    pub(in super::super) const fn new() -> Self {
        Self(String::new())
    }

    /// Text alone.
    pub(in super::super) fn of(outside: &str) -> Self {
        Self(text(outside))
    }

    /// Then markup.
    pub(in super::super) fn raw(mut self, markup: &'static str) -> Self {
        self.0.push_str(markup);
        self
    }

    /// Then text, for element content and quoted attributes.
    pub(in super::super) fn text(mut self, outside: &str) -> Self {
        escape(outside, &mut self.0);
        self
    }

    /// Then an attribute, inside a tag that is open.
    pub(in super::super) fn attribute(self, name: &'static str, value: &str) -> Self {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    /// Appends HTML that was made elsewhere.
    pub(in super::super) fn put(mut self, inner: Self) -> Self {
        if self.0.is_empty() {
            return inner;
        }
        self.0.push_str(&inner.0);
        self
    }

    /// Then each of these.
    pub(in super::super) fn all(self, parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(self, Self::put)
    }

    /// Whether it is empty.
    pub(in super::super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The HTML.
    pub(in super::super) fn into_string(self) -> String {
        self.0
    }
}

/// Text that came from outside, for element content and quoted attributes.
pub(super) fn text(outside: &str) -> String {
    let mut escaped = String::with_capacity(outside.len());
    escape(outside, &mut escaped);
    escaped
}

fn escape(outside: &str, escaped: &mut String) {
    for letter in outside.chars() {
        match letter {
            '&' | '<' | '>' | '"' | '\'' => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "&#{};", u32::from(letter));
            }
            // Joiners belong to the writing of some languages.
            '\n' | '\r' | '\t' | '\u{200c}' | '\u{200d}' => escaped.push(letter),
            // Direction marks and invisible characters are shown escaped.
            _ if is_invisible(letter) => escaped.extend(letter.escape_unicode()),
            _ => escaped.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let (evil, harmless) = ("<b title='\"x\"'>&", "&#60;b title=&#39;&#34;x&#34;&#39;&#62;&#38;");
        assert_eq!(text(evil), harmless);
        assert_eq!(Html::of(evil).into_string(), harmless);
        let link = Html::new().raw("<a").attribute("href", "/?a=\"&b").raw(">").text("<i>").raw("</a>");
        assert_eq!(link.into_string(), "<a href=\"/?a=&#34;&#38;b\">&#60;i&#62;</a>");
        assert_eq!(text("safe\u{202e}txet\u{1b}\u{200b}\n\u{200d}é"), "safe\\u{202e}txet\\u{1b}\\u{200b}\n\u{200d}é");
        let list = Html::new().all(["<", ">"].map(Html::of)).put(Html::new()).put(Html::new().raw("<br>"));
        assert_eq!(list.into_string(), "&#60;&#62;<br>");
        assert!(Html::new().put(Html::of("")).is_empty());
    }
}
