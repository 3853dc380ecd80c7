//! What a callback says of a batch is taken over without fetching the batch.

use std::sync::Arc;

use pg_model::CardKey;
use pg_proto::{
    Account,
    machine::{
        Event, Moment,
        account_update::{BatchEnd, BatchResult},
    },
};

use super::Planted;
use crate::{
    conduct::Conduct,
    job::{Job, Kind},
    run::{Run, Step, Told},
};

pub(super) const PLANTED: Planted = Planted {
    name: "what a callback says is believed",
    check: "updates are what the service answered",
    within: 500,
    conduct: &BelievesACallback,
};

struct BelievesACallback;

impl Conduct for BelievesACallback {
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        believing(job, job.begin(account))
    }

    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        believing(job, job.resume(saved, account, with_request))
    }
}

fn believing(job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
    if job.kind == Kind::Update { Box::new(Believing { run, source: job.source.clone() }) } else { run }
}

struct Believing {
    run: Box<dyn Run>,
    source: Vec<CardKey>,
}

impl Run for Believing {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        self.run.step(event, now, random)
    }

    fn told(&mut self, what: &Told, now: Moment, random: u64) -> Option<Step> {
        let Told::Hint(hint) = what else { return self.run.told(what, now, random) };
        let claimed = hint.claimed();
        let ours = |entry: &&pg_model::UpdatedCard| self.source.contains(&entry.old_card_key);
        Some(Step::Take(Arc::new(BatchResult {
            number: 1_000,
            first: 0,
            end: 0,
            batch_key: Some(claimed.batch_key.clone()),
            how: BatchEnd::Finished,
            submitted_again: 0,
            entries: claimed.card_key_details.iter().filter(ours).cloned().collect(),
            unanswered: Vec::new(),
            invalid: Vec::new(),
            strangers: 0,
        })))
    }

    fn save(&self) -> String {
        self.run.save()
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}
