//! The store passes the conformance suite, and with a mistake it does not: the message names the broken promise.

/// Passes methods on to the store without the mistake.
macro_rules! pass_on {
    (= $method:ident($($name:ident: $type:ty),+) -> $returned:ty) => {
        async fn $method(&self, $($name: $type),+) -> Result<$returned, StoreError> { self.0.$method($($name),+).await }
    };
    (@ enlist) => { pass_on!(= enlist(name: &str) -> String); };
    (@ begin) => { pass_on!(= begin(new: NewIntent) -> Begun); };
    (@ save) => { pass_on!(= save(hold: &IntentLease, state: &str, lease: Duration) -> ()); };
    (@ renew) => { pass_on!(= renew(hold: &IntentLease, lease: Duration) -> ()); };
    (@ release) => { pass_on!(= release(hold: &IntentLease, wake: Duration) -> ()); };
    (@ end) => { pass_on!(= end(hold: &IntentLease, end: IntentEnd) -> ()); };
    (@ rest) => { pass_on!(= rest(hold: &IntentLease, rest: IntentRest) -> ()); };
    (@ deliver) => { pass_on!(= deliver(key: &IntentKey, event: &str) -> bool); };
    (@ events) => { pass_on!(= events(key: &IntentKey, after: i32) -> Vec<(i32, String)>); };
    (@ claim) => {
        pass_on!(= claim(account: &str, owner: &str, most: u32, lease: Duration, kinds: &[IntentKind]) -> Vec<IntentRow>);
    };
    (@ claim_one) => {
        pass_on!(= claim_one(key: &IntentKey, owner: &str, lease: Duration, kinds: &[IntentKind]) -> Option<Claimed>);
    };
    (@ find) => { pass_on!(= find(key: &IntentKey) -> Option<IntentRow>); };
    (@ list) => { pass_on!(= list(filter: IntentFilter) -> Vec<IntentRow>); };
    (@ accounts) => { pass_on!(= accounts(from: &str, most: u32) -> Vec<String>); };
    (@ direct) => { pass_on!(= direct(key: &IntentKey, directive: Directive) -> bool); };
    (@ untold) => { pass_on!(= untold(account: &str, most: u32, visibility: Duration) -> Vec<IntentRow>); };
    (@ told) => { pass_on!(= told(key: &IntentKey, event: i32) -> ()); };
    (@ shares) => { pass_on!(= shares(wish: ShareWish<'_>) -> u32); };
    (@ stop) => { pass_on!(= stop(account: &str, reason: Option<&str>) -> ()); };
    (@ stopped) => { pass_on!(= stopped(account: &str) -> Option<String>); };
    ($($method:ident)+) => { $(pass_on!(@ $method);)+ };
}

mod again;
mod choosing;
mod forgetting;
mod keys;
mod leases;
mod races;
mod texts;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::atomic::{AtomicI64, Ordering},
};

use pg_intents::conformance;

use super::*;

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

/// Checks that the suite finds a mistake: which promise is broken, and by which check, by the first words of what it has done. It ends with
/// the first promise that is broken, so no earlier check has found the mistake.
fn is_found<S: IntentStore>(name: &str, wrong: impl FnOnce(FileStore) -> S, promise: &str, done: &str) {
    let folder = tempfile::tempdir().unwrap();
    let store = wrong(unsynced(&folder.path().join("intents"), ticking));
    let message = message(conformance::check(&store, "mistaken")).unwrap_or_else(|| panic!("{name} is not found"));
    let expected = format!(" breaks a promise: \"{promise}");
    let (by, found) = message.split_once("\n      done: ").unwrap_or_default();
    assert!(by.contains(&expected) && found.starts_with(done) && found.contains("\n  expected: "), "{name}: {message}");
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
