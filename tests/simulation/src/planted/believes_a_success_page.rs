//! A callback or a browser that names a payment is taken for one, without looking it up.

use std::sync::Arc;

use pg_proto::{
    Account,
    machine::{Event, Moment},
};

use super::Planted;
use crate::{
    conduct::Conduct,
    job::{Job, Kind},
    run::{Claim, Run, Step, Told},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a callback or a success page that names a payment is believed",
    check: "checkouts are what they claim",
    within: 300,
    conduct: &BelievesASuccessPage,
};

struct BelievesASuccessPage;

impl Conduct for BelievesASuccessPage {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        believing(job, job.begin(account))
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        believing(job, job.resume(saved, account, with_request))
    }
}

fn believing(job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
    if job.kind == Kind::Checkout { Box::new(Believing(run)) } else { run }
}

struct Believing(Box<dyn Run>);

impl Run for Believing {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        self.0.step(event, now, random)
    }

    fn told(&mut self, what: &Told, now: Moment, random: u64) -> Option<Step> {
        match what {
            Told::Paid(key) => Some(Step::Ended(Claim::Approved { key: key.clone() })),
            _ => self.0.told(what, now, random),
        }
    }

    fn save(&self) -> String {
        self.0.save()
    }

    fn shown(&self) -> String {
        self.0.shown()
    }
}
