//! The behaviour of merchants and of the service, which a planted bug can change.

use std::sync::Arc;

use pg_proto::{Account, machine::SavedState};
use pg_sandbox::store::Store;

use crate::{job::Job, run::Run};

/// Everything that a planted bug can do wrong. The defaults are correct.
pub(crate) trait ClientBehaviour: Sync {
    /// Creates the machine for a job.
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        self.drive(job, job.begin(account))
    }

    /// Resumes the machine of a job after a crash.
    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        self.drive(job, job.resume(saved, account, with_request))
    }

    /// Resumes such a machine on a server with another merchant's configuration: none, since the machine was saved for
    /// its own account.
    fn resume_elsewhere(
        &self,
        job: &Job,
        saved: &str,
        other: Arc<Account>,
        with_request: bool,
    ) -> Option<Box<dyn Run>> {
        job.try_resume(&SavedState::from_text(saved), other, with_request).ok().map(|run| self.drive(job, run))
    }

    /// Wraps a new or resumed machine.
    fn drive(&self, _: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
        run
    }

    /// Whether a machine is saved before its request is sent.
    fn stores_first(&self) -> bool {
        true
    }

    /// Whether a machine is saved before its customer is sent to a page.
    fn stores_before_leading(&self) -> bool {
        self.stores_first()
    }

    /// Whether the throttle is asked before anything is sent.
    fn asks_throttle(&self) -> bool {
        true
    }

    /// Whether sending stops while the throttle is stopped.
    fn heeds_stops(&self) -> bool {
        true
    }

    /// The service's store.
    fn engine(&self, sqlite: Box<dyn Store>) -> Box<dyn Store> {
        sqlite
    }

    /// Whether processes of the service know that others use the store too.
    fn shares(&self) -> bool {
        true
    }

    /// Whether processes of the service notice what others have written.
    fn notices_others(&self) -> bool {
        true
    }

    /// Returns text for the world's log, in addition to the events.
    fn also_logs(&self, _: &Job) -> Option<String> {
        None
    }
}

/// Correct behaviour.
pub(crate) struct Right;

impl ClientBehaviour for Right {}

/// Correct behaviour over another store.
pub(crate) struct Over<'a>(pub(crate) &'a MakeStore);

/// Makes the store of a world's service.
pub type MakeStore = dyn Fn() -> Box<dyn Store> + Sync;

impl ClientBehaviour for Over<'_> {
    fn engine(&self, _: Box<dyn Store>) -> Box<dyn Store> {
        (self.0)()
    }
}
