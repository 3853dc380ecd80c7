//! Customers at their bank: they authenticate, fail, give up, answer in two tabs, return twice or never.

use std::net::IpAddr;

use bytes::Bytes;
use http::{Request, header};
use pg_proto::machine::Moment;

use super::{World, customers::MOST_POSTS};
use crate::{
    agenda::SimulatedEvent,
    job::RETURN_PAGE,
    network::{Call, Caller},
    run::OwnerEvent,
    scenario::Disturbance,
};

impl World<'_> {
    /// Sends the customer to the bank once, although the machine asks for it each time.
    pub(super) fn challenge(&mut self, task: usize, url: String, until: Moment) {
        let now = self.clients[self.tasks[task].client].clock(self.now);
        if self.tasks[task].challenge.is_none() {
            self.tasks[task].challenge = Some(url);
            self.store(task);
            let name = self.tasks[task].job.name.clone();
            self.note(format_args!("the customer of {name} is led to the bank"));
            let dithering = self.customers.per_mille(400) && self.scenario.has(Disturbance::Customers);
            let (think, how) = (self.customers.between(2_000, 240_000), self.customers.below(4));
            match (dithering, how) {
                // The customer never arrives.
                (true, 0) => {}
                // Opens the merchant's page by hand, and answers in two tabs.
                (true, 1) => {
                    self.agenda.plan(self.now + think / 2, SimulatedEvent::Visit { task });
                    self.agenda.plan(self.now + think, SimulatedEvent::Visit { task });
                    self.tell(task, OwnerEvent::Returned);
                }
                // Takes longer than the challenge lasts.
                (true, 2) => self.agenda.plan(self.now + think + 900_000, SimulatedEvent::Visit { task }),
                _ => self.agenda.plan(self.now + think, SimulatedEvent::Visit { task }),
            }
        }
        self.sleep(task, now, until);
    }

    /// The customer presses a button.
    pub(super) fn visit(&mut self, task: usize) {
        let Some(url) = self.tasks[task].challenge.clone() else { return };
        let outcome = match self.customers.below(10) {
            0 => "fail",
            1 => "abandon",
            _ => "authenticate",
        };
        let request = Request::post(url)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Bytes::from(format!("outcome={outcome}")));
        let Ok(request) = request else { return };
        self.tasks[task].posts += 1;
        let (caller, from) = (Caller::Customer { task }, IpAddr::from([203, 0, 113, 7]));
        self.send(Call::new(caller, request, from, self.now));
    }

    /// The browser gets the bank's answer, which redirects to the shop, or none.
    pub(super) fn answered(&mut self, task: usize, to: &str) {
        let name = self.tasks[task].job.name.clone();
        if to.starts_with(RETURN_PAGE) {
            self.note(format_args!("the customer of {name} is back from the bank"));
            let twice = self.scenario.has(Disturbance::Customers) && self.customers.per_mille(300);
            for _ in 0..=u32::from(twice) {
                self.tell(task, OwnerEvent::Returned);
            }
        } else if self.tasks[task].posts < MOST_POSTS {
            let pause = self.customers.between(1_000, 20_000);
            self.agenda.plan(self.now + pause, SimulatedEvent::Visit { task });
        } else if self.customers.per_mille(500) {
            self.note(format_args!("the customer of {name} has left"));
            self.tell(task, OwnerEvent::Closed);
        }
    }

    /// The merchant takes a while, or too long.
    pub(super) fn deciding(&mut self, task: usize, now: Moment, until: Moment) {
        let pause = self.customers.between(1_000, 700_000);
        self.sleep(task, now, until);
        self.agenda.plan(self.now + pause, SimulatedEvent::Decide { task, turn: self.tasks[task].turn });
    }

    pub(super) fn decide(&mut self, task: usize, turn: u32) {
        if self.tasks[task].turn == turn {
            let proceed = self.customers.per_mille(600);
            self.tasks[task].proceeds |= proceed;
            self.tell(task, if proceed { OwnerEvent::Proceed } else { OwnerEvent::Stop });
        }
    }
}
