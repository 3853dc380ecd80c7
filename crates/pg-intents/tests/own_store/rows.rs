//! What each change does to a row. A store in a database says the same in SQL.

use std::{fmt::Write as _, time::Duration};

use pg_intents::{
    Directive, EVENTS, IntentEnd, IntentKey, IntentKind, IntentRest, IntentRow, IntentStatus, NewIntent, ShareWish,
};
use serde::{Deserialize, Serialize};

/// A row, and what callers do not see of it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stored {
    #[serde(with = "Row")]
    pub(super) row: IntentRow,
    /// The events that the machine has not processed.
    pub(super) events: Vec<(i32, String)>,
    /// The next lookup of the plan.
    planned: Option<i64>,
    /// Until then events do not make it due.
    quiet: i64,
    /// Until then the outbox does not return it again.
    hidden: i64,
}

/// A share of an account's limits.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Share {
    owner: String,
    /// The end of its lease.
    pub(super) due: i64,
    /// It rests until then.
    usable: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "IntentRow")]
struct Row {
    #[serde(with = "Key")]
    key: IntentKey,
    kind: String,
    digest: String,
    request: Option<String>,
    state: String,
    version: i32,
    asks: Option<String>,
    inbox: i32,
    #[serde(serialize_with = "status_to", deserialize_with = "status_of")]
    status: IntentStatus,
    fence: i64,
    owner: Option<String>,
    due: i64,
    claims: i32,
    lookups: i32,
    outcome: Option<String>,
    event: i32,
    told: i32,
    created: i64,
    changed: i64,
    history: String,
    read_at: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "IntentKey")]
struct Key {
    account: String,
    reference: String,
}

fn status_to<S: serde::Serializer>(status: &IntentStatus, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i16(status.code())
}

fn status_of<'de, D: serde::Deserializer<'de>>(from: D) -> Result<IntentStatus, D::Error> {
    i16::deserialize(from).map(IntentStatus::of)
}

/// Returns a time after this one. A duration that is too long lasts forever.
pub(super) fn later(now: i64, duration: Duration) -> i64 {
    now.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

impl Stored {
    pub(super) fn begun(new: NewIntent, now: i64) -> Self {
        let lease = if new.owner.is_some() { new.lease } else { Duration::ZERO };
        let row = IntentRow {
            key: new.key,
            kind: new.kind,
            digest: new.digest,
            request: new.request,
            state: new.state,
            version: new.version,
            asks: None,
            inbox: 0,
            status: IntentStatus::Open,
            fence: 1,
            owner: new.owner,
            due: later(now, lease),
            claims: 0,
            lookups: 0,
            outcome: None,
            event: 0,
            told: 0,
            created: now,
            changed: now,
            history: String::new(),
            read_at: now,
        };
        Self { row, events: Vec::new(), planned: None, quiet: now, hidden: now }
    }

    /// Returns the row as it is read now.
    pub(super) fn at(&self, now: i64) -> IntentRow {
        IntentRow { read_at: now, ..self.row.clone() }
    }

    fn kind<'a>(&self, kinds: &'a [IntentKind]) -> Option<&'a IntentKind> {
        kinds.iter().find(|kind| kind.name == self.row.kind && kind.version >= self.row.version)
    }

    pub(super) fn is_due(&self, account: &str, kinds: &[IntentKind], now: i64) -> bool {
        self.row.key.account == account && self.kind(kinds).is_some() && self.at(now).is_due()
    }

    pub(super) fn is_free_for(&self, owner: &str, kinds: &[IntentKind], now: i64) -> bool {
        let free = self.row.due <= now || self.row.owner.as_deref().is_none_or(|current| current == owner);
        free && self.row.status < IntentStatus::Parked && self.kind(kinds).is_some()
    }

    pub(super) fn claimed(&self, owner: &str, lease: Duration, kinds: &[IntentKind], now: i64) -> Self {
        let mut claimed = self.clone();
        let row = &mut claimed.row;
        if row.owner.as_deref() != Some(owner) || row.due <= now {
            row.claims += 1;
        }
        if claimed.planned.is_some_and(|planned| planned <= now) {
            row.lookups += 1;
            claimed.planned = None;
        }
        row.fence += 1;
        row.owner = Some(owner.to_owned());
        row.due = later(now, lease);
        row.version = self.kind(kinds).map_or(row.version, |kind| kind.version);
        row.asks = None;
        claimed.log(owner, "claimed", now);
        claimed
    }

    pub(super) fn release(&mut self, wake: Duration, now: i64) {
        self.row.owner = None;
        self.row.due = later(now, wake);
        self.row.claims = (self.row.claims - 1).max(0);
    }

    pub(super) fn end(&mut self, end: IntentEnd, now: i64) {
        let owner = self.row.owner.take().unwrap_or_default();
        if self.row.outcome.as_ref() != Some(&end.outcome) {
            self.row.event += 1;
        }
        self.row.status = end.status;
        self.row.state = end.state;
        self.row.outcome = Some(end.outcome);
        self.row.asks = None;
        self.row.due = i64::MAX;
        if end.status != IntentStatus::Parked {
            self.row.claims = 0;
        }
        self.quiet = later(now, end.quiet);
        self.hidden = now;
        match end.status {
            IntentStatus::Ended => self.events.clear(),
            IntentStatus::Unknown => {
                self.events.retain(|(number, _)| *number > end.heard);
                self.planned = self.planned.or(end.wake.map(|wake| later(now, wake)));
                let heard = if self.events.is_empty() { i64::MAX } else { self.quiet };
                self.row.due = self.planned.unwrap_or(i64::MAX).min(heard);
            }
            IntentStatus::Open | IntentStatus::Parked => self.planned = None,
        }
        self.log(&owner, end.status.name(), now);
    }

    pub(super) fn rest(&mut self, rest: IntentRest, now: i64) {
        self.events.retain(|(number, _)| *number > rest.heard);
        self.row.status = IntentStatus::Open;
        self.row.state = rest.state;
        self.row.asks = rest.asks;
        self.row.owner = None;
        self.row.claims = 0;
        let wake = if self.events.is_empty() { later(now, rest.wake) } else { now };
        self.row.due = self.planned.unwrap_or(i64::MAX).min(wake);
    }

    pub(super) fn deliver(&mut self, event: &str, now: i64) -> bool {
        if self.row.status == IntentStatus::Ended {
            return false;
        }
        self.row.inbox += 1;
        self.row.changed = now;
        self.events.retain(|(_, waiting)| waiting != event);
        self.events.push((self.row.inbox, event.to_owned()));
        if self.events.len() > EVENTS as usize {
            self.events.remove(EVENTS as usize / 2);
        }
        // What an operator has parked has no claims.
        if self.row.status == IntentStatus::Parked && self.row.claims > 0 {
            self.row.status = IntentStatus::Unknown;
            self.row.claims -= 2;
        }
        if self.row.owner.is_none() && self.row.status < IntentStatus::Parked {
            self.row.due = self.row.due.min(now.max(self.quiet));
        }
        true
    }

    pub(super) fn direct(&mut self, directive: Directive, now: i64) -> bool {
        if self.row.status == IntentStatus::Ended {
            return false;
        }
        self.row.fence += 1;
        self.row.owner = None;
        (self.row.claims, self.row.lookups, self.planned, self.quiet) = (0, 0, None, now);
        let back = if self.row.outcome.is_some() { IntentStatus::Unknown } else { IntentStatus::Open };
        (self.row.status, self.row.due) = match directive {
            Directive::Park => (IntentStatus::Parked, i64::MAX),
            Directive::Reconcile => (back, now),
        };
        self.log("-", "directed", now);
        true
    }

    pub(super) fn is_untold(&self, account: &str, now: i64) -> bool {
        self.row.key.account == account && self.row.told < self.row.event && self.hidden <= now
    }

    pub(super) fn hidden(&self, visibility: Duration, now: i64) -> Self {
        Self { hidden: later(now, visibility), ..self.clone() }
    }

    /// Adds a line to the history, and drops the oldest ones.
    fn log(&mut self, owner: &str, what: &str, now: i64) {
        let (fence, history) = (self.row.fence, &mut self.row.history);
        // Writing into a string cannot fail.
        let _ = writeln!(history, "{now} {owner} {fence} {what}");
        while history.len() > 4096 {
            let line = history.find('\n').map_or(history.len(), |end| end + 1);
            history.drain(..line);
        }
        self.row.changed = now;
    }
}

