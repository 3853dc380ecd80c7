//! Lookups that show a payment of something else.

use super::Text;
use crate::{
    drill::{Family, Severity},
    judge::Expect,
    story::{
        Scene,
        charge::{Charge, Judged},
    },
    wire::{Act, Edit, On, Rule},
};

const MEND: &str = "Compare the transactionValue and currency of a payment that a lookup shows with those of the order. If they differ, it is not the payment of this order: claim unknown and raise an alert.";

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "M58",
        title: "Another amount under the reference",
        severity: Severity::Critical,
        basis: "2 §4.4",
        imitates: "The reply is lost, and the lookup by reference shows an approved payment of another amount, for example by another system that uses the same references.",
        mend: MEND,
    }
    .charge(Family::Money, another(&[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Edit(Edit::OtherAmount))])),
    Text {
        id: "M59",
        title: "Another currency under the reference",
        severity: Severity::Critical,
        basis: "2 §4.4",
        imitates: "The reply is lost, and the lookup by reference shows an approved payment with the same transactionValue in another currency.",
        mend: MEND,
    }
    .charge(
        Family::Money,
        another(&[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Edit(Edit::OtherCurrency))]),
    ),
];

const fn another(rules: &'static [Rule]) -> Charge {
    Charge { rules, judged: Judged::Money(Expect::Another), ..Charge::PLAIN }
}
