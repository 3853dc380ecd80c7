//! Lost, late, duplicate and damaged messages.

use pg_sandbox::cards::Scenario;

use super::Text;
use crate::{
    drill::{Family, Severity},
    judge::Expect,
    story::{
        Scene,
        charge::{Charge, Further, Judged},
    },
    wire::{Act, Answer, Edit, LateAt, On, Rule},
};

const GATEWAY: &str = "A gateway error does not say whether the card was charged. Look the payment up by its \
        uniqueMerchantReference before anything else; send again only under the same reference.";

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "M01",
        title: "Ordinary payment",
        severity: Severity::Critical,
        basis: "2 §3.2, §4.4",
        imitates: "The card is approved, and the service replies at once.",
        mend: "Send the payment once, read transactionStatusCode 600 as paid, and claim it.",
    }
    .charge(Family::Money, Charge { ..Charge::PLAIN }),
    Text {
        id: "M02",
        title: "The card is declined",
        severity: Severity::High,
        basis: "2 §4.4, A87",
        imitates: "The bank declines.",
        mend: "Treat every status documented as a decline as declined, and do not ship.",
    }
    .charge(Family::Money, Charge { card: Scenario::Declined, judged: Judged::Money(Expect::Decline), ..Charge::PLAIN }),
    Text {
        id: "M03",
        title: "The account has no funds",
        severity: Severity::High,
        basis: "2 §4.4, A87",
        imitates: "The bank declines for another reason, with another code.",
        mend: "Do not depend on one code for all declines.",
    }
    .charge(Family::Money, Charge { card: Scenario::InsufficientFunds, judged: Judged::Money(Expect::Decline), ..Charge::PLAIN }),
    Text {
        id: "M04",
        title: "Reply lost after the charge",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The service charges the card, and the connection breaks before its reply arrives. So it does of one more order for each other form of a card that the integration supports. An integration that reserves and captures at once has the same happen to the capture of one more order.",
        mend: "Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply)], judged: Judged::Money(Expect::Settled), further: &[Further::Capture], ..Charge::PLAIN }),
    Text {
        id: "M05",
        title: "Request lost",
        severity: Severity::High,
        basis: "2 §4.3",
        imitates: "The connection breaks before the service gets the request. An integration that reserves and captures at once has the same happen to the capture of one more order.",
        mend: "Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropRequest)], judged: Judged::Money(Expect::Settled), further: &[Further::Capture], ..Charge::PLAIN }),
    Text {
        id: "M06",
        title: "Reply held back beyond the timeout",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The card is charged, and the reply arrives only after the caller's timeout.",
        mend: "Treat a timeout as unknown, not as failed: look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Hold)], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M07",
        title: "Request executed after the claim",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The network delays the request until the shop has given up and the customer has left.",
        mend: "An empty lookup proves nothing: the request may still arrive. Claim unknown, or send again under the same reference, which the service accepts once.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Late(LateAt::AfterClaim))], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M08",
        title: "Request executed after an empty lookup",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The lookup finds nothing, and a moment later the first request arrives.",
        mend: "Never trust an empty lookup; every further attempt must use the same uniqueMerchantReference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Late(LateAt::AfterLookup))], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M09",
        title: "Request delivered twice, first reply seen",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The network delivers the request twice; the caller gets the first reply.",
        mend: "Give each order one uniqueMerchantReference, store it before sending, and keep it for every attempt.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Twice { second: false })], judged: Judged::Money(Expect::Sale), ..Charge::PLAIN }),
    Text {
        id: "M10",
        title: "Request delivered twice, second reply seen",
        severity: Severity::Critical,
        basis: "2 §4.3, A92",
        imitates: "The network delivers the request twice; the caller gets the refusal of the second copy.",
        mend: "A refused reference means that an earlier request used it: look it up, and do not claim that nothing was charged.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Twice { second: true })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M11",
        title: "HTTP 500 after the charge",
        severity: Severity::Critical,
        basis: "2 §7",
        imitates: "The card is charged, and a proxy answers 500. An integration that reserves and captures at once has the same happen to the capture of one more order.",
        mend: "A server error does not say whether the card was charged. Look the payment up by its \
        uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: Answer::Gateway(500) })], judged: Judged::Money(Expect::Settled), further: &[Further::Capture], ..Charge::PLAIN }),
    Text {
        id: "M12",
        title: "HTTP 502 after the charge",
        severity: Severity::Critical,
        basis: "2 §7",
        imitates: "The card is charged, and a proxy answers 502.",
        mend: "A proxy error does not say whether the card was charged. Look the payment up by its \
        uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: Answer::Gateway(502) })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M13",
        title: "HTTP 503 without a charge",
        severity: Severity::High,
        basis: "2 §7",
        imitates: "The service is overloaded and refuses before it does anything. An integration that reserves and captures at once has the same happen to the capture of one more order, and HTTP 500 with an error code to that of another one.",
        mend: "Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: false, answer: Answer::Gateway(503) })], judged: Judged::Money(Expect::Unproven), further: &[Further::Capture, Further::CaptureFailed], ..Charge::PLAIN }),
    Text {
        id: "M14",
        title: "Garbled reply",
        severity: Severity::Critical,
        basis: "2 §2.3",
        imitates: "The card is charged, and the reply arrives damaged.",
        mend: "An unreadable reply is an unknown outcome. Look the payment up by its uniqueMerchantReference before \
        anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Edit(Edit::Garble))], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M15",
        title: "Truncated reply",
        severity: Severity::Critical,
        basis: "2 §2.3",
        imitates: "The connection breaks in the middle of the reply.",
        mend: "Compare the length with Content-Length; a truncated reply is an unknown outcome. Look the payment up \
        by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Edit(Edit::Truncate))], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M16",
        title: "Empty reply",
        severity: Severity::Critical,
        basis: "2 §2.3",
        imitates: "The card is charged, and the reply is HTTP 200 with an empty body.",
        mend: "Success is a status code in the body, not HTTP 200. Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: Answer::Empty })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M17",
        title: "Reply cut after its headers",
        severity: Severity::Critical,
        basis: "2 §2.3",
        imitates: "The headers of the reply arrive, and then the connection breaks.",
        mend: "HTTP 200 alone is not a payment. Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Edit(Edit::HeadOnly))], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M18",
        title: "Login page instead of the service",
        severity: Severity::High,
        basis: "2 §4.4",
        imitates: "A captive portal answers HTTP 200 with its login page.",
        mend: "Parse the body in the expected format; a web page is not a reply. Look the payment up by its \
        uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: false, answer: Answer::Html })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M19",
        title: "More fields than documented",
        severity: Severity::Medium,
        basis: "2 §2.3",
        imitates: "The operator adds fields to the reply.",
        mend: "Ignore fields that you do not know.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Edit(Edit::MoreFields))], ..Charge::PLAIN }),
    Text {
        id: "M20",
        title: "Undocumented status code",
        severity: Severity::Critical,
        basis: "2 §7, A11",
        imitates: "The operator introduces a status code, here 640.",
        mend: "A code that is neither 600 nor a documented decline is unknown: neither ship nor cancel the order, and \
        ask the operator.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::all(On::Any, Act::Edit(Edit::UnknownStatus))], judged: Judged::Money(Expect::Undocumented), ..Charge::PLAIN }),
    Text {
        id: "M21",
        title: "Numbers instead of strings",
        severity: Severity::Low,
        basis: "1 §2.1, A131",
        imitates: "The reply contains the status code as a number instead of a string.",
        mend: "Accept both numbers and strings.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::all(On::Any, Act::Edit(Edit::Numbers))], ..Charge::PLAIN }),
    Text {
        id: "M22",
        title: "Error 119 without a charge",
        severity: Severity::High,
        basis: "2 §7, A93",
        imitates: "The bank does not answer the service, and has not charged.",
        mend: "119 is an unknown outcome. Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Silence { charged: false })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M23",
        title: "Error 119 with a charge",
        severity: Severity::Critical,
        basis: "2 §7, A93",
        imitates: "The bank charges, and its answer to the service is lost.",
        mend: "119 is neither a decline nor a failure: the bank may have charged. Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Silence { charged: true })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M24",
        title: "Slow service",
        severity: Severity::Medium,
        basis: "2 §8",
        imitates: "Each reply takes almost a second.",
        mend: "Wait longer for the reply to a payment than for any other reply.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::all(On::Any, Act::Slow(900))], ..Charge::PLAIN }),
    Text {
        id: "M76",
        title: "HTTP 503 after the charge",
        severity: Severity::Critical,
        basis: "2 §7",
        imitates: "The card is charged, and a gateway that waits for the service no longer answers 503.",
        mend: GATEWAY,
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: Answer::Gateway(503) })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M77",
        title: "HTTP 504 after the charge",
        severity: Severity::Critical,
        basis: "2 §7",
        imitates: "The card is charged after a gateway has stopped waiting, and the gateway answers 504.",
        mend: GATEWAY,
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: Answer::Gateway(504) })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M78",
        title: "HTTP 504 without a charge",
        severity: Severity::High,
        basis: "2 §7",
        imitates: "A gateway cannot reach the service, and answers 504.",
        mend: GATEWAY,
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: false, answer: Answer::Gateway(504) })], judged: Judged::Money(Expect::Unproven), ..Charge::PLAIN }),
];
