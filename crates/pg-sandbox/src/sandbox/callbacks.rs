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

/// The id of a callback, and the HTTP status of its response or why there was none.
pub(crate) type CallbackResult = (String, Result<StatusCode, String>);

/// The real time after which a failed store is queried again.
const RETRY: Duration = Duration::from_secs(1);
/// The real time between two queries for tasks that other processes left in a shared store.
const LOOK: Duration = Duration::from_secs(5);

/// Whether the real time until which a failed store is left alone has not come, unless the real clock has stepped back.
fn must_wait(until: Timestamp, real_now: Timestamp) -> bool {
    real_now < until && until.since(real_now) <= RETRY
}

impl Sandbox {
    /// Executes due tasks, and returns the callbacks to send now. Each callback is returned once; report its result to
    /// [`Sandbox::delivered`]. At most 32 callbacks are in flight at a time: call this again after each report.
    ///
    /// A callback that was returned and never reported is returned again after a restart. Over a store that several
    /// processes share, it is returned again after 60 seconds, by any of them.
    pub fn due(&mut self, real_now: Timestamp) -> Vec<Outgoing> {
        self.store.begin_patience(true);
        self.record_left_results(real_now);
        self.look_for_others(real_now);
        let mut all = self.due_at_sandbox(real_now);
        if !must_wait(self.not_before, real_now) && self.due_at_accounts(real_now, &mut all).is_err() {
            self.accounts.look_again();
            self.not_before = real_now.plus(RETRY);
        }
        all
    }

    fn due_at_sandbox(&mut self, real_now: Timestamp) -> Vec<Outgoing> {
        let now = self.clock.at(real_now);
        let any = self.schedule.has_batch(now) || self.schedule.has_callback(now) || self.schedule.has_session(now);
        if must_wait(self.not_before, real_now) || !any {
            return Vec::new();
        }
        match self.alone(real_now, hand_out) {
            Ok(outgoing) => {
                let claimed_until = self.claimed_until(real_now);
                outgoing.iter().for_each(|one| self.schedule.depart(&one.id, claimed_until));
                outgoing
            }
            Err(_) => {
                self.schedule.look_again();
                self.not_before = real_now.plus(RETRY);
                Vec::new()
            }
        }
    }

    /// Returns until when a callback that is handed out now is claimed, if others could send it too.
    pub(super) fn claimed_until(&self, real_now: Timestamp) -> Option<Timestamp> {
        self.store.is_shared().then(|| real_now.plus(service::callback::CLAIM))
    }

    /// Reports the result of a callback from [`Sandbox::due`]: the HTTP status of the response, or why there was no
    /// response. Other callbacks are not changed. If the store cannot write the result, [`Sandbox::due`] tries again.
    pub fn delivered(&mut self, real_now: Timestamp, id: &str, result: Result<StatusCode, String>) {
        self.all_delivered(real_now, vec![(id.to_owned(), result)]);
    }

    /// Reports the results of callbacks. They share one time limit if the store is unreachable.
    pub(crate) fn all_delivered(&mut self, real_now: Timestamp, results: Vec<CallbackResult>) {
        self.store.begin_patience(true);
        for (id, result) in results {
            if let Some(log) = &self.settings.log {
                events::callback(log, real_now, &id, &result);
            }
            if !self.records_result(real_now, &id, &result) {
                if self.left_results.is_empty() {
                    self.next_record = real_now.plus(RETRY);
                }
                self.left_results.push((id, result));
            }
        }
    }

    /// Tries again to write results that could not be written.
    fn record_left_results(&mut self, real_now: Timestamp) {
        if self.left_results.is_empty() || must_wait(self.next_record, real_now) {
            return;
        }
        self.next_record = real_now.plus(RETRY);
        for (id, result) in std::mem::take(&mut self.left_results) {
            if !self.records_result(real_now, &id, &result) {
                self.left_results.push((id, result));
            }
        }
    }

    /// Writes the result of a callback. Returns false if it must be tried again: until then the callback counts as in
    /// flight, since it must not be sent again and again.
    fn records_result(&mut self, real_now: Timestamp, id: &str, result: &Result<StatusCode, String>) -> bool {
        let account = if self.schedule.is_in_flight(id) {
            None
        } else {
            // If its account is gone, so is the callback. If its claim has ended, another process may send it.
            let Some(account) = self.accounts.with_in_flight(id) else { return true };
            Some(account)
        };
        for _ in 0..ATTEMPTS {
            let result = result.clone();
            let work = |context: &mut service::Context<'_>| service::callback::mark(context, id, result);
            let written = match &account {
                None => self.alone(real_now, work),
                Some(account) => self.alone_at(account, real_now, work).map(|_| ()),
            };
            if written.is_ok() {
                let live = account.as_ref().map(|id| self.accounts.get_mut(id));
                if let Some(schedule) =
                    live.map_or(Some(&mut self.schedule), |live| live.map(|live| &mut live.schedule))
                {
                    schedule.arrive(id);
                }
                return true;
            }
            if !self.store.may_try_again() {
                break;
            }
        }
        false
    }

    /// Returns the real time at which [`Sandbox::due`] may return something, unless requests, reports or a clock change
    /// come first. `None` if nothing is due unless one of these comes.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        let shared = self.schedule.next().and_then(|next| self.clock.real_at(next));
        let next = shared.into_iter().chain(self.accounts.next_due()).min();
        let due = next.map(|due| due.max(self.not_before));
        let due = due.into_iter().chain((!self.left_results.is_empty()).then_some(self.next_record)).min();
        if !self.store.is_shared() {
            return due;
        }
        let look = self.last_look.plus(LOOK).max(self.not_before);
        Some(due.map_or(look, |due| due.min(look)))
    }

    /// Queries a shared store at intervals for tasks of processes that have ended.
    fn look_for_others(&mut self, real_now: Timestamp) {
        // The real clock may have stepped back.
        let is_time = real_now < self.last_look || real_now.since(self.last_look) >= LOOK;
        if self.store.is_shared() && is_time {
            self.last_look = real_now;
            self.schedule.look_again();
            self.accounts.look_again();
            self.schedule.release(real_now);
            self.accounts.release(real_now);
            let Self { schedule, accounts, .. } = self;
            let is_in_flight = |id: &str| schedule.is_in_flight(id) || accounts.with_in_flight(id).is_some();
            self.left_results.retain(|(id, _)| is_in_flight(id));
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
        let committed = done.and_then(|done| self.commit().map(|()| done));
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
