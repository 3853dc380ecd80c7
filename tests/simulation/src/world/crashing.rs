//! Processes crash and restart, clocks jump, configurations are wrong for a while, and finally no fault occurs.

use bytes::Bytes;
use http::Request;
use pg_model::{DeleteToken, DisableToken, EnableToken, Encoding, TransactionLookup};

use super::World;
use crate::{
    agenda::{CardKeyChange, Millis, SimulatedEvent},
    network::{Call, Caller},
    run::Run,
    scenario::Disturbance,
    task::{Stage, Task},
    weather::NetworkConditions,
};

impl World<'_> {
    /// Plans a crash of the service: at one of its next operations on the store, or between a commit and the replies.
    pub(super) fn plan_crash(&mut self, operations: u32) {
        if self.service.is_up() && !self.healed {
            if operations == 0 {
                self.mute = true;
            } else {
                self.service.store.crash_in(operations);
            }
        }
    }

    /// Handles a crash of the service: connections break, and it is restarted.
    pub(super) fn after_crash(&mut self) {
        self.tally.crashes += 1;
        self.operated_over_a_crash();
        self.mute = false;
        self.waiting.clear();
        let pause = self.chance.between(100, 120_000);
        self.agenda.plan(self.now + pause, SimulatedEvent::ServerStart);
        for call in 0..self.calls.len() {
            if self.calls[call].open && self.chance.per_mille(700) {
                self.agenda.plan(self.now + 1, SimulatedEvent::NoReply { call, sent: true });
            }
        }
    }

    pub(super) fn start_service(&mut self) {
        self.service.start();
        self.note(format_args!("the service starts again"));
    }

    pub(super) fn crash_client(&mut self, client: usize) {
        if !self.clients[client].up {
            return;
        }
        self.tally.crashes += 1;
        self.note(format_args!("client {client} crashes"));
        self.clients[client].up = false;
        for task in self.tasks.iter_mut().filter(|task| task.client == client) {
            task.run = None;
            task.parked = None;
            task.busy = false;
            task.inbox.clear();
            task.turn += 1;
        }
        let tasks = &self.tasks;
        for call in &mut self.calls {
            if matches!(call.caller, Caller::Task { task, .. } if tasks[task].client == client) {
                call.open = false;
            }
        }
        let pause = if self.chance.per_mille(800) {
            self.chance.between(500, 60_000)
        } else {
            self.chance.between(60_000, 20 * 60_000)
        };
        self.agenda.plan(self.now + pause, SimulatedEvent::ClientStart { client });
    }

    pub(super) fn start_client(&mut self, client: usize) {
        self.note(format_args!("client {client} starts again"));
        self.clients[client].start();
        for task in 0..self.tasks.len() {
            let one = &self.tasks[task];
            if one.client == client && matches!(one.stage, Stage::Opening | Stage::Working) && self.clients[client].up {
                self.resume(task);
            }
        }
    }

    /// Resumes a machine on a server that was started with another merchant's configuration, if it resumes.
    pub(super) fn resume_elsewhere(&mut self, task: usize, with_request: bool) -> Option<Box<dyn Run>> {
        let mixed_up = self.mixups.per_mille(250) && self.scenario.has(Disturbance::OtherAccounts) && !self.healed;
        let Task { client, job, disk: Some(saved), stage: Stage::Working, .. } = &self.tasks[task] else { return None };
        if !mixed_up {
            return None;
        }
        let other = self.clients[1 - client].account();
        let run = self.conduct.resume_elsewhere(job, saved, other, with_request);
        let (name, how) = (job.name.clone(), if run.is_some() { "taken" } else { "refused" });
        self.note(format_args!("{name} is given the account of another merchant: {how}"));
        run
    }

    pub(super) fn jump(&mut self, client: usize, forwards: bool, by: Millis) {
        if self.healed {
            return;
        }
        let by = i64::try_from(by).unwrap_or_default();
        self.clients[client].ahead += if forwards { by } else { -by };
        self.clients[client].jumped = true;
        let ahead = self.clients[client].ahead;
        self.note(format_args!("the clock of client {client} jumps: it is {ahead} ms ahead"));
    }

    /// Deploys a wrong configuration: the server restarts with it.
    pub(super) fn break_credentials(&mut self, client: usize) {
        if !self.healed {
            self.configure(client, true);
        }
    }

    /// An operator corrects the credentials, whether or not the fault was noticed.
    pub(super) fn mend_credentials(&mut self, client: usize) {
        if self.clients[client].misconfigured || self.clients[client].throttle().stopped().is_some() {
            self.configure(client, false);
        }
    }

    /// The throttle notices changed credentials itself. An operator who corrects them confirms it.
    fn configure(&mut self, client: usize, wrong: bool) {
        self.note(format_args!(
            "client {client} is configured with {} password",
            if wrong { "a wrong" } else { "the right" }
        ));
        let now = self.clients[client].clock(self.now);
        let one = &mut self.clients[client];
        if std::mem::replace(&mut one.misconfigured, wrong) == wrong {
            one.throttle().resume_sending(now);
            one.store_throttle();
        }
        self.crash_client(client);
    }

    /// A program behind the client's address with wrong credentials.
    pub(super) fn stranger(&mut self, client: usize) {
        let account = self.clients[client].wrong_account().clone().encoding(Encoding::Json);
        let lookup = TransactionLookup::new().merchant_reference("x");
        let request: Request<Bytes> = account.request(&lookup).expect("a valid request");
        let from = self.clients[client].address;
        self.send(Call { open: false, ..Call::new(Caller::Stranger, request, from, self.now) });
    }

    /// Another program of the merchant changes a stored card, and does not wait for the answer.
    pub(super) fn change_card_key(&mut self, task: usize, what: CardKeyChange) {
        let Task { client, job, .. } = &self.tasks[task];
        let (client, key) = (&self.clients[*client], job.key.as_str());
        let account = client.right_account();
        let request = match what {
            CardKeyChange::Disable => account.request(&DisableToken::new(key)),
            CardKeyChange::Enable => account.request(&EnableToken::new(key)),
            CardKeyChange::Delete => account.request(&DeleteToken::new(key)),
        };
        let request = request.expect("a valid request");
        let call = Call { open: false, ..Call::new(Caller::Stranger, request, client.address, self.now) };
        let name = job.name.clone();
        self.note(format_args!("the stored card of {name} is changed: {what:?}"));
        self.send(call);
    }

    /// Another program of the merchant pays something else under the same reference. One of the two payments is refused.
    pub(super) fn pay_another(&mut self, task: usize) {
        let Task { client, job, .. } = &self.tasks[task];
        let client = &self.clients[*client];
        let (name, request) = (job.name.clone(), job.foreign(client.right_account()));
        let call = Call { open: false, ..Call::new(Caller::Stranger, request, client.address, self.now) };
        self.note(format_args!("another program pays something else under {name}"));
        self.send(call);
    }

    /// Ends all faults. Messages in flight still arrive.
    pub(super) fn heal(&mut self) {
        self.healed = true;
        self.network.weather = NetworkConditions::default();
        self.mute = false;
        self.service.store.crash_in(u32::MAX);
        self.note(format_args!("from now on nothing fails any more"));
        self.revoke_orders();
        for client in 0..self.clients.len() {
            self.mend_credentials(client);
        }
    }
}
