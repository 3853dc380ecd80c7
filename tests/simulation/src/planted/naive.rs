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

/// Makes every charge in this way, and starts it again after a crash.
pub(super) struct Naively(pub(super) Lost);

impl ClientBehaviour for Naively {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        if !job.kind.charges() {
            return job.begin(account);
        }
        Box::new(Naive { job: job.clone(), account, lost: self.0, sent: 0, looking: false })
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        if job.kind.charges() { self.begin(job, account) } else { job.resume(saved, account, with_request) }
    }
}

pub(super) struct Naive {
    pub(super) job: Job,
    account: Arc<Account>,
    lost: Lost,
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
        match read {
            Ok(outcome) => settled(outcome),
            Err(ReplyError::Refused(refused)) if !refused.may_be_executed() => {
                Step::Ended(Claim::Refused { for_good: false })
            }
            Err(_) => (self.lost)(self),
        }
    }

    fn looked_up(&mut self, reply: Response<Bytes>) -> Step {
        match self.account.reply::<TransactionLookup>(reply).map(|found| found.transactions.into_iter().next()) {
            Ok(Some(found)) => settled(Outcome::read(found, self.account.dialect())),
            Ok(None) => Step::Ended(Claim::NotSent),
            Err(_) => self.unknown(),
        }
    }
}

fn settled(outcome: Outcome<Transaction>) -> Step {
    Step::Ended(match outcome {
        Outcome::Approved(paid) => Claim::Approved { key: paid.transaction_key.as_str().to_owned() },
        Outcome::Declined(_) | Outcome::Other(_) => Claim::Declined,
    })
}

impl Run for Naive {
    fn step(&mut self, event: Event, _: Moment, _: u64) -> Step {
        match event {
            Event::Begin => self.pay(),
            Event::Reply(reply) if self.looking => self.looked_up(reply),
            Event::Reply(reply) => self.paid(reply),
            Event::Failed(Failure::MaybeSent) if !self.looking => (self.lost)(self),
            Event::Failed(Failure::NotSent | Failure::HeldBack) if self.sent == 1 && !self.looking => {
                Step::Ended(Claim::NotSent)
            }
            _ => self.unknown(),
        }
    }

    fn save(&self) -> String {
        format!("{} times sent", self.sent)
    }

    fn shown(&self) -> String {
        self.save()
    }
}

/// A lost payment is sent again under its reference without a lookup, and its refusal is trusted.
pub(super) const RESENDS_BLINDLY: Planted =
    Planted::new("a lost payment is resent without a lookup", "claims are true", 300, &Naively(resend_blindly));

fn resend_blindly(naive: &mut Naive) -> Step {
    if naive.sent < naive.job.bounds.attempts { naive.pay() } else { naive.unknown() }
}

/// A lost payment is sent again under another reference.
pub(super) const TAKES_A_NEW_REFERENCE: Planted =
    Planted::new("a lost payment is resent under a new reference", "one payment an intent", 300, &Naively(resend_anew));

fn resend_anew(naive: &mut Naive) -> Step {
    if naive.sent >= naive.job.bounds.attempts {
        return naive.unknown();
    }
    naive.job.name.push_str("~again");
    naive.pay()
}

/// An empty lookup counts as proof that nothing was charged.
pub(super) const BELIEVES_AN_EMPTY_LOOKUP: Planted =
    Planted::new("an empty lookup counts as not charged", "claims stay true", 200, &Naively(Naive::look));

/// An unlisted status counts as a decline.
pub(super) const UNKNOWN_STATUS_IS_A_DECLINE: Planted =
    Planted::new("an unlisted status counts as a decline", "claims are true", 600, &Naively(give_up))
        .in_other_dialects();

/// [`Naive`] interprets a status; a lost reply gets no interpretation.
fn give_up(naive: &mut Naive) -> Step {
    naive.unknown()
}
