//! Saves a machine before it sends, and prevents it from sending after its lease.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use pg_hyper::{
    Clock,
    proto::machine::{Moment, SavedState},
};

use crate::{Begun, IntentKey, IntentLease, IntentRow, IntentStatus, IntentStore, NewIntent, StoreError, telemetry};

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
    /// The worker shuts down.
    Stopping,
}

/// What the machines of one worker share.
pub(super) struct Common<S> {
    pub(super) store: Arc<S>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) own: OwnRows,
    /// How long a statement is repeated while the store does not respond, if the lease permits it.
    pub(super) patience: Duration,
    /// The delay between two attempts.
    pub(super) pause: Duration,
}

/// The references whose rows this worker has begun, as the store has confirmed, so that a request may have been sent. A row with its name
/// and the first fencing number that is not among them was stored by a statement without an answer, after which nothing was sent.
#[derive(Clone, Default)]
pub(super) struct OwnRows(Arc<Mutex<HashSet<String>>>);

impl OwnRows {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The store of one machine while this worker holds it.
pub(super) struct Keeper<S> {
    common: Common<S>,
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
    Unbegun(Box<NewIntent>),
    Held(IntentLease),
}

impl<S: IntentStore> Keeper<S> {
    pub(super) fn to_begin(common: Common<S>, new: NewIntent) -> Self {
        let lease = new.lease;
        Self::at(common, lease, Position::Unbegun(Box::new(new)))
    }

    pub(super) fn held(common: Common<S>, hold: IntentLease, lease: Duration) -> Self {
        // The claim has raised the fencing number.
        common.own.lock().remove(&hold.key.reference);
        Self::at(common, lease, Position::Held(hold))
    }

    fn at(common: Common<S>, lease: Duration, position: Position) -> Self {
        let kept = Mutex::new(Kept { position, trouble: None, permitted: false, request: Request::Over });
        Self { common, lease, kept }
    }

    /// Saves the machine. After a failure, nothing more is sent.
    pub(super) async fn save(&self, saved: SavedState) -> Result<(), StoreError> {
        let asked = (self.common.clock.now(), telemetry::now());
        {
            let mut kept = self.lock();
            // A machine is saved before it sends, and before it waits after a reply.
            kept.request = if kept.request == Request::Permitted { Request::InFlight } else { Request::Over };
        }
        let result = self.stored(&saved, asked).await;
        // The lease began when the store wrote it, which was after the query began. If the answer took so long that the
        // lease may expire before the request is sent, nothing is sent.
        let result = result.and_then(|()| if self.is_late(asked) { Err(Trouble::Lost) } else { Ok(()) });
        result.map_err(|trouble| {
            let error = match &trouble {
                Trouble::Exists | Trouble::Lost | Trouble::Stopped(_) | Trouble::Unanswered(_) | Trouble::Stopping => {
                    StoreError::Lost
                }
                Trouble::Store(error) => error.clone(),
            };
            self.fail(trouble);
            error
        })
    }

