//! The store passes the conformance suite, and with a mistake it does not: the message names the broken promise.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::atomic::{AtomicI64, Ordering},
};

use pg_intents::{IntentStatus, conformance};

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    BeginNotAtomic,
    BeginIgnoresAccount,
    BeginIgnoresCase,
    TextsCut,
    LeaseInSeconds,
    FenceIgnored,
    SavedWithoutOwner,
    SaveNeedsTime,
    SaveKeepsLease,
    EndOverwrites,
    ClaimNotAtomic,
    ClaimIgnoresAccount,
    ClaimTakesNewest,
    ListByName,
    DeliverEndsLease,
    UntoldAtOnce,
    ParkKeepsLease,
    ReconcileOpens,
    ClaimOneIgnoresAccount,
    SaveIgnoresAccount,
    ToldIgnoresAccount,
    DirectIgnoresAccount,
    UntoldHidesAll,
    RestForgetsLookup,
    SharesForgotten,
    BeginReplacesEnded,
    BeginComparesPrefix,
    AccountIgnoresCase,
    RequestCut,
    AsksCut,
    OutcomeCut,
    EventCut,
    EnlistNotAtomic,
    SharesNotAtomic,
    UntoldNotAtomic,
    DeliverNotAtomic,
    SaveWritesRowBack,
    RestWritesRowBack,
    EndWritesRowBack,
    EndDeletesEvents,
    ClaimLimitsFirst,
    ClaimByCreation,
}

/// Cuts a text as a column of 255 characters does.
fn cut(text: &mut String) {
    *text = text.chars().take(255).collect();
}

/// The store with a mistake.
struct Mistaken(FileStore, Mistake);

/// Passes methods on.
macro_rules! pass_on {
    ($($method:ident($($name:ident: $type:ty),+) -> $returned:ty;)+) => {
        $(async fn $method(&self, $($name: $type),+) -> Result<$returned, StoreError> { self.0.$method($($name),+).await })+
    };
}

impl Mistaken {
    /// Changes a row as the mistake does, after the change that is right.
    fn then(&self, key: &IntentKey, change: impl FnOnce(&mut IntentRow, i64)) -> Result<(), StoreError> {
        let changed = self.0.change_one(key, |stored, now| {
            change(&mut stored.row, now);
            Ok(())
        });
        changed.map(|_| ())
    }

    /// Returns the keys of other accounts with the same reference, if this is the mistake.
    fn twins(&self, mistake: Mistake, key: &IntentKey) -> Result<Vec<IntentKey>, StoreError> {
        if self.1 != mistake {
            return Ok(Vec::new());
        }
        let is_twin = |other: &&IntentKey| other.reference == key.reference && *other != key;
        self.0.read(|data, _| data.intents.keys().filter(is_twin).cloned().collect())
    }

