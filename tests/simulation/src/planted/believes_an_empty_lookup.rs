//! A lookup that finds nothing is taken for proof that nothing was charged.

use std::sync::Arc;

use pg_proto::Account;

use super::{Planted, naive::Naive};
use crate::{conduct::Conduct, job::Job, run::Run};

pub(super) const PLANTED: Planted = Planted {
    name: "a lookup that finds nothing is believed",
    check: "claims stay true",
    within: 200,
    conduct: &BelievesAnEmptyLookup,
};

struct BelievesAnEmptyLookup;

impl Conduct for BelievesAnEmptyLookup {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        if job.kind.charges() { Naive::charge(job, account, Naive::look) } else { job.begin(account) }
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        if job.kind.charges() {
            // What was stored goes on as it should, so that only the belief is wrong.
            return job.begin(account);
        }
        job.resume(saved, account, with_request)
    }
}
