//! The words of dialect files for enumerated values.

use super::{
    AuthenticationState, EmptyLookup, IvForm, KeyForm, PaddingForm, ReferenceAfterRefusal, RefusalScope, TextForm,
};
use crate::Remedy;

/// A value that a dialect file writes as a word.
pub(super) trait Word: Copy + PartialEq + 'static {
    /// Each word and its value.
    const WORDS: &'static [(&'static str, Self)];

    /// Its word.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

impl Word for Remedy {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("fix-request", Self::FixRequest),
        ("fix-credentials", Self::FixCredentials),
        ("wait-one-minute", Self::WaitOneMinute),
        ("wait-five-minutes", Self::WaitFiveMinutes),
        ("retry", Self::Retry),
        ("look-up", Self::LookUp),
        ("ask-operator", Self::AskOperator),
    ];
}

impl Word for RefusalScope {
    const WORDS: &'static [(&'static str, Self)] =
        &[("always", Self::Always), ("from-now-on", Self::FromNowOn), ("while-it-lasts", Self::WhileItLasts)];
}

impl Word for AuthenticationState {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("authenticated", Self::Authenticated),
        ("failed", Self::Failed),
        ("pending", Self::Pending),
        ("abandoned", Self::Abandoned),
        ("timed-out", Self::TimedOut),
        ("not-enrolled", Self::NotEnrolled),
    ];
}

impl Word for EmptyLookup {
    const WORDS: &'static [(&'static str, Self)] =
        &[("empty-list", Self::EmptyList), ("error", Self::Error), ("not-found", Self::NotFound)];
}

impl Word for ReferenceAfterRefusal {
    const WORDS: &'static [(&'static str, Self)] = &[("used-up", Self::UsedUp), ("free", Self::Free)];
}

impl Word for KeyForm {
    const WORDS: &'static [(&'static str, Self)] =
        &[("verbatim", Self::Verbatim), ("sha256", Self::Sha256), ("hex", Self::Hex)];
}

impl Word for IvForm {
    const WORDS: &'static [(&'static str, Self)] = &[("text", Self::Text), ("hex", Self::Hex)];
}

impl Word for PaddingForm {
    const WORDS: &'static [(&'static str, Self)] = &[("pkcs7", Self::Pkcs7), ("zero", Self::Zero)];
}

impl Word for TextForm {
    const WORDS: &'static [(&'static str, Self)] =
        &[("base64", Self::Base64), ("base64-url", Self::Base64Url), ("hex", Self::Hex)];
}
