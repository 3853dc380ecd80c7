//! Captures, cancellations and refunds without a reply are sent again, though nothing tells the second from the first.

use std::sync::Arc;

use pg_proto::{
    Account,
    machine::{Event, Moment},
};

use super::Planted;
use crate::{
    conduct::ClientBehaviour,
    job::Job,
    run::{Claim, Run, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a capture without a reply is sent again",
    check: "follow-ups are what they claim",
    within: 500,
    needs: None,
    differs: false,
    conduct: &RepeatsCaptures,
};

struct RepeatsCaptures;

impl ClientBehaviour for RepeatsCaptures {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        let run = job.begin(Arc::clone(&account));
        if job.kind.charges() {
            return run;
        }
        Box::new(Repeating { run, job: job.clone(), account, again: 2 })
    }
}

struct Repeating {
    run: Box<dyn Run>,
    job: Job,
    account: Arc<Account>,
    again: u32,
}

impl Run for Repeating {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        match self.run.step(event, now, random) {
            Step::Ended(Claim::Unknown { .. }) if self.again > 0 => {
                self.again -= 1;
                self.run = self.job.begin(Arc::clone(&self.account));
                self.run.step(Event::Begin, now, random)
            }
            other => other,
        }
    }

    fn save(&self) -> String {
        self.run.save()
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}
