//! What is stored of a machine holds the card.

use super::{Planted, twist::Twist};
use crate::job::Kind;

pub(super) const PLANTED: Planted = Planted {
    name: "the card is stored with the machine",
    check: "secrets stay secret",
    within: 20,
    needs: None,
    differs: false,
    conduct: &Twist { of: Kind::charges, stores: |job| job.card.number.to_owned(), ..Twist::NONE },
};
