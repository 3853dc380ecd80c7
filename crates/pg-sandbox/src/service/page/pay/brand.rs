//! The names under which customers know card schemes.

use crate::{cards::Scheme, records::HeldCard};

/// The schemes that the form shows, in this order. Any other possible card number is accepted too.
pub(super) const SHOWN: [Scheme; 4] = [Scheme::Visa, Scheme::Mastercard, Scheme::Amex, Scheme::Maestro];

/// Returns the name of a scheme.
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

/// Returns the brand of a card; empty when its number belongs to no known scheme.
pub(super) fn of(card: &HeldCard) -> &'static str {
    Scheme::of(&card.masked).map_or("", name)
}
