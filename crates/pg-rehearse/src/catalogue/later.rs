//! Captures and refunds.

use super::{
    Text,
    credentials::{BLOCKED, DENIED, LIMITED, WITHDRAWN},
};
use crate::{
    drill::{Family, Severity},
    plan::Job,
    story::{Scene, Story, charge::Runs, later::Later},
    wire::{Act, Answer, Edit, On, Rule},
};

const REPEAT: &str = "Give each capture and refund its own uniqueMerchantReference, which the service accepts once, and repeat it \
    only under that reference. Without a reference, never repeat an operation after an unclear reply: claim unknown and raise an alert, or look up what is left of the original transaction. An empty lookup, or one that fails, proves nothing, nor does a refused connection after a request that was sent.";

const ERRORS: &str = "Error 119, any code with HTTP 500 to 599, an undocumented status, and refusals (429, 121, 102, 106, a used reference) do not prove that nothing was moved: \
    an earlier copy of the request may have moved it. \
    Give each capture and refund its own uniqueMerchantReference, look it up by that, and repeat it only under that. Without a reference, \
    keep that the order was begun, also after a claim unknown, and never repeat it.";

const ONCE: &str = "Give each capture and refund its own uniqueMerchantReference, derived from its order: the service accepts it once, also from two \
    workers. A reference that was used is looked up, not replaced. Without a reference, store that the order was begun before you send, in one step that only one worker passes.";

const WHOLE: &str = "Send transactionValue in the smallest unit of the currency, and keep amounts as whole numbers: 1.15 * 100 is less than 115 in floating \
    point, and a text such as 1,048.59 may be read as 1.";

const UNITS: &str =
    "transactionValue is a whole number of the smallest unit of the currency: 300 yen is 300, and 0.305 dinars is 305.";

/// A part of 9.98 GBP.
const PART: Later =
    Later { amount: 300, currency: "GBP", is_ended: false, runs: Runs::Once, fault: None, lookups: None };

/// The same, whose first request has this fault.
const fn first(act: Act) -> Later {
    Later { fault: Some(Rule::first(On::Later, act)), ..PART }
}

/// The same, whose reply is lost, and whose lookups get this.
const fn looked_up(answer: Answer) -> Later {
    Later { lookups: Some(Act::Answer { executed: false, answer }), ..first(Act::DropReply) }
}

/// The same, which is made or not, and answered like this.
const fn answered(executed: bool, answer: Answer) -> Later {
    first(Act::Answer { executed, answer })
}

/// None survives a truncation in floating point, of 32 bits (1.05) or of 64, nor the last one a text with a separator of thousands.
const AMOUNTS: &[Later] =
    &[Later { amount: 105, ..PART }, Later { amount: 115, ..PART }, Later { amount: 104_859, ..PART }];
/// One whose reply is lost, one after which the service is down, and some whose lookups are empty, fail, or are refused.
const REPLY_LOST: &[Later] = &[
    first(Act::DropReply),
    first(Act::Outage),
    looked_up(Answer::NothingFound),
    looked_up(Answer::Gateway(503)),
    looked_up(LIMITED),
    looked_up(WITHDRAWN),
];
const REPLY_LATE: &[Later] = &[first(Act::Hold)];
const GARBLED: &[Later] = &[first(Act::Edit(Edit::Garble))];
/// One whose process dies after its request has arrived, and one whose process dies before.
const KILLED: &[Later] =
    &[first(Act::Kill { executed: true, answered: false }), first(Act::Kill { executed: false, answered: false })];
const DECLINED: Later =
    Later { fault: Some(Rule::all(On::Later, Act::Answer { executed: false, answer: Answer::Declined })), ..PART };
