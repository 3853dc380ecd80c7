//! A dialect as the text of its file.

use alloc::{
    format,
    string::{String, ToString as _},
};

use super::{Dialect, words::Word};
use crate::mask::is_invisible;

impl Dialect {
    /// Writes a dialect file with the same content.
    ///
    /// ```
    /// use pg_model::dialect::{Dialect, StatusEntry};
    ///
    /// let mut dialect = Dialect::documented();
    /// dialect.declined.push(StatusEntry::new("651", 11));
    /// assert!(dialect.to_toml().contains("[[declined]]\ncode = \"651\"\n"));
    /// ```
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = Text(String::new());
        text.given("name", &self.name);
        text.word("refused_reference", self.refused_reference, 92);
        if self.shared_codes {
            text.raw("shared_codes", "true", Some(112));
        }
        if self.lookup != super::Lookup::default() {
            text.head("[lookup]");
            text.word("nothing", self.lookup.nothing, 43);
            text.word("no_card", self.lookup.no_card, 43);
            text.raw("immediate", &self.lookup.immediate.to_string(), Some(140));
            text.raw("found_by_initiation", &self.lookup.found_by_initiation.to_string(), Some(109));
        }
        if self.checkout != super::CheckoutStatuses::default() {
            text.head("[checkout]");
            text.list("paid", &self.checkout.paid, Some(125));
            text.list("pending", &self.checkout.pending, Some(125));
            text.list("failed", &self.checkout.failed, Some(125));
            let ended = self.checkout.refused_cancel_means_ended;
            text.raw("refused_cancel_means_ended", &ended.to_string(), Some(126));
            let closes = self.checkout.cancel_closes_open_pages;
            text.raw("cancel_closes_open_pages", &closes.to_string(), Some(126));
            text.raw("found_by_reference", &self.checkout.found_by_reference.to_string(), Some(100));
        }
        let data = &self.session_data;
        if *data != super::SessionData::default() {
            text.head("[session_data]");
            text.word("key", data.key, 30);
            text.word("iv", data.iv, 31);
            text.word("padding", data.padding, 32);
            text.word("text", data.text, 33);
        }
        for entry in &self.declined {
            text.head("[[declined]]");
            text.given("code", entry.code.as_str());
            text.list("situations", &entry.situations, None);
            text.given("message", &entry.message);
            text.raw("assumption", &entry.assumption.to_string(), None);
        }
        for entry in &self.pending {
            text.head("[[pending]]");
            text.given("code", entry.code.as_str());
            text.given("message", &entry.message);
            text.raw("assumption", &entry.assumption.to_string(), None);
        }
        for entry in &self.authentication {
            text.head("[[authentication]]");
            text.given("code", entry.code.as_str());
            text.given("means", entry.means.word());
            text.given("message", &entry.message);
            text.raw("assumption", &entry.assumption.to_string(), None);
        }
        for entry in &self.errors {
            text.head("[[error]]");
            text.given("code", entry.code.as_str());
            text.list("situations", &entry.situations, None);
            if let Some(http) = entry.http {
                text.raw("http", &http.to_string(), None);
            }
            text.given("message", &entry.message);
            text.given("remedy", entry.remedy.map_or("", Word::word));
            text.given("scope", entry.scope.map_or("", Word::word));
            text.raw("assumption", &entry.assumption.to_string(), None);
        }
        text.0
    }
}

struct Text(String);

impl Text {
    fn head(&mut self, head: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0 += head;
        self.0.push('\n');
    }

    fn raw(&mut self, key: &str, value: &str, assumption: Option<u16>) {
        let basis = assumption.map_or_else(String::new, |number| format!(" # A{number}"));
        self.0 += &format!("{key} = {value}{basis}\n");
    }

    /// A non-empty text.
    fn given(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.raw(key, &quoted(value), None);
        }
    }

    fn list(&mut self, key: &str, values: &[String], assumption: Option<u16>) {
        if !values.is_empty() {
            let values: alloc::vec::Vec<String> = values.iter().map(|value| quoted(value)).collect();
            self.raw(key, &format!("[{}]", values.join(", ")), assumption);
        }
    }

    fn word(&mut self, key: &str, value: Option<impl Word>, assumption: u16) {
        if let Some(value) = value {
            self.raw(key, &quoted(value.word()), Some(assumption));
        }
    }
}

/// Returns a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            // An invisible letter would make the text look different from what it means.
            letter if is_invisible(letter) && u32::from(letter) > 0xffff => {
                quoted += &format!("\\U{:08X}", u32::from(letter));
            }
            letter if letter.is_control() || is_invisible(letter) => quoted += &format!("\\u{:04X}", u32::from(letter)),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::StatusEntry;

    #[test]
    fn invisible_letters_of_a_message_are_escaped_and_read_back() {
        let mut dialect = Dialect::documented();
        let mut entry = StatusEntry::new("651", 11);
        entry.message = "a\u{202e}b\u{e0041}é\u{1b}".to_string();
        dialect.declined.push(entry);
        let text = dialect.to_toml();
        assert!(text.contains("message = \"a\\u202Eb\\U000E0041é\\u001B\""), "{text}");
        #[cfg(feature = "dialect-file")]
        assert_eq!(Dialect::from_toml(&text).unwrap(), dialect);
    }
}
