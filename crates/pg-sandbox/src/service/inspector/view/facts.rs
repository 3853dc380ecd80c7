//! Names and values, one below the other.

use super::{Html, code, quoted};

/// A list of names and values. Entries without a value are left out.
#[derive(Debug, Default)]
pub(in super::super) struct Facts(Html);

impl Facts {
    /// Creates an empty list.
    pub(in super::super) fn new() -> Self {
        Self::default()
    }

    /// Adds a value under a display name.
    pub(in super::super) fn fact(self, name: &'static str, value: Html) -> Self {
        self.named(Html::new().raw(name), value)
    }

    /// Adds a text of a merchant or a customer.
    pub(in super::super) fn quoted(self, name: &'static str, value: &str) -> Self {
        self.fact(name, quoted(value))
    }

    /// Adds a key or a name in its wire form.
    pub(in super::super) fn code(self, name: &'static str, value: &str) -> Self {
        self.fact(name, code(value))
    }

    /// Adds wire names and their values.
    pub(in super::super) fn wire(self, pairs: &[(String, String)]) -> Self {
        pairs.iter().fold(self, |facts, (name, value)| facts.pair(name, value))
    }

    /// Adds a wire name and its value.
    pub(in super::super) fn pair(self, name: &str, value: &str) -> Self {
        self.named(code(name), quoted(value))
    }

    /// Returns the list as HTML; empty without entries.
    pub(in super::super) fn into_html(self) -> Html {
        if self.0.is_empty() { self.0 } else { Html::new().raw("<dl>\n").put(self.0).raw("</dl>\n") }
    }

    fn named(self, name: Html, value: Html) -> Self {
        if value.is_empty() {
            return self;
        }
        Self(self.0.raw("<div><dt>").put(name).raw("</dt><dd>").put(value).raw("</dd></div>\n"))
    }
}
