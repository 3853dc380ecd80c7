//! The frame of every hosted page, and HTML in which text from outside stays text.

use std::{fmt::Write as _, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

/// A whole page; `title` and `body` are HTML already.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )
}

/// What the pages look like. It has to stay one constant: a policy admits it by its hash.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#14202b;--soft:#51606d;--line:#d6dde3;--ground:#f3f5f7;--sheet:#fff;\
--accent:#0b5cad;--accent-ink:#fff;--bad:#b3261e;--bad-ground:#fcedeb;--good:#1b7f4b;\
font-family:system-ui,sans-serif;line-height:1.5}\
@media(prefers-color-scheme:dark){:root{--ink:#e8edf1;--soft:#a3b1bd;--line:#36434e;--ground:#11181e;--sheet:#1a232b;\
--accent:#7ab8ff;--accent-ink:#0b1b2b;--bad:#ff9d94;--bad-ground:#3a1f1d;--good:#6fd39d}}\
body{margin:0;display:grid;min-height:100vh;place-items:center;color:var(--ink);background:var(--ground)}\
main{box-sizing:border-box;width:100%;max-width:30rem;padding:1.75rem 1.5rem;background:var(--sheet);\
overflow-wrap:anywhere}main>:last-child{margin-bottom:0}\
@media(max-width:31.99rem){body{place-items:start center;background:var(--sheet)}}\
@media(min-width:32rem){main{margin:2rem 0;padding:2.25rem;border:1px solid var(--line);border-radius:.75rem}}\
h1{font-size:1.5rem;line-height:1.2;margin:0 0 1rem}a{color:var(--accent)}p{margin:0 0 .75rem}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;align-items:baseline;margin:1.5rem 0}\
dt{color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums}\
.shop{margin:0 0 .25rem;color:var(--soft);font-weight:600}.key{font-size:.85rem}.note{color:var(--soft)}\
table{width:100%;border-collapse:collapse;margin:1.25rem 0 1.75rem}\
caption{text-align:left;color:var(--soft);padding-bottom:.25rem}\
td,th{padding:.5rem 0;text-align:left;font-weight:inherit;vertical-align:top;border-bottom:1px solid var(--line)}\
tr>:last-child{text-align:right;white-space:nowrap;padding-left:1rem;font-variant-numeric:tabular-nums}\
tfoot{font-weight:600}tfoot td,tfoot th{border:0}.pieces{color:var(--soft);white-space:nowrap}\
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\
.row{display:grid;grid-template-columns:repeat(3,1fr);gap:0 1rem;align-items:start}\
@media(max-width:28rem){.row{grid-template-columns:1fr 1fr}.row>:last-child{grid-column:1/-1}}\
.field{margin-bottom:1.1rem}label{display:block;font-weight:600;font-size:.9rem;margin-bottom:.25rem}\
input{box-sizing:border-box;width:100%;padding:.65rem .75rem;font:inherit;color:inherit;background:var(--sheet);\
border:1px solid var(--soft);border-radius:.4rem}::placeholder{color:var(--soft);opacity:1}input[aria-invalid]{border-color:var(--bad);box-shadow:inset 0 0 0 1px var(--bad)}\
.error{color:var(--bad);font-size:.9rem;margin:.25rem 0 0}\
.alert{background:var(--bad-ground);border-left:.25rem solid var(--bad);border-radius:.25rem;padding:.75rem 1rem;\
margin:0 0 1.25rem}.alert p,.alert ul{margin:0}.alert ul{padding-left:1.25rem}.alert a{color:inherit}\
button,.button{display:block;box-sizing:border-box;width:100%;padding:.8rem 1rem;font:inherit;font-weight:600;\
text-align:center;text-decoration:none;color:var(--accent-ink);background:var(--accent);border:0;border-radius:.4rem;\
cursor:pointer}button:hover,.button:hover{filter:brightness(1.1)}\
button.other{margin-top:.75rem;color:inherit;background:transparent;box-shadow:inset 0 0 0 1px var(--soft)}\
button.other:hover{background:var(--ground);filter:none}\
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}\
.after{margin:1.25rem 0 0;text-align:center}.done{color:var(--good);margin-right:.5rem}\
.sandbox{margin:2rem 0 0;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.85rem}";

/// What every page of the hosted checkout ends with.
pub(super) const SANDBOX_NOTE: &str = "<p class=\"sandbox\">This is a sandbox. No money moves here; \
     use a test card, never a real one.</p>";

/// How a content security policy names the style of the pages.
pub(super) fn style_source() -> &'static str {
    static SOURCE: LazyLock<String> = LazyLock::new(|| source_of(STYLE));
    &SOURCE
}

/// How a content security policy names a style that stands in a page.
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

    /// Then what was made elsewhere.
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

    /// Whether there is nothing in it.
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
        let list = Html::new().all(["<", ">"].map(Html::of)).put(Html::new()).put(Html::new().raw("<br>"));
        assert_eq!(list.into_string(), "&#60;&#62;<br>");
        assert!(Html::new().put(Html::of("")).is_empty());
    }
}
