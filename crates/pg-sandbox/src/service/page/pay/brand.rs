//! The names that customers know card schemes by.

use crate::{cards::Scheme, records::HeldCard};

/// The schemes that the form shows, in this order. Any other number that could be a card's is taken too.
pub(super) const SHOWN: [Scheme; 4] = [Scheme::Visa, Scheme::Mastercard, Scheme::Amex, Scheme::Maestro];

/// The name of a scheme.
pub(super) const fn name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Visa => "Visa",
        Scheme::Mastercard => "Mastercard",
        Scheme::Amex => "American Express",
        Scheme::Maestro => "Maestro",
        Scheme::Discover => "Discover",
        Scheme::Diners => "Diners Club",
        Scheme::Jcb => "JCB",
        Scheme::UnionPay => "UnionPay",
    }
}

/// The brand of a card; empty when its number belongs to no known scheme.
pub(super) fn of(card: &HeldCard) -> &'static str {
    Scheme::of(&card.masked).map_or("", name)
}
