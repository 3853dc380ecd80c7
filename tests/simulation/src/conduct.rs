//! How merchants and the service behave, where a planted bug may make them behave otherwise.

use std::sync::Arc;

use pg_proto::{Account, machine::SavedState};
use pg_sandbox::store::Store;

use crate::{job::Job, run::Run};

/// Everything that a planted bug can get wrong. What stands here is right.
pub(crate) trait ClientBehaviour: Sync {
    /// The machine for a job.
    fn begin(&self, job: &Job, account: Arc<Account>) -> Box<dyn Run> {
        self.drive(job, job.begin(account))
    }

    /// The machine for a job that was begun before a crash.
    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        self.drive(job, job.resume(saved, account, with_request))
    }

    /// The machine for such a job when the server was started with the configuration of another merchant: none, since
    /// it was saved for its own.
    fn resume_elsewhere(
        &self,
        job: &Job,
        saved: &str,
        other: Arc<Account>,
        with_request: bool,
    ) -> Option<Box<dyn Run>> {
        job.try_resume(&SavedState::from_text(saved), other, with_request).ok().map(|run| self.drive(job, run))
    }

    /// What is driven in a machine's place, new or resumed.
    fn drive(&self, _: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
        run
    }

    /// Whether a machine is stored before what it wants sent is sent.
    fn stores_first(&self) -> bool {
        true
    }

    /// Whether a machine is stored before a customer is led where it says.
    fn stores_before_leading(&self) -> bool {
        self.stores_first()
    }

    /// Whether the throttle is asked before anything is sent.
    fn asks_throttle(&self) -> bool {
        true
    }

    /// Whether nothing is sent while the throttle has stopped.
    fn heeds_stops(&self) -> bool {
        true
    }

    /// The service's store.
    fn engine(&self, sqlite: Box<dyn Store>) -> Box<dyn Store> {
        sqlite
    }

    /// What is written into the world's log besides what happened.
    fn also_logs(&self, _: &Job) -> Option<String> {
        None
    }
}

/// Everything as it should be.
pub(crate) struct Right;

impl ClientBehaviour for Right {}
