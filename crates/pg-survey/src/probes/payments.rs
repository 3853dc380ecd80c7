//! Payments with test cards, and later operations on them.

use super::{call, card, open, paying, probe, recording, refusal};
use crate::{
    cards::Role,
    probe::{
        Probe, Reads, Request,
        Service::{Gateway, Token},
        Value,
        Value::{Currency, Fresh, Noted, Text},
        What,
    },
};

pub(super) const PAYMENTS: &[Probe] = &[
    recording(open("first")),
    card("first", Role::Approved),
    paying(probe(
        "payment",
        "pay",
        pay!("authSessionKey", "first", "uniqueMerchantReference" = Fresh("paid reference")),
        Reads::Made(What::Transaction, "payment"),
    )),
    recording(probe(
        "payment lookup",
        "look the payment up at once",
        call("lookup", &[("uniqueMerchantReference", Noted("paid reference"))]),
        Reads::Immediate,
    )),
    recording(open("second")),
    card("second", Role::Approved),
    paying(probe(
        "duplicate-unique-reference",
        "pay with a reference that was used",
        pay!("authSessionKey", "second", "uniqueMerchantReference" = Noted("paid reference")),
        Reads::UsedReference("payment"),
    )),
    recording(open("third")),
    card("third", Role::Approved),
    paying(probe(
        "refused-reference",
        "pay with the reference of a payment that was refused",
        pay!("authSessionKey", "third", "uniqueMerchantReference" = Noted("refused reference")),
        Reads::ReferenceAfterRefusal,
    )),
    // This probe follows the two refusals: a service that then refuses a new reference too does not refuse only used
    // references.
    paying(probe(
        "again",
        "pay once more with the same session",
        pay!("authSessionKey", "first", "uniqueMerchantReference" = Fresh("second reference")),
        Reads::Again,
    )),
    recording(open("fourth")),
    card("fourth", Role::Approved),
    paying(refusal(
        "unknown-terminal",
        "pay through a terminal that does not exist",
        pay!(
            "authSessionKey",
            "fourth",
            "terminalKey" = Fresh("terminal"),
            "uniqueMerchantReference" = Fresh("terminal reference")
        ),
    )),
    paying(refusal(
        "wrong-transaction-type",
        "capture a payment that is not a preauth",
        call("capturepreauth", &[("transactionKey", Noted("payment"))]),
    )),
    recording(probe(
        "update",
        "give the payment a reference",
        call("update", &[("transactionKey", Noted("payment")), ("merchantReference", Fresh("updated"))]),
        Reads::Made(What::Nothing, "update"),
    )),
    recording(refusal(
        "field-already-set",
        "give the payment another reference",
        call(
            "update",
            &[("transactionKey", Noted("payment")), ("merchantReference", Fresh("again")), ("", Noted("update"))],
        ),
    )),
    recording(refusal(
        "nothing-to-update",
        "update the payment with an empty reference",
        call("update", &[("transactionKey", Noted("payment")), ("merchantReference", Text(""))]),
    )),
    recording(probe(
        "token",
        "store the card of the payment",
        Request::Call(
            Token,
            "tokeniseTransactionKey",
            &[("transactionKey", Noted("payment")), ("merchantCustomerReference", Fresh("customer"))],
        ),
        Reads::Made(What::Card, "token"),
    )),
    recording(refusal(
        "customer-reference-mismatch",
        "disable the stored card of another customer",
        Request::Call(
            Token,
            "disable",
            &[("cardKey", Noted("token")), ("merchantCustomerReference", Fresh("other customer"))],
        ),
    )),
    recording(probe(
        "disable",
        "disable the stored card",
        Request::Call(Token, "disable", &[("cardKey", Noted("token"))]),
        Reads::Made(What::Nothing, "disabled"),
    )),
    paying(refusal(
        "card-key-disabled",
        "pay with the disabled card",
        call(
            "authCardKey",
            &[
                ("cardKey", Noted("token")),
                ("currency", Currency),
                ("itemName0", Text("Survey")),
                ("itemPrice0", Text("100")),
                ("uniqueMerchantReference", Fresh("disabled reference")),
                ("", Noted("disabled")),
            ],
        ),
    )),
    recording(probe(
        "delete",
        "delete the stored card",
        Request::Call(Token, "delete", &[("cardKey", Noted("token"))]),
        Reads::Ignored,
    )),
    paying(refusal(
        "refund.above",
        "refund more than was paid",
        call("refund", &[("transactionKey", Noted("payment")), ("transactionValue", Text("101"))]),
    )),
    paying(probe(
        "refund",
        "refund the payment",
        call("refund", &[("transactionKey", Noted("payment"))]),
        Reads::Made(What::Transaction, "refund"),
    )),
    paying(refusal(
        "nothing-to-refund",
        "refund it again",
        call("refund", &[("transactionKey", Noted("payment")), ("", Noted("refund"))]),
    )),
    recording(refusal(
        "transaction-has-no-card",
        "store the card of the refund",
        Request::Call(Token, "tokeniseTransactionKey", &[("transactionKey", Noted("refund"))]),
    )),
    paying(probe(
        "preauth",
        "reserve 1.00",
        call(
            "preauth",
            &[
                ("cardNumber", Value::Number(Role::Approved)),
                ("cardExpiryMonth", Value::Month(Role::Approved)),
                ("cardExpiryYear", Value::Year(Role::Approved)),
                ("cardCV2", Value::Cv2(Role::Approved)),
                ("currency", Currency),
                ("itemName0", Text("Survey")),
                ("itemPrice0", Text("100")),
                ("uniqueMerchantReference", Fresh("preauth reference")),
            ],
        ),
        Reads::Made(What::Transaction, "preauth"),
    )),
    paying(probe(
        "capture",
        "capture 0.40 of it",
        call("capturepreauth", &[("transactionKey", Noted("preauth")), ("transactionValue", Text("40"))]),
        Reads::Made(What::Transaction, "capture"),
    )),
    paying(probe(
        "second capture",
        "capture the other 0.60",
        call(
            "capturepreauth",
            &[("transactionKey", Noted("preauth")), ("transactionValue", Text("60")), ("", Noted("capture"))],
        ),
        Reads::Captures,
    )),
    paying(refusal(
        "preauth-closed",
        "capture once more",
        call("capturepreauth", &[("transactionKey", Noted("preauth")), ("", Noted("capture"))]),
    ))
    .unless("preauth-closed"),
];

