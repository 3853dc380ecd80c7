//! Hosted checkout and 3-D Secure.

use pg_sandbox::cards::Scenario;

use super::{
    Text,
    credentials::{BLOCKED, DENIED, LIMITED},
};
use crate::{
    drill::{Family, Severity},
    judge::Expect,
    story::{
        Scene, Story,
        checkout::Checkout,
        three_d_secure::{Answer, Back, ORDINARY, ThreeDSecure},
    },
    wire::{self, Act, Edit, On, Rule},
};

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "K01",
        title: "Success page opened by hand",
        severity: Severity::Critical,
        basis: "3 §6",
        imitates: "A visitor opens the success page with a key that does not exist, and again with status=1 and what else a callback says about a payment.",
        mend: "Any visitor can open the success page: look the trans_key up, and compare amount, currency and order.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::ByHand)),
    Text {
        id: "K02",
        title: "Success page without a key",
        severity: Severity::Critical,
        basis: "3 §6",
        imitates: "A visitor opens the success page without a key, and again with status=1 and what else a callback says about a payment.",
        mend: "Any visitor can open the success page: look the trans_key up, and compare amount, currency and order.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::WithoutKey)),
    Text {
        id: "K03",
        title: "Success page with the key of another payment",
        severity: Severity::Critical,
        basis: "3 §6",
        imitates: "A customer pays one penny, and opens the success page of a larger order with that key, and again with the key of a payment in another currency. If a page does not say paid, the customer loads it again.",
        mend: "Any visitor can open the success page: look the trans_key up, and compare amount, currency and order.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::OtherKey)),
    Text {
        id: "K04",
        title: "Success page while lookups fail",
        severity: Severity::High,
        basis: "3 §4.8",
        imitates: "The success page is opened while lookups fail: they get HTTP 503, a web page, no reply, or none in time.",
        mend: "When the lookup fails, show that the payment is being checked, and check it later.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::LookupDown)),
    Text {
        id: "K05",
        title: "Paid, callback lost",
        severity: Severity::High,
        basis: "3 §6",
        imitates: "The customer pays and comes back, and the callback never arrives.",
        mend: "Look the payment up when the customer comes back: do not wait for a callback.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::Pays)),
    Text {
        id: "K06",
        title: "The customer comes back twice",
        severity: Severity::High,
        basis: "3 §4.1, §6",
        imitates: "The customer pays yen, which have no decimals, or pounds if the shop refuses yen, and opens the success page twice.",
        mend: "Send the currency and the price of the order: 998 yen is 998. Record the trans_keys that you have handled, and handle each once.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::Twice)),
    Text {
        id: "K07",
        title: "The customer leaves without paying",
        severity: Severity::High,
        basis: "3 §3.1",
        imitates: "A customer opens the success page without paying.",
        mend: "Any visitor can open the success page: look the trans_key up, and compare amount, currency and order.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::Abandons)),
    Text {
        id: "K08",
        title: "Paid in two tabs",
        severity: Severity::Critical,
        basis: "3 §4.1",
        imitates: "The customer has the payment page open twice, and pays in both.",
        mend: "Create tokens that can be paid once: token_uses=1.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::TwoTabs)),
    Text {
        id: "K09",
        title: "Expired link",
        severity: Severity::High,
        basis: "3 §4.1",
        imitates: "The customer opens the link after eight days, comes back unpaid, and orders again.",
        mend: "Create a new link when the stored one has expired, and trust only a lookup.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::Expired)),
    Text {
        id: "K10",
        title: "Success page with the key of another order",
        severity: Severity::Critical,
        basis: "3 §4.8, §6",
        imitates: "A customer pays one order, and opens the success page of another order of the same price with that key. If it does not say paid, the customer loads it again.",
        mend: "Store the token of the link with the order. Look the trans_key up, and compare token, value and currency with those of the order.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::OtherOrder)),
    Text {
        id: "K11",
        title: "Amounts with separators",
        severity: Severity::High,
        basis: "3 §4.8, A125",
        imitates: "Customers pay 10.00, 9.98, 10.12 and 1,048.59 pounds, and 1,048.59 euro and 1,048.003 dinars if the shop takes them, and come back.",
        mend: "The value of a lookup has the separators of its currency, 1,048.59 or 1.048,59: compare it in the smallest unit. The item_price of a link has the decimals of its currency: dinars have three. \
        Keep amounts as whole numbers: 10.12 * 100 is less than 1012 in floating point.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::Separators)),
    Text {
        id: "K12",
        title: "Two links of one order",
        severity: Severity::Critical,
        basis: "3 §4.1, §4.9",
        imitates: "The customer goes back and orders again before paying, pays by each link, and orders once more when the success page says paid. \
        Another customer clicks twice at once. If the plan has the job charge, one more order is paid by card while its link is open, and a link is asked for an \
        order whose charge has an unknown outcome.",
        mend: "Give the same link again, or cancel it (canceltoken) before you create another one. Accept the payment by any link of the order, and then \
        give no other one. Let one request of an order make its link at a time. Before you charge the card of an order with a link, cancel the link and search for its \
        payment, or refuse the card; give no link of an order that was or may have been charged.",
    }
    .told(Family::Checkout, Story::Checkout(Checkout::TwoLinks)),
    Text {
        id: "S01",
        title: "The customer passes",
        severity: Severity::High,
        basis: "2 §3.3",
        imitates: "The bank challenges the customer, who passes. So it does for orders of 1,048.59 pounds and of 998 yen.",
        mend: "Initiate, send the customer to authenticationUrl, call getAuthenticationStatus, and pay with the authenticationKey. itemPrice is a whole number of \
        the smallest unit of the currency: 998 yen is 998.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(PRICES)),
    Text {
        id: "S02",
        title: "Back button",
        severity: Severity::Critical,
        basis: "2 §3.3, A108",
        imitates: "The customer goes back and forward, which opens the return page twice.",
        mend: "Look the payment up by its uniqueMerchantReference, which was sent with the initiation, before you pay: the documents do \
        not say that an authentication pays only once.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(&[ThreeDSecure { card: Scenario::Challenge, rules: &[], answer: Answer::Authenticates, back: Back::Twice, expect: Expect::Settled, price: ORDINARY }])),
    Text {
        id: "S03",
        title: "Two tabs",
        severity: Severity::Critical,
        basis: "2 §3.3, A108",
        imitates: "The return page is opened in two tabs at the same time. The customer of one more order begins to pay in two tabs, passes in both, and \
        comes back in both. If the plan has the job charge, one more order is charged without 3-D Secure while its challenge is open, and another one has been \
        charged with an unknown outcome when it is begun.",
        mend: "Let one request of an order pay at a time, and look the payment up first. When an authentication is refused as used, look \
        the payment up. An order that is started again may get the same authentication, or another one, but only one payment: derive the \
        uniqueMerchantReference from the order, and use the same one with and without 3-D Secure.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(TWO_TABS)),
    Text {
        id: "S04",
        title: "Abandoned",
        severity: Severity::High,
        basis: "2 §3.3, A106",
        imitates: "The customer leaves the bank’s page without answering.",
        mend: "Call getAuthenticationStatus first, and pay only with a liabilityShift that you accept: Y means that you are not liable \
        for chargebacks.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(&[ThreeDSecure { card: Scenario::ChallengeRequired, rules: &[], answer: Answer::Abandons, back: Back::Once, expect: Expect::Decline, price: ORDINARY }])),
    Text {
        id: "S05",
        title: "Failed",
        severity: Severity::High,
        basis: "2 §3.3, A106",
        imitates: "The customer fails the challenge, and the bank declines the payment.",
        mend: "Call getAuthenticationStatus first. If you then send no payment, claim not-charged; if it is declined, claim declined.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(&[ThreeDSecure { card: Scenario::ChallengeRequired, rules: &[], answer: Answer::Fails, back: Back::Once, expect: Expect::Decline, price: ORDINARY }])),
    Text {
        id: "S06",
        title: "Reply to the payment lost",
        severity: Severity::Critical,
        basis: "2 §4.4",
        imitates: "The customer has passed, the card is charged, and the reply is lost. So it is of two more orders, whose lookups are empty, or get HTTP 503.",
        mend: "Look the payment up by its uniqueMerchantReference, which was sent with the initiation, before you send it again: the \
        documents do not say that an authentication pays only once. An empty lookup, or one that fails, proves nothing.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(REPLY_LOST)),
    Text {
        id: "S07",
        title: "The customer comes back before answering",
        severity: Severity::High,
        basis: "2 §3.3, A106, A108",
        imitates: "The return page is opened while the bank’s page is still open.",
        mend: "Call getAuthenticationStatus; an unfinished authentication is not a payment.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(&[ThreeDSecure { card: Scenario::ChallengeRequired, rules: &[], answer: Answer::Nothing, back: Back::Once, expect: Expect::Unseen, price: ORDINARY }])),
    Text {
        id: "S08",
        title: "The customer is late",
        severity: Severity::Medium,
        basis: "2 §3.3, A107",
        imitates: "The customer comes back after an hour.",
        mend: "Call getAuthenticationStatus; an authentication that timed out is not a payment.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(&[ThreeDSecure { card: Scenario::ChallengeRequired, rules: &[], answer: Answer::Late(3600), back: Back::Once, expect: Expect::Unseen, price: ORDINARY }])),
    Text {
        id: "S09",
        title: "Initiation failed",
        severity: Severity::High,
        basis: "2 §3.3, §4.4",
        imitates: "The service answers the initiation with status 608, without authenticationKey and authenticationUrl.",
        mend: "Read transactionStatusCode: only 607 has an authenticationKey. After 608 claim not-charged, or unknown.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(&[ThreeDSecure { card: Scenario::NoResponse, rules: &[], answer: Answer::Nothing, back: Back::Once, expect: Expect::Unseen, price: ORDINARY }])),
    Text {
        id: "S10",
        title: "Reply to the payment held back beyond the timeout",
        severity: Severity::Critical,
        basis: "2 §4.4",
        imitates: "The customer has passed, the card is charged, and the reply arrives only after the caller's timeout.",
        mend: "Look the payment up by its uniqueMerchantReference, which was sent with the initiation, before you send it again: the \
        documents do not say that an authentication pays only once.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(&[ThreeDSecure { card: Scenario::Challenge, rules: &[Rule::first(On::Payment, Act::Hold)], answer: Answer::Authenticates, back: Back::Once, expect: Expect::Settled, price: ORDINARY }])),
    Text {
        id: "S11",
        title: "Return with the key of another order",
        severity: Severity::Critical,
        basis: "2 §3.3, §4.4",
        imitates: "A customer authenticates one order, and opens the return page of another order of the same price with that authenticationKey.",
        mend: "Store the authenticationKey with the order when you initiate, and compare it when the customer comes back: auth3DSecure \
        names neither order nor amount.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(&[ThreeDSecure { card: Scenario::Challenge, rules: &[], answer: Answer::Authenticates, back: Back::OtherOrder, expect: Expect::Settled, price: ORDINARY }])),
    Text {
        id: "S12",
        title: "Status of the authentication unreadable",
        severity: Severity::High,
        basis: "2 §3.3, A106",
        imitates: "The customer fails the challenge, and every getAuthenticationStatus gets HTTP 503 of a gateway. So do those of more orders \
        get HTTP 500 and 403 with an error code, a web page, no reply, and a status without liabilityShift.",
        mend: "Without a liabilityShift, do not pay: ask for Y, not for anything but N. Ask again, then claim unknown or not-charged.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(UNREADABLE)),
    Text {
        id: "S13",
        title: "Passed, then declined",
        severity: Severity::Critical,
        basis: "2 §3.3, §4.4",
        imitates: "The customer passes the challenge, and the service replies to the payment with HTTP 200 that the bank declines.",
        mend: "Read the reply: only transactionStatusCode 600 is paid, whatever the liabilityShift and the HTTP status.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(DECLINED)),
    Text {
        id: "S14",
        title: "Payment lost, or answered by another",
        severity: Severity::Critical,
        basis: "2 §4.4",
        imitates: "The customer has passed, and the payment never arrives. Payments of more orders do not arrive either: they get HTTP 502 of a gateway, the \
        reply to the payment of another order, status 640, and a redirect to another host.",
        mend: "Claim paid only after a transaction with status 600 whose reference and amount are those of the order. Otherwise look the payment up.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(LOST)),
    Text {
        id: "S15",
        title: "Charged, error afterwards",
        severity: Severity::Critical,
        basis: "2 §4.4, §7, A92, A93, A141",
        imitates: "The customer has passed, the card is charged, and the reply is error 119. Those of more orders are HTTP 500 with error 108, status 640, and \
        the 429 and 121 of a second copy of the request.",
        mend: "None of these replies proves that nothing was charged: look the payment up by its uniqueMerchantReference, after 121 when the lockout \
        has ended. Until a lookup shows the payment, claim unknown.",
    }
    .told(Family::ThreeDSecure, Story::ThreeDSecure(MADE)),
];

/// A customer who passes.
const PASSES: ThreeDSecure = ThreeDSecure {
    card: Scenario::Challenge,
    rules: &[],
    answer: Answer::Authenticates,
    back: Back::Once,
    expect: Expect::Settled,
    price: ORDINARY,
};

/// Orders of several amounts. The second one survives neither a truncation in floating point nor a text with a separator of thousands.
const PRICES: &[ThreeDSecure] = &[
    ThreeDSecure { expect: Expect::Sale, ..PASSES },
    ThreeDSecure { price: (104_859, "GBP"), expect: Expect::Sale, ..PASSES },
    ThreeDSecure { price: (998, "JPY"), expect: Expect::Sale, ..PASSES },
];

/// One who does not, at a bank that insists on the challenge.
const FAILS: ThreeDSecure =
    ThreeDSecure { card: Scenario::ChallengeRequired, answer: Answer::Fails, expect: Expect::Unseen, ..PASSES };

/// A lookup is demanded neither after an undocumented status, whose meaning only the operator knows, nor after a request limit or a
/// lockout, which more requests prolong.
const UNCLEAR: ThreeDSecure = ThreeDSecure { expect: Expect::Unseen, ..PASSES };

/// Returns what a request gets that does not arrive.
const fn unsent(answer: wire::Answer) -> Act {
    Act::Answer { executed: false, answer }
}

/// Returns what a request gets that does.
const fn sent(answer: wire::Answer) -> Act {
    Act::Answer { executed: true, answer }
}

const TWO_TABS: &[ThreeDSecure] = &[
    ThreeDSecure { back: Back::TwoTabs, ..PASSES },
    ThreeDSecure { back: Back::TwoStarts, expect: Expect::Unseen, ..PASSES },
    ThreeDSecure { back: Back::ByCard, ..PASSES },
];
const LOST_REPLY: Rule = Rule::first(On::Payment, Act::DropReply);
const REPLY_LOST: &[ThreeDSecure] = &[
    ThreeDSecure { rules: &[LOST_REPLY], ..PASSES },
    ThreeDSecure { rules: &[LOST_REPLY, Rule::all(On::Lookup, unsent(wire::Answer::NothingFound))], ..PASSES },
    ThreeDSecure { rules: &[LOST_REPLY, Rule::all(On::Lookup, unsent(wire::Answer::Gateway(503)))], ..PASSES },
];
const DECLINED: &[ThreeDSecure] = &[ThreeDSecure {
    rules: &[Rule::all(On::Payment, unsent(wire::Answer::Declined))],
    expect: Expect::Decline,
    ..PASSES
}];
const LOST: &[ThreeDSecure] = &[
    ThreeDSecure { rules: &[Rule::first(On::Payment, Act::DropRequest)], ..PASSES },
    ThreeDSecure { rules: &[Rule::first(On::Payment, unsent(wire::Answer::Gateway(502)))], ..PASSES },
    ThreeDSecure { rules: &[Rule::first(On::Payment, unsent(wire::Answer::OtherOrder))], ..PASSES },
    ThreeDSecure { rules: &[Rule::first(On::Payment, unsent(wire::Answer::Undocumented))], ..UNCLEAR },
    ThreeDSecure { rules: &[Rule::first(On::Payment, unsent(wire::Answer::Elsewhere(307)))], ..PASSES },
];
const MADE: &[ThreeDSecure] = &[
    ThreeDSecure { rules: &[Rule::first(On::Payment, Act::Silence { charged: true })], ..PASSES },
    ThreeDSecure {
        rules: &[Rule::first(On::Payment, sent(wire::Answer::Error(500, "108", "Invalid card number")))],
        ..PASSES
    },
    ThreeDSecure { rules: &[Rule::first(On::Payment, sent(wire::Answer::Undocumented))], ..UNCLEAR },
    ThreeDSecure { rules: &[Rule::first(On::Payment, sent(LIMITED))], ..UNCLEAR },
    ThreeDSecure { rules: &[Rule::first(On::Payment, sent(BLOCKED))], ..UNCLEAR },
];
const UNREADABLE: &[ThreeDSecure] = &[
    ThreeDSecure { rules: &[Rule::all(On::Status, unsent(wire::Answer::Gateway(503)))], ..FAILS },
    ThreeDSecure { rules: &[Rule::all(On::Status, unsent(wire::Answer::Error(500, "108", "Unknown error")))], ..FAILS },
    ThreeDSecure { rules: &[Rule::all(On::Status, unsent(DENIED))], ..FAILS },
    ThreeDSecure { rules: &[Rule::all(On::Status, unsent(wire::Answer::Html))], ..FAILS },
    ThreeDSecure { rules: &[Rule::all(On::Status, Act::DropReply)], ..FAILS },
    ThreeDSecure { rules: &[Rule::all(On::Status, Act::Edit(Edit::WithoutShift))], ..FAILS },
];
