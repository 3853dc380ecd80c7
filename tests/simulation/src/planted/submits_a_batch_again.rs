//! A batch whose submission got no reply is submitted again as if it had never left.

use std::sync::Arc;

use pg_proto::{
    Account,
    machine::{Event, Failure, Moment},
};

use super::Planted;
use crate::{
    conduct::Conduct,
    job::{Job, Kind},
    run::{Run, Step, Told},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a batch without a reply is submitted again",
    check: "updates are what the service answered",
    within: 500,
    conduct: &SubmitsABatchAgain,
};

struct SubmitsABatchAgain;

impl Conduct for SubmitsABatchAgain {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        hasty(job, job.begin(account))
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        hasty(job, job.resume(saved, account, with_request))
    }
}

fn hasty(job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
    if job.kind == Kind::Update { Box::new(Hasty(run)) } else { run }
}

struct Hasty(Box<dyn Run>);

impl Run for Hasty {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        let event = match event {
            Event::Failed(Failure::MaybeSent) => Event::Failed(Failure::NotSent),
            other => other,
        };
        self.0.step(event, now, random)
    }

    fn told(&mut self, what: &Told, now: Moment, random: u64) -> Option<Step> {
        self.0.told(what, now, random)
    }

    fn save(&self) -> String {
        self.0.save()
    }

    fn shown(&self) -> String {
        self.0.shown()
    }
}