pub(super) const DECLINED: &[Probe] = &[
    recording(open("declined")),
    card("declined", Role::Declined),
    paying(probe(
        "declined",
        "pay with the card that is declined",
        pay!("authSessionKey", "declined", "uniqueMerchantReference" = Fresh("declined reference")),
        Reads::Decline("declined"),
    )),
];

pub(super) const INSUFFICIENT: &[Probe] = &[
    recording(open("insufficient")),
    card("insufficient", Role::InsufficientFunds),
    paying(probe(
        "insufficient-funds",
        "pay with the card that has no funds",
        pay!("authSessionKey", "insufficient", "uniqueMerchantReference" = Fresh("insufficient reference")),
        Reads::Decline("insufficient-funds"),
    )),
];

/// Looks a payment up after all payments, since the service may have settled it in between.
const fn later(reads: Reads, what: &'static str, parameters: &'static [(&'static str, Value)]) -> Probe {
    recording(probe("later", what, call("lookup", parameters), reads))
}

pub(super) const PAID_LATER: &[Probe] = &[later(
    Reads::PaymentLater,
    "look up the first payment again",
    &[("uniqueMerchantReference", Noted("paid reference")), ("", Noted("payment"))],
)];

pub(super) const DECLINED_LATER: &[Probe] = &[later(
    Reads::DeclineLater("declined"),
    "look up the declined payment",
    &[("uniqueMerchantReference", Noted("declined reference"))],
)];

pub(super) const INSUFFICIENT_LATER: &[Probe] = &[later(
    Reads::DeclineLater("insufficient-funds"),
    "look up the payment without funds",
    &[("uniqueMerchantReference", Noted("insufficient reference"))],
)];
