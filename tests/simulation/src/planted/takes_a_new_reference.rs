//! A lost payment is sent again under another reference.

use std::sync::Arc;

use pg_proto::Account;

use super::{Planted, naive::Naive};
use crate::{conduct::Conduct, job::Job, run::Run};

pub(super) const PLANTED: Planted = Planted {
    name: "a lost payment is sent again under a new reference",
    check: "one payment an intent",
    within: 300,
    conduct: &TakesANewReference,
};

struct TakesANewReference;

impl Conduct for TakesANewReference {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        if !job.kind.charges() {
            return job.begin(account);
        }
        Naive::charge(job, account, |naive| {
            if naive.sent >= naive.job.bounds.attempts {
                return naive.unknown();
            }
            naive.job.name.push_str("~again");
            naive.pay()
        })
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        if job.kind.charges() { self.begin(job, account) } else { job.resume(saved, account, with_request) }
    }
}
