//! Answers a group of requests in one transaction.

use bytes::Bytes;
use http::Response;

use super::{Sandbox, events, expected};
use crate::{
    extensions::ResponseDelivery,
    inbound::Inbound,
    route::Route,
    store::{Change, StoreError},
    timestamp::Timestamp,
};

/// Sandbox time between two sweeps for CV2s whose session has ended.
const SWEEP_MILLIS: i64 = 60_000;
/// The size of responses after which a group ends: only sent responses count towards the limit of unread ones.
const LARGE: usize = 1 << 20;
/// The number of attempts of a request whose transaction was rolled back by a conflict or a lost connection.
pub(super) const ATTEMPTS: u32 = 8;

/// Why a transaction was rolled back.
struct Undone {
    error: StoreError,
    may_try_again: bool,
}

/// The real time of a group, read once at its beginning. If several processes share the store, it is read again whenever it
/// is needed: the group waits for its turn, and its requests may follow from a group of another process that had the turn
/// before.
#[derive(Clone, Copy)]
struct RealTime<'a> {
    beginning: Timestamp,
    later: Option<&'a dyn Fn() -> Timestamp>,
}

impl RealTime<'_> {
    fn now(self) -> Timestamp {
        self.later.map_or(self.beginning, |read| read())
    }
}

impl Sandbox {
    /// As [`handle_group`](Self::handle_group), but does not wait for the disk: **no response may be sent** before a
    /// later call of the [`Syncer`](crate::store::Syncer) has returned.
    ///
    /// Before the write, `more` may add requests that have arrived meanwhile; it is called until it adds none. If
    /// responses are large, the group ends early: then there are fewer responses than requests, and the last requests
    /// have no response.
    pub(crate) fn answer_group(
        &mut self,
        read_clock: &dyn Fn() -> Timestamp,
        requests: &mut Vec<Inbound>,
        more: &mut dyn FnMut(&mut Vec<Inbound>),
    ) -> Vec<Response<Bytes>> {
        let real_now = read_clock();
        self.sweep(real_now);
        let time = RealTime { beginning: real_now, later: self.store.is_shared().then_some(read_clock) };
        let journaled = self.journal.last();
        let responses = self.answer_or_split(time, requests, more);
        for (inbound, response) in requests.iter().zip(&responses) {
            let is_sent = ResponseDelivery::of(response) != ResponseDelivery::Close;
            self.metrics.request(&inbound.route, is_sent.then(|| response.status()));
        }
        if let Some(log) = &self.settings.log {
            self.journal.after(journaled).for_each(|entry| events::request(log, &entry.entry()));
            for (inbound, response) in requests.iter().zip(&responses) {
                if matches!(inbound.route, Route::Control(_) | Route::Inspector(_)) {
                    events::control(log, real_now, &inbound.request, inbound.is_head, response.status());
                }
            }
        }
        self.journal.publish();
        responses
    }

    /// Answers a group in one transaction. If that is rolled back and may be repeated, answers each request in its own
    /// transaction. All attempts share one time limit if the store is unreachable.
    fn answer_or_split(
        &mut self,
        time: RealTime<'_>,
        requests: &mut Vec<Inbound>,
        more: &mut dyn FnMut(&mut Vec<Inbound>),
    ) -> Vec<Response<Bytes>> {
        self.store.begin_patience(false);
        match self.in_transaction(time, requests, more) {
            Ok(responses) => responses,
            Err(undone) if undone.may_try_again => {
                let mut responses = Vec::with_capacity(requests.len());
                for request in std::mem::take(requests) {
                    let mut alone = vec![request];
                    responses.append(&mut self.alone_until_answered(time, &mut alone));
                    requests.append(&mut alone);
                }
                responses
            }
            Err(undone) => requests.iter().map(|request| self.failure(time.now(), request, &undone.error)).collect(),
        }
    }

    /// Answers a request of a rolled-back group in its own transaction.
    fn alone_until_answered(&mut self, time: RealTime<'_>, alone: &mut Vec<Inbound>) -> Vec<Response<Bytes>> {
        let mut left = ATTEMPTS;
        loop {
            let undone = match self.in_transaction(time, alone, &mut |_| {}) {
                Ok(responses) => return responses,
                Err(undone) => undone,
            };
            left -= 1;
            if !undone.may_try_again || left == 0 {
                return alone.iter().map(|request| self.failure(time.now(), request, &undone.error)).collect();
            }
        }
    }