    /// Reads a row, and writes it back as a whole in a second transaction, if the lease holds at both times.
    async fn write_back(
        &self,
        hold: &IntentLease,
        change: impl FnOnce(&mut Stored, i64) + Send,
    ) -> Result<(), StoreError> {
        let held = |data: &Data| {
            let stored = data.intents.get(&hold.key).filter(|stored| stored.row.hold().as_ref() == Some(hold));
            stored.cloned().ok_or(StoreError::Lost)
        };
        let mut stored = self.0.read(|data, _| held(data))??;
        tokio::task::yield_now().await;
        self.0.change(|data, now| {
            held(data)?;
            change(&mut stored, now);
            stored.row.changed = now;
            Ok((vec![Change::Intent(Box::new(stored))], ()))
        })
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

impl IntentStore for Mistaken {
    pass_on! {
        renew(hold: &IntentLease, lease: Duration) -> ();
        release(hold: &IntentLease, wake: Duration) -> ();
        events(key: &IntentKey, after: i32) -> Vec<(i32, String)>;
        find(key: &IntentKey) -> Option<IntentRow>;
        accounts(from: &str, most: u32) -> Vec<String>;
        stop(account: &str, reason: Option<&str>) -> ();
        stopped(account: &str) -> Option<String>;
    }

    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        if self.1 != Mistake::EnlistNotAtomic {
            return self.0.enlist(name).await;
        }
        let number = self.0.read(|data, _| data.workers + 1)?;
        tokio::task::yield_now().await;
        self.0.change(|_, _| Ok((vec![Change::Worker(number)], format!("{name}#{number}"))))
    }

    async fn begin(&self, mut new: NewIntent) -> Result<Begun, StoreError> {
        let folded = |key: &IntentKey| match self.1 {
            Mistake::BeginIgnoresAccount => (String::new(), key.reference.clone()),
            Mistake::BeginIgnoresCase => (key.account.clone(), key.reference.to_lowercase()),
            Mistake::AccountIgnoresCase => (key.account.to_lowercase(), key.reference.clone()),
            Mistake::BeginComparesPrefix => (key.account.clone(), key.reference.chars().take(255).collect()),
            _ => (key.account.clone(), key.reference.clone()),
        };
        match self.1 {
            Mistake::TextsCut => new.state = new.state.chars().take(21_845).collect(),
            Mistake::LeaseInSeconds => new.lease /= 1000,
            Mistake::RequestCut => new.request.iter_mut().for_each(cut),
            _ => {}
        }
        let found = self.0.read(|data, now| {
            let mut all = data.intents.values();
            let found = all.find(|stored| folded(&stored.row.key) == folded(&new.key)).map(|stored| stored.at(now));
            found.filter(|row| self.1 != Mistake::BeginReplacesEnded || row.status != IntentStatus::Ended)
        })?;
        if self.1 == Mistake::BeginNotAtomic {
            tokio::task::yield_now().await;
        }
        match found {
            Some(row) => Ok(Begun::Existing(Box::new(row))),
            // The insert is a second transaction.
            None => self.0.change(|_, now| Ok((vec![Change::Intent(Box::new(Stored::begun(new, now)))], Begun::New))),
        }
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        for twin in self.twins(Mistake::ClaimOneIgnoresAccount, key)? {
            self.0.claim_one(&twin, owner, lease, kinds).await?;
        }
        self.0.claim_one(key, owner, lease, kinds).await
    }

    async fn rest(&self, hold: &IntentLease, mut rest: IntentRest) -> Result<(), StoreError> {
        match self.1 {
            Mistake::AsksCut => rest.asks.iter_mut().for_each(cut),
            Mistake::RestWritesRowBack => return self.write_back(hold, |stored, now| stored.rest(rest, now)).await,
            _ => {}
        }
        let wake = rest.wake;
        self.0.rest(hold, rest).await?;
        if self.1 == Mistake::RestForgetsLookup {
            self.then(&hold.key, |row, now| {
                if row.due > now {
                    row.due = later(now, wake);
                }
            })?;
        }
        Ok(())
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        for twin in self.twins(Mistake::ToldIgnoresAccount, key)? {
            self.0.told(&twin, event).await?;
        }
        self.0.told(key, event).await
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        if self.1 == Mistake::SharesForgotten {
            self.0.change(|data, _| {
                let mut shares = data.shares.get(wish.account).cloned().unwrap_or_default();
                shares.truncate(wish.total as usize);
                Ok((vec![Change::Shares(wish.account.to_owned(), shares)], ()))
            })?;
        }
        if self.1 == Mistake::SharesNotAtomic {
            let mut shares = self.0.read(|data, _| data.shares.get(wish.account).cloned().unwrap_or_default())?;
            tokio::task::yield_now().await;
            return self.0.change(|_, now| {
                let usable = take_shares(&mut shares, &wish, now);
                Ok((vec![Change::Shares(wish.account.to_owned(), shares)], usable))
            });
        }
        self.0.shares(wish).await
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        let (owner, fence) = (Some(&*hold.owner), hold.fence);
        for key in self.twins(Mistake::SaveIgnoresAccount, &hold.key)? {
            let _ = self.0.save(&IntentLease { key, ..hold.clone() }, state, lease).await;
        }
        match self.1 {
            Mistake::FenceIgnored => self.save_if(hold, state, |row| row.owner.as_deref() == owner),
            Mistake::SaveKeepsLease => self.save_if(hold, state, |row| row.hold().as_ref() == Some(hold)),
            Mistake::SaveNeedsTime => self.save_if(hold, state, |row| !row.is_due()),
            Mistake::SavedWithoutOwner if self.0.save(hold, state, lease).await.is_err() => {
                self.save_if(hold, state, |row| row.owner.is_none() && row.fence == fence)
            }
            Mistake::SavedWithoutOwner => Ok(()),
            Mistake::SaveWritesRowBack => {
                let save = |stored: &mut Stored, now| {
                    (stored.row.state, stored.row.due) = (state.to_owned(), later(now, lease));
                };
                self.write_back(hold, save).await
            }
            _ => self.0.save(hold, state, lease).await,
        }
    }

    async fn end(&self, hold: &IntentLease, mut end: IntentEnd) -> Result<(), StoreError> {
        match self.1 {
            Mistake::OutcomeCut => cut(&mut end.outcome),
            Mistake::EndWritesRowBack => return self.write_back(hold, |stored, now| stored.end(end, now)).await,
            Mistake::EndDeletesEvents => {
                self.0.end(hold, end).await?;
                let emptied = |stored: &mut Stored, _| {
                    stored.events.clear();
                    Ok(())
                };
                return self.0.change_one(&hold.key, emptied).map(|_| ());
            }
            _ => {}
        }
        let has_ended = self.0.find(&hold.key).await?.is_some_and(|row| row.status == IntentStatus::Ended);
        if has_ended && self.1 == Mistake::EndOverwrites {
            return self.then(&hold.key, |row, _| row.outcome = Some(end.outcome));
        }
        self.0.end(hold, end).await
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        if self.1 == Mistake::DeliverNotAtomic {
            let stored = self.0.read(|data, _| data.intents.get(key).cloned())?;
            tokio::task::yield_now().await;
            let Some(mut stored) = stored else { return Ok(false) };
            return self.0.change(|_, now| {
                let delivered = stored.deliver(event, now);
                Ok((vec![Change::Intent(Box::new(stored))], delivered))
            });
        }
        let mut event = event.to_owned();
        if self.1 == Mistake::EventCut {
            cut(&mut event);
        }
        let delivered = self.0.deliver(key, &event).await;
        if self.1 == Mistake::DeliverEndsLease && delivered == Ok(true) {
            self.then(key, |row, now| row.due = now)?;
        }
        delivered
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        let is_due = |stored: &&Stored, now| match self.1 {
            Mistake::ClaimIgnoresAccount => stored.is_due(&stored.row.key.account, kinds, now),
            Mistake::ClaimLimitsFirst => stored.row.key.account == account && stored.at(now).is_due(),
            _ => stored.is_due(account, kinds, now),
        };
        let mut due: Vec<Stored> =
            self.0.read(|data, now| data.intents.values().filter(|stored| is_due(stored, now)).cloned().collect())?;
        due.sort_by_key(|stored| stored.row.due);
        match self.1 {
            Mistake::ClaimNotAtomic => tokio::task::yield_now().await,
            Mistake::ClaimTakesNewest => due.reverse(),
            Mistake::ClaimByCreation => due.sort_by_key(|stored| stored.row.created),
            _ => {}
        }
        due.truncate(most as usize);
        due.retain(|stored| stored.is_due(&stored.row.key.account, kinds, i64::MAX));
        // The update is a second transaction.
        self.0.change(|_, now| {
            let claimed: Vec<Stored> = due.iter().map(|stored| stored.claimed(owner, lease, kinds, now)).collect();
            let rows = claimed.iter().map(|stored| stored.at(now)).collect();
            Ok((claimed.into_iter().map(|stored| Change::Intent(Box::new(stored))).collect(), rows))
        })
    }

    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        let mut rows = self.0.list(filter).await?;
        if self.1 == Mistake::ListByName {
            rows.sort_by(|one, other| one.key.cmp(&other.key));
        }
        Ok(rows)
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        for twin in self.twins(Mistake::DirectIgnoresAccount, key)? {
            self.0.direct(&twin, directive).await?;
        }
        let lease = self.0.find(key).await?.and_then(|row| row.hold());
        let directed = self.0.direct(key, directive).await;
        match (self.1, directive, lease) {
            (Mistake::ParkKeepsLease, _, Some(lease)) => {
                self.then(key, |row, _| (row.owner, row.fence) = (Some(lease.owner), lease.fence))?;
            }
            (Mistake::ReconcileOpens, Directive::Reconcile, _) if directed == Ok(true) => {
                self.then(key, |row, _| row.status = IntentStatus::Open)?;
            }
            _ => {}
        }
        directed
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        match self.1 {
            Mistake::UntoldAtOnce => self.0.untold(account, most, Duration::ZERO).await,
            Mistake::UntoldHidesAll => {
                let mut rows = self.0.untold(account, u32::MAX, visibility).await?;
                rows.truncate(most as usize);
                Ok(rows)
            }
            Mistake::UntoldNotAtomic => {
                let untold = |data: &Data, now| {
                    let all = data.intents.values().filter(|stored| stored.is_untold(account, now));
                    all.take(most as usize).map(|stored| stored.hidden(visibility, now)).collect::<Vec<_>>()
                };
                let told = self.0.read(untold)?;
                tokio::task::yield_now().await;
                self.0.change(|_, now| {
                    let rows = told.iter().map(|stored| stored.at(now)).collect();
                    Ok((told.into_iter().map(|stored| Change::Intent(Box::new(stored))).collect(), rows))
                })
            }
            _ => self.0.untold(account, most, visibility).await,
        }
    }
}

