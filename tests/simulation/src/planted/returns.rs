//! A client that takes a customer's return from the bank for a payment.

use pg_proto::machine::{Event, Moment};

use super::Planted;
use crate::{
    conduct::ClientBehaviour,
    job::{Job, Kind},
    run::{Claim, OwnerEvent, Run, Step},
    spoken::values,
};

/// Remembers that the customer has returned, and the transaction that the service named last.
struct Returning {
    /// Whether an order whose customer has returned is paid, although its machine says that it is not.
    believes: bool,
}

impl ClientBehaviour for Returning {
    fn drive(&self, job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
        if job.kind != Kind::ThreeDSecure {
            return run;
        }
        Box::new(Returned { run, believes: self.believes, returned: false, named: String::new() })
    }
}

struct Returned {
    run: Box<dyn Run>,
    believes: bool,
    returned: bool,
    named: String,
}

impl Returned {
    fn instead(&self, step: Step) -> Step {
        match step {
            Step::Ended(Claim::Declined | Claim::Refused { .. } | Claim::NotSent) if self.believes && self.returned => {
                Step::Ended(Claim::Approved { key: self.named.clone() })
            }
            other => other,
        }
    }
}

impl Run for Returned {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        if let Event::Reply(reply) = &event {
            let body = String::from_utf8_lossy(reply.body());
            self.named = values(&body, "transactionKey").last().map_or_else(|| self.named.clone(), str::to_owned);
        }
        let step = self.run.step(event, now, random);
        self.instead(step)
    }

    fn told(&mut self, what: &OwnerEvent, now: Moment, random: u64) -> Option<Step> {
        self.returned |= matches!(what, OwnerEvent::Returned);
        let step = self.run.told(what, now, random)?;
        Some(self.instead(step))
    }

    fn save(&self) -> String {
        self.run.save()
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}

/// A customer's return from the bank counts as a payment, if the machine says that there is none.
pub(super) const BELIEVES_A_RETURN: Planted =
    Planted::new("a returning customer counts as paid", "claims are true", 300, &Returning { believes: true })
        .unlike(&Returning { believes: false });