    /// Answers all requests in one transaction. If it fails, neither the store nor the memory has changed.
    fn in_transaction(
        &mut self,
        time: RealTime<'_>,
        requests: &mut Vec<Inbound>,
        more: &mut dyn FnMut(&mut Vec<Inbound>),
    ) -> Result<Vec<Response<Bytes>>, Undone> {
        let journaled = self.journal.last();
        let answered = self.answer_all(time, requests, more);
        match answered.and_then(|responses| self.commit().map(|()| responses)) {
            Ok(responses) => {
                self.cv2.settle();
                self.journal.committed();
                self.metrics.committed();
                Ok(responses)
            }
            Err(error) => {
                self.metrics.undone();
                let may_try_again = self.store.may_try_again();
                self.forget_group(journaled);
                Err(Undone { error, may_try_again })
            }
        }
    }

    fn answer_all(
        &mut self,
        time: RealTime<'_>,
        requests: &mut Vec<Inbound>,
        more: &mut dyn FnMut(&mut Vec<Inbound>),
    ) -> Result<Vec<Response<Bytes>>, StoreError> {
        self.expect(requests);
        self.begin()?;
        let mut real_now = time.now();
        let (mut responses, mut bytes) = (Vec::with_capacity(requests.len()), 0);
        while let Some(next) = requests.get_mut(responses.len()).filter(|_| bytes < LARGE) {
            let response = self.answer_one(real_now, next)?;
            bytes += response.body().len();
            responses.push(response);
            if responses.len() == requests.len() {
                more(requests);
                real_now = time.now();
                self.expect(&requests[responses.len()..]);
            }
        }
        Ok(responses)
    }

    /// Tells the engine which records these requests will probably read.
    fn expect(&mut self, requests: &[Inbound]) {
        let Self { store, settings, accounts, .. } = self;
        store.expect(&mut requests.iter().flat_map(|inbound| expected::by(inbound, settings, accounts)));
    }

    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        match &self.broken {
            Some(why) => Err(StoreError::Unsynced(why.clone())),
            None => {
                self.store.begin().inspect_err(|error| self.notice(error))?;
                if let Some(last) = self.store.last_key() {
                    self.keys.go_on_after(*last);
                }
                if self.is_stale || self.store.change() == Change::ByOthers { self.learn_from_others() } else { Ok(()) }
            }
        }
    }

    /// Commits the transaction. After a failure of the disk, whether that was done is unknown.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        if let Some(last) = self.store.last_key() {
            *last = self.keys.last();
        }
        let committed = self.store.commit();
        committed.inspect_err(|error| self.notice(error)).map_err(|error| match error {
            StoreError::Unsynced(_) => StoreError::Unknown,
            other => other,
        })
    }

    /// Executes nothing more after a failure of the disk.
    fn notice(&mut self, error: &StoreError) {
        if let StoreError::Unsynced(_) = error {
            self.give_up(error);
        }
    }

    /// Drops copies of records that other processes may have changed: clock and faults are read again, and so are due
    /// tasks.
    fn learn_from_others(&mut self) -> Result<(), StoreError> {
        self.clock = self.stored_clock()?;
        self.faults = self.stored_faults()?;
        self.is_stale = false;
        self.schedule.look_again();
        self.accounts.read_again();
        Ok(())
    }

    /// Rolls a group back, in the store and in memory.
    fn forget_group(&mut self, journaled: u64) {
        self.store.rollback();
        self.cv2.restore();
        self.schedule.look_again();
        self.accounts.look_again();
        // This restores the clock and the counts of faults. If they cannot be read now, the next transaction reads them
        // first, and fails if that is not possible.
        match (self.stored_clock(), self.stored_faults()) {
            (Ok(clock), Ok(faults)) => (self.clock, self.faults) = (clock, faults),
            _ => self.is_stale = true,
        }
        self.journal.forget_after(journaled);
    }

    fn sweep(&mut self, real_now: Timestamp) {
        let now = self.clock.at(real_now);
        if (now.millis() - self.last_sweep.millis()).abs() >= SWEEP_MILLIS {
            self.cv2.forget_ended(now);
            self.last_sweep = now;
        }
    }
}
