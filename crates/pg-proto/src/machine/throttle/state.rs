//! The state of a throttle: slots, failures, and the reason for a stop.

use std::{collections::VecDeque, time::Duration};

use serde::{Deserialize, Deserializer, Serialize};

use super::{StopReason, ThrottleLimits, Ticket, came_back::CameBack};
use crate::machine::Moment;

/// A minute as the service counts it, plus a second for two clocks that round and drift.
const WINDOW: Duration = Duration::from_secs(61);
/// A day as the service counts it, plus the same second.
const DAY: Duration = Duration::from_secs(24 * 60 * 60 + 1);
/// The longest time for which a reply stops sending.
const LONGEST_CLOSED: Duration = Duration::from_secs(301);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) limits: ThrottleLimits,
    pub(super) next: u64,
    /// Tickets with a lower number belong to the wrong credentials.
    pub(super) renewed: u64,
    pub(super) flights: Vec<Flight>,
    /// When the slots of finished requests become free, in order. A client with high limits asks often, so a request
    /// must not scan all of them.
    #[serde(deserialize_with = "sorted")]
    pub(super) slots: VecDeque<Moment>,
    /// Failures of the last day, each with the latest time at which it can have happened.
    pub(super) failures: Vec<Moment>,
    /// Lost requests since the credentials were last accepted, each with the latest time at which it was executed. Only
    /// as many are kept as the limits need.
    pub(super) unanswered: Vec<Moment>,
    /// Whether the service has accepted the credentials.
    pub(super) accepted: bool,
    pub(super) stopped: Option<StopReason>,
    pub(super) closed_until: Option<Moment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Flight {
    pub(super) ticket: u64,
    pub(super) sent: Moment,
}

impl State {
    pub(super) const fn new(limits: ThrottleLimits) -> Self {
        Self {
            limits,
            next: 0,
            renewed: 0,
            flights: Vec::new(),
            slots: VecDeque::new(),
            failures: Vec::new(),
            unanswered: Vec::new(),
            accepted: false,
            stopped: None,
            closed_until: None,
        }
    }

    /// Frees the slot of a request that was answered now in a minute.
    pub(super) fn hold(&mut self, now: Moment) {
        self.free_at(now.after(WINDOW));
    }

    fn free_at(&mut self, free: Moment) {
        // Only the slots of lost requests become free later than that of the newest reply.
        let later = self.slots.iter().rev().take_while(|slot| **slot > free).count();
        self.slots.insert(self.slots.len() - later, free);
    }

    /// Drops entries that no longer count, and entries in the future, which only exist if the clock was set back.
    pub(super) fn tidy(&mut self, now: Moment) {
        let latest = now.after(self.limits.longest_way);
        let longest = latest.after(WINDOW);
        self.slots.iter_mut().rev().take_while(|free| **free > longest).for_each(|free| *free = longest);
        while self.slots.front().is_some_and(|free| *free <= now) {
            self.slots.pop_front();
        }
        for failure in self.failures.iter_mut().chain(&mut self.unanswered) {
            *failure = (*failure).min(latest);
        }
        self.failures.retain(|failure| failure.after(DAY) > now);
        self.unanswered.retain(|lost| lost.after(DAY) > now);
        let reopens = now.after(LONGEST_CLOSED);
        self.closed_until = self.closed_until.map(|until| until.min(reopens)).filter(|until| *until > now);
        let mut at = 0;
        while let Some(flight) = self.flights.get_mut(at) {
            flight.sent = flight.sent.min(now);
            if flight.sent.after(self.limits.longest_way) > now {
                at += 1;
            } else {
                let lost = self.flights.remove(at);
                self.lose(lost);
            }
        }
        if self.unanswered.is_empty() && self.stopped == Some(StopReason::Unanswered) {
            self.stopped = None;
        }
    }

    pub(super) fn why_stopped(&mut self) -> Option<StopReason> {
        let doubt = !self.accepted && !self.unanswered.is_empty();
        if self.stopped.is_none() && doubt && self.flights.is_empty() && self.failures_left() > 0 && self.places() == 0
        {
            self.stopped = Some(StopReason::Unanswered);
        }
        self.stopped.clone()
    }

