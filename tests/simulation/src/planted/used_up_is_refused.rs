//! The refusal of a reference that is used up is taken for the refusal of the payment that has used it up.

use std::sync::Arc;

use pg_proto::Account;

use super::{
    Planted,
    twisted::{Twisted, refuses_with},
};
use crate::{
    conduct::Conduct,
    job::Job,
    run::{Claim, Run, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a reference that is used up is taken for a payment that was refused",
    check: "claims are true",
    within: 300,
    conduct: &UsedUpIsRefused,
};

struct UsedUpIsRefused;

impl Conduct for UsedUpIsRefused {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        wrong(job, job.begin(account))
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        wrong(job, job.resume(saved, account, with_request))
    }
}

fn wrong(job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
    if !job.kind.charges() {
        return run;
    }
    Twisted::run(run, |event| refuses_with(event, "950").then_some(Step::Ended(Claim::Refused { for_good: true })))
}
