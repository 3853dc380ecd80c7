//! What the sandbox does by itself: what is due now, and what came of it.

use std::{
    net::{IpAddr, Ipv4Addr},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use http::StatusCode;

use super::Sandbox;
use crate::{outgoing::Outgoing, service, store::StoreError, timestamp::Timestamp};

/// Real time after which a store that has failed is asked again.
const RETRY: Duration = Duration::from_secs(1);

impl Sandbox {
    /// Does what is due by itself, and hands out the callbacks that are to be sent now. Each is handed out once; what came of it is to be told
    /// to [`Sandbox::delivered`]. At most 32 are on their way at a time: ask again after each.
    ///
    /// A callback that was handed out and never reported is handed out again after a restart.
    pub fn due(&mut self, real_now: Timestamp) -> Vec<Outgoing> {
        let now = self.clock.at(real_now);
        let any = self.schedule.has_batch(now) || self.schedule.has_callback(now) || self.schedule.has_session(now);
        if real_now < self.not_before || !any {
            return Vec::new();
        }
        match self.alone(real_now, |context| {
            service::catch_up(context)?;
            context.records.keep()?;
            service::callback::hand_out(context)
        }) {
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

    /// Tells what came of a callback that [`Sandbox::due`] has handed out: the HTTP status that came
    /// back, or why none did. Any other callback is left as it is.
    pub fn delivered(&mut self, real_now: Timestamp, id: &str, result: Result<StatusCode, String>) {
        if !self.schedule.is_in_flight(id) {
            return;
        }
        // If that cannot be written, the callback counts as on its way until the next start: better
        // than sending it again and again.
        if self.alone(real_now, |context| service::callback::mark(context, id, result)).is_ok() {
            self.schedule.arrive(id);
        }
    }

    /// The real time at which [`Sandbox::due`] may have something, unless requests, reports or a turn
    /// of the clock come before; nothing when only these can bring something.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        let due = self.clock.real_at(self.schedule.next()?)?;
        Some(due.max(self.not_before))
    }

    /// Something that no request asks for, in a transaction of its own.
    fn alone<T>(
        &mut self,
        real_now: Timestamp,
        work: impl FnOnce(&mut service::Context<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.begin()?;
        let mut context = self.context(real_now, IpAddr::V4(Ipv4Addr::LOCALHOST));
        // A defect must not take the requests down that come after it.
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut context)))
            .unwrap_or_else(|_| Err(StoreError::Engine("a defect of the sandbox".to_owned())));
        let done = done.and_then(|done| context.records.keep().map(|()| done));
        let committed = done.and_then(|done| self.store.commit().map(|()| done));
        if committed.is_err() {
            self.store.rollback();
        }
        let done = committed?;
        self.sync()?;
        Ok(done)
    }
}
