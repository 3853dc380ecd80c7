//! Leases and fencing numbers are checked or set wrongly: a worker that has lost an intent changes it.

use pg_intents::IntentStatus;

use super::*;

struct Leases(FileStore, Mistake);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    LeaseInSeconds,
    FenceIgnored,
    SavedWithoutOwner,
    SaveNeedsTime,
    SaveKeepsLease,
    EndOverwrites,
    DeliverEndsLease,
    ParkKeepsLease,
}

impl Leases {
    /// Changes a row as the mistake does, after the change that is right.
    fn then(&self, key: &IntentKey, change: impl FnOnce(&mut IntentRow, i64)) -> Result<(), StoreError> {
        let changed = self.0.change_one(key, |stored, now| {
            change(&mut stored.row, now);
            Ok(())
        });
        changed.map(|_| ())
    }

    /// Saves if the row of a key is as this says.
    fn save_if(&self, hold: &IntentLease, state: &str, is: impl Fn(&IntentRow) -> bool) -> Result<(), StoreError> {
        let saved = self.0.change_one(&hold.key, |stored, now| {
            let is = is(&stored.at(now));
            state.clone_into(&mut stored.row.state);
            if is { Ok(()) } else { Err(StoreError::Lost) }
        })?;
        saved.ok_or(StoreError::Lost)
    }
}

impl IntentStore for Leases {
    pass_on! {
        enlist renew release rest events claim claim_one find list accounts untold told shares stop stopped
    }

    async fn begin(&self, mut new: NewIntent) -> Result<Begun, StoreError> {
        if self.1 == Mistake::LeaseInSeconds {
            new.lease /= 1000;
        }
        self.0.begin(new).await
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        let (owner, fence) = (Some(&*hold.owner), hold.fence);
        match self.1 {
            Mistake::FenceIgnored => self.save_if(hold, state, |row| row.owner.as_deref() == owner),
            Mistake::SaveKeepsLease => self.save_if(hold, state, |row| row.hold().as_ref() == Some(hold)),
            Mistake::SaveNeedsTime => self.save_if(hold, state, |row| !row.is_due()),
            Mistake::SavedWithoutOwner if self.0.save(hold, state, lease).await.is_err() => {
                self.save_if(hold, state, |row| row.owner.is_none() && row.fence == fence)
            }
            Mistake::SavedWithoutOwner => Ok(()),
            _ => self.0.save(hold, state, lease).await,
        }
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        let has_ended = self.0.find(&hold.key).await?.is_some_and(|row| row.status == IntentStatus::Ended);
        if has_ended && self.1 == Mistake::EndOverwrites {
            return self.then(&hold.key, |row, _| row.outcome = Some(end.outcome));
        }
        self.0.end(hold, end).await
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        let delivered = self.0.deliver(key, event).await;
        if self.1 == Mistake::DeliverEndsLease && delivered == Ok(true) {
            self.then(key, |row, now| row.due = now)?;
        }
        delivered
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        let lease = self.0.find(key).await?.and_then(|row| row.hold());
        let directed = self.0.direct(key, directive).await;
        if let (Mistake::ParkKeepsLease, Some(lease)) = (self.1, lease) {
            self.then(key, |row, _| (row.owner, row.fence) = (Some(lease.owner), lease.fence))?;
        }
        directed
    }
}

#[test]
fn a_wrong_lease_is_found() {
    const FENCED: &str = "change a row only if it still has the number";
    for (mistake, promise, done) in [
        (
            Mistake::LeaseInSeconds,
            "leases end by the clock of the database",
            "began with a lease of an hour: due - created",
        ),
        (Mistake::FenceIgnored, FENCED, "w2 had it under fencing number 2; then called save"),
        (Mistake::SavedWithoutOwner, FENCED, "released; then called save"),
        (Mistake::SaveNeedsTime, "A lease that has ended permits changes", "began with a lease of zero, then saved"),
        (
            Mistake::SaveKeepsLease,
            "Stores the machine's state before a request, and extends",
            "saved with a lease of zero: is due",
        ),
        (Mistake::EndOverwrites, FENCED, "ended as paid; then called end"),
        (
            Mistake::DeliverEndsLease,
            "Stores an event under the next number. The intent may have",
            "delivered while w1's lease held: inbox, is due",
        ),
        (Mistake::ParkKeepsLease, "raises the fencing number", "parked an intent of w1"),
    ] {
        is_found(&format!("{mistake:?}"), |store| Leases(store, mistake), promise, done);
    }
}
