//! The electronic commerce indicator of a check (`bankECIValue`, spec 2 §2.5; A105 and A106).

use crate::{cards::Scheme, records::Payment};

/// The parameter that carries it.
pub(super) const NAME: &str = "bankECIValue";

/// For a card whose customer was not authenticated.
pub(super) fn unauthenticated(number: &str) -> &'static str {
    if Scheme::of(number) == Some(Scheme::Mastercard) { "00" } else { "07" }
}

/// For a card whose customer was.
pub(super) fn authenticated(number: &str) -> &'static str {
    if Scheme::of(number) == Some(Scheme::Mastercard) { "02" } else { "05" }
}

/// The indicator of a check.
pub(super) fn of(check: &Payment) -> &str {
    check.bank.iter().find(|(name, _)| name == NAME).map(|(_, value)| value.as_str()).unwrap_or_default()
}