    pub(super) fn why_waiting(&self) -> Option<Moment> {
        let landed = || self.flights.iter().map(|flight| flight.sent.after(self.limits.longest_way)).min();
        if self.closed_until.is_some() {
            return self.closed_until;
        }
        if self.failures_left() == 0 {
            // With a limit of no failures, nothing is ever permitted.
            let oldest = self.failures.iter().min();
            return Some(oldest.map_or(Moment::from_millis(u64::MAX), |oldest| oldest.after(DAY)));
        }
        if self.flights.len() >= self.places() {
            return Some(landed().unwrap_or(Moment::from_millis(u64::MAX)));
        }
        if self.flights.len() + self.slots.len() >= size(self.limits.per_minute) {
            let free = self.slots.front().copied().into_iter().chain(landed()).min();
            return Some(free.unwrap_or(Moment::from_millis(u64::MAX)));
        }
        None
    }

    fn failures_left(&self) -> usize {
        size(self.limits.failures).saturating_sub(self.failures.len())
    }

    /// Returns how many requests may be in flight.
    fn places(&self) -> usize {
        let doubtful = if self.accepted { 0 } else { self.unanswered.len() };
        self.failures_left().saturating_sub(doubtful).min(size(self.limits.in_flight))
    }

    pub(super) fn land(&mut self, ticket: &Ticket) -> Option<Flight> {
        let at = self.flights.iter().position(|flight| flight.ticket == ticket.0)?;
        Some(self.flights.swap_remove(at))
    }

    pub(super) fn lose(&mut self, flight: Flight) {
        let latest = flight.sent.after(self.limits.longest_way);
        self.free_at(latest.after(WINDOW));
        self.doubt(latest);
    }

    /// Counts all requests in flight as lost: the process that waited for their replies has ended.
    pub(super) fn lose_all(&mut self) {
        for flight in std::mem::take(&mut self.flights) {
            self.lose(flight);
        }
    }

    /// Permits requests again. Requests that were lost after a refusal had the refused credentials.
    pub(super) fn resume(&mut self) {
        if let Some(StopReason::Credentials(_)) = self.stopped {
            self.failures.append(&mut self.unanswered);
        }
        self.renew();
    }

    /// Marks the credentials of later requests as neither accepted nor refused.
    fn renew(&mut self) {
        self.stopped = None;
        self.renewed = self.next;
        self.accepted = false;
        self.unanswered.clear();
    }

    /// Replaces the credentials that failed. The service counts failures by address, so old failures count until it
    /// accepts the new credentials. One request at a time is always permitted.
    pub(super) fn change_credentials(&mut self) {
        let mut counted = std::mem::take(&mut self.failures);
        if !self.accepted {
            counted.append(&mut self.unanswered);
        }
        self.renew();
        counted.sort_unstable();
        counted.reverse();
        counted.truncate(size(self.limits.failures).saturating_sub(1));
        self.unanswered = counted;
    }

    /// Records a request that may have failed without a reply.
    fn doubt(&mut self, latest: Moment) {
        if self.unanswered.len() < size(self.limits.failures) {
            self.unanswered.push(latest);
        }
    }

    /// `current` says that the request had the present credentials.
    pub(super) fn learn(&mut self, came_back: CameBack, current: bool, now: Moment) {
        match came_back {
            CameBack::Accepted if current && !matches!(self.stopped, Some(StopReason::Credentials(_))) => {
                // Earlier lost requests had the same credentials.
                (self.accepted, self.stopped) = (true, None);
                self.unanswered.clear();
            }
            CameBack::CredentialError(code) => {
                self.failures.push(now);
                if current {
                    // Earlier lost requests may have failed in the same way.
                    self.failures.append(&mut self.unanswered);
                    self.accepted = false;
                    self.stopped = Some(StopReason::Credentials(code));
                }
            }
            CameBack::Closed(pause) => self.closed_until = self.closed_until.max(Some(now.after(pause))),
            CameBack::Doubtful => self.doubt(now),
            CameBack::Accepted | CameBack::Other => {}
        }
    }
}

/// Sorts the slots, which states of earlier versions have in any order.
fn sorted<'de, D: Deserializer<'de>>(deserializer: D) -> Result<VecDeque<Moment>, D::Error> {
    let mut slots = VecDeque::<Moment>::deserialize(deserializer)?;
    slots.make_contiguous().sort_unstable();
    Ok(slots)
}

pub(super) fn size(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
