//! Killed processes, duplicates, references, failing lookups, amounts.

use pg_sandbox::cards::Scenario;

use super::Text;
use crate::{
    drill::{Family, Severity},
    judge::Expect,
    story::{
        Scene,
        charge::{Charge, Entrance, Further, Judged, Runs},
    },
    wire::{Act, Answer, Edit, On, Rule},
};

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "M25",
        title: "Connection closed at once",
        severity: Severity::Medium,
        basis: "2 §4.4",
        imitates: "The first connection is closed as soon as it is accepted.",
        mend: "Nothing was sent, but the program cannot know that. Look the payment up by its uniqueMerchantReference \
        before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { entrance: Entrance::Closing(1), judged: Judged::Money(Expect::Unseen), ..Charge::PLAIN }),
    Text {
        id: "M26",
        title: "Connection cut before the body",
        severity: Severity::High,
        basis: "2 §4.4",
        imitates: "The connection breaks while the request is being sent.",
        mend: "Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::CutAfterHead)], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M27",
        title: "Connection refused",
        severity: Severity::Medium,
        basis: "2 §4.4",
        imitates: "The service is down: connections are refused.",
        mend: "Claim not-charged if the connection was refused and no request about the order was sent before, or unknown; never paid.",
    }
    .charge(Family::Money, Charge { entrance: Entrance::Refused, judged: Judged::Money(Expect::Unseen), ..Charge::PLAIN }),
    Text {
        id: "M28",
        title: "Every request lost",
        severity: Severity::High,
        basis: "2 §4.3",
        imitates: "Every request is lost, including retries and lookups. If the claim is unknown, the customer tries again later, when none is lost. The payment of one more order arrives, its reply is lost, and then the service refuses connections.",
        mend: "Give up within the time limit, claim unknown, and look the payment up later. Each further try uses the same uniqueMerchantReference. A refused connection proves nothing about a request that was sent before.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::all(On::Any, Act::DropRequest)], judged: Judged::Money(Expect::Settled), further: &[Further::Outage], ..Charge::PLAIN }),
    Text {
        id: "M29",
        title: "Reply lost twice",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The reply to the payment is lost, and so is the reply to its retry.",
        mend: "Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule { on: On::Payment, from: 1, times: 2, act: Act::DropReply }], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M30",
        title: "Reply lost, lookups fail",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The reply is lost, and from then on the service replies to lookups with 503. If the claim is unknown, the customer tries again when they work, with another form of a card if the integration supports one. The price of one more order changes before that. An integration that reserves and captures at once has the same happen to the capture of one more order.",
        mend: "Claim unknown while lookups fail. When the customer tries again, look the payment up, and send it under the same uniqueMerchantReference only. Give an order one uniqueMerchantReference, whatever the form of the card and the price: while its outcome is unknown, do not charge another price.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Answer { executed: false, answer: Answer::Gateway(503) })], judged: Judged::Money(Expect::Settled), next_form: 1, further: &[Further::OtherPrice, Further::Capture], ..Charge::PLAIN }),
    Text {
        id: "M31",
        title: "Reply lost, lookups find nothing yet",
        severity: Severity::Critical,
        basis: "2 §4.4, A21",
        imitates: "The payment is executed, and lookups show it only later.",
        mend: "An empty lookup proves nothing. Send again under the same reference, or claim unknown.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule { on: On::Lookup, from: 1, times: 2, act: Act::Answer { executed: true, answer: Answer::NothingFound } }], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M32",
        title: "Reply lost, lookups never find it",
        severity: Severity::Critical,
        basis: "2 §4.4, A21",
        imitates: "The payment is executed, and lookups never show it. If the claim is unknown, the customer tries again, with another form of a card if the integration supports one, and lookups show the payment.",
        mend: "An empty lookup proves nothing: claim unknown, never not-charged. Each further try uses the same uniqueMerchantReference, whatever the form of the card.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Answer { executed: true, answer: Answer::NothingFound })], judged: Judged::Money(Expect::Settled), next_form: 2, ..Charge::PLAIN }),
    Text {
        id: "M33",
        title: "Reply lost, lookup reply garbled",
        severity: Severity::Critical,
        basis: "2 §4.4",
        imitates: "The reply is lost, and the reply to the lookup is damaged.",
        mend: "Repeat a lookup whose reply cannot be parsed.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::first(On::Lookup, Act::Edit(Edit::Garble))], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M34",
        title: "Reply lost, lookup reply lost",
        severity: Severity::Critical,
        basis: "2 §4.4",
        imitates: "The reply is lost, and so is the reply to the first lookup.",
        mend: "A lookup is safe to repeat.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::first(On::Lookup, Act::DropReply)], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M35",
        title: "Killed before the request arrives",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The process dies while it sends, and is restarted for the same order.",
        mend: "Give each order one uniqueMerchantReference, store it before sending, and keep it for every attempt.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Kill { executed: false, answered: false })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M36",
        title: "Killed after the charge",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The process dies after the card was charged and before the reply arrives, and is restarted. An integration that reserves and captures at once has the same happen to the capture of one more order.",
        mend: "Store the reference before sending. After a restart, look it up before you send.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Kill { executed: true, answered: false })], judged: Judged::Money(Expect::Settled), further: &[Further::Capture], ..Charge::PLAIN }),
    Text {
        id: "M37",
        title: "Killed after the reply",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The process dies as soon as it has the reply, and is restarted.",
        mend: "Store the outcome before you report it; after a restart, look the reference up.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::Kill { executed: true, answered: true })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M38",
        title: "Killed during the lookup",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The reply is lost, the process dies while it looks the payment up, and is restarted.",
        mend: "After a restart, look up the stored reference first.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::first(On::Lookup, Act::Kill { executed: false, answered: false })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M39",
        title: "Two workers at once",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "A queue hands the same order to two workers. One more order arrives twice with two sessions, since the customer has it open in two tabs.",
        mend: "Derive the reference from the order, not from the session or the card, so that the service takes only one of them.",
    }
    .charge(Family::Money, Charge { runs: Runs::Together, judged: Judged::Money(Expect::Settled), further: &[Further::TwoTabs], ..Charge::PLAIN }),
    Text {
        id: "M40",
        title: "The customer clicks twice",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The browser sends the form again after the payment. One more order is paid in two tabs, each with a session of its own, and others first in one form of a card and then in another, as far as the integration supports them.",
        mend: "Do not charge a paid order again: derive the reference from the order, not from the session, the card or its form.",
    }
    .charge(Family::Money, Charge { runs: Runs::Again, judged: Judged::Money(Expect::Settled), further: &[Further::TwoTabs, Further::OtherForms], ..Charge::PLAIN }),
    Text {
        id: "M41",
        title: "The reference was used before",
        severity: Severity::Critical,
        basis: "2 §4.3, A92",
        imitates: "The program loses the state of the order, and gets the order again.",
        mend: "A refused reference means that an earlier request used it: look it up.",
    }
    .charge(Family::Money, Charge { runs: Runs::AgainForgetful, judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M42",
        title: "Two workers, replies lost",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "Two workers have the same order, and both replies are lost. The same happens to one more order, which arrives with two sessions.",
        mend: "Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule { on: On::Payment, from: 1, times: 2, act: Act::DropReply }], runs: Runs::Together, judged: Judged::Money(Expect::Settled), further: &[Further::TwoTabs], ..Charge::PLAIN }),
    Text {
        id: "M43",
        title: "Declined, reply lost",
        severity: Severity::High,
        basis: "2 §4.4",
        imitates: "The bank declines, and the reply is lost.",
        mend: "Look the payment up by its uniqueMerchantReference before anything else; send again only under the same reference.",
    }
    .charge(Family::Money, Charge { card: Scenario::Declined, rules: &[Rule::first(On::Payment, Act::DropReply)], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M44",
        title: "Refused reference instead of a reply",
        severity: Severity::Critical,
        basis: "2 §4.3, A92",
        imitates: "The reply is lost, and the retry is refused because the reference was used.",
        mend: "A refused reference is an unknown outcome: look it up; another reference would charge again.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::first(On::Lookup, Act::DropReply)], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "M45",
        title: "No uniqueMerchantReference",
        severity: Severity::High,
        basis: "2 §4.3",
        imitates: "No fault: checks that the payment carries a reference by which it can be looked up.",
        mend: "Give each order one uniqueMerchantReference, store it before sending, and keep it for every attempt.",
    }
    .charge(Family::Money, Charge { judged: Judged::Reference, ..Charge::PLAIN }),
    Text {
        id: "M46",
        title: "A currency without decimals",
        severity: Severity::High,
        basis: "2 §4.3",
        imitates: "An order in yen, for each form of a card that the integration supports.",
        mend: "Prices are whole numbers of the smallest unit: 998 yen is 998.",
    }
    .charge(Family::Money, Charge { amount: 998, currency: "JPY", ..Charge::PLAIN }),
    Text {
        id: "M47",
        title: "A currency with three decimals",
        severity: Severity::High,
        basis: "2 §4.3",
        imitates: "An order in Bahraini dinars.",
        mend: "Prices are whole numbers of the smallest unit: 1.001 dinars is 1001.",
    }
    .charge(Family::Money, Charge { amount: 1001, currency: "BHD", ..Charge::PLAIN }),
    Text {
        id: "M48",
        title: "A large amount",
        severity: Severity::Medium,
        basis: "2 §4.3",
        imitates: "An order of more than a million pounds.",
        mend: "Keep amounts as whole numbers, not as floating point numbers: 1048576.13 * 100 is less than 104857613 in floating point.",
    }
    .charge(Family::Money, Charge { amount: 104_857_613, ..Charge::PLAIN }),
    Text {
        id: "M49",
        title: "A small amount",
        severity: Severity::Low,
        basis: "2 §4.3",
        imitates: "An order of 29 pence.",
        mend: "Keep amounts as whole numbers, not as floating point numbers: 0.29 * 100 is less than 29 in floating point.",
    }
    .charge(Family::Money, Charge { amount: 29, ..Charge::PLAIN }),
    Text {
        id: "M67",
        title: "Another order of the same amount",
        severity: Severity::Critical,
        basis: "2 §4.3",
        imitates: "The same customer orders again, and pays the same amount with the same card: each form in which the card stays the same is played.",
        mend: "Derive the reference from the order, not from the card, the customer or the amount: the service takes each reference once, and \
        a lookup by the reference of another order shows the payment of that order. Name what you store by the order, too.",
    }
    .charge(Family::Money, Charge { runs: Runs::TwoOrders, ..Charge::PLAIN }),
    Text {
        id: "M70",
        title: "An order with special characters",
        severity: Severity::Medium,
        basis: "1 §5, 2 §4.3, A1",
        imitates: "The name of the order has letters and signs that a form has to encode.",
        mend: "Sign the values as they are, in UTF-8, and percent-encode them in the body, in UTF-8 too: a plus sign is %2B.",
    }
    .charge(Family::Money, Charge { suffix: " é+&%=/ 漢", ..Charge::PLAIN }),
    Text {
        id: "M75",
        title: "Reply lost, lookups held back",
        severity: Severity::Critical,
        basis: "2 §4.3, §4.4",
        imitates: "The reply is lost, and from then on no lookup gets a reply in time. If the claim is unknown, the customer tries again when lookups work.",
        mend: "A lookup that times out proves nothing: repeat it, and claim unknown when no lookup gets a reply. Each further try uses the same uniqueMerchantReference.",
    }
    .charge(Family::Money, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::all(On::Lookup, Act::Hold)], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
];
