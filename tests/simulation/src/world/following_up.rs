//! Follow-ups of a payment or of a capture: captures, cancellations and refunds, in parts and in any order.

use super::World;
use crate::{
    agenda::SimulatedEvent,
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
            let follow_up = Job { kind, name, pence, key: key.to_owned(), ..job.clone() };
            let pause = self.chance.between(100, 600_000);
            self.agenda.plan(self.now + pause, SimulatedEvent::Begin { task: self.tasks.len() });
            self.tasks.push(Task::new(client, order, follow_up));
        }
    }
}
