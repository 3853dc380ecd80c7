//! Merchants' servers drive machines as required: throttle, disk, network, and back.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use pg_proto::machine::{Event, Failure, Moment, account_update::BatchResult, throttle::Permit};

use super::World;
use crate::{
    agenda::SimulatedEvent,
    job::{Job, Kind},
    network::{Call, Caller},
    run::{Claim, OwnerEvent, Step},
    task::Stage,
};

/// A machine with a longer wait does not wake in this world.
const LONGEST_SLEEP: u64 = 40 * 24 * 3_600_000;

impl World<'_> {
    /// Starts a task when its server is up and may send.
    pub(super) fn begin(&mut self, task: usize) {
        let client = self.tasks[task].client;
        let stopped = self.clients[client].throttle().stopped().is_some() && self.chance.per_mille(500);
        if !self.clients[client].up || stopped {
            self.agenda.plan(self.now + 30_000, SimulatedEvent::Begin { task });
            return;
        }
        let account = self.clients[client].account();
        let one = &mut self.tasks[task];
        let run = match one.stage {
            Stage::Waiting if one.job.kind == Kind::Session => {
                one.stage = Stage::Opening;
                Job::open_session(account)
            }
            Stage::Waiting | Stage::Form => {
                one.stage = Stage::Working;
                self.conduct.begin(&one.job, account)
            }
            _ => return,
        };
        one.disk = None;
        one.run = Some(run);
        let (name, kind, pence, turn) = (one.job.name.clone(), one.job.kind, one.job.pence, one.turn);
        self.note(format_args!("client {client} begins {name}: {kind:?} of {pence}"));
        self.feed(task, turn, Event::Begin);
    }

    /// Continues a stopped machine.
    pub(super) fn go_on(&mut self, task: usize, turn: u32) {
        let one = &self.tasks[task];
        let client = one.client;
        if one.turn != turn || one.run.is_some() || !self.clients[client].up {
            return;
        }
        if self.healed && self.clients[client].throttle().stopped().is_some() {
            // An operator restarts the server, and everything on it continues.
            return self.mend_credentials(client);
        }
        self.resume(task);
    }

    /// Resumes a task after a crash from its saved state, or starts it again if there is none.
    pub(super) fn resume(&mut self, task: usize) {
        let client = self.tasks[task].client;
        let account = self.clients[client].account();
        let with_request = !self.chance.per_mille(300);
        let elsewhere = self.resume_elsewhere(task, with_request);
        let one = &mut self.tasks[task];
        let run = match (one.stage, &one.disk, elsewhere) {
            (Stage::Working, Some(_), Some(run)) => run,
            (Stage::Opening, ..) => Job::open_session(account),
            (Stage::Working, None, _) => self.conduct.begin(&one.job, account),
            (Stage::Working, Some(saved), None) => self.conduct.resume(&one.job, saved, account, with_request),
            _ => return,
        };
        one.run = Some(run);
        let (name, turn, stored) = (one.job.name.clone(), one.turn, one.disk.is_some());
        let how = match (stored, with_request) {
            (false, _) => "from the beginning",
            (true, true) => "with its request",
            (true, false) => "without its request",
        };
        self.note(format_args!("client {client} goes on with {name} {how}"));
        self.feed(task, turn, Event::Begin);
    }

    /// Passes an event to a machine, and follows its answer.
    pub(super) fn feed(&mut self, task: usize, turn: u32, event: Event) {
        let client = self.tasks[task].client;
        if self.tasks[task].turn != turn || !self.clients[client].up {
            return;
        }
        let (now, random) = (self.clients[client].clock(self.now), self.random.next());
        let one = &mut self.tasks[task];
        let Some(run) = one.run.as_mut() else { return };
        one.busy = false;
        let step = run.step(event, now, random);
        self.follow(task, step);
        self.empty_inbox(task);
    }

    /// Passes an input to a machine as soon as possible.
    pub(super) fn tell(&mut self, task: usize, what: OwnerEvent) {
        // No machine takes inputs while the server is down, or before and after it runs.
        if self.tasks[task].run.is_some() {
            self.tasks[task].inbox.push_back(what);
            self.empty_inbox(task);
        }
    }

    fn empty_inbox(&mut self, task: usize) {
        while !self.tasks[task].busy && self.tasks[task].run.is_some() {
            let Some(what) = self.tasks[task].inbox.pop_front() else { return };
            let (now, random) = (self.clients[self.tasks[task].client].clock(self.now), self.random.next());
            let step = self.tasks[task].run.as_mut().and_then(|run| run.told(&what, now, random));
            if let Some(step) = step {
                self.follow(task, step);
            }
        }
    }

    /// Follows a step of a machine.
    fn follow(&mut self, task: usize, step: Step) {
        let now = self.clients[self.tasks[task].client].clock(self.now);
        let one = &mut self.tasks[task];
        let Some(run) = one.run.as_mut() else { return };
        one.turn += 1;
        one.steps += 1;
        let (saved, shown) = (run.save(), run.shown());
        for (what, text) in [("the stored state", &saved), ("the Debug output", &shown)] {
            if let Some(secret) = self.secrets.found_in(text) {
                let name = self.tasks[task].job.name.clone();
                self.violate("secrets stay secret", format!("{secret} in {what} of {name}"));
            }
        }
        if self.stores_eagerly && !matches!(step, Step::Send(_)) {
            self.tasks[task].disk = Some(saved);
        }
        match step {
            Step::Send(request) => self.submit(task, request),
            Step::WaitUntil(until) => self.sleep(task, now, until),
            Step::Challenge(url, until) => self.challenge(task, url, until),
            Step::Redirect(url, until) => self.lead(task, url, now, until),
            Step::Decide(until) => self.deciding(task, now, until),
            Step::Take(result) => self.take(task, result),
            Step::Ended(claim) => self.end(task, claim),
        }
    }

    /// Stores a result and confirms it. After a crash in between, it is offered again.
    fn take(&mut self, task: usize, result: Arc<BatchResult>) {
        let number = result.number;
        let name = self.tasks[task].job.name.clone();
        self.note(format_args!("{name} brings the result of batch {number}: {:?}", result.how));
        self.tasks[task].results.push(result);
        if self.may_crash(50) {
            return self.crash_client(self.tasks[task].client);
        }
        self.tasks[task].inbox.push_front(OwnerEvent::Taken(number));
    }

    pub(super) fn sleep(&mut self, task: usize, now: Moment, until: Moment) {
        self.store_throttle(self.tasks[task].client);
        let pause = until.millis().saturating_sub(now.millis());
        let (name, turn) = (self.tasks[task].job.name.clone(), self.tasks[task].turn);
        self.note(format_args!("{name} waits {pause} ms"));
        if pause <= LONGEST_SLEEP {
            self.agenda.plan(self.now + pause, SimulatedEvent::Wake { task, turn });
        }
    }

    pub(super) fn wake(&mut self, task: usize, turn: u32) {
        self.feed(task, turn, Event::Woken);
    }

    /// Sends a request of a machine.
    fn submit(&mut self, task: usize, request: Request<Bytes>) {
        let client = self.tasks[task].client;
        self.tasks[task].busy = true;
        let ticket = if self.conduct.asks_throttle() {
            let now = self.clients[client].clock(self.now);
            match self.clients[client].throttle().ask(now) {
                Permit::Go(ticket) => Some(ticket),
                Permit::WaitUntil(until) => return self.park(task, request, now, until),
                Permit::Stopped(_) if !self.conduct.heeds_stops() => None,
                Permit::Stopped(_) => {
                    let turn = self.tasks[task].turn;
                    let name = self.tasks[task].job.name.clone();
                    self.note(format_args!("{name} is held back"));
                    return self.feed(task, turn, Event::Failed(Failure::HeldBack));
                }
            }
        } else {
            None
        };
        self.store_throttle(client);
        if self.conduct.stores_first() {
            self.store(task);
            if self.may_crash(20) {
                return self.crash_client(client);
            }
        }
        let one = &mut self.tasks[task];
        one.payments_sent += u32::from(is_payment(&request));
        let caller = Caller::Task { task, turn: one.turn };
        let from = self.clients[client].address;
        self.send(Call { ticket, ..Call::new(caller, request, from, self.now) });
        if self.may_crash(30) {
            return self.crash_client(client);
        }
        if !self.conduct.stores_first() {
            self.store(task);
        }
    }

    fn park(&mut self, task: usize, request: Request<Bytes>, now: Moment, until: Moment) {
        let pause = until.millis().saturating_sub(now.millis()).clamp(1, LONGEST_SLEEP);
        let one = &mut self.tasks[task];
        one.parked = Some(request);
        let (turn, name) = (one.turn, one.job.name.clone());
        self.note(format_args!("the throttle lets {name} wait {pause} ms"));
        // A reply to another machine may free it earlier, but need not.
        self.agenda.plan(self.now + pause, SimulatedEvent::AskAgain { task, turn });
    }

    pub(super) fn ask_again(&mut self, task: usize, turn: u32) {
        let up = self.clients[self.tasks[task].client].up;
        if self.tasks[task].turn == turn
            && up
            && let Some(request) = self.tasks[task].parked.take()
        {
            self.submit(task, request);
        }
    }

    /// Whether the server crashes here, with this chance in a thousand.
    pub(super) fn may_crash(&mut self, times: u64) -> bool {
        self.crashes_at_sends && !self.healed && self.chance.per_mille(times)
    }

    pub(super) fn store(&mut self, task: usize) {
        let one = &mut self.tasks[task];
        one.disk = one.run.as_ref().map(|run| run.save());
    }

    pub(super) fn store_throttle(&mut self, client: usize) {
        let Self { clients, secrets, .. } = self;
        if let Some(secret) = secrets.found_in(clients[client].store_throttle()) {
            self.violate("secrets stay secret", format!("{secret} in the stored throttle"));
        }
    }

    /// A machine has ended.
    fn end(&mut self, task: usize, claim: Claim) {
        let one = &mut self.tasks[task];
        if claim == Claim::Stopped {
            one.disk = one.run.as_ref().map(|run| run.save());
        }
        one.run = None;
        let name = one.job.name.clone();
        if one.stage == Stage::Opening {
            return self.session_opened(task, claim);
        }
        one.inbox.clear();
        if claim == Claim::Stopped {
            // Its state is saved once more, and it continues later.
            let turn = one.turn;
            self.note(format_args!("{name} stops for now"));
            self.agenda.plan(self.now + 600_000, SimulatedEvent::GoOn { task, turn });
            return;
        }
        if self.may_crash(100) {
            self.note(format_args!(
                "{name} has ended as {}, and its server crashes before it records that",
                claim.label()
            ));
            return self.crash_client(self.tasks[task].client);
        }
        let one = &mut self.tasks[task];
        one.stage = Stage::Ended;
        let kind = one.job.kind;
        let pays = kind.pays() || kind == Kind::Checkout;
        one.claim = Some(claim.clone());
        self.ended.push(task);
        let extra = self.conduct.also_logs(&self.tasks[task].job);
        self.note(format_args!("{name} ends: {}{}", claim.label(), extra.unwrap_or_default()));
        let counted = match &claim {
            Claim::Unknown { why, .. } => format!("{kind:?} unknown: {why}"),
            Claim::NotOpened { why } => format!("{kind:?} not opened: {why}"),
            known => format!("{kind:?} {}", known.label()),
        };
        *self.tally.claims.entry(counted).or_default() += 1;
        match claim {
            Claim::Approved { key } if pays => self.follow_up(task, &key),
            Claim::Done { brought } if matches!(kind, Kind::Capture | Kind::Repeat) => self.follow_up(task, &brought),
            _ => {}
        }
    }

    pub(super) fn account_of(&self, task: usize) -> Arc<pg_proto::Account> {
        self.clients[self.tasks[task].client].account()
    }
}

fn is_payment(request: &Request<Bytes>) -> bool {
    let path = request.uri().path();
    path.contains("/transaction/auth") || path.contains("/transaction/preauth")
}
