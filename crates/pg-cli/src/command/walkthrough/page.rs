//! The heading, inputs and buttons of a hosted page.

use super::fields::Pair;

/// A page of the sandbox, which writes all attributes in double quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::command) struct Page {
    /// The text of its first heading.
    pub(in crate::command) heading: String,
    /// The target of its form: a path or a URL.
    pub(in crate::command) action: String,
    /// Hidden inputs, which a browser also sends.
    pub(in crate::command) hidden: Vec<Pair>,
    /// The names of the inputs that a customer fills in.
    pub(in crate::command) inputs: Vec<String>,
    /// The values of the buttons that have one.
    pub(in crate::command) buttons: Vec<String>,
}

impl Page {
    /// Reads a page; missing parts are empty.
    pub(in crate::command) fn read(html: &str) -> Self {
        let mut page = Self::default();
        let mut in_heading = false;
        for part in html.split('<').skip(1) {
            let (tag, text) = part.split_once('>').unwrap_or((part, ""));
            let attribute = |name: &str| attribute(tag, name);
            match tag.split_ascii_whitespace().next().unwrap_or_default() {
                "h1" => in_heading = page.heading.is_empty(),
                "/h1" => in_heading = false,
                "form" => page.action = attribute("action").unwrap_or_default(),
                "input" if attribute("type").as_deref() == Some("hidden") => {
                    page.hidden.extend(attribute("name").zip(attribute("value")));
                }
                "input" => page.inputs.extend(attribute("name")),
                "button" => page.buttons.extend(attribute("value")),
                _ => {}
            }
            if in_heading {
                page.heading.push_str(&unescaped(text));
            }
        }
        page
    }

    /// Returns the parts to show, as names and values.
    pub(in crate::command) fn shown(&self) -> Vec<Pair> {
        let parts = [
            ("heading", self.heading.clone()),
            ("inputs", self.inputs.join(", ")),
            ("buttons", self.buttons.join(", ")),
        ];
        let there = parts.into_iter().filter(|(_, text)| !text.is_empty());
        there.map(|(name, text)| (format!("page > {name}"), text)).collect()
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| unescaped(value))
}

/// Decodes numeric character references, and turns non-breaking spaces into spaces.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("&#") {
        plain.push_str(before);
        let named = after.split_once(';').and_then(|(number, behind)| Some((number.parse().ok()?, behind)));
        rest = match named.and_then(|(number, behind)| Some((char::from_u32(number)?, behind))) {
            Some((letter, behind)) => {
                plain.push(letter);
                behind
            }
            None => {
                plain.push_str("&#");
                after
            }
        };
    }
    plain.push_str(rest);
    plain.replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_heading_inputs_and_buttons() {
        let page = Page::read(
            "<p>x</p><h1><span class=\"done\">\u{2713}</span>Pay&#38;go GBP\u{a0}1</h1>\
             <form method=\"post\" action=\"/pay/a\"><input type=\"hidden\" name=\"visit\" value=\"b&#34;\">\
             <input id=\"c\" name=\"cardNumber\" type=\"text\" value=\"\"><button name=\"outcome\" value=\"fail\">F</button>\
             <button type=\"submit\">Pay</button></form><h1>no</h1>",
        );
        let wanted = Page {
            heading: "\u{2713}Pay&go GBP 1".to_owned(),
            action: "/pay/a".to_owned(),
            hidden: vec![("visit".to_owned(), "b\"".to_owned())],
            inputs: vec!["cardNumber".to_owned()],
            buttons: vec!["fail".to_owned()],
        };
        assert_eq!(page, wanted);
        assert_eq!(Page::read("no page"), Page::default());
        assert_eq!(unescaped("&#x; &#9 &#"), "&#x; &#9 &#");
    }
}