    /// Stores the state. While the store does not respond, it repeats the statement, for a third of the lease at most: the machine
    /// knows that its request was not sent, and a worker that resumed it from its row would take the request for sent.
    async fn stored(&self, saved: &SavedState, asked: (Moment, Instant)) -> Result<(), Trouble> {
        let most = self.common.patience.min(self.lease / 3);
        let mut is_repeated = false;
        loop {
            let (position, trouble) = {
                let kept = self.lock();
                (kept.position.clone(), kept.trouble.clone())
            };
            let result = match (trouble, position) {
                (Some(trouble), _) => Err(trouble),
                (None, Position::Held(hold)) => {
                    self.common.store.save(&hold, saved.text(), self.lease).await.map_err(Trouble::from)
                }
                (None, Position::Unbegun(new)) => self.begin(*new, saved, is_repeated).await,
            };
            match result {
                Err(Trouble::Store(error @ StoreError::Unavailable(_)))
                    if self.since(asked).into_iter().all(|passed| passed < most) =>
                {
                    tracing::warn!(target: "pg.fleet", %error, "a machine was not saved; it is repeated");
                    let clock = &self.common.clock;
                    clock.sleep_until(clock.now().after(self.common.pause)).await;
                    is_repeated = true;
                }
                result => return result,
            }
        }
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

    fn is_late(&self, asked: (Moment, Instant)) -> bool {
        is_late(self.lease, self.since(asked))
    }

    /// Returns the time that has passed by two clocks: the wall clock may have been set back meanwhile, and the other one may have stood
    /// still while the computer was suspended.
    fn since(&self, (wall, steady): (Moment, Instant)) -> [Duration; 2] {
        [self.common.clock.now().since(wall), telemetry::now().duration_since(steady)]
    }

    /// `is_repeated`: this machine has asked before, and had no answer.
    async fn begin(&self, new: NewIntent, saved: &SavedState, is_repeated: bool) -> Result<(), Trouble> {
        let owner = new.owner.clone().unwrap_or_default();
        let hold = IntentLease { key: new.key.clone(), owner, fence: 1 };
        let (kind, digest) = (new.kind.clone(), new.digest.clone());
        let new = NewIntent { state: saved.text().to_owned(), ..new };
        let begun = self.common.store.begin(new).await.map_err(Trouble::from)?;
        let mut own = self.common.own.lock();
        let is_own = |row: &IntentRow| {
            let is_first =
                row.status == IntentStatus::Open && row.fence == 1 && row.owner.as_ref() == Some(&hold.owner);
            is_repeated && is_first && !own.contains(&hold.key.reference) && row.kind == kind && row.digest == digest
        };
        let is_new = match &begun {
            Begun::New => true,
            Begun::Existing(row) => is_own(row),
        };
        if !is_new {
            return Err(Trouble::Exists);
        }
        own.insert(hold.key.reference.clone());
        drop(own);
        self.lock().position = Position::Held(hold);
        Ok(())
    }

    /// The row is stored without this worker's lease.
    pub(super) fn is_given_up(&self) {
        if let Some(hold) = self.begun() {
            self.common.own.lock().remove(&hold.key.reference);
        }
    }

    /// Returns the lease for ending the intent, and begins the intent first if necessary.
    pub(super) async fn hold(&self, saved: &SavedState) -> Result<IntentLease, Trouble> {
        let position = self.lock().position.clone();
        if let Position::Unbegun(new) = position {
            self.begin(*new, saved, false).await?;
        }
        match &self.lock().position {
            Position::Held(hold) => Ok(hold.clone()),
            Position::Unbegun(_) => Err(Trouble::Lost),
        }
    }

    /// Returns the key of the intent if it was not begun.
    pub(super) fn unbegun(&self) -> Option<IntentKey> {
        match &self.lock().position {
            Position::Held(_) => None,
            Position::Unbegun(new) => Some(new.key.clone()),
        }
    }

    /// Returns the lease of the intent if it was begun.
    pub(super) fn begun(&self) -> Option<IntentLease> {
        match &self.lock().position {
            Position::Held(hold) => Some(hold.clone()),
            Position::Unbegun(_) => None,
        }
    }

    /// Extends the lease.
    pub(super) async fn renew(&self) {
        let Some(hold) = self.begun() else { return };
        match self.common.store.renew(&hold, self.lease).await {
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

/// Whether half the lease has passed by one of two clocks.
fn is_late(lease: Duration, passed: [Duration; 2]) -> bool {
    !lease.is_zero() && passed.into_iter().any(|passed| passed >= lease / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_ends_by_the_clock_that_shows_more_time() {
        let seconds = Duration::from_secs;
        for (wall, steady, late) in [(0, 8, true), (8, 0, true), (7, 7, false)] {
            assert_eq!(is_late(seconds(15), [seconds(wall), seconds(steady)]), late, "{wall} {steady}");
        }
        assert!(!is_late(seconds(0), [seconds(9); 2]), "no lease");
    }
}
