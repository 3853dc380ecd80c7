//! Worlds with several processes of the service: bursts that only their common limit stops, and an operator whose orders hold for all
//! of them.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use pg_model::{Encoding, Initiate};

use super::World;
use crate::{
    network::{Call, Caller},
    service::PER_MINUTE,
    spoken::value,
};

/// The HTTP status of the operator's fault, which no other reply has.
const INJECTED: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

impl World<'_> {
    /// Another program of the first merchant opens more sessions at once than its limit allows.
    pub(super) fn burst(&mut self) {
        if self.healed {
            return;
        }
        let account = self.clients[0].right_account().clone().encoding(Encoding::Json);
        let from = self.clients[0].address;
        self.note(format_args!("another program of client 0 opens {} sessions", 2 * PER_MINUTE));
        for _ in 0..2 * PER_MINUTE {
            let request = account.request(&Initiate::new("https://shop.example/error")).expect("a valid request");
            self.send(Call { open: false, ..Call::new(Caller::Stranger, request, from, self.now) });
        }
    }

    /// An operator lets the next calls fail, whichever process they reach.
    pub(super) fn operate(&mut self, calls: u32) {
        if self.healed || !self.service.is_up() {
            return;
        }
        let order = format!(r#"{{"method":"*","kind":"status","status":{},"times":{calls}}}"#, INJECTED.as_u16());
        let request = Request::post("http://127.0.0.1:8480/_sandbox/faults").body(Bytes::from(order));
        let reply = self.service.serve_at_once(self.now, request.expect("a valid request"));
        self.note(format_args!("an operator lets {calls} calls fail: {}", reply.status()));
        if reply.status().is_success() {
            self.faults_left = self.faults_left.map(|left| left + calls);
        } else {
            self.operated_over_a_crash();
        }
    }

    /// The operator takes back what no call has met.
    pub(super) fn revoke_orders(&mut self) {
        if self.service.processes() == 1 {
            return;
        }
        if !self.service.is_up() {
            self.start_service();
        }
        let request = Request::delete("http://127.0.0.1:8480/_sandbox/faults").body(Bytes::new());
        let reply = self.service.serve_at_once(self.now, request.expect("a valid request"));
        self.faults_left = self.faults_left.filter(|_| reply.status().is_success()).map(|_| 0);
    }

    /// A process crashed: the use of a fault may be rolled back.
    pub(super) fn operated_over_a_crash(&mut self) {
        self.faults_left = None;
    }

    /// Checks that an answer of the service follows the rules of all its processes.
    pub(super) fn hold_to_orders(&mut self, call: usize, response: &Response<Bytes>) {
        let path = self.calls[call].request.uri().path().to_owned();
        if !["/v3/", "/enterprise/"].iter().any(|prefix| path.starts_with(prefix)) {
            return;
        }
        let failed = response.status() == INJECTED;
        match self.faults_left {
            Some(left) if (left > 0) != failed => {
                let what = format!("call {call} {}", if failed { "failed" } else { "did not fail" });
                self.violate("an order holds for every process", what);
            }
            Some(left) => self.faults_left = Some(left.saturating_sub(1)),
            None => {}
        }
        let of_first = self.calls[call].from == self.clients[0].address;
        let body = String::from_utf8_lossy(response.body());
        if of_first && path.contains("/session/initiate") && value(&body, "sessionKey").is_some() {
            self.opened.push(self.now);
        }
    }
}
