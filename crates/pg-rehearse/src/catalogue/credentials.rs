//! Refused credentials, lockouts, the throttle.

use super::Text;
use crate::{
    drill::{Family, Severity},
    judge::Expect,
    stage::Credentials,
    story::{
        Scene,
        charge::{Charge, Judged},
    },
    wire::{Act, Answer, On, Rule},
};

/// The reply while an address is locked out.
pub(super) const BLOCKED: Answer =
    Answer::Error(403, "121", "This IP has been blocked for 1 minute because of too many failed attempts");

/// The reply after the credentials were withdrawn or replaced.
pub(super) const WITHDRAWN: Answer = Answer::Error(401, "102", "Invalid API credentials");

/// The reply above the request limit.
pub(super) const LIMITED: Answer = Answer::Error(429, "936", "Too many requests");

/// The reply without a permission.
pub(super) const DENIED: Answer = Answer::Error(403, "106", "Permission denied to access this function");

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "C01",
        title: "Wrong API key",
        severity: Severity::High,
        basis: "1 §5",
        imitates: "The key is mistyped or was revoked.",
        mend: "Stop at the first refused credential, and claim unknown: more than five refusals lock the address out for a minute, and ten for five minutes. Look the payment up when the credentials are corrected.",
    }
    .charge(Family::Credentials, Charge { credentials: Credentials::WrongKey, judged: Judged::Money(Expect::Refused(1)), ..Charge::PLAIN }),
    Text {
        id: "C02",
        title: "Wrong API password",
        severity: Severity::High,
        basis: "1 §5",
        imitates: "The password is mistyped or was changed.",
        mend: "Stop at the first refused credential, and claim unknown: more than five refusals lock the address out for a minute, and ten for five minutes. Look the payment up when the credentials are corrected.",
    }
    .charge(Family::Credentials, Charge { credentials: Credentials::WrongPassword, judged: Judged::Money(Expect::Refused(1)), ..Charge::PLAIN }),
    Text {
        id: "C03",
        title: "Wrong SHA key",
        severity: Severity::High,
        basis: "1 §5",
        imitates: "Requests are signed with a key of another account.",
        mend: "A retry does not fix error 123: stop, claim unknown and raise an alert. Look the payment up when the key is corrected.",
    }
    .charge(Family::Credentials, Charge { credentials: Credentials::WrongShaKey, judged: Judged::Money(Expect::Refused(1)), ..Charge::PLAIN }),
    Text {
        id: "C04",
        title: "Address blocked for a minute",
        severity: Severity::High,
        basis: "1 §5",
        imitates: "The service answers 121: too many wrong credentials from this address.",
        mend: "Wait a minute before the next request, or claim unknown: each further request counts.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::all(On::Any, Act::Answer { executed: false, answer: BLOCKED })], judged: Judged::Money(Expect::Refused(1)), ..Charge::PLAIN }),
    Text {
        id: "C05",
        title: "Address blocked for five minutes",
        severity: Severity::High,
        basis: "1 §5",
        imitates: "The service answers 122.",
        mend: "Wait five minutes before the next request, or claim unknown.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::all(On::Any, Act::Answer { executed: false, answer: Answer::Error(403, "122", "This IP has been blocked for 5 minutes because of too many failed attempts") })], judged: Judged::Money(Expect::Refused(1)), ..Charge::PLAIN }),
    Text {
        id: "C06",
        title: "Throttled",
        severity: Severity::Medium,
        basis: "1 §8, A54",
        imitates: "The account has used up its requests for this minute: HTTP 429.",
        mend: "Nothing was executed, but only a lookup proves it. Wait before the next request.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: false, answer: LIMITED })], judged: Judged::Money(Expect::Unseen), ..Charge::PLAIN }),
    Text {
        id: "C07",
        title: "Credentials revoked during the payment",
        severity: Severity::Critical,
        basis: "1 §5",
        imitates: "The card is charged, the reply is lost, and from then on the credentials are refused.",
        mend: "A refused lookup proves nothing: claim unknown, never not-charged.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::from(On::Any, 2, Act::Answer { executed: false, answer: WITHDRAWN })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "C08",
        title: "Permission denied",
        severity: Severity::Medium,
        basis: "1 §7",
        imitates: "The account may not call this method: error 106.",
        mend: "Do not retry. Look the payment up once: if the request was delivered twice, the first copy may have been executed.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::all(On::Any, Act::Answer { executed: false, answer: DENIED })], judged: Judged::Money(Expect::Refused(2)), ..Charge::PLAIN }),
    Text {
        id: "C09",
        title: "Throttled after the charge",
        severity: Severity::Critical,
        basis: "1 §8, A54",
        imitates: "The card is charged, the reply is lost, and the first lookup is throttled.",
        mend: "Wait, and repeat the lookup.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::first(On::Payment, Act::DropReply), Rule::first(On::Lookup, Act::Answer { executed: false, answer: LIMITED })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "C10",
        title: "Delivered twice, second copy locked out",
        severity: Severity::Critical,
        basis: "1 §5, A141",
        imitates: "The network delivers the request twice. The first copy charges the card; then the address is blocked, and the caller gets the 121 of the second copy.",
        mend: "A lockout says nothing about an earlier copy of the request. Claim unknown, never not-charged, and look the payment up when the lockout has ended.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: BLOCKED }), Rule::from(On::Any, 2, Act::Answer { executed: false, answer: BLOCKED })], judged: Judged::Money(Expect::Unseen), ..Charge::PLAIN }),
    Text {
        id: "C11",
        title: "Delivered twice, second copy over the request limit",
        severity: Severity::Critical,
        basis: "1 §8, A54, A141",
        imitates: "The network delivers the request twice. The first copy charges the card and uses up the limit; the caller gets the 429 of the second copy.",
        mend: "A request limit says nothing about an earlier copy of the request: look the payment up before anything else.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: LIMITED })], judged: Judged::Money(Expect::Unseen), ..Charge::PLAIN }),
    Text {
        id: "C12",
        title: "Delivered twice, second copy denied",
        severity: Severity::Critical,
        basis: "1 §7, A141",
        imitates: "The network delivers the request twice. The first copy charges the card; then the operator revokes the permission, and the caller gets the 106 of the second copy.",
        mend: "A denied permission says nothing about an earlier copy of the request: look the payment up before anything else.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: DENIED })], judged: Judged::Money(Expect::Settled), ..Charge::PLAIN }),
    Text {
        id: "C13",
        title: "Delivered twice, credentials of the second copy refused",
        severity: Severity::Critical,
        basis: "1 §5, A141, A144",
        imitates: "The network delivers the request twice. The first copy charges the card; then the credentials are replaced, and the caller gets the 102 of the second copy. From then on every request is refused.",
        mend: "Refused credentials say nothing about an earlier copy of the request. Claim unknown, never not-charged. Send nothing more with these credentials, and look the payment up when they are corrected.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: WITHDRAWN }), Rule::from(On::Any, 2, Act::Answer { executed: false, answer: WITHDRAWN })], judged: Judged::Money(Expect::Unseen), ..Charge::PLAIN }),
    Text {
        id: "C14",
        title: "Delivered twice, second copy damaged",
        severity: Severity::Critical,
        basis: "1 §5, A141",
        imitates: "The network delivers the request twice. The first copy charges the card; the second one is damaged on the way, and the caller gets its 123. Every later request is accepted.",
        mend: "An invalid signature of one copy says nothing about an earlier copy of the request. Claim unknown, never not-charged, and look the payment up later.",
    }
    .charge(Family::Credentials, Charge { rules: &[Rule::first(On::Payment, Act::Answer { executed: true, answer: Answer::Error(401, "123", "SHA Signature could not be verified") })], judged: Judged::Money(Expect::Unseen), ..Charge::PLAIN }),
];
