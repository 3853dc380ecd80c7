//! The survey: one request at a time.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use pg_proto::{
    Account,
    machine::{
        Action, Event, Failure, Moment, Never, ResumeError, SavedState,
        throttle::{AccountThrottle, Permit, StopReason, Throttle, ThrottleLimits, Ticket},
    },
    model::{Dialect, Encoding, method::MethodInfo},
};

use crate::{
    answer::Answer,
    answer::Evidence,
    build, dialect,
    notes::Notes,
    options::Options,
    plan::Plan,
    probe::{Cost, Probe, Reads},
    probes::{self, CONTROL},
    reading,
    report::{Ending, Report},
};

/// The pause after a failed control request: the minute that the service counts, and a second.
const REST: Duration = Duration::from_secs(61);
/// The maximum number of consecutive pauses.
const RESTS: u32 = 3;
/// How many times a harmless request without a reply is resent.
const AGAIN: u32 = 2;

/// The progress of a survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Finished probes.
    pub done: usize,
    /// All probes.
    pub total: usize,
    /// The current request.
    pub doing: &'static str,
    /// Whether it pauses because the control request failed.
    pub pauses: bool,
}

/// A survey of one account; see [the crate](crate).
///
/// Drive it as a machine of [`pg_proto::machine`]: send its requests, pass it the replies, and wait when it asks for
/// that.
pub struct Survey {
    account: Account,
    options: Options,
    probes: Vec<&'static Probe>,
    /// The next probe.
    at: usize,
    notes: Notes,
    throttle: AccountThrottle,
    flight: Option<Flight>,
    /// A refusal whose code is new, until the control request has succeeded.
    held: Option<Answer>,
    /// The first refusal of the control request.
    limit: Option<Answer>,
    /// Whether the control request has succeeded since it became necessary.
    proved: bool,
    rest: Option<Moment>,
    rests: u32,
    tries: u32,
    /// Whether a request with unreadable credentials was refused for them: then no other such request is sent.
    refused: bool,
    requests: usize,
    /// Whether a payment was sent and has no reply.
    unanswered_payment: bool,
    ended: Option<Ending>,
}

/// The request in flight.
struct Flight {
    ticket: Ticket,
    is_control: bool,
    /// The method's facts; `None` for a page.
    info: Option<&'static MethodInfo>,
    pays: bool,
    version_5: bool,
    /// Its body, to mask its secrets in the reply.
    body: Bytes,
}

impl Survey {
    /// Creates a survey that has sent nothing yet. `seed` generates unused references and keys; use a random one.
    #[must_use]
    pub fn new(account: &Account, options: Options, seed: u64) -> Self {
        // The survey makes no assumptions, so the account's dialect does not affect the result.
        let account = account.clone().with_dialect(Dialect::documented()).encoding(Encoding::Json);
        let probes = probes::chosen(&options, account.base_urls().count() > 1);
        Self {
            throttle: AccountThrottle::new(&account, limits(&options), seed),
            account,
            options,
            probes,
            at: 0,
            notes: Notes::new(seed),
            flight: None,
            held: None,
            limit: None,
            proved: false,
            rest: None,
            rests: 0,
            tries: 0,
            refused: false,
            requests: 0,
            unanswered_payment: false,
            ended: None,
        }
    }

    /// Resumes the throttle of an earlier survey from what [`saved_throttle`](Self::saved_throttle) returned: its requests of the last
    /// minute and its failed logins of the last day count.
    ///
    /// # Errors
    /// If it is not the state of a throttle.
    pub fn resume_throttle(mut self, saved: &SavedState) -> Result<Self, ResumeError> {
        self.throttle = AccountThrottle::resume(saved, &self.account, limits(&self.options))?;
        Ok(self)
    }

    /// Returns the state of the throttle, which must be stored before each request and at the end. It contains no
    /// credentials.
    #[must_use]
    pub fn saved_throttle(&self) -> SavedState {
        self.throttle.save()
    }

    /// Ends the survey early. [`report`](Self::report) and [`dialect`](Self::dialect) return the findings so far; a
    /// request without a reply decides nothing.
    pub fn interrupt(&mut self, now: Moment) {
        if let Some(flight) = self.flight.take() {
            self.unanswered_payment |= flight.pays;
            self.lane(flight.version_5).lost(flight.ticket, now);
        }
        let ending = if self.unanswered_payment { Ending::InterruptedInPayment } else { Ending::Interrupted };
        self.ended.get_or_insert(ending);
    }

    /// Returns the requests that it will send.
    #[must_use]
    pub fn plan(&self) -> Plan {
        Plan::of(&self.probes)
    }

