//! Machines of some kinds with one thing about them that is wrong.

use std::ops::ControlFlow;

use pg_proto::machine::{Event, Moment};

use crate::{
    conduct::ClientBehaviour,
    job::{Job, Kind},
    run::{Claim, OwnerEvent, Run, Step},
};

/// What is wrong; what is not said is right.
#[derive(Clone, Copy)]
pub(super) struct Twist {
    /// The machines that have it.
    pub(super) of: fn(Kind) -> bool,
    /// What they take an event for, or what they do at once instead.
    pub(super) hears: fn(Event) -> ControlFlow<Step, Event>,
    /// What they do at once when they are told something.
    pub(super) told: fn(&Job, &OwnerEvent) -> Option<Step>,
    /// What they do in place of what they should.
    pub(super) does: fn(&Job, Step, Moment) -> Step,
    /// What is stored behind their state.
    pub(super) stores: fn(&Job) -> String,
}

impl Twist {
    /// Nothing is wrong.
    pub(super) const NONE: Self = Self {
        of: |_| false,
        hears: ControlFlow::Continue,
        told: |_, _| None,
        does: |_, step, _| step,
        stores: |_| String::new(),
    };
}

impl ClientBehaviour for Twist {
    fn drive(&self, job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
        if (self.of)(job.kind) { Box::new(Twisted { run, job: job.clone(), twist: *self }) } else { run }
    }
}

struct Twisted {
    run: Box<dyn Run>,
    job: Job,
    twist: Twist,
}

impl Run for Twisted {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        match (self.twist.hears)(event) {
            ControlFlow::Break(step) => step,
            ControlFlow::Continue(event) => (self.twist.does)(&self.job, self.run.step(event, now, random), now),
        }
    }

    fn told(&mut self, what: &OwnerEvent, now: Moment, random: u64) -> Option<Step> {
        if let Some(step) = (self.twist.told)(&self.job, what) {
            return Some(step);
        }
        let step = self.run.told(what, now, random)?;
        Some((self.twist.does)(&self.job, step, now))
    }

    fn save(&self) -> String {
        format!("{}{}", self.run.save(), (self.twist.stores)(&self.job))
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}

/// Ends at once with a claim, where an event is a reply with this error; goes on as it should otherwise.
pub(super) fn ends_when_refused_with(event: Event, code: &str, claim: Claim) -> ControlFlow<Step, Event> {
    let refused = matches!(&event, Event::Reply(reply) if {
        let body = String::from_utf8_lossy(reply.body());
        body.contains(&format!("\"errorCode\":\"{code}\"")) || body.contains(&format!("<errorCode>{code}<"))
    });
    if refused { ControlFlow::Break(Step::Ended(claim)) } else { ControlFlow::Continue(event) }
}
