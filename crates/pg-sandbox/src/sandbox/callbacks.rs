//! Tasks that no request triggers: due callbacks, and their results.

use std::{
    net::{IpAddr, Ipv4Addr},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use http::StatusCode;

use super::{Sandbox, events, group::ATTEMPTS};
use crate::{outgoing::Outgoing, service, store::StoreError, timestamp::Timestamp};

/// Executes due tasks, and returns the callbacks to send now.
pub(super) fn hand_out(context: &mut service::Context<'_>) -> Result<Vec<Outgoing>, StoreError> {
    service::catch_up(context)?;
    context.records.keep()?;
    service::callback::hand_out(context)
}

/// The real time after which a failed store is queried again.
const RETRY: Duration = Duration::from_secs(1);
/// The real time between two queries for tasks that other processes left in a shared store.
const LOOK: Duration = Duration::from_secs(5);

impl Sandbox {
    /// Executes due tasks, and returns the callbacks to send now. Each callback is returned once; report its result to
    /// [`Sandbox::delivered`]. At most 32 callbacks are in flight at a time: call this again after each report.
    ///
    /// A callback that was returned and never reported is returned again after a restart.
    pub fn due(&mut self, real_now: Timestamp) -> Vec<Outgoing> {
        self.store.begin_patience(true);
        self.look_for_others(real_now);
        let mut all = self.due_at_sandbox(real_now);
        if real_now >= self.not_before {
            match self.due_at_accounts(real_now) {
                Ok(outgoing) => all.extend(outgoing),
                Err(_) => {
                    self.accounts.look_again();
                    self.not_before = real_now.plus(RETRY);
                }
            }
        }
        all
    }

    fn due_at_sandbox(&mut self, real_now: Timestamp) -> Vec<Outgoing> {
        let now = self.clock.at(real_now);
        let any = self.schedule.has_batch(now) || self.schedule.has_callback(now) || self.schedule.has_session(now);
        if real_now < self.not_before || !any {
            return Vec::new();
        }
        match self.alone(real_now, hand_out) {
            Ok(outgoing) => {
                outgoing.iter().for_each(|one| self.schedule.depart(&one.id));
                outgoing
            }
            Err(_) => {
                self.schedule.look_again();
                self.not_before = real_now.plus(RETRY);
                Vec::new()
            }
        }
    }

    /// Reports the result of a callback from [`Sandbox::due`]: the HTTP status of the response, or why there was no
    /// response. Other callbacks are not changed.
    pub fn delivered(&mut self, real_now: Timestamp, id: &str, result: Result<StatusCode, String>) {
        self.all_delivered(real_now, vec![(id.to_owned(), result)]);
    }

    /// Reports the results of callbacks. They share one time limit if the store is unreachable.
    pub(crate) fn all_delivered(&mut self, real_now: Timestamp, results: Vec<(String, Result<StatusCode, String>)>) {
        self.store.begin_patience(false);
        for (id, result) in results {
            self.one_delivered(real_now, &id, result);
        }
    }

    fn one_delivered(&mut self, real_now: Timestamp, id: &str, result: Result<StatusCode, String>) {
        if let Some(log) = &self.settings.log {
            events::callback(log, real_now, id, &result);
        }
        if !self.schedule.is_in_flight(id) {
            return self.delivered_at_account(real_now, id, result);
        }
        // If this cannot be written, the callback counts as in flight until the next start, since it must not be sent
        // again and again.
        for _ in 0..ATTEMPTS {
            let result = result.clone();
            if self.alone(real_now, |context| service::callback::mark(context, id, result)).is_ok() {
                return self.schedule.arrive(id);
            }
            if !self.store.may_try_again() {
                return;
            }
        }
    }

    /// The same for a callback of an account created at run time. If the account was removed, so was the callback.
    fn delivered_at_account(&mut self, real_now: Timestamp, id: &str, result: Result<StatusCode, String>) {
        let Some(account) = self.accounts.with_in_flight(id) else { return };
        for _ in 0..ATTEMPTS {
            let result = result.clone();
            if self.alone_at(&account, real_now, |context| service::callback::mark(context, id, result)).is_ok() {
                if let Some(live) = self.accounts.get_mut(&account) {
                    live.schedule.arrive(id);
                }
                return;
            }
            if !self.store.may_try_again() {
                return;
            }
        }
    }

    /// Returns the real time at which [`Sandbox::due`] may return something, unless requests, reports or a clock change
    /// come first. `None` if nothing is due unless one of these comes.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        let shared = self.schedule.next().and_then(|next| self.clock.real_at(next));
        let next = shared.into_iter().chain(self.accounts.next_due()).min();
        let due = next.map(|due| due.max(self.not_before));
        if !self.store.is_shared() {
            return due;
        }
        let look = self.last_look.plus(LOOK).max(self.not_before);
        Some(due.map_or(look, |due| due.min(look)))
    }

    /// Queries a shared store at intervals for tasks of processes that have ended.
    fn look_for_others(&mut self, real_now: Timestamp) {
        if self.store.is_shared() && real_now.since(self.last_look) >= LOOK {
            self.last_look = real_now;
            self.schedule.look_again();
            self.accounts.look_again();
        }
    }

    /// Runs a task in its own transaction, without a request.
    pub(super) fn alone<T>(
        &mut self,
        real_now: Timestamp,
        work: impl FnOnce(&mut service::Context<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.begin()?;
        self.finish_alone(None, real_now, work)
    }

    /// The same for an account created at run time; `None` if the account was removed.
    pub(super) fn alone_at<T>(
        &mut self,
        account: &str,
        real_now: Timestamp,
        work: impl FnOnce(&mut service::Context<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.begin()?;
        match self.opens_for_task(account, real_now) {
            Ok(true) => self.finish_alone(Some(account), real_now, work).map(Some),
            other => {
                self.store.rollback();
                other.map(|_| None)
            }
        }
    }

    fn finish_alone<T>(
        &mut self,
        account: Option<&str>,
        real_now: Timestamp,
        work: impl FnOnce(&mut service::Context<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut context = self.context(account, real_now, IpAddr::V4(Ipv4Addr::LOCALHOST));
        // A panic must not affect later requests.
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut context)))
            .unwrap_or_else(|_| Err(StoreError::Engine("a defect of the sandbox".to_owned())));
        let done = done.and_then(|done| context.records.keep().map(|()| done));
        let committed = done.and_then(|done| self.store.commit().map(|()| done));
        if committed.is_ok() {
            self.cv2.settle();
            self.journal.committed();
        } else {
            self.store.rollback();
            self.cv2.restore();
            self.journal.forget_after(self.journal.last());
        }
        self.journal.publish();
        let done = committed?;
        self.sync()?;
        Ok(done)
    }
}