    /// Returns the progress.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let doing = self.probes.get(self.at).filter(|_| self.proved).map_or(CONTROL.what, |probe| probe.what);
        Progress { done: self.at, total: self.probes.len(), doing, pauses: self.rest.is_some() }
    }

    /// Returns the findings so far, compared with a dialect.
    #[must_use]
    pub fn report(&self, ours: &Dialect) -> Report {
        let ending = self.ended.clone().unwrap_or(Ending::Complete);
        Report::of(ending, (self.requests, self.unanswered_payment), &self.notes, ours)
    }

    /// Returns the dialect of the observations, and no more.
    #[must_use]
    pub fn dialect(&self, name: &str) -> Arc<Dialect> {
        Arc::new(dialect::written(name, &self.notes))
    }

    /// Handles an event and returns the next action. An unexpected event changes nothing.
    pub fn step(&mut self, event: Event, now: Moment) -> Action<Never, Ending> {
        match event {
            Event::Reply(response) => self.answered(&response, now),
            Event::Failed(failure) => self.failed(failure, now),
            Event::Begin | Event::Woken => {}
            Event::Input(never) => match never {},
        }
        self.next(now)
    }

    fn next(&mut self, now: Moment) -> Action<Never, Ending> {
        loop {
            if let Some(ending) = &self.ended {
                return Action::Done(ending.clone());
            }
            if self.flight.is_some() {
                return Action::WaitUntil(Moment::from_millis(u64::MAX));
            }
            if let Some(until) = self.rest.filter(|until| *until > now) {
                // A clock that was set back does not make the wait longer.
                let until = until.min(now.after(REST));
                self.rest = Some(until);
                return Action::WaitUntil(until);
            }
            let is_control = !self.proved;
            let probe = if is_control { &CONTROL } else { self.probes.get(self.at).copied().unwrap_or(&CONTROL) };
            if !is_control && self.at >= self.probes.len() {
                self.ended = Some(Ending::Complete);
                continue;
            }
            if !is_control && self.is_left_out(probe) {
                self.at += 1;
                continue;
            }
            match build::request(&self.account, &probe.request, &mut self.notes, &self.options) {
                Ok(request) => return self.ask(request, probe, is_control, now),
                Err(why) => {
                    reading::failed(probe, &why, &mut self.notes);
                    self.at += 1;
                }
            }
        }
    }

    fn is_left_out(&mut self, probe: &Probe) -> bool {
        if self.refused && probe.unreadable {
            self.notes.undecided(
                &probe.decides(),
                "the credentials of an earlier request were refused, so no further requests were sent",
            );
            return true;
        }
        if let Some(why) = reading::cannot_decide(probe, &self.notes) {
            self.notes.undecided(&probe.decides(), why);
            return true;
        }
        probe.unless.is_some_and(|point| self.notes.sighting(point).is_some())
    }

    /// Sends a request as soon as the throttle permits it.
    fn ask(
        &mut self,
        request: http::Request<Bytes>,
        probe: &Probe,
        is_control: bool,
        now: Moment,
    ) -> Action<Never, Ending> {
        let version_5 = probe.request.is_of_version_5();
        match self.lane(version_5).ask(now) {
            Permit::Go(ticket) => {
                let info = probe.request.info();
                let pays = probe.cost == Cost::Payment;
                self.flight = Some(Flight { ticket, is_control, info, pays, version_5, body: request.body().clone() });
                self.requests += 1;
                Action::Send(request)
            }
            Permit::WaitUntil(moment) => Action::WaitUntil(moment),
            Permit::Stopped(stop) => {
                let ending = match stop {
                    // A refusal of this survey has ended it.
                    StopReason::Credentials(code) => Ending::CredentialsRefusedEarlier(code),
                    _ => Ending::Unanswered,
                };
                self.ended = Some(ending.clone());
                Action::Done(ending)
            }
        }
    }

    const fn lane(&mut self, version_5: bool) -> &mut Throttle {
        if version_5 { self.throttle.enterprise() } else { self.throttle.gateway() }
    }

    fn answered(&mut self, response: &http::Response<Bytes>, now: Moment) {
        let Some(flight) = self.flight.take() else { return };
        let answer = Answer::of(response, &flight.body, flight.info);
        self.tries = 0;
        if answer.refuses_credentials() || answer.says_locked_out() || (flight.is_control && answer.is_session()) {
            self.lane(flight.version_5).answered(flight.ticket, response, now);
        } else {
            // The control request shows whether an unknown code is about the account; the throttle could only guess.
            self.lane(flight.version_5).answered(flight.ticket, &says_nothing(), now);
        }
        if answer.says_locked_out() {
            self.ended = Some(Ending::LockedOut(answer.code));
        } else if flight.is_control {
            self.controlled(answer, now);
        } else {
            self.probed(answer, now);
        }
    }

    /// Handles the reply to the control request.
    fn controlled(&mut self, answer: Answer, now: Moment) {
        if answer.refuses_credentials() {
            self.ended = Some(Ending::CredentialsRefused(answer.code));
            return;
        }
        if !answer.is_session() {
            // A status that limits the rate needs no code, and passes.
            if self.notes.text(CONTROL.name).is_err() && answer.code.is_empty() && answer.http != 429 {
                self.ended = Some(Ending::NotTheService(answer.head()));
                return;
            }
            self.rests += 1;
            if self.rests > RESTS || (answer.is_documented() && answer.http < 500) {
                let what = if answer.is_foreign() { answer.head() } else { answer.seen().to_string() };
                self.ended = Some(Ending::Unavailable(what));
                return;
            }
            self.limit.get_or_insert(answer);
            self.rest = Some(now.after(REST));
            return;
        }
        self.proved = true;
        self.rest = None;
        if self.notes.text(CONTROL.name).is_err() {
            reading::read(&CONTROL, &answer, &self.account, &mut self.notes);
        }
        self.rests = 0;
        // Every request got this refusal until a minute had passed.
        let limit = self.limit.take().filter(|limit| !limit.code.is_empty() && limit.http < 500);
        if let Some(limit) = &limit {
            self.notes.sight("rate-limit-exceeded", limit.seen(), &Evidence::of(&CONTROL, limit));
        }
        let Some(held) = self.held.take() else { return };
        // A refusal that is about the account proves nothing about the probe, which is resent.
        if limit.is_none_or(|limit| limit.code != held.code) {
            self.notes.believe(&held.code);
            self.decide(&held);
        }
    }

    /// Handles the reply to a probe.
    fn probed(&mut self, answer: Answer, now: Moment) {
        let Some(probe) = self.probes.get(self.at) else { return };
        if answer.refuses_credentials() {
            if !probe.unreadable {
                self.ended = Some(Ending::CredentialsRefused(answer.code));
                return;
            }
            // This is only one failure. The control request shows whether the valid credentials still work.
            self.refused = true;
            if self.lane(false).stopped().is_some() {
                self.lane(false).resume_sending(now);
            }
            self.proved = false;
            self.decide(&answer);
        } else if answer.is_success() || answer.is_documented() || self.is_believed(probe, &answer) {
            self.decide(&answer);
        } else {
            self.proved = false;
            self.held = Some(answer);
        }
    }

    /// Whether a reply decides its points without a control request. Redirects and pages are not refusals. A code is
    /// trusted after the next successful control request.
    fn is_believed(&self, probe: &Probe, answer: &Answer) -> bool {
        let is_page = matches!(probe.reads, Reads::SessionData | Reads::CardTaken(_) | Reads::Ignored);
        (is_page && answer.http < 400) || (!answer.code.is_empty() && self.notes.believes(&answer.code))
    }

    fn decide(&mut self, answer: &Answer) {
        if let Some(probe) = self.probes.get(self.at) {
            reading::read(probe, answer, &self.account, &mut self.notes);
        }
        self.at += 1;
    }

    /// Handles a missing reply. A request that may have paid is never resent.
    fn failed(&mut self, failure: Failure, now: Moment) {
        let Some(flight) = self.flight.take() else { return };
        let lane = self.lane(flight.version_5);
        if failure == Failure::MaybeSent {
            lane.lost(flight.ticket, now);
            self.unanswered_payment |= flight.pays;
        } else {
            lane.unsent(flight.ticket)
        }
        self.tries += 1;
        let probe = self.probes.get(self.at).filter(|_| !flight.is_control);
        let once = probe.is_some_and(|probe| probe.cost.is_money()) && failure != Failure::NotSent;
        if self.tries > AGAIN {
            self.ended = Some(Ending::NotReachable);
        } else if let Some(probe) = probe.filter(|_| once) {
            reading::failed(probe, "no reply to the request", &mut self.notes);
            self.at += 1;
        }
    }
}

/// A refusal waits for its control request, so only one request is in flight at a time.
fn limits(options: &Options) -> ThrottleLimits {
    ThrottleLimits::default().per_minute(options.per_minute).in_flight(1)
}

/// Returns a reply that is not about the account.
fn says_nothing() -> http::Response<Bytes> {
    let mut response = http::Response::new(Bytes::from_static(br#"{"errorCode":"0"}"#));
    *response.status_mut() = http::StatusCode::BAD_REQUEST;
    response
}

impl std::fmt::Debug for Survey {
    /// Generates no references and no keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Survey").field("progress", &self.progress()).field("ended", &self.ended).finish_non_exhaustive()
    }
}
