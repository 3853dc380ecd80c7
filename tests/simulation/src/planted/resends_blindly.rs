//! A lost payment is sent again under its reference without a look, and its refusal is believed.

use std::sync::Arc;

use pg_proto::Account;

use super::{Planted, naive::Naive};
use crate::{conduct::Conduct, job::Job, run::Run};

pub(super) const PLANTED: Planted = Planted {
    name: "a lost payment is sent again without looking it up",
    check: "claims are true",
    within: 300,
    conduct: &ResendsBlindly,
};

struct ResendsBlindly;

impl Conduct for ResendsBlindly {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        if !job.kind.charges() {
            return job.begin(account);
        }
        Naive::charge(
            job,
            account,
            |naive| if naive.sent < naive.job.bounds.attempts { naive.pay() } else { naive.unknown() },
        )
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        if job.kind.charges() { self.begin(job, account) } else { job.resume(saved, account, with_request) }
    }
}
