//! Replies and lookups that show a payment of something else, and error codes that prove nothing.

use super::Text;
use crate::{
    drill::{Family, Severity},
    judge::Expect,
    story::{
        Scene,
        charge::{Charge, Judged, Runs},
    },
    wire::{Act, Answer, Edit, On, Rule},
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
    Text {
        id: "M60",
        title: "Reply of another order",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The request is lost, and a faulty proxy answers with the reply to the payment of another customer: approved, with another reference, amount and currency.",
        mend: "Compare uniqueMerchantReference, transactionType, currency and transactionValue of the reply with those of the order. If they differ, it is not the reply to this payment: look the payment up.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: false, answer: Answer::OtherOrder })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M61",
        title: "Another type under the reference",
        severity: Severity::Critical,
        basis: "2 §3.2, §4.4",
        imitates: "The reply is lost, and the lookup by reference shows a payment of the other type, for example by another part of the shop: an approved PreAuth for an auth, which reserves funds and does not debit them, or an approved Auth for a preauth.",
        mend: "Compare the transactionType of a payment that a lookup shows with the one that you sent: a PreAuth does not debit the customer, and an Auth needs no capture. If it is another one, claim unknown and raise an alert.",
    }
    .charge(Family::Money, another(&[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Edit(Edit::OtherType))])),
    Text {
        id: "M62",
        title: "Two payments under the reference",
        severity: Severity::Critical,
        basis: "2 §4.3, §4.4",
        imitates: "The reply is lost, and the lookup by reference lists two payments: a declined one of the order's amount, and an approved one of another amount.",
        mend: "The service accepts a reference once. If a lookup lists several payments under it, none can be identified as that of the order: claim unknown and raise an alert.",
    }
    .charge(Family::Money, another(&[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Edit(Edit::TwoPayments))])),
    Text {
        id: "M63",
        title: "An amount with a decimal point",
        severity: Severity::Critical,
        basis: "2 §4.3, §4.4",
        imitates: "The reply is lost, and the lookup by reference shows a payment of 998.00 for an order of 998 pence.",
        mend: "transactionValue is a whole number of the smallest unit. Compare it as text: an amount in any other form may be in pounds, a hundred times as much. Claim unknown and raise an alert.",
    }
    .charge(
        Family::Money,
        another(&[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Edit(Edit::DecimalAmount))]),
    ),
    Text {
        id: "M64",
        title: "Lookup of another order",
        severity: Severity::Critical,
        basis: "2 §4.4",
        imitates: "The reply is lost, and each lookup shows an approved payment with another uniqueMerchantReference, as if it answered another lookup.",
        mend: "Compare the uniqueMerchantReference of a payment that a lookup shows. A payment of another reference says nothing about this order: claim unknown.",
    }
    .charge(
        Family::Money,
        another(&[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Edit(Edit::OtherReference))]),
    ),
    Text {
        id: "M65",
        title: "HTTP 500 with an error code after the charge",
        severity: Severity::Critical,
        basis: "2 §7, A132",
        imitates: "The card is charged, then the service fails and answers HTTP 500 with error 108, invalid card number.",
        mend: "With a status of 500 to 599 no error code proves that nothing was charged. Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: Answer::Error(500, "108", "Invalid card number") })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M66",
        title: "Refused when the order is tried again",
        severity: Severity::Critical,
        basis: "2 §4.3, §7",
        imitates: "The reply is lost, and lookups are refused since the API password was replaced. The order is tried again, and a second request is refused with 108, invalid card number.",
        mend: "Keep the state of an order whose payment is unknown. A refusal of a later request proves nothing about an earlier one: look the payment up first, and claim unknown while lookups are refused.",
    }
    .charge(
        Family::Money,
        Charge {
            rules: &[
                Rule::first(On::Payment, Act::DropReply),
                Rule::from(On::Payment, 2, Act::Answer { executed: false, answer: Answer::Error(400, "108", "Invalid card number") }),
                Rule::all(On::Lookup, Act::Answer { executed: false, answer: Answer::Error(401, "102", "Invalid API password") }),
            ],
            runs: Runs::Again,
            judged: Judged::Money(Expect::Settled),
            ..Charge::PLAIN
        },
    ),
];

const fn another(rules: &'static [Rule]) -> Charge {
    Charge { rules, judged: Judged::Money(Expect::Another), ..Charge::PLAIN }
}
