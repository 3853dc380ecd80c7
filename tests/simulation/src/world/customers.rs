//! Customers with a card form: they think, post, post again, or never return.

use std::net::IpAddr;

use bytes::Bytes;
use http::{Request, Response, header};

use super::World;
use crate::{
    agenda::SimulatedEvent,
    job::CV2,
    network::{Call, Caller},
    run::Claim,
    scenario::Disturbance,
    secrets::SESSION_KEY,
    task::Stage,
};

const NEXT_PAGE: &str = "https://shop.example/review";
const CARD_PAGE: &str = "https://shop.example/card";
pub(super) const MOST_POSTS: u32 = 3;

impl World<'_> {
    /// Handles the end of the session's machine.
    pub(super) fn session_opened(&mut self, task: usize, claim: Claim) {
        let dithering = self.customers.per_mille(250) && self.scenario.has(Disturbance::Customers);
        let (think, tabs, gone) =
            (self.customers.between(5_000, 120_000), self.customers.below(4), self.customers.per_mille(150));
        let name = self.tasks[task].job.name.clone();
        let Claim::Done { brought } = claim else {
            self.tasks[task].stage = Stage::Abandoned;
            self.note(format_args!("{name} gets no session: {}", claim.label()));
            return;
        };
        self.secrets.add(SESSION_KEY, &brought);
        self.tasks[task].job.key = brought;
        self.tasks[task].stage = Stage::Form;
        self.note(format_args!("the customer of {name} gets the card form"));
        if dithering && gone {
            self.tasks[task].stage = Stage::Abandoned;
            self.note(format_args!("the customer of {name} never comes back"));
            return;
        }
        // Up to forty minutes, so that some sessions expire.
        let think = if dithering { think * 20 } else { think };
        self.agenda.plan(self.now + think, SimulatedEvent::Post { task, attempt: 0 });
        if dithering && tabs == 0 {
            self.agenda.plan(self.now + think + 50, SimulatedEvent::Post { task, attempt: MOST_POSTS });
        }
    }

    pub(super) fn post(&mut self, task: usize, _: u32) {
        if !matches!(self.tasks[task].stage, Stage::Form | Stage::Working) {
            return;
        }
        let job = &self.tasks[task].job;
        let form = self.account_of(task).card_form(job.key.as_str(), NEXT_PAGE, CARD_PAGE);
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(form.hidden_fields());
        body.append_pair("cardNumber", job.card.number);
        body.append_pair("cardExpiryMonth", "12").append_pair("cardExpiryYear", job.card.year);
        body.append_pair("cardCV2", CV2).append_pair("cardholderName", "A. Customer");
        let request = Request::post(form.action())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Bytes::from(body.finish()))
            .expect("a request");
        self.tasks[task].posts += 1;
        let (caller, from) = (Caller::Customer { task }, IpAddr::from([203, 0, 113, 7]));
        self.send(Call::new(caller, request, from, self.now));
    }

    /// The browser gets an answer. In any case, the merchant continues when the customer returns or gives up.
    pub(super) fn posted(&mut self, task: usize, response: &Response<Bytes>) {
        let to = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
        if self.tasks[task].challenge.is_some() {
            self.answered(task, to);
        } else if to.starts_with(NEXT_PAGE) {
            self.come_back(task);
        } else {
            self.not_posted(task);
        }
    }

    pub(super) fn not_posted(&mut self, task: usize) {
        if self.tasks[task].challenge.is_some() {
            return self.answered(task, "");
        }
        if self.tasks[task].posts < MOST_POSTS {
            let pause = self.customers.between(1_000, 20_000);
            self.agenda.plan(self.now + pause, SimulatedEvent::Post { task, attempt: self.tasks[task].posts });
        } else {
            self.come_back(task);
        }
    }

    /// The customer returns to the shop. A second return changes nothing.
    fn come_back(&mut self, task: usize) {
        let name = self.tasks[task].job.name.clone();
        self.note(format_args!("the customer of {name} is back at the shop"));
        if self.tasks[task].stage == Stage::Form {
            self.agenda.plan(self.now + 100, SimulatedEvent::Begin { task });
        }
    }
}
