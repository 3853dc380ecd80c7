//! Follow-ups of a payment or of a capture: captures, cancellations and refunds, in parts, in any order and of
//! either version, and repeats.

use super::World;
use crate::{
    agenda::SimulatedEvent,
    dice::Dice,
    job::{Job, Kind},
    task::Task,
};

impl World<'_> {
    /// Plans the follow-ups of an approved payment or capture.
    pub(super) fn follow_up(&mut self, task: usize, key: &str) {
        let Task { client, order, job, .. } = &self.tasks[task];
        let (client, order, job) = (*client, *order, job.clone());
        let kinds: &[Kind] =
            if job.reserves() { &[Kind::Capture, Kind::Capture, Kind::Cancel] } else { &[Kind::Refund] };
        let times = self.chance.below(4);
        for number in 0..times {
            let kind = self.chance.pick(kinds);
            // Each amount of a payment is different, so that the ledger shows which one was executed.
            let pence = self.chance.between(1, job.pence / 4) * 4 + number;
            let name = format!("{}-{number}", job.name);
            let pause = self.chance.between(100, 600_000);
            // The first version 5 operation of a payment may be a repeat, which has no part of its amount.
            let mut dice = Dice::new(self.scenario.seed, &format!("version of {name}"));
            let version_5 = dice.per_mille(350);
            let repeats = version_5 && job.kind != Kind::Repeat && dice.per_mille(350);
            let kind = if repeats { Kind::Repeat } else { kind };
            let follow_up = Job { kind, name, pence, key: key.to_owned(), version_5, ..job.clone() };
            self.agenda.plan(self.now + pause, SimulatedEvent::Begin { task: self.tasks.len() });
            self.tasks.push(Task::new(client, order, follow_up));
        }
    }
}
