//! The frame of every page, and text inside it.

use std::fmt::Write as _;

/// A whole page; `title` and `body` are HTML already.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )
}

const STYLE: &str = "\
:root{color-scheme:light dark;font-family:system-ui,sans-serif;line-height:1.5}\
body{margin:0;display:grid;min-height:100vh;place-items:center}\
main{box-sizing:border-box;width:100%;max-width:32rem;padding:2rem 1.25rem}\
h1{font-size:1.5rem;line-height:1.2;margin:0 0 1rem}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:1.5rem 0}\
dt{opacity:.7}dd{margin:0;font-variant-numeric:tabular-nums}";

/// Text that came from outside, for element content and quoted attributes.
pub(super) fn text(outside: &str) -> String {
    let mut escaped = String::with_capacity(outside.len());
    for letter in outside.chars() {
        match letter {
            '&' | '<' | '>' | '"' | '\'' => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "&#{};", u32::from(letter));
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        assert_eq!(text("<b title='\"x\"'>&"), "&#60;b title=&#39;&#34;x&#34;&#39;&#62;&#38;");
    }
}