/// Returns another time at each call: a clock that stands still hides a wrong order.
fn ticking() -> i64 {
    static NOW: AtomicI64 = AtomicI64::new(1_700_000_000_000);
    NOW.fetch_add(1, Ordering::SeqCst)
}

/// Opens a store that is fast and not durable.
pub(super) fn unsynced(path: &Path, now: fn() -> i64) -> FileStore {
    FileStore::open_with(path, now, Box::new(|_| Ok(()))).unwrap()
}

/// Returns the message with which a check fails.
fn message(check: impl Future<Output = ()>) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let failed = catch_unwind(AssertUnwindSafe(|| runtime.block_on(check))).err()?;
    Some(*failed.downcast::<String>().expect("a formatted message"))
}

fn found(mistake: Mistake) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let store = Mistaken(unsynced(&folder.path().join("intents"), ticking), mistake);
    message(conformance::check(&store, "mistaken"))
}

#[tokio::test]
async fn the_store_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("intents");
    conformance::check_durable(async || FileStore::open(&path, ticking), "file").await;
    for (run, now) in [("clock that ticks", ticking as fn() -> i64), ("clock that stands still", || 1_700_000_000_000)]
    {
        conformance::check(&unsynced(&path, now), run).await;
    }
}

const ATOMIC: &str = "IntentStore breaks a promise: \"Each method is one atomic change";
const TEXTS: &str = "IntentStore breaks a promise: \"Accounts and references are compared byte by byte, and texts";

