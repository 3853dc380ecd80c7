//! Requests reach the service, and replies leave it.

use bytes::Bytes;
use http::{Response, header};
use pg_proto::machine::{Event, Failure};
use pg_sandbox::{
    records::{BatchCards, CheckoutToken, Payment, Session},
    store::StoredRecord as _,
};

use super::{World, browsing::after};
use crate::{
    agenda::SimulatedEvent,
    network::{Call, Caller},
    service::received,
    spoken::{value, values},
};

/// The service handles requests that arrive within this time together.
const GROUPED: u64 = 20;
/// A request that is executed later than this after it was sent counts towards no limit of its sender.
const LONGEST_WAY: u64 = 120_000;

impl World<'_> {
    /// Passes a request to the network.
    pub(super) fn send(&mut self, mut call: Call) {
        let number = self.calls.len();
        let fate = self.network.carry(self.now, number, self.service.is_up(), &mut self.agenda);
        call.doubled = fate.copies() > 1;
        if let Caller::Task { task, .. } = call.caller {
            self.tasks[task].doubled |= call.doubled;
        }
        let (path, caller) = (call.request.uri().path().to_owned(), self.name(call.caller));
        self.calls.push(call);
        self.note(format_args!("{caller} sends call {number} {path}: {fate}"));
    }

    pub(super) fn arrive(&mut self, call: usize, copy: u32) {
        if !self.service.is_up() {
            self.note(format_args!("call {call}.{copy} arrives while the service is down"));
            if self.calls[call].open {
                self.agenda.plan(self.now + 1, SimulatedEvent::NoReply { call, sent: true });
            }
            return;
        }
        if self.waiting.is_empty() {
            let pause = self.chance.below(GROUPED);
            self.agenda.plan(self.now + pause, SimulatedEvent::Serve);
        }
        self.waiting.push((call, copy));
    }

    pub(super) fn serve(&mut self) {
        let group = std::mem::take(&mut self.waiting);
        if group.is_empty() || !self.service.is_up() {
            return;
        }
        let requests: Vec<_> =
            group.iter().map(|&(call, _)| received(self.calls[call].request.clone(), self.calls[call].from)).collect();
        self.tally.requests += requests.len() as u64;
        let firsts: Vec<bool> = group.iter().map(|&(call, _)| self.is_first(call)).collect();
        let Some(responses) = self.service.serve(self.now, requests) else {
            self.note(format_args!("the service crashes over {}", listed(&group)));
            self.after_crash();
            return;
        };
        if std::mem::take(&mut self.mute) {
            self.note(format_args!("the service crashes after {} and before the replies", listed(&group)));
            self.service.crash();
            self.after_crash();
            return;
        }
        for (((call, copy), response), first) in group.into_iter().zip(responses).zip(firsts) {
            if first
                && !self.calls[call].doubled
                && self.spoken.refuses_credentials(&response)
                && let Some(client) = self.client_of(call)
            {
                self.refused[client].push(self.now);
            }
            self.hold_to_orders(call, &response);
            self.release(call, copy, response);
        }
    }

    /// Sends a reply: from now on its content must remain true.
    fn release(&mut self, call: usize, copy: u32, mut response: Response<Bytes>) {
        let said = summary(&response);
        self.acknowledge(&response);
        let mut fate = String::new();
        let mut times = 1 + u32::from(self.network.brings_again());
        while times > 0 {
            times -= 1;
            let reply = self.calls[call].replies.len();
            match self.network.bring(&mut response) {
                None => fate.push_str(" lost"),
                Some(delay) => {
                    fate.push_str(&format!(" in {delay} ms"));
                    self.calls[call].replies.push(response.clone());
                    self.agenda.plan(self.now + delay, SimulatedEvent::Reply { call, reply });
                }
            }
        }
        self.note(format_args!("the service answers call {call}.{copy} with {said}, which comes{fate}"));
    }

    /// Records everything that a reply names.
    fn acknowledge(&mut self, response: &Response<Bytes>) {
        let body = String::from_utf8_lossy(response.body());
        for (kind, name) in [
            (Payment::KIND, "transactionKey"),
            (Session::KIND, "sessionKey"),
            (BatchCards::KIND, "batchKey"),
            (CheckoutToken::KIND, "tokenid"),
            (Payment::KIND, "trans_key"),
        ] {
            self.acknowledged.extend(values(&body, name).map(|key| (kind, key.to_owned())));
        }
        let to = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
        for text in [to, &body] {
            self.acknowledged.extend(after(text, "trans_key=").map(|key| (Payment::KIND, key.to_owned())));
        }
    }

    /// Whether it is the first copy to be executed: only first copies count towards the limits of their sender.
    fn is_first(&mut self, call: usize) -> bool {
        let first = !std::mem::replace(&mut self.calls[call].executed, true);
        if first
            && self.now - self.calls[call].sent <= LONGEST_WAY
            && let Some(client) = self.client_of(call)
        {
            self.executed[client].push(self.now);
        }
        first
    }

    fn client_of(&self, call: usize) -> Option<usize> {
        match self.calls[call].caller {
            Caller::Task { task, .. } => Some(self.tasks[task].client),
            Caller::Customer { .. } | Caller::Tab { .. } | Caller::Stranger => None,
        }
    }

    /// A reply reaches its caller.
    pub(super) fn reply(&mut self, call: usize, reply: usize) {
        if !self.calls[call].open {
            self.note(format_args!("a reply to call {call} comes too late"));
            return;
        }
        self.calls[call].open = false;
        let response = self.calls[call].replies[reply].clone();
        match self.calls[call].caller {
            Caller::Stranger => {}
            Caller::Customer { task } => self.posted(task, &response),
            Caller::Tab { tab } => self.shows(tab, call, &response),
            Caller::Task { task, turn } => {
                let client = self.tasks[task].client;
                let now = self.clients[client].clock(self.now);
                if let Some(ticket) = self.calls[call].ticket.take() {
                    self.clients[client].throttle().answered(ticket, &response, now);
                    self.store_throttle(client);
                }
                self.feed(task, turn, Event::Reply(response));
            }
        }
    }

    /// Tells the caller that no reply will arrive.
    pub(super) fn no_reply(&mut self, call: usize, sent: bool) {
        if !std::mem::take(&mut self.calls[call].open) {
            return;
        }
        match self.calls[call].caller {
            Caller::Stranger => {}
            Caller::Customer { task } => self.not_posted(task),
            Caller::Tab { tab } => self.shows_nothing(tab, call),
            Caller::Task { task, turn } => {
                let client = self.tasks[task].client;
                let now = self.clients[client].clock(self.now);
                if let Some(ticket) = self.calls[call].ticket.take() {
                    let throttle = self.clients[client].throttle();
                    if sent {
                        throttle.lost(ticket, now)
                    } else {
                        throttle.unsent(ticket)
                    }
                    self.store_throttle(client);
                }
                let failure = if sent { Failure::MaybeSent } else { Failure::NotSent };
                self.note(format_args!("call {call} has no reply: {failure:?}"));
                self.feed(task, turn, Event::Failed(failure));
            }
        }
    }

    pub(super) fn name(&self, caller: Caller) -> String {
        match caller {
            Caller::Task { task, .. } => {
                format!("client {} for {}", self.tasks[task].client, self.tasks[task].job.name)
            }
            Caller::Customer { task } => format!("the customer of {}", self.tasks[task].job.name),
            Caller::Tab { tab } => format!("the customer of {} in tab {tab}", self.name_of_tab(tab)),
            Caller::Stranger => "a stranger".to_owned(),
        }
    }
}

fn listed(group: &[(usize, u32)]) -> String {
    group.iter().map(|(call, copy)| format!("call {call}.{copy}")).collect::<Vec<_>>().join(", ")
}

/// Status and code of a reply.
fn summary(response: &Response<Bytes>) -> String {
    let body = String::from_utf8_lossy(response.body());
    let code = ["errorCode", "transactionStatusCode"].iter().find_map(|name| value(&body, name));
    match code {
        Some((code, _)) => format!("{} {code}", response.status().as_u16()),
        None => response.status().as_u16().to_string(),
    }
}
