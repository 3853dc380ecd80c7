//! A charge as it is often implemented: send, and decide alone what to do without a reply.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use pg_model::{ApiRequest, Auth, AuthCardKey, AuthSessionKey, Outcome, Preauth, Transaction, TransactionLookup};
use pg_proto::{
    Account, ReplyError,
    machine::{Event, Failure, Moment},
};

use super::Planted;
use crate::{
    conduct::ClientBehaviour,
    job::{Job, Kind},
    run::{Claim, Run, Step},
};

/// What to do without a reply, or with an unreadable one.
pub(super) type Lost = fn(&mut Naive) -> Step;

/// Makes every charge in this way. After a crash it does not know the outcome of a payment that it has sent.
#[derive(Clone, Copy)]
pub(super) struct Naively {
    pub(super) lost: Lost,
    /// Whether an unlisted status counts as a decline.
    pub(super) declines_unlisted: bool,
    /// Whether the refusal of a copy counts as one of the payment.
    pub(super) trusts_copies: bool,
}

/// The client without a bug: whatever is not certain is unknown.
const WITHOUT_A_BUG: Naively =
    Naively { lost: |naive| naive.unknown(), declines_unlisted: false, trusts_copies: false };

impl Naively {
    const fn when_lost(lost: Lost) -> Self {
        Self { lost, ..WITHOUT_A_BUG }
    }

    fn after(&self, sent: u32, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        Box::new(Naive { job: job.clone(), account, decides: *self, sent, looking: false })
    }
}

impl ClientBehaviour for Naively {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        if job.kind.charges() { self.after(0, job, account) } else { job.begin(account) }
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        if !job.kind.charges() {
            return job.resume(saved, account, with_request);
        }
        self.after(saved.parse().expect("what was stored of a naive client can be read"), job, account)
    }
}

pub(super) struct Naive {
    pub(super) job: Job,
    account: Arc<Account>,
    decides: Naively,
    pub(super) sent: u32,
    looking: bool,
}

impl Naive {
    pub(super) fn pay(&mut self) -> Step {
        self.sent += 1;
        self.looking = false;
        Step::Send(match self.job.kind {
            Kind::Auth => self.request(&self.job.auth()),
            Kind::Preauth => self.request(&self.job.preauth()),
            Kind::CardKey => self.request(&self.job.auth_card_key()),
            _ => self.request(&self.job.auth_session_key()),
        })
    }

    fn may_resend(&self) -> bool {
        self.sent < self.job.bounds.attempts
    }

    pub(super) fn look(&mut self) -> Step {
        self.looking = true;
        Step::Send(self.request(&self.lookup()))
    }

    pub(super) fn unknown(&self) -> Step {
        Step::Ended(Claim::Unknown { reconcile: Some(self.lookup()), why: "Naive".to_owned() })
    }

    fn lookup(&self) -> TransactionLookup {
        TransactionLookup::new().unique_merchant_reference(self.job.name.as_str())
    }

    fn request<M: ApiRequest>(&self, request: &M) -> Request<Bytes> {
        self.account.request_unchecked(request).expect("the account has version 3")
    }

    fn paid(&mut self, reply: Response<Bytes>) -> Step {
        let account = Arc::clone(&self.account);
        let read = match self.job.kind {
            Kind::Auth => account.reply::<Auth>(reply),
            Kind::Preauth => account.reply::<Preauth>(reply),
            Kind::CardKey => account.reply::<AuthCardKey>(reply),
            _ => account.reply::<AuthSessionKey>(reply),
        };
        let trusted = self.decides.trusts_copies && self.sent > 1;
        match read {
            Ok(outcome) => self.settled(outcome),
            Err(ReplyError::Refused(refused)) if !refused.may_be_executed() || trusted => {
                Step::Ended(Claim::Refused { for_good: false })
            }
            Err(_) => (self.decides.lost)(self),
        }
    }

    fn looked_up(&mut self, reply: Response<Bytes>) -> Step {
        match self.account.reply::<TransactionLookup>(reply).map(|found| found.transactions.into_iter().next()) {
            Ok(Some(found)) => self.settled(Outcome::read(found, self.account.dialect())),
            Ok(None) => Step::Ended(Claim::NotSent),
            Err(_) => self.unknown(),
        }
    }

    fn settled(&self, outcome: Outcome<Transaction>) -> Step {
        match outcome {
            Outcome::Approved(paid) => Step::Ended(Claim::Approved { key: paid.transaction_key.as_str().to_owned() }),
            Outcome::Other(_) if !self.decides.declines_unlisted => self.unknown(),
            Outcome::Declined(_) | Outcome::Other(_) => Step::Ended(Claim::Declined),
        }
    }
}

impl Run for Naive {
    fn step(&mut self, event: Event, _: Moment, _: u64) -> Step {
        match event {
            Event::Begin if self.sent == 0 => self.pay(),
            Event::Reply(reply) if self.looking => self.looked_up(reply),
            Event::Reply(reply) => self.paid(reply),
            Event::Failed(Failure::MaybeSent) if !self.looking => (self.decides.lost)(self),
            Event::Failed(Failure::NotSent | Failure::HeldBack) if self.sent == 1 && !self.looking => {
                Step::Ended(Claim::NotSent)
            }
            _ => self.unknown(),
        }
    }

    fn save(&self) -> String {
        self.sent.to_string()
    }

    fn shown(&self) -> String {
        self.save()
    }
}

/// The client of the bugs below without any of them: no check finds anything.
pub(super) const NO_BUG: Planted = Planted::new("a naive client without a bug", "none", 0, &WITHOUT_A_BUG);

/// A lost payment is sent again under its reference without a lookup, and the refusal of the second copy is trusted.
pub(super) const RESENDS_BLINDLY: Planted = Planted::new(
    "a lost payment is resent without a lookup, and its refusal is trusted",
    "claims are true",
    300,
    &Naively { lost: resend_blindly, trusts_copies: true, ..WITHOUT_A_BUG },
)
.unlike(&WITHOUT_A_BUG);

fn resend_blindly(naive: &mut Naive) -> Step {
    if naive.may_resend() { naive.pay() } else { naive.unknown() }
}

/// A lost payment is sent again under another reference.
pub(super) const TAKES_A_NEW_REFERENCE: Planted = Planted::new(
    "a lost payment is resent under a new reference",
    "one payment an intent",
    300,
    &Naively::when_lost(resend_anew),
)
.unlike(&WITHOUT_A_BUG);

fn resend_anew(naive: &mut Naive) -> Step {
    if !naive.may_resend() {
        return naive.unknown();
    }
    naive.job.name.push_str("~again");
    naive.pay()
}

/// An empty lookup counts as proof that nothing was charged.
pub(super) const BELIEVES_AN_EMPTY_LOOKUP: Planted =
    Planted::new("an empty lookup counts as not charged", "claims stay true", 200, &Naively::when_lost(Naive::look))
        .unlike(&WITHOUT_A_BUG);

/// An unlisted status counts as a decline.
pub(super) const UNKNOWN_STATUS_IS_A_DECLINE: Planted = Planted::new(
    "an unlisted status counts as a decline",
    "claims are true",
    600,
    &Naively { declines_unlisted: true, ..WITHOUT_A_BUG },
)
.in_other_dialects()
.unlike(&WITHOUT_A_BUG);
