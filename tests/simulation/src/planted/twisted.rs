//! A machine with one thing about it that is wrong.

use pg_proto::machine::{Event, Moment};

use crate::run::{Run, Step, Told};

/// Looks at what happened, and may decide in the machine's place.
pub(super) type Twist = fn(&Event) -> Option<Step>;

pub(super) struct Twisted {
    pub(super) run: Box<dyn Run>,
    pub(super) before: Twist,
    /// What is done with what it wants.
    pub(super) after: fn(Step, Moment) -> Step,
    /// Put behind what is stored of it.
    pub(super) also_stored: String,
}

impl Twisted {
    pub(super) fn run(run: Box<dyn Run>, before: Twist) -> Box<dyn Run> {
        Box::new(Self { run, before, after: |step, _| step, also_stored: String::new() })
    }
}

impl Run for Twisted {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        match (self.before)(&event) {
            Some(step) => step,
            None => (self.after)(self.run.step(event, now, random), now),
        }
    }

    fn told(&mut self, what: &Told, now: Moment, random: u64) -> Option<Step> {
        self.run.told(what, now, random)
    }

    fn save(&self) -> String {
        format!("{}{}", self.run.save(), self.also_stored)
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}

/// Whether an event is a reply whose error is this one.
pub(super) fn refuses_with(event: &Event, code: &str) -> bool {
    matches!(event, Event::Reply(reply) if {
        let body = String::from_utf8_lossy(reply.body());
        body.contains(&format!("\"errorCode\":\"{code}\"")) || body.contains(&format!("<errorCode>{code}<"))
    })
}
