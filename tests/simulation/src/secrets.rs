//! Texts that no output may contain: the card numbers, security codes, credentials and session keys of a world.

use memchr::memmem::Finder;

/// The kind of secret that a session's key is.
pub(crate) const SESSION_KEY: &str = "a session key";

/// The canaries, which are searched for as texts: each world reads all that it writes once for each of them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<(&'static str, Finder<'static>)>);

impl Secrets {
    pub(crate) fn add(&mut self, what: &'static str, text: &str) {
        if !self.0.iter().any(|(_, known)| known.needle() == text.as_bytes()) {
            self.0.push((what, Finder::new(text).into_owned()));
        }
    }

    /// Adds a security code. It is too short to search for alone: it counts only as a complete value.
    pub(crate) fn add_code(&mut self, code: &str) {
        for [before, after] in [["\"", "\""], ["=", "&"], [">", "<"], ["(", ")"]] {
            self.add("a CV2", &format!("{before}{code}{after}"));
        }
    }

    /// The same without session keys, which the journal shows on purpose: they distinguish its entries, and they
    /// expire.
    pub(crate) fn found_in_journal(&self, text: &str) -> Option<&'static str> {
        let secrets = self.0.iter().filter(|(what, _)| *what != SESSION_KEY);
        secrets.into_iter().find(|(_, secret)| secret.find(text.as_bytes()).is_some()).map(|(what, _)| *what)
    }

    /// Returns the kind of secret that the text contains.
    pub(crate) fn found_in(&self, text: &str) -> Option<&'static str> {
        self.0.iter().find(|(_, secret)| secret.find(text.as_bytes()).is_some()).map(|(what, _)| *what)
    }
}
