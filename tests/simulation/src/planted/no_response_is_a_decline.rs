//! When the bank does not answer, it is taken to have said no.

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
    name: "a bank that does not answer is taken for one that declines",
    check: "claims are true",
    within: 300,
    conduct: &NoResponseIsADecline,
};

struct NoResponseIsADecline;

impl Conduct for NoResponseIsADecline {
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
    Twisted::run(run, |event| refuses_with(event, "119").then_some(Step::Ended(Claim::Declined)))
}
