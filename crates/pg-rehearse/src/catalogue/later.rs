//! Captures and refunds.

use super::Text;
use crate::{
    drill::{Family, Severity},
    plan::Job,
    story::{Scene, Story, later::Later},
    wire::{Act, Answer, Edit, On, Rule},
};

const REPEAT: &str = "Give each capture and refund its own uniqueMerchantReference, which the service accepts once, and repeat it \
    only under that reference. Without a reference, never repeat an operation after an unclear reply: claim unknown and raise an alert, or look up what is left of the original transaction.";

/// A capture or a refund of a part of 9.98 GBP.
const fn part(job: Job, rules: &'static [Rule]) -> Story {
    Story::Later(Later { job, amount: 300, refunded: 0, twice: false, rules })
}

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "M50",
        title: "Partial capture",
        severity: Severity::Medium,
        basis: "2 §3.2",
        imitates: "The shop captures part of a reservation.",
        mend: "Send transactionValue in the smallest unit of the currency.",
    }
    .told(Family::Money, part(Job::Capture, &[])),
    Text {
        id: "M51",
        title: "Capture, reply lost",
        severity: Severity::Critical,
        basis: "2 §3.2, A96",
        imitates: "The shop captures part of a reservation that can be captured in parts, and the reply is lost.",
        mend: REPEAT,
    }
    .told(Family::Money, part(Job::Capture, &[Rule::first(On::Later, Act::DropReply)])),
    Text {
        id: "M52",
        title: "Capture, request lost",
        severity: Severity::High,
        basis: "2 §3.2",
        imitates: "The capture never arrives.",
        mend: REPEAT,
    }
    .told(Family::Money, part(Job::Capture, &[Rule::first(On::Later, Act::DropRequest)])),
    Text {
        id: "M53",
        title: "Partial refund",
        severity: Severity::Medium,
        basis: "2 §3.2",
        imitates: "29 pence of a payment are refunded.",
        mend: "Send transactionValue in the smallest unit of the currency, and keep amounts as whole numbers: 0.29 * 100 is less than 29 in floating point.",
    }
    .told(Family::Money, Story::Later(Later { job: Job::Refund, amount: 29, refunded: 0, twice: false, rules: &[] })),
    Text {
        id: "M54",
        title: "Refund, reply lost",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "Part of a payment is refunded, and the reply is lost.",
        mend: REPEAT,
    }
    .told(Family::Money, part(Job::Refund, &[Rule::first(On::Later, Act::DropReply)])),
    Text {
        id: "M55",
        title: "Refund, HTTP 500 afterwards",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "Part of a payment is refunded, and a proxy answers 500.",
        mend: REPEAT,
    }
    .told(
        Family::Money,
        part(Job::Refund, &[Rule::first(On::Later, Act::Answer { executed: true, answer: Answer::Gateway(500) })]),
    ),
    Text {
        id: "M56",
        title: "Refund, garbled reply",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "Part of a payment is refunded, and the reply is damaged.",
        mend: REPEAT,
    }
    .told(Family::Money, part(Job::Refund, &[Rule::first(On::Later, Act::Edit(Edit::Garble))])),
    Text {
        id: "M57",
        title: "Killed after the refund",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "The process dies after the refund was executed, and is restarted.",
        mend: "Store the intended refund before you send it; after a restart, claim unknown instead of repeating it.",
    }
    .told(Family::Money, part(Job::Refund, &[Rule::first(On::Later, Act::Kill { executed: true, answered: false })])),
    Text {
        id: "M68",
        title: "Refund of more than is left",
        severity: Severity::High,
        basis: "2 §3.2, A97",
        imitates: "The whole payment was refunded before, so the service refuses the refund with an error.",
        mend: "Read the reply: only transactionStatusCode 600 means that the refund was made. After an error code nothing was moved.",
    }
    .told(Family::Money, Story::Later(Later { job: Job::Refund, amount: 300, refunded: 998, twice: false, rules: &[] })),
    Text {
        id: "M69",
        title: "Refund declined",
        severity: Severity::High,
        basis: "2 §2.3",
        imitates: "The service replies with HTTP 200 that the refund is declined.",
        mend: "Read the reply: only transactionStatusCode 600 means that the refund was made, whatever the HTTP status.",
    }
    .told(
        Family::Money,
        part(Job::Refund, &[Rule::all(On::Later, Act::Answer { executed: false, answer: Answer::Declined })]),
    ),
    Text {
        id: "M71",
        title: "Two refunds of one payment",
        severity: Severity::High,
        basis: "2 §3.2, §4.3, A97",
        imitates: "A customer gets 3.00 of a payment back, and later 3.00 more of the same payment, for two orders of refunds.",
        mend: "Derive the reference of a refund from the order of the refund, and not from the payment: the service takes each reference \
        once, and a lookup by the reference of another refund shows that refund.",
    }
    .told(Family::Money, Story::Later(Later { job: Job::Refund, amount: 300, refunded: 0, twice: true, rules: &[] })),
    Text {
        id: "M72",
        title: "Capture declined",
        severity: Severity::High,
        basis: "2 §2.3",
        imitates: "The service replies with HTTP 200 that the capture is declined.",
        mend: "Read the reply: only transactionStatusCode 600 means that the capture was made, whatever the HTTP status.",
    }
    .told(
        Family::Money,
        part(Job::Capture, &[Rule::all(On::Later, Act::Answer { executed: false, answer: Answer::Declined })]),
    ),
    Text {
        id: "M73",
        title: "Capture, reply held back beyond the timeout",
        severity: Severity::Critical,
        basis: "2 §3.2, A96",
        imitates: "Part of a reservation is captured, and the reply arrives only after the caller's timeout.",
        mend: REPEAT,
    }
    .told(Family::Money, part(Job::Capture, &[Rule::first(On::Later, Act::Hold)])),
    Text {
        id: "M74",
        title: "Refund, reply held back beyond the timeout",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "Part of a payment is refunded, and the reply arrives only after the caller's timeout.",
        mend: REPEAT,
    }
    .told(Family::Money, part(Job::Refund, &[Rule::first(On::Later, Act::Hold)])),
];
