//! Secrets in wrong places.

use pg_sandbox::cards::Scenario;

use super::{Text, credentials::WITHDRAWN};
use crate::{
    drill::{Family, Severity},
    plan::Way,
    story::{
        Scene, Story,
        callback::Callback,
        charge::{Charge, Judged},
        redirect::Redirect,
        search::Place,
    },
    wire::{Act, Answer, Edit, On, Rule},
};

const MASK: &str = "Show at most the first six and last four digits of a card number, no digit of a CV2, and no credential. Mask requests before you log them.";

/// What a program writes.
const EVERYWHERE: &[Place] = &[Place::OutputCards, Place::OutputCredentials, Place::LogsCards, Place::LogsCredentials];

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "H01",
        title: "Card number and CV2 on the output",
        severity: Severity::Critical,
        basis: "2 §1.2, PCI DSS 3.3, 3.4",
        imitates: "Searches standard output and standard error of an ordinary charge by card.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { way: Some(Way::Card), judged: Judged::Secrets(&[Place::OutputCards]), ..Charge::PLAIN }),
    Text {
        id: "H02",
        title: "Credentials on the output",
        severity: Severity::Critical,
        basis: "1 §5",
        imitates: "Searches standard output and standard error of an ordinary charge.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { judged: Judged::Secrets(&[Place::OutputCredentials]), ..Charge::PLAIN }),
    Text {
        id: "H03",
        title: "Card number and CV2 in logs",
        severity: Severity::Critical,
        basis: "PCI DSS 3.3, 3.4",
        imitates: "Searches the log files and the dump that the plan names, after a charge by card whose reply was lost.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::first(On::Payment, Act::DropReply)], way: Some(Way::Card), judged: Judged::Secrets(&[Place::LogsCards]), ..Charge::PLAIN }),
    Text {
        id: "H04",
        title: "Credentials in logs",
        severity: Severity::Critical,
        basis: "1 §5",
        imitates: "Searches the log files and the dump that the plan names, after a charge whose reply was lost.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::first(On::Payment, Act::DropReply)], judged: Judged::Secrets(&[Place::LogsCredentials]), ..Charge::PLAIN }),
    Text {
        id: "H05",
        title: "Secrets on the output or in logs after a garbled reply",
        severity: Severity::Critical,
        basis: "1 §5, PCI DSS 3.4",
        imitates: "Searches the output, and the logs and the dump that the plan names, after a reply that cannot be parsed: error messages often contain the request.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::first(On::Payment, Act::Edit(Edit::Garble))], judged: Judged::Secrets(EVERYWHERE), ..Charge::PLAIN }),
    Text {
        id: "H06",
        title: "Secrets on the output or in logs after a lost connection",
        severity: Severity::Critical,
        basis: "1 §5, PCI DSS 3.4",
        imitates: "Searches the output, and the logs and the dump that the plan names, after a lost reply to a charge by card.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::first(On::Payment, Act::DropReply)], way: Some(Way::Card), judged: Judged::Secrets(EVERYWHERE), ..Charge::PLAIN }),
    Text {
        id: "H07",
        title: "Card number or CV2 stored with the order",
        severity: Severity::Critical,
        basis: "PCI DSS 3.3, 3.5",
        imitates: "Searches the folder of the order after the payment.",
        mend: "Store the reference and the outcome. Store a card number only encrypted, and never store a CV2.",
    }
    .charge(Family::Hygiene, Charge { way: Some(Way::Card), judged: Judged::Secrets(&[Place::Folder]), ..Charge::PLAIN }),
    Text {
        id: "H08",
        title: "Secrets in the wrong parameters",
        severity: Severity::High,
        basis: "2 §4.3",
        imitates: "Searches the parameters that are sent: a card number in a reference, a key in a description.",
        mend: "Put card numbers in cardNumber only, and each credential in its own parameter.",
    }
    .charge(Family::Hygiene, Charge { way: Some(Way::Card), judged: Judged::Secrets(&[Place::Fields]), ..Charge::PLAIN }),
    Text {
        id: "H09",
        title: "Secrets in URLs",
        severity: Severity::High,
        basis: "1 §4.1",
        imitates: "Searches the URLs of requests: servers and proxies log them.",
        mend: "Send parameters in the body, never in the URL.",
    }
    .charge(Family::Hygiene, Charge { judged: Judged::Secrets(&[Place::Addresses]), ..Charge::PLAIN }),
    Text {
        id: "H10",
        title: "Redirect to another host, 307",
        severity: Severity::Critical,
        basis: "3 §1",
        imitates: "The service redirects to another host with HTTP 307, which asks the client to repeat the request there.",
        mend: "Do not follow redirects when you call the service.",
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::all(On::Any, Act::Answer { executed: false, answer: Answer::Elsewhere(307) })], judged: Judged::Trap, ..Charge::PLAIN }),
    Text {
        id: "H11",
        title: "Redirect to another host, 302",
        severity: Severity::High,
        basis: "3 §1",
        imitates: "The service redirects to another host.",
        mend: "Do not follow redirects when you call the service.",
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::all(On::Any, Act::Answer { executed: false, answer: Answer::Elsewhere(302) })], judged: Judged::Trap, ..Charge::PLAIN }),
    Text {
        id: "H12",
        title: "Credentials in the return page",
        severity: Severity::Critical,
        basis: "1 §5",
        imitates: "Searches the return page for credentials.",
        mend: "An API key in a browser exposes the account: decrypt on your server.",
    }
    .told(Family::Hygiene, Story::Redirect(Redirect::Secrets)),
    Text {
        id: "H13",
        title: "Internals on error pages",
        severity: Severity::High,
        basis: "1 §5",
        imitates: "Searches the return page’s replies to invalid data.",
        mend: "Show customers your own message, and log the details.",
    }
    .told(Family::Hygiene, Story::Redirect(Redirect::ErrorPages)),
    Text {
        id: "H14",
        title: "Internals in replies to callbacks",
        severity: Severity::Medium,
        basis: "1 §5",
        imitates: "Searches the callback address’s replies to invalid bodies.",
        mend: "Reply with a status and nothing else.",
    }
    .told(Family::Hygiene, Story::Callback(Callback::Secrets)),
    Text {
        id: "H15",
        title: "Secrets on the output or in logs after a refusal",
        severity: Severity::Critical,
        basis: "1 §5, PCI DSS 3.3, 3.4",
        imitates: "Searches the output, and the logs and the dump that the plan names, after the service has refused a charge by card with HTTP 400: error messages often contain the request.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::all(On::Payment, Act::Answer { executed: false, answer: Answer::Error(400, "108", "Invalid card number") })], way: Some(Way::Card), judged: Judged::Secrets(EVERYWHERE), ..Charge::PLAIN }),
    Text {
        id: "H16",
        title: "Secrets on the output or in logs after a decline",
        severity: Severity::Critical,
        basis: "1 §5, PCI DSS 3.3, 3.4",
        imitates: "Searches the output, and the logs and the dump that the plan names, after a charge by card was declined.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { card: Scenario::Declined, way: Some(Way::Card), judged: Judged::Secrets(EVERYWHERE), ..Charge::PLAIN }),
    Text {
        id: "H17",
        title: "Secrets on the output or in logs after an error of a gateway",
        severity: Severity::Critical,
        basis: "1 §5, PCI DSS 3.3, 3.4",
        imitates: "Searches the output, and the logs and the dump that the plan names, after a charge by card got HTTP 503 of a gateway.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::all(On::Payment, Act::Answer { executed: false, answer: Answer::Gateway(503) })], way: Some(Way::Card), judged: Judged::Secrets(EVERYWHERE), ..Charge::PLAIN }),
    Text {
        id: "H18",
        title: "Secrets on the output or in logs after refused credentials",
        severity: Severity::Critical,
        basis: "1 §5, PCI DSS 3.3, 3.4",
        imitates: "Searches the output, and the logs and the dump that the plan names, after the credentials of a charge by card were refused with HTTP 401.",
        mend: MASK,
    }
    .charge(Family::Hygiene, Charge { rules: &[Rule::all(On::Payment, Act::Answer { executed: false, answer: WITHDRAWN })], way: Some(Way::Card), judged: Judged::Secrets(EVERYWHERE), ..Charge::PLAIN }),
];
