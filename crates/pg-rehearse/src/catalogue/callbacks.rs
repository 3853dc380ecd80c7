//! Callbacks to the shop.

use super::Text;
use crate::{
    drill::{Family, Severity},
    story::{Scene, Story, callback::Callback},
};

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "B01",
        title: "A finished batch",
        severity: Severity::Medium,
        basis: "1 §6",
        imitates: "The account updater reports a finished batch.",
        mend: "A callback is not signed, so it is only a hint: look up the payment or the batch, and trust only the \
        result.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::GenuineBatch)),
    Text {
        id: "B02",
        title: "A forged batch",
        severity: Severity::Critical,
        basis: "1 §6",
        imitates: "An attacker posts a batch that does not belong to this merchant, with the attacker’s own card keys.",
        mend: "A callback is not signed, so it is only a hint: look up the payment or the batch, and trust only the \
        result.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::ForgedBatch)),
    Text {
        id: "B03",
        title: "A payment of the hosted checkout",
        severity: Severity::Medium,
        basis: "3 §6, A121",
        imitates: "The service reports that a customer has paid, who does not come back. So it does of another order while lookups get HTTP 503.",
        mend: "A callback is not signed, so it is only a hint: look the payment up, trust only the result, and mark the order as paid. If the lookup \
        fails, answer with HTTP 503, so that the service repeats the callback, or look the payment up later.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::GenuinePayment)),
    Text {
        id: "B04",
        title: "A forged payment",
        severity: Severity::Critical,
        basis: "3 §6",
        imitates: "An attacker posts a callback that says that an order is paid, and others while lookups fail: they get HTTP 503, a web page, no reply, or none in time.",
        mend: "A callback is not signed, so it is only a hint: look up the payment or the batch, and trust only the \
        result.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::ForgedPayment)),
    Text {
        id: "B05",
        title: "Key of another payment",
        severity: Severity::Critical,
        basis: "3 §6",
        imitates: "A customer pays one penny, and posts that key for a larger order; then the key of another order of the same price. Each is posted with \
        the token and the price of the order, and with its own.",
        mend: "A callback is not signed, so it is only a hint: look up the payment or the batch, and trust only the \
        result. Compare its amount, currency and order with those of the order in your books, not with the callback.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::OtherPayment)),
    Text {
        id: "B06",
        title: "The same callback twice",
        severity: Severity::High,
        basis: "3 §6",
        imitates: "The service sends the same callback twice.",
        mend: "Record the transaction keys that you have handled, and handle each once.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::Twice)),
    Text {
        id: "B07",
        title: "A callback of 8 MiB",
        severity: Severity::Medium,
        basis: "3 §6",
        imitates: "An attacker posts a body of 8 MiB.",
        mend: "Reject bodies of more than a few kilobytes, and keep serving.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::Huge)),
    Text {
        id: "B08",
        title: "Garbage",
        severity: Severity::Medium,
        basis: "3 §6",
        imitates: "A scanner posts bodies that are neither a form nor JSON.",
        mend: "Reject unreadable bodies with HTTP 400, and keep serving.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::Garbage)),
    Text {
        id: "B09",
        title: "Late callback",
        severity: Severity::High,
        basis: "3 §6",
        imitates: "The customer pays and comes back, and the callback arrives an hour later.",
        mend: "A callback for an order that is already settled is a success: reply 200, and change nothing.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::Late)),
    Text {
        id: "B10",
        title: "Success page before the callback’s reply",
        severity: Severity::High,
        basis: "3 §6",
        imitates: "The customer comes back while the shop is still handling the callback.",
        mend: "Let the second request wait for the first, or let both look the payment up. Neither may fail because the order is locked.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::Overtaken)),
    Text {
        id: "B11",
        title: "Slow callback",
        severity: Severity::Medium,
        basis: "3 §6",
        imitates: "A body arrives byte by byte, and a genuine callback arrives meanwhile.",
        mend: "Limit how long a request may take to arrive, and serve requests concurrently.",
    }
    .told(Family::Callbacks, Story::Callback(Callback::Slow)),
];
