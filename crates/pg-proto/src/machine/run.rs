//! Runs a machine in a test: its clock and its last action.

use std::{fmt::Debug, time::Duration};

use bytes::Bytes;

use super::{Action, Event, Failure, Machine, Moment, SavedState, exchange::UNTIL_THE_REPLY};

/// 2024-05-01T12:00:00Z.
pub(super) const NOON: Moment = Moment::from_millis(1_714_564_800_000);

/// A machine that asks its owner something.
pub(super) trait Tested: Machine<Demand: Debug, Outcome: Debug> + Debug {
    /// Texts that no output may contain.
    const CANARIES: &'static [&'static str];

    fn resumed(saved: &SavedState) -> Self;
}

pub(super) struct Run<M: Machine> {
    pub(super) machine: M,
    pub(super) now: Moment,
    pub(super) last: Option<Action<M::Demand, M::Outcome>>,
    /// The methods of all requests.
    pub(super) sent: Vec<String>,
    steps: usize,
}

impl<M: Tested> Run<M> {
    pub(super) fn of(machine: M) -> Self {
        Self { machine, now: NOON, last: None, sent: Vec::new(), steps: 0 }
    }

    pub(super) fn step(&mut self, event: Event<M::Input>) -> &mut Self {
        self.steps += 1;
        assert!(self.steps < 10_000, "it does not end");
        self.last = Some(self.machine.step(event, self.now, self.steps as u64 * 77));
        let shown = format!("{} {:?}", self.machine.save(), self.machine);
        assert!(M::CANARIES.iter().all(|canary| !shown.contains(canary)), "{shown}");
        if !self.method().is_empty() {
            self.sent.push(self.method().to_owned());
        }
        self
    }

    pub(super) fn input(&mut self, input: M::Input) -> &mut Self {
        self.step(Event::Input(input))
    }

    pub(super) fn say(&mut self, body: &str) -> &mut Self {
        self.say_with(200, body)
    }

    pub(super) fn say_with(&mut self, status: u16, body: &str) -> &mut Self {
        assert!(matches!(self.last, Some(Action::Send(_))), "{:?}", self.last);
        let reply = http::Response::builder().status(status).body(Bytes::copy_from_slice(body.as_bytes()));
        self.step(Event::Reply(reply.unwrap()))
    }

    /// Answers with an error, under the names of both versions.
    pub(super) fn refuse(&mut self, code: &str) -> &mut Self {
        let status = match code {
            "3" | "102" | "105" | "123" => 401,
            "106" | "121" | "122" | "936" => 403,
            "999" => 500,
            _ => 400,
        };
        let name = if self.path().starts_with("/v3/") { "errorCode" } else { "errorcode" };
        self.say_with(status, &format!("<serviceResponse><{name}>{code}</{name}></serviceResponse>"))
    }

    pub(super) fn fail(&mut self, failure: Failure) -> &mut Self {
        assert!(matches!(self.last, Some(Action::Send(_))), "{:?}", self.last);
        self.step(Event::Failed(failure))
    }

    /// Waits as long as the machine asks.
    pub(super) fn wait(&mut self) -> &mut Self {
        while let Some(Action::WaitUntil(until)) = self.last {
            assert!(until > self.now && until != UNTIL_THE_REPLY, "{until:?}");
            self.now = until;
            self.step(Event::Woken);
        }
        self
    }

    pub(super) fn later(&mut self, seconds: u64) -> &mut Self {
        self.now = self.now.after(Duration::from_secs(seconds));
        self
    }

    /// Sets the clock back.
    pub(super) fn earlier(&mut self, by: Duration) -> &mut Self {
        self.now = Moment::from_millis(self.now.since(Moment::default().after(by)).as_millis() as u64);
        self
    }

    /// Returns how long the machine wants to wait.
    #[track_caller]
    pub(super) fn waits(&self) -> Duration {
        match self.last {
            Some(Action::WaitUntil(until)) => until.since(self.now),
            ref last => panic!("it does not wait: {last:?}"),
        }
    }

    /// Returns the method of the request to send.
    pub(super) fn method(&self) -> &str {
        self.path().rsplit('/').find(|part| *part != "xml").unwrap_or_default()
    }

    fn path(&self) -> &str {
        match &self.last {
            Some(Action::Send(request)) => request.uri().path(),
            _ => "",
        }
    }

    pub(super) fn crash(&mut self) -> &mut Self {
        self.machine = M::resumed(&SavedState::from_text(self.machine.save().text()));
        self.step(Event::Begin)
    }

    #[track_caller]
    pub(super) fn ended(&self) -> &M::Outcome {
        match &self.last {
            Some(Action::Done(outcome)) => outcome,
            last => panic!("not over: {last:?}"),
        }
    }

    #[track_caller]
    pub(super) fn asked(&self) -> &M::Demand {
        match &self.last {
            Some(Action::Ask(demand)) => demand,
            last => panic!("asks nothing: {last:?}"),
        }
    }
}
