//! A checkout that ends as lapsed when it should send a certain request.

use std::sync::Arc;

use pg_proto::{
    Account,
    machine::{Event, Moment},
};

use crate::{
    conduct::Conduct,
    job::{Job, Kind},
    run::{Claim, Run, Step, Told},
};

/// What is left out: the end of the request's path.
pub(super) struct LeavesOut(pub(super) &'static str);

impl Conduct for LeavesOut {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        self.hasty(job, job.begin(account))
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        self.hasty(job, job.resume(saved, account, with_request))
    }
}

impl LeavesOut {
    fn hasty(&self, job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
        if job.kind == Kind::Checkout { Box::new(Hasty { run, leaves_out: self.0 }) } else { run }
    }
}

struct Hasty {
    run: Box<dyn Run>,
    leaves_out: &'static str,
}

impl Hasty {
    fn ends(&self, step: Step) -> Step {
        match step {
            Step::Send(request) if request.uri().path().contains(self.leaves_out) => Step::Ended(Claim::Lapsed),
            other => other,
        }
    }
}

impl Run for Hasty {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        let step = self.run.step(event, now, random);
        self.ends(step)
    }

    fn told(&mut self, what: &Told, now: Moment, random: u64) -> Option<Step> {
        let step = self.run.told(what, now, random)?;
        Some(self.ends(step))
    }

    fn save(&self) -> String {
        self.run.save()
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}
