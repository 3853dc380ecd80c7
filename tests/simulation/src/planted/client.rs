//! Clients that save, resume, log or skip the wrong things.

use std::sync::Arc;

use pg_model::dialect::ErrorEntry;
use pg_proto::{
    Account,
    machine::{Event, Moment, SavedState},
};

use super::Planted;
use crate::{
    conduct::ClientBehaviour,
    job::{Job, Kind},
    run::{Claim, Run, Step},
    scenario::Disturbance,
    spoken::USED,
};

/// A machine is stored after its request was sent: a crash in between forgets the request.
pub(super) const STORES_AFTER_SENDING: Planted = Planted::new(
    "a machine is saved only after its request was sent",
    "machines keep their bounds",
    500,
    &StoresAfterSending,
);

struct StoresAfterSending;

impl ClientBehaviour for StoresAfterSending {
    fn stores_first(&self) -> bool {
        false
    }
}

/// After a crash everything starts again.
pub(super) const ASSUMES_NOTHING_WAS_SENT: Planted =
    Planted::new("a machine resumes as if nothing had been sent", "claims are true", 300, &AssumesNothingWasSent);

struct AssumesNothingWasSent;

impl ClientBehaviour for AssumesNothingWasSent {
    fn resume(&self, job: &Job, _: &str, account: Arc<Account>, _: bool) -> Box<dyn Run> {
        job.begin(account)
    }
}

/// A saved machine is resumed under whatever account the server is configured with.
pub(super) const RESUMES_UNDER_ANOTHER_ACCOUNT: Planted = Planted::new(
    "a saved machine is resumed under another account",
    "one payment an intent",
    500,
    &ResumesUnderAnotherAccount,
)
.needs(Disturbance::OtherAccounts);

struct ResumesUnderAnotherAccount;

impl ClientBehaviour for ResumesUnderAnotherAccount {
    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        job.resume(rebound(saved, &account).text(), account, with_request)
    }

    fn resume_elsewhere(
        &self,
        job: &Job,
        saved: &str,
        other: Arc<Account>,
        with_request: bool,
    ) -> Option<Box<dyn Run>> {
        job.try_resume(&rebound(saved, &other), other, with_request).ok()
    }
}

fn rebound(saved: &str, account: &Account) -> SavedState {
    SavedState::from_text(saved).rebind(account).expect("what was stored of a machine can be read")
}

/// Captures, cancellations and refunds without a reply are sent again, although the service cannot recognise the
/// repetition.
pub(super) const REPEATS_CAPTURES: Planted =
    Planted::new("a capture without a reply is resent", "follow-ups are what they claim", 500, &Resends(|_| true));

/// A repeat without a reply is sent again: version 5 has no reference that the service accepts once.
pub(super) const REPEATS_REPEATS: Planted = Planted::new(
    "a repeat of version 5 without a reply is resent",
    "follow-ups are what they claim",
    500,
    &Resends(|kind| kind == Kind::Repeat),
);

/// Sends these operations again.
struct Resends(fn(Kind) -> bool);

impl ClientBehaviour for Resends {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        let run = job.begin(Arc::clone(&account));
        if job.kind.charges() || !(self.0)(job.kind) {
            return run;
        }
        Box::new(Repeating { run, job: job.clone(), account, again: 2 })
    }
}

struct Repeating {
    run: Box<dyn Run>,
    job: Job,
    account: Arc<Account>,
    again: u32,
}

impl Run for Repeating {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        match self.run.step(event, now, random) {
            Step::Ended(Claim::Unknown { .. }) if self.again > 0 => {
                self.again -= 1;
                self.run = self.job.begin(Arc::clone(&self.account));
                self.run.step(Event::Begin, now, random)
            }
            other => other,
        }
    }

    fn save(&self) -> String {
        self.run.save()
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}

/// The decline of a payment counts, although the service answers a used reference in the same way.
pub(super) const TRUSTS_A_DECLINE: Planted = Planted::new(
    "a decline counts although it may be the answer to a used reference",
    "claims are true",
    1_000,
    &TrustsADecline,
)
.in_other_dialects();

struct TrustsADecline;

impl ClientBehaviour for TrustsADecline {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        job.begin(trusting(&account))
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        job.resume(saved, trusting(&account), with_request)
    }
}

/// Its dialect names an error of used references and authentications, which the service never sends.
fn trusting(account: &Account) -> Arc<Account> {
    let mut dialect = (**account.dialect()).clone();
    let mut entry = ErrorEntry::new("199", 92);
    entry.situations = USED.map(str::to_owned).into();
    dialect.errors.push(entry);
    Arc::new(account.clone().with_dialect(dialect))
}

/// A customer is sent to the payment page before the machine is saved: a crash in between loses the token.
pub(super) const LEADS_UNSTORED: Planted = Planted::new(
    "a customer is sent to the payment page before the machine is saved",
    "checkouts stay what they claim",
    2_000,
    &LeadsUnstored,
);

struct LeadsUnstored;

impl ClientBehaviour for LeadsUnstored {
    fn stores_before_leading(&self) -> bool {
        false
    }
}

/// The throttle is not asked.
pub(super) const IGNORES_THE_THROTTLE: Planted =
    Planted::new("the throttle is skipped", "the throttle holds", 1_000, &IgnoresTheThrottle);

struct IgnoresTheThrottle;

impl ClientBehaviour for IgnoresTheThrottle {
    fn asks_throttle(&self) -> bool {
        false
    }
}

/// After a credential error all clients continue.
pub(super) const IGNORES_STOPS: Planted =
    Planted::new("a credential error does not stop other requests", "no client is locked out", 1000, &IgnoresStops);

struct IgnoresStops;

impl ClientBehaviour for IgnoresStops {
    fn heeds_stops(&self) -> bool {
        false
    }
}

/// The shop's log of a payment contains the card.
pub(super) const LOGS_THE_CARD: Planted = Planted::new("the card is logged", "secrets stay secret", 20, &LogsTheCard);

struct LogsTheCard;

impl ClientBehaviour for LogsTheCard {
    fn also_logs(&self, job: &Job) -> Option<String> {
        Some(format!(" ({:?})", job.card))
    }
}
