//! What is stored of a machine holds the card.

use std::sync::Arc;

use pg_proto::Account;

use super::{Planted, twisted::Twisted};
use crate::{conduct::Conduct, job::Job, run::Run};

pub(super) const PLANTED: Planted = Planted {
    name: "the card is stored with the machine",
    check: "secrets stay secret",
    within: 20,
    conduct: &StoresTheCard,
};

struct StoresTheCard;

impl Conduct for StoresTheCard {
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
    let also_stored = job.card.number.to_owned();
    Box::new(Twisted { run, before: |_| None, after: |step, _| step, also_stored })
}