#[test]
fn each_mistake_is_found() {
    let mistakes = [
        (Mistake::BeginNotAtomic, "begin breaks a promise: \"Of several calls at the same time, one stores"),
        (Mistake::BeginIgnoresAccount, "begin breaks a promise: \"Stores a new intent"),
        (Mistake::BeginIgnoresCase, TEXTS),
        (Mistake::FenceIgnored, "IntentStore breaks a promise: \"change a row only if it still has the number"),
        (Mistake::SavedWithoutOwner, "IntentStore breaks a promise: \"change a row only if it still has the number"),
        (Mistake::SaveNeedsTime, "IntentStore breaks a promise: \"A lease that has ended permits changes"),
        (Mistake::SaveKeepsLease, "save breaks a promise: \"Stores the machine's state before a request, and extends"),
        (Mistake::TextsCut, TEXTS),
        (Mistake::LeaseInSeconds, "IntentStore breaks a promise: \"leases end by the clock of the database"),
        (Mistake::EndOverwrites, "IntentStore breaks a promise: \"change a row only if it still has the number"),
        (Mistake::ClaimNotAtomic, "claim breaks a promise: \"Two workers that claim at the same time"),
        (Mistake::ClaimIgnoresAccount, "claim breaks a promise: \"Claims due intents of an account"),
        (
            Mistake::ClaimTakesNewest,
            "claim breaks a promise: \"Claims due intents of an account, the longest due first",
        ),
        (Mistake::ListByName, "list breaks a promise: \"Reads intents, the most recently changed first"),
        (
            Mistake::DeliverEndsLease,
            "deliver breaks a promise: \"Stores an event under the next number. The intent may have",
        ),
        (
            Mistake::UntoldAtOnce,
            "untold breaks a promise: \"The same outcome is returned again only after `visibility`",
        ),
        (Mistake::ParkKeepsLease, "direct breaks a promise: \"raises the fencing number"),
        (Mistake::ReconcileOpens, "direct breaks a promise: \"`claims` and `lookups` start again"),
        (Mistake::ClaimOneIgnoresAccount, "claim_one breaks a promise: \"Claims one intent"),
        (Mistake::SaveIgnoresAccount, "IntentStore breaks a promise: \"change a row only if it still has the number"),
        (Mistake::ToldIgnoresAccount, "told breaks a promise: \"Acknowledges the outcome with this number"),
        (Mistake::DirectIgnoresAccount, "direct breaks a promise: \"raises the fencing number"),
        (Mistake::UntoldHidesAll, "untold breaks a promise: \"Returns the outbox"),
        (Mistake::RestForgetsLookup, "rest breaks a promise: \"A planned lookup keeps its time"),
        (Mistake::SharesForgotten, "shares breaks a promise: \"Shares beyond `total`"),
        (Mistake::BeginReplacesEnded, "begin breaks a promise: \"Stores a new intent"),
        (Mistake::BeginComparesPrefix, TEXTS),
        (Mistake::AccountIgnoresCase, TEXTS),
        (Mistake::RequestCut, TEXTS),
        (Mistake::AsksCut, TEXTS),
        (Mistake::OutcomeCut, TEXTS),
        (Mistake::EventCut, TEXTS),
        (Mistake::EnlistNotAtomic, "enlist breaks a promise: \"Returns a name that no worker had before"),
        (Mistake::SharesNotAtomic, "shares breaks a promise: \"There are `total` shares"),
        (Mistake::UntoldNotAtomic, "untold breaks a promise: \"The same outcome is returned again only after"),
        (Mistake::DeliverNotAtomic, ATOMIC),
        (Mistake::SaveWritesRowBack, ATOMIC),
        (Mistake::RestWritesRowBack, ATOMIC),
        (Mistake::EndWritesRowBack, ATOMIC),
        (Mistake::EndDeletesEvents, "end breaks a promise: \"An intent that has `Ended` keeps no events; an unknown"),
        (Mistake::ClaimLimitsFirst, "claim breaks a promise: \"Intents of other kinds or of later versions"),
        (Mistake::ClaimByCreation, "claim breaks a promise: \"Claims due intents of an account, the longest due first"),
    ];
    for (mistake, words) in mistakes {
        let message = found(mistake).unwrap_or_else(|| panic!("{mistake:?} is not found"));
        assert!(message.starts_with(words), "{mistake:?}: {message}");
        assert!(message.contains("\n      done: ") && message.contains("\n  expected: "), "{mistake:?}: {message}");
    }
}

/// A disk that loses what was not synced: each sync copies the file, and the copy is what a loss of power leaves.
#[test]
fn a_sync_that_is_left_out_is_found() {
    for is_left_out in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (path, disk) = (folder.path().join("intents"), folder.path().join("disk"));
        let open = async || {
            let (from, to): (PathBuf, PathBuf) = (path.clone(), disk.clone());
            let sync = move |_: &File| if is_left_out { Ok(()) } else { fs::copy(&from, &to).map(drop) };
            fs::write(&path, fs::read(&disk).unwrap_or_default()).unwrap();
            FileStore::open_with(&path, ticking, Box::new(sync))
        };
        let message = message(conformance::check_durable(open, "disk"));
        assert_eq!(message.is_some(), is_left_out, "{message:?}");
        let words = "IntentStore breaks a promise: \"Each method is one atomic change, which is durable when";
        assert!(message.is_none_or(|message| message.starts_with(words)));
    }
}
