//! HTML in which text from outside stays text.

use std::fmt::Write as _;

use pg_model::mask::is_invisible;

/// HTML that is being built. Markup can only be a literal of this program; everything else is escaped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Creates empty HTML.
    pub(crate) const fn new() -> Self {
        Self(String::new())
    }

    /// Creates HTML from text, which is escaped.
    pub(crate) fn of(outside: &str) -> Self {
        Self(text(outside))
    }

    /// Appends markup.
    pub(crate) fn raw(mut self, markup: &'static str) -> Self {
        self.0.push_str(markup);
        self
    }

    /// Appends escaped text, for element content.
    pub(crate) fn text(mut self, outside: &str) -> Self {
        escape(outside, &mut self.0);
        self
    }

    /// Appends an attribute to the open tag.
    pub(crate) fn attribute(self, name: &'static str, outside: &str) -> Self {
        self.raw(" ").raw(name).raw("=\"").put(Self(value(outside))).raw("\"")
    }

    /// Appends existing HTML.
    pub(crate) fn put(mut self, inner: Self) -> Self {
        if self.0.is_empty() {
            return inner;
        }
        self.0.push_str(&inner.0);
        self
    }

    /// Appends each part.
    pub(crate) fn all(self, parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(self, Self::put)
    }

    /// Whether it is empty.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the HTML.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Returns text from outside, escaped for element content.
pub(crate) fn text(outside: &str) -> String {
    let mut escaped = String::with_capacity(outside.len());
    escape(outside, &mut escaped);
    escaped
}

/// Returns text from outside, escaped for a quoted attribute. Its value is exactly that text, since browsers send it
/// back or open it.
pub(crate) fn value(outside: &str) -> String {
    let mut escaped = String::with_capacity(outside.len());
    outside.chars().for_each(|letter| push(letter, &mut escaped));
    escaped
}

fn escape(outside: &str, escaped: &mut String) {
    for letter in outside.chars() {
        match letter {
            // Some languages need joiners between letters; names and emoji contain variation selectors.
            '\n' | '\r' | '\t' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
                escaped.push(letter);
            }
            // Direction marks and invisible characters are shown escaped.
            _ if is_invisible(letter) => escaped.extend(letter.escape_unicode()),
            _ => push(letter, escaped),
        }
    }
}

fn push(letter: char, escaped: &mut String) {
    match letter {
        '&' | '<' | '>' | '"' | '\'' => {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "&#{};", u32::from(letter));
        }
        _ => escaped.push(letter),
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
        let name = "\u{6e21}\u{9089}\u{e0100}\u{2764}\u{fe0f}";
        assert_eq!(text(name), name);
        let input = Html::new().raw("<input").attribute("value", "\u{200f}\u{ad}'\u{e0067}").raw(">");
        assert_eq!(input.into_string(), "<input value=\"\u{200f}\u{ad}&#39;\u{e0067}\">");
        let list = Html::new().all(["<", ">"].map(Html::of)).put(Html::new()).put(Html::new().raw("<br>"));
        assert_eq!(list.into_string(), "&#60;&#62;<br>");
        assert!(Html::new().put(Html::of("")).is_empty());
    }
}
