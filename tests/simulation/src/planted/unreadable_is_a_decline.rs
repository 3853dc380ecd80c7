//! A page of a gateway on the way is taken for a refusal of the service.

use std::sync::Arc;

use pg_proto::{Account, machine::Event};

use super::{Planted, twisted::Twisted};
use crate::{
    conduct::Conduct,
    job::Job,
    run::{Claim, Run, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a reply that cannot be read is taken for a refusal",
    check: "claims are true",
    within: 300,
    conduct: &UnreadableIsADecline,
};

struct UnreadableIsADecline;

impl Conduct for UnreadableIsADecline {
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
    Twisted::run(run, |event| {
        let page = matches!(event, Event::Reply(reply) if reply.body().starts_with(b"<html>"));
        page.then_some(Step::Ended(Claim::Refused { for_good: true }))
    })
}
