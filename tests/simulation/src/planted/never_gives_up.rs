//! A machine whose end is unknown waits for ever.

use std::{sync::Arc, time::Duration};

use pg_proto::{Account, machine::Moment};

use super::{Planted, twisted::Twisted};
use crate::{
    conduct::Conduct,
    job::Job,
    run::{Claim, Run, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "what is unknown is waited for without end",
    check: "every world ends",
    within: 300,
    conduct: &NeverGivesUp,
};

struct NeverGivesUp;

impl Conduct for NeverGivesUp {
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
    Box::new(Twisted { run, before: |_| None, after: wait, also_stored: String::new() })
}

fn wait(step: Step, now: Moment) -> Step {
    match step {
        Step::Ended(Claim::Unknown { .. }) => Step::WaitUntil(now.after(Duration::from_secs(1))),
        other => other,
    }
}