/// One that is refused, since nothing is left.
const ENDED: Later = Later { is_ended: true, ..PART };
/// One that is lost on its way, each status of a gateway that does not reach the service, and replies that no request of it gets.
const LOST: &[Later] = &[
    first(Act::DropRequest),
    answered(false, Answer::Gateway(502)),
    answered(false, Answer::Gateway(503)),
    answered(false, Answer::Gateway(504)),
    answered(false, Answer::OtherOrder),
    answered(false, Answer::Undocumented),
    answered(false, Answer::Elsewhere(307)),
];
/// Each status of a gateway that no longer waits for the service, each reply of the service that looks like a refusal, and those of a
/// second copy.
const MADE: &[Later] = &[
    answered(true, Answer::Gateway(500)),
    answered(true, Answer::Gateway(502)),
    answered(true, Answer::Gateway(503)),
    answered(true, Answer::Gateway(504)),
    first(Act::Silence { charged: true }),
    answered(true, Answer::Error(500, "108", "Invalid card number")),
    answered(true, Answer::Undocumented),
    answered(true, LIMITED),
    answered(true, BLOCKED),
    answered(true, WITHDRAWN),
    answered(true, DENIED),
    first(Act::Twice { second: true }),
];
/// One that is ordered again after its end, and one that two workers have at once.
const TWICE: &[Later] = &[Later { runs: Runs::Again, ..PART }, Later { runs: Runs::Together, ..PART }];
/// One in a currency without decimals, and one in a currency with three, of which the last is not 0.
const CURRENCIES: &[Later] = &[Later { currency: "JPY", ..PART }, Later { amount: 305, currency: "BHD", ..PART }];

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "M50",
        title: "Partial capture",
        severity: Severity::Medium,
        basis: "2 §3.2",
        imitates: "1.05 pounds of a reservation are captured, 1.15 of another one, and 1,048.59 of a third one.",
        mend: WHOLE,
    }
    .told(Family::Money, Story::Later(Job::Capture, AMOUNTS)),
    Text {
        id: "M51",
        title: "Capture, reply lost",
        severity: Severity::Critical,
        basis: "2 §3.2, A96",
        imitates: "The shop captures part of a reservation that can be captured in parts, and the reply is lost. So it is of more orders: then the service refuses connections, or \
        lookups are empty, or get HTTP 503, 429 or 401. If the claim is unknown, the same order is given again.",
        mend: REPEAT,
    }
    .told(Family::Money, Story::Later(Job::Capture, REPLY_LOST)),
    Text {
        id: "M52",
        title: "Capture, request lost",
        severity: Severity::High,
        basis: "2 §3.2",
        imitates: "The capture never arrives. Three more get HTTP 502, 503 and 504 of a gateway, and do not arrive either; more get \
        the reply to the payment of another order, status 640, and a redirect to another host, which must not be followed.",
        mend: REPEAT,
    }
    .told(Family::Money, Story::Later(Job::Capture, LOST)),
    Text {
        id: "M53",
        title: "Partial refund",
        severity: Severity::Medium,
        basis: "2 §3.2",
        imitates: "1.05 pounds of a payment are refunded, 1.15 of another one, and 1,048.59 of a third one.",
        mend: WHOLE,
    }
    .told(Family::Money, Story::Later(Job::Refund, AMOUNTS)),
    Text {
        id: "M54",
        title: "Refund, reply lost",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "Part of a payment is refunded, and the reply is lost. So it is of more orders: then the service refuses connections, or \
        lookups are empty, or get HTTP 503, 429 or 401. If the claim is unknown, the same order is given again.",
        mend: REPEAT,
    }
    .told(Family::Money, Story::Later(Job::Refund, REPLY_LOST)),
    Text {
        id: "M55",
        title: "Refund, error afterwards",
        severity: Severity::Critical,
        basis: "2 §3.2, §7, A92, A93, A132, A141",
        imitates: "Part of a payment is refunded, and a gateway answers 500. So it does of three more payments, with 502, 503 and 504. More \
        refunds are made and get error 119, HTTP 500 with error 108, status 640, the 429, 121, 102 or 106 of a second copy, and the refusal \
        of a request that arrived twice under its reference. \
        If the claim is unknown, the same order is given again.",
        mend: ERRORS,
    }
    .told(Family::Money, Story::Later(Job::Refund, MADE)),
    Text {
        id: "M56",
        title: "Refund, garbled reply",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "Part of a payment is refunded, and the reply is damaged.",
        mend: REPEAT,
    }
    .told(Family::Money, Story::Later(Job::Refund, GARBLED)),
    Text {
        id: "M57",
        title: "Killed during the refund",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "The process dies after the refund was executed, and is restarted. So it does of one more, which never arrives.",
        mend: "Store the intended refund before you send it; after a restart, claim unknown instead of repeating it, and not paid: the request may not have arrived.",
    }
    .told(Family::Money, Story::Later(Job::Refund, KILLED)),
    Text {
        id: "M68",
        title: "Refund of more than is left",
        severity: Severity::High,
        basis: "2 §3.2, A97",
        imitates: "The whole payment was refunded before, so the service refuses the refund with an error.",
        mend: "Read the reply: only transactionStatusCode 600 means that the refund was made. After an error code nothing was moved.",
    }
    .told(Family::Money, Story::Later(Job::Refund, &[ENDED])),
    Text {
        id: "M69",
        title: "Refund declined",
        severity: Severity::High,
        basis: "2 §2.3",
        imitates: "The service replies with HTTP 200 that the refund is declined.",
        mend: "Read the reply: only transactionStatusCode 600 means that the refund was made, whatever the HTTP status.",
    }
    .told(Family::Money, Story::Later(Job::Refund, &[DECLINED])),
    Text {
        id: "M71",
        title: "Two refunds of one payment",
        severity: Severity::High,
        basis: "2 §3.2, §4.3, A97",
        imitates: "A customer gets 3.00 of a payment back, and later 3.00 more of the same payment, for two orders of refunds.",
        mend: "Derive the reference of a refund from the order of the refund, and not from the payment: the service takes each reference \
        once, and a lookup by the reference of another refund shows that refund.",
    }
    .told(Family::Money, Story::Later(Job::Refund, &[Later { runs: Runs::TwoOrders, ..PART }])),
    Text {
        id: "M87",
        title: "Two captures of one reservation",
        severity: Severity::High,
        basis: "2 §3.2, §4.3, A96",
        imitates: "An order is delivered in two parts: 3.00 of its reservation are captured, and later 3.00 more, for two orders of captures.",
        mend: "Derive the reference of a capture from the delivery, and not from the reservation: the service takes each reference \
        once, and a lookup by the reference of another capture shows that capture.",
    }
    .told(Family::Money, Story::Later(Job::Capture, &[Later { runs: Runs::TwoOrders, ..PART }])),
    Text {
        id: "M72",
        title: "Capture declined or refused",
        severity: Severity::High,
        basis: "2 §2.3, §3.2",
        imitates: "The service replies with HTTP 200 that the capture is declined. Another reservation was cancelled before, so the service refuses its capture with an error.",
        mend: "Read the reply: only transactionStatusCode 600 means that the capture was made, whatever the HTTP status. A reservation lapses by itself: an error is no capture.",
    }
    .told(Family::Money, Story::Later(Job::Capture, &[DECLINED, ENDED])),
    Text {
        id: "M73",
        title: "Capture, reply held back beyond the timeout",
        severity: Severity::Critical,
        basis: "2 §3.2, A96",
        imitates: "Part of a reservation is captured, and the reply arrives only after the caller's timeout.",
        mend: REPEAT,
    }
    .told(Family::Money, Story::Later(Job::Capture, REPLY_LATE)),
    Text {
        id: "M74",
        title: "Refund, reply held back beyond the timeout",
        severity: Severity::Critical,
        basis: "2 §3.2",
        imitates: "Part of a payment is refunded, and the reply arrives only after the caller's timeout.",
        mend: REPEAT,
    }
    .told(Family::Money, Story::Later(Job::Refund, REPLY_LATE)),
    Text {
        id: "M79",
        title: "Refund, request lost",
        severity: Severity::High,
        basis: "2 §3.2",
        imitates: "The refund never arrives. Three more get HTTP 502, 503 and 504 of a gateway, and do not arrive either; more get \
        the reply to the payment of another order, status 640, and a redirect to another host, which must not be followed.",
        mend: REPEAT,
    }
    .told(Family::Money, Story::Later(Job::Refund, LOST)),
    Text {
        id: "M80",
        title: "Capture, error afterwards",
        severity: Severity::Critical,
        basis: "2 §3.2, §7, A92, A93, A96, A132, A141",
        imitates: "Part of a reservation is captured, and a gateway answers 500. So it does of three more reservations, with 502, 503 and 504. \
        More captures are made and get error 119, HTTP 500 with error 108, status 640, the 429, 121, 102 or 106 of a second copy, and the \
        refusal of a request that arrived twice under its reference. If the claim is unknown, the same order is given again.",
        mend: ERRORS,
    }
    .told(Family::Money, Story::Later(Job::Capture, MADE)),
    Text {
        id: "M81",
        title: "Capture, garbled reply",
        severity: Severity::Critical,
        basis: "2 §3.2, A96",
        imitates: "Part of a reservation is captured, and the reply is damaged.",
        mend: REPEAT,
    }
    .told(Family::Money, Story::Later(Job::Capture, GARBLED)),
    Text {
        id: "M82",
        title: "Killed during the capture",
        severity: Severity::Critical,
        basis: "2 §3.2, A96",
        imitates: "The process dies after the capture was executed, and is restarted. So it does of one more, which never arrives.",
        mend: "Store the intended capture before you send it; after a restart, claim unknown instead of repeating it, and not paid: the request may not have arrived.",
    }
    .told(Family::Money, Story::Later(Job::Capture, KILLED)),
    Text {
        id: "M83",
        title: "A refund ordered twice",
        severity: Severity::Critical,
        basis: "2 §3.2, §4.3",
        imitates: "A clerk clicks twice: the same order of a refund arrives again after its refund. Another one is handed to two workers at once.",
        mend: ONCE,
    }
    .told(Family::Money, Story::Later(Job::Refund, TWICE)),
    Text {
        id: "M84",
        title: "A capture ordered twice",
        severity: Severity::Critical,
        basis: "2 §3.2, §4.3, A96",
        imitates: "The same order of a capture arrives again after its capture. Another one is handed to two workers at once.",
        mend: ONCE,
    }
    .told(Family::Money, Story::Later(Job::Capture, TWICE)),
    Text {
        id: "M85",
        title: "Refunds in other currencies",
        severity: Severity::High,
        basis: "2 §3.2, §4.3",
        imitates: "300 yen of a payment are refunded, and 0.305 Bahraini dinars of another one.",
        mend: UNITS,
    }
    .told(Family::Money, Story::Later(Job::Refund, CURRENCIES)),
    Text {
        id: "M86",
        title: "Captures in other currencies",
        severity: Severity::High,
        basis: "2 §3.2, §4.3",
        imitates: "300 yen of a reservation are captured, and 0.305 Bahraini dinars of another one.",
        mend: UNITS,
    }
    .told(Family::Money, Story::Later(Job::Capture, CURRENCIES)),
];
