//! Callbacks of the account updater. The network treats them like requests, and strangers can forge them.

use bytes::Bytes;
use http::Request;
use pg_proto::UpdaterHint;
use pg_sandbox::{
    Outgoing,
    records::{BatchCards, Payment},
    store::StoredRecord as _,
};
use serde_json::{Value, json};

use super::{World, browsing::after};
use crate::{
    agenda::{Millis, SimulatedEvent},
    job::hosted::PAID_PAGE,
    job::{CALLBACK_PAGE, Kind},
    run::OwnerEvent,
    service::MERCHANTS,
    task::Task,
};

/// How long a process keeps a callback from the others.
const CLAIM: Millis = 60_000;

/// A callback in flight.
pub(super) struct Sent {
    /// The process that sent it and the service's number of it; `None` for a forged one.
    id: Option<(usize, String)>,
    request: Request<Bytes>,
    /// The merchant that it goes to.
    client: usize,
}

impl World<'_> {
    /// Lets the service send its due callbacks.
    pub(super) fn look_for_due(&mut self) {
        let Some(at) = self.service.next_due() else { return };
        let at = at.max(self.now + 1);
        if self.looks_at.is_none_or(|planned| planned > at || planned <= self.now) {
            self.looks_at = Some(at);
            self.agenda.plan(at, SimulatedEvent::Due);
        }
    }

    pub(super) fn due(&mut self) {
        self.looks_at = None;
        for process in 0..self.service.processes() {
            let Some(due) = self.service.due(process, self.now) else {
                self.note(format_args!("the service crashes over its callbacks"));
                self.after_crash();
                continue;
            };
            for outgoing in due {
                self.send_callback(process, &outgoing);
            }
        }
    }

    fn send_callback(&mut self, process: usize, outgoing: &Outgoing) {
        let id = &outgoing.id;
        if let Some((before, at)) = self.handed_out.insert(id.clone(), (process, self.now))
            && before != process
            && self.now < at + CLAIM
        {
            self.violate("a callback has one sender", format!("processes {before} and {process} send callback {id}"));
        }
        let client = self.addressee(&outgoing.request);
        let body = String::from_utf8_lossy(outgoing.request.body()).into_owned();
        self.acknowledged.extend(after(&body, "trans_key=").map(|key| (Payment::KIND, key.to_owned())));
        let times = self.network.carry_callback();
        self.note(format_args!("the service sends callback {id}, which comes {} times", times.len()));
        if times.is_empty() {
            self.delivered(process, id, false);
        }
        for delay in times {
            let Some(client) = client else { continue };
            let callback = self.callbacks.len();
            self.callbacks.push(Sent { id: Some((process, id.clone())), request: outgoing.request.clone(), client });
            self.agenda.plan(self.now + delay, SimulatedEvent::Callback { callback });
        }
    }

    fn delivered(&mut self, process: usize, id: &str, arrived: bool) {
        self.handed_out.remove(id);
        if !self.service.delivered(process, self.now, id, arrived) {
            self.note(format_args!("the service crashes over the report of callback {id}"));
            self.after_crash();
        }
    }

    fn addressee(&self, request: &Request<Bytes>) -> Option<usize> {
        if let Some(task) = self.checkout_of(request) {
            return Some(self.tasks[task].client);
        }
        let hint = UpdaterHint::read(request).ok()?;
        self.owner_of(hint.claimed().batch_key.as_str())
    }

    /// The client that a batch belongs to.
    fn owner_of(&self, batch: &str) -> Option<usize> {
        let merchant = self.service.store.batch(batch)?.merchant().to_owned();
        MERCHANTS.iter().position(|name| *name == merchant)
    }

    /// Delivers a callback to the merchant's server, which passes it to every account update.
    pub(super) fn callback(&mut self, callback: usize) {
        let Sent { id, client, .. } = &self.callbacks[callback];
        let (id, client, up) = (id.clone(), *client, self.clients[*client].up);
        let what = id.as_ref().map_or("that a stranger made up", |(_, id)| id).to_owned();
        self.note(format_args!("callback {what} reaches client {client}{}", if up { "" } else { ", which is down" }));
        if let Some((process, id)) = id {
            self.delivered(process, &id, up);
        }
        if let Some(task) = self.checkout_of(&self.callbacks[callback].request) {
            return self.tell_of_payment(task, callback);
        }
        let Ok(hint) = UpdaterHint::read(&self.callbacks[callback].request) else { return };
        if up {
            let updates = |task: &usize| {
                let task = &self.tasks[*task];
                task.client == client && task.job.kind == Kind::Update && task.run.is_some()
            };
            let tasks: Vec<usize> = (0..self.tasks.len()).filter(updates).collect();
            for task in tasks {
                self.tell(task, OwnerEvent::Hint(hint.clone()));
            }
        }
    }

    /// Passes on a callback that names a payment. The client uses only the key.
    fn tell_of_payment(&mut self, task: usize, callback: usize) {
        let body = self.callbacks[callback].request.body();
        let key = form_urlencoded::parse(body).find(|(name, _)| name == "trans_key");
        if let Some((_, key)) = key {
            let what = OwnerEvent::Paid(key.into_owned());
            self.tell(task, what);
        }
    }

    /// Forges a callback of an unknown payment, or of another merchant's.
    fn forge_payment(&mut self, client: usize, task: usize) {
        let keys: Vec<String> = self.service.store.ledger(|ledger| ledger.payments.keys().cloned().collect());
        let key = if keys.is_empty() || self.chance.per_mille(300) {
            "f".repeat(32)
        } else {
            keys[usize::try_from(self.chance.below(keys.len() as u64)).unwrap_or_default()].clone()
        };
        let url = format!("{PAID_PAGE}?order={}", self.tasks[task].job.name);
        let body = format!("trans_key={key}&status=1");
        let Ok(request) = Request::post(url).body(Bytes::from(body)) else { return };
        self.callbacks.push(Sent { id: None, request, client });
        self.agenda.plan(self.now, SimulatedEvent::Callback { callback: self.callbacks.len() - 1 });
    }

    /// Forges a callback of an unknown batch, or with a wrong result.
    pub(super) fn forge(&mut self, client: usize) {
        if self.healed {
            return;
        }
        let open = |task: &Task| task.client == client && task.job.kind == Kind::Checkout && task.run.is_some();
        if let Some(task) = self.tasks.iter().position(open) {
            self.forge_payment(client, task);
        }
        let of_client = self.tasks.iter().filter(|task| task.client == client);
        let keys = of_client.flat_map(|task| task.job.source.iter());
        let entries: Vec<Value> = keys.map(|key| json!({ "oldCardKey": key.as_str(), "response": "704" })).collect();
        let batches: Vec<BatchCards> = self.service.store.batches().unwrap_or_default();
        let batch = match batches.len() {
            0 => "0".repeat(32),
            _ if self.chance.per_mille(300) => "f".repeat(32),
            count => batches[usize::try_from(self.chance.below(count as u64)).unwrap_or_default()].key.clone(),
        };
        let body = json!({ "batchKey": batch, "createdOn": "2026-05-04T10:00:00+00:00", "cardKeyDetails": entries });
        let Ok(request) = Request::post(CALLBACK_PAGE).body(Bytes::from(body.to_string())) else { return };
        self.callbacks.push(Sent { id: None, request, client });
        self.agenda.plan(self.now, SimulatedEvent::Callback { callback: self.callbacks.len() - 1 });
    }
}
