//! Saves a machine before it sends, and prevents it from sending after its lease.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pg_hyper::{Clock, proto::machine::SavedState};

use super::{
    accounts::AccountCheck,
    staying::{RowState, RowWatch},
    stopwatch::Stopwatch,
};
use crate::{Begun, FleetStartError, IntentKey, IntentLease, IntentStore, NewIntent, StoreError};

/// Why a machine must not continue in this process.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    /// An intent under its reference already exists.
    Exists,
    /// Another worker has claimed it.
    Lost,
    /// The store failed, and the effect of the last statement is unknown.
    Store(StoreError),
    /// Nothing may be sent for the account.
    Stopped(String),
    /// This process sends nothing: too many of its requests had no reply.
    Unanswered(String),
    /// The store has payments of accounts that the plan does not mention, so none is begun.
    OtherAccounts(FleetStartError),
    /// The worker shuts down.
    Stopping,
}

/// What a worker keeps its machines by.
pub(super) struct KeptBy<S> {
    pub(super) store: Arc<S>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) accounts: Arc<AccountCheck>,
}

/// The store of one machine while this worker holds it.
pub(super) struct Keeper<S> {
    by: KeptBy<S>,
    lease: Duration,
    kept: Mutex<Kept>,
}

struct Kept {
    position: Position,
    trouble: Option<Trouble>,
    /// Its first request is permitted, and about to be saved.
    permitted: bool,
    request: Request,
}

/// The machine's last request.
#[derive(Clone, Copy, PartialEq)]
enum Request {
    /// There is none, or its reply was processed, and the machine waits.
    Over,
    /// It is permitted, and saved next.
    Permitted,
    /// It is saved, and its reply was not processed as far as is known.
    InFlight,
}

#[derive(Clone)]
enum Position {
    /// The row is created together with the first saved state, so that one commit is enough.
    Unbegun(Box<NewIntent>, RowWatch),
    Held(IntentLease),
}

impl<S: IntentStore> Keeper<S> {
    pub(super) fn to_begin(by: KeptBy<S>, new: NewIntent, row: RowWatch) -> Self {
        let lease = new.lease;
        Self::at(by, lease, Position::Unbegun(Box::new(new), row))
    }

    pub(super) fn held(by: KeptBy<S>, hold: IntentLease, lease: Duration) -> Self {
        Self::at(by, lease, Position::Held(hold))
    }

    fn at(by: KeptBy<S>, lease: Duration, position: Position) -> Self {
        let kept = Mutex::new(Kept { position, trouble: None, permitted: false, request: Request::Over });
        Self { by, lease, kept }
    }

    /// Saves the machine. After a failure, nothing more is sent.
    pub(super) async fn save(&self, saved: SavedState) -> Result<(), StoreError> {
        let asked = Stopwatch::start(&*self.by.clock);
        let (position, trouble) = {
            let mut kept = self.lock();
            // A machine is saved before it sends, and before it waits after a reply.
            kept.request = if kept.request == Request::Permitted { Request::InFlight } else { Request::Over };
            (kept.position.clone(), kept.trouble.clone())
        };
        let result = match trouble {
            Some(trouble) => Err(trouble),
            None => match position {
                Position::Held(hold) => {
                    self.by.store.save(&hold, saved.text(), self.lease).await.map_err(Trouble::from)
                }
                Position::Unbegun(new, row) => self.begin(*new, &row, &saved).await,
            },
        };
        // The lease began when the store wrote it, which was after the query began. If the answer took so long that the
        // lease may expire before the request is sent, nothing is sent.
        let result = result.and_then(|()| {
            if is_late(self.lease, asked.passed(&*self.by.clock)) { Err(Trouble::Lost) } else { Ok(()) }
        });
        result.map_err(|trouble| {
            let error = match &trouble {
                Trouble::Store(error) => error.clone(),
                Trouble::Exists
                | Trouble::Lost
                | Trouble::Stopped(_)
                | Trouble::Unanswered(_)
                | Trouble::OtherAccounts(_)
                | Trouble::Stopping => StoreError::Lost,
            };
            self.fail(trouble);
            error
        })
    }

    /// Prevents saving and sending from now on.
    pub(super) fn fail(&self, trouble: Trouble) {
        self.lock().trouble.get_or_insert(trouble);
    }

    /// Records that the limits permit a request.
    pub(super) fn permit(&self) {
        let mut kept = self.lock();
        (kept.permitted, kept.request) = (true, Request::Permitted);
    }

    /// Returns whether a request may be in flight whose reply a worker must not lose.
    pub(super) fn is_sending(&self) -> bool {
        self.lock().request != Request::Over
    }

    pub(super) fn is_permitted(&self) -> bool {
        self.lock().permitted
    }

    async fn begin(&self, new: NewIntent, row: &RowWatch, saved: &SavedState) -> Result<(), Trouble> {
        let owner = new.owner.clone().unwrap_or_default();
        let hold = IntentLease { key: new.key.clone(), owner, fence: 1 };
        let new = NewIntent { state: saved.text().to_owned(), ..new };
        self.by.accounts.before_first(&*self.by.store).await?;
        row.is(RowState::InDoubt);
        let begun = self.by.store.begin(new).await.map_err(Trouble::from)?;
        row.is(RowState::Exists);
        self.by.accounts.first_has_begun();
        match begun {
            Begun::New => {
                self.lock().position = Position::Held(hold);
                Ok(())
            }
            Begun::Existing(_) => Err(Trouble::Exists),
        }
    }

    /// Returns the lease for ending the intent, and begins the intent first if necessary.
    pub(super) async fn hold(&self, saved: &SavedState) -> Result<IntentLease, Trouble> {
        let position = self.lock().position.clone();
        if let Position::Unbegun(new, row) = position {
            self.begin(*new, &row, saved).await?;
        }
        match &self.lock().position {
            Position::Held(hold) => Ok(hold.clone()),
            Position::Unbegun(..) => Err(Trouble::Lost),
        }
    }

    /// Returns the key of the intent if it was not begun.
    pub(super) fn unbegun(&self) -> Option<IntentKey> {
        match &self.lock().position {
            Position::Held(_) => None,
            Position::Unbegun(new, _) => Some(new.key.clone()),
        }
    }

    /// Returns the lease of the intent if it was begun.
    pub(super) fn begun(&self) -> Option<IntentLease> {
        match &self.lock().position {
            Position::Held(hold) => Some(hold.clone()),
            Position::Unbegun(..) => None,
        }
    }

    /// Extends the lease.
    pub(super) async fn renew(&self) {
        let Some(hold) = self.begun() else { return };
        match self.by.store.renew(&hold, self.lease).await {
            Err(StoreError::Lost) => self.fail(Trouble::Lost),
            // If the store stays unreachable, the next request is held back.
            Err(error) => tracing::warn!(target: "pg.fleet", %error, "a lease was not renewed"),
            Ok(()) => {}
        }
    }

    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.lock().trouble.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Lost => Self::Lost,
            error => Self::Store(error),
        }
    }
}

impl From<FleetStartError> for Trouble {
    fn from(error: FleetStartError) -> Self {
        match error {
            FleetStartError::Store(error) => error.into(),
            error => Self::OtherAccounts(error),
        }
    }
}

/// Whether half the lease has passed.
fn is_late(lease: Duration, passed: Duration) -> bool {
    !lease.is_zero() && passed >= lease / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_after_half_the_lease() {
        let seconds = Duration::from_secs;
        assert!(is_late(seconds(15), seconds(8)) && !is_late(seconds(15), seconds(7)));
        assert!(!is_late(seconds(0), seconds(9)), "no lease");
    }
}