/// Takes or keeps shares for a worker, and returns how many it may use.
pub(super) fn take_shares(shares: &mut Vec<Share>, wish: &ShareWish<'_>, now: i64) -> u32 {
    let total = wish.total as usize;
    // A process with larger limits has the shares beyond the total of this one.
    shares.resize(shares.len().max(total), Share::default());
    let (mut usable, mut left) = (0, if wish.most == 0 { wish.total } else { wish.most });
    let end = later(now, wish.lease);
    for share in shares.iter_mut().take(total).filter(|share| share.owner == wish.owner) {
        if left > 0 {
            share.due = end;
            left -= 1;
            usable += u32::from(share.usable <= now);
        }
    }
    let others = shares.iter_mut().take(total).filter(|share| share.owner != wish.owner && share.due <= now);
    for share in others.filter(|_| wish.most > 0) {
        if left > 0 {
            // From now on, and not from a time that a clock may have shown too early.
            let rests = if share.owner.is_empty() { 0 } else { later(now, wish.quarantine) };
            *share = Share { owner: wish.owner.to_owned(), due: end, usable: rests };
            left -= 1;
            usable += u32::from(rests <= now);
        }
    }
    if wish.most > 0 && left > 0 {
        // Such a lease began while the clock was ahead.
        let longest = later(now, wish.longest.max(wish.lease));
        shares
            .iter_mut()
            .filter(|share| share.owner != wish.owner)
            .for_each(|share| share.due = share.due.min(longest));
    }
    usable
}

#[test]
fn shares_taken_while_the_clock_was_ahead_do_not_rest_until_the_time_that_it_showed() {
    const DAY: i64 = 86_400_000;
    let (mut shares, minute) = (Vec::new(), Duration::from_secs(60));
    let mut take = |owner, most, lease, now| {
        let (account, longest, quarantine) = ("shop", minute, Duration::ZERO);
        take_shares(&mut shares, &ShareWish { account, owner, total: 1, most, lease, longest, quarantine }, now)
    };
    for owner in ["w1", "w2"] {
        assert_eq!(take(owner, 1, minute, DAY), 1);
        take(owner, 0, Duration::ZERO, DAY);
    }
    assert_eq!(take("w3", 1, minute, DAY), 1);
    // The clock is right again: the lease of `w3` is shortened to a minute.
    assert_eq!([take("w4", 1, minute, 0), take("w4", 1, minute, 60_000)], [0, 1]);
}
