//! What the tasks of accounts cost, and what is left of them when the store fails in between.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use http::StatusCode;
use pg_sandbox::{
    Sandbox, Settings, StoreError,
    store::{Kind, Query, Row, Sqlite, Store},
};
use pg_support::payment;
use serde_json::Value;

use super::{Job, Shared};

/// What the store has done, and when it fails.
struct Control {
    begun: AtomicUsize,
    selected: AtomicUsize,
    /// How many more commits succeed.
    commits_left: AtomicUsize,
    /// Whether reading a record fails.
    reads_fail: AtomicBool,
    /// Whether the answer to the next commit, which succeeds, is lost.
    answer_is_lost: AtomicBool,
    /// Whether several processes may have the store open.
    is_shared: AtomicBool,
}

/// SQLite in memory that counts, and fails on command.
struct Failing(Sqlite, Arc<Control>);

impl Store for Failing {
    pg_stores::pass_on!(0: rollback, in_transaction, holds, put, remove);

    fn begin(&mut self) -> Result<(), StoreError> {
        self.1.begun.fetch_add(1, Relaxed);
        self.0.begin()
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        if self.1.commits_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            self.0.rollback();
            return Err(StoreError::Full);
        }
        self.0.commit()?;
        if self.1.answer_is_lost.swap(false, Relaxed) { Err(StoreError::Unknown) } else { Ok(()) }
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        if self.1.reads_fail.load(Relaxed) { Err(StoreError::Full) } else { self.0.get(kind, key) }
    }

    fn is_shared(&self) -> bool {
        self.1.is_shared.load(Relaxed)
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        let found = self.0.select(kind, query)?;
        self.1.selected.fetch_add(found.len(), Relaxed);
        Ok(found)
    }
}

fn shared() -> (Shared, Arc<Control>) {
    let control = Arc::new(Control {
        begun: 0.into(),
        selected: 0.into(),
        commits_left: AtomicUsize::new(usize::MAX),
        reads_fail: false.into(),
        answer_is_lost: false.into(),
        is_shared: false.into(),
    });
    let store = Failing(Sqlite::in_memory().unwrap(), Arc::clone(&control));
    let sandbox = Sandbox::over(Box::new(store), Settings::default().callback_retries(1), &[1; 32], [2; 32]).unwrap();
    (Shared::over(sandbox), control)
}

/// Hands out the callback of a new batch, and returns its id.
fn handed_out(job: &Job, shared: &mut Shared) -> String {
    job.batch(shared);
    shared.pass(121);
    let mut sent = shared.due();
    assert_eq!(sent.len(), 1);
    sent.remove(0).id
}

#[test]
fn callbacks_that_were_handed_out_are_sent_although_the_store_fails_at_the_next_account() {
    let (mut shared, control) = shared();
    for name in ["ci-1", "ci-2", "ci-3"] {
        shared.account(&format!(r#"{{"name":"{name}"}}"#)).batch(&mut shared);
    }
    assert!(shared.due().is_empty());
    shared.pass(121);
    control.commits_left.store(1, Relaxed);
    let first = shared.due();
    assert_eq!(first.len(), 1, "one account was committed");
    control.commits_left.store(usize::MAX, Relaxed);
    shared.pass(1);
    let others = shared.due();
    assert_eq!(others.len(), 2, "the others follow");
    assert!(others.iter().all(|one| one.id != first[0].id));
}

#[test]
fn a_result_that_cannot_be_written_is_written_later_and_the_callback_is_not_sent_again() {
    let (mut shared, control) = shared();
    let own = shared.account(r#"{"name":"ci-1"}"#);
    for (job, list) in [(own, "callbacks?account=ci-1"), (Job::configured("main"), "callbacks")] {
        let sent = handed_out(&job, &mut shared);
        control.commits_left.store(0, Relaxed);
        shared.sandbox.delivered(shared.now, &sent, Ok(StatusCode::OK));
        control.reads_fail.store(true, Relaxed);
        assert!(shared.due().is_empty());
        control.reads_fail.store(false, Relaxed);
        assert!(shared.due().is_empty());
        control.commits_left.store(usize::MAX, Relaxed);
        assert_eq!(shared.get(list)[0]["status"], "pending");
        shared.pass(1);
        assert!(shared.sandbox.next_due().is_some_and(|next| next <= shared.now), "it is tried again by itself");
        assert!(shared.due().is_empty());
        let callback = &shared.get(list)[0];
        assert_eq!((&callback["status"], &callback["attempts"]), (&Value::from("delivered"), &Value::from(1)));
    }
}

#[test]
fn a_result_whose_commit_seemed_to_fail_is_counted_once() {
    let (mut shared, control) = shared();
    control.is_shared.store(true, Relaxed);
    let own = shared.account(r#"{"name":"ci-1"}"#);
    for (job, list) in [(own, "callbacks?account=ci-1"), (Job::configured("main"), "callbacks")] {
        let sent = handed_out(&job, &mut shared);
        control.answer_is_lost.store(true, Relaxed);
        shared.sandbox.delivered(shared.now, &sent, Ok(StatusCode::SERVICE_UNAVAILABLE));
        assert!(!control.answer_is_lost.load(Relaxed));
        shared.pass(1);
        assert!(shared.due().is_empty());
        let callback = &shared.get(list)[0];
        assert_eq!((&callback["attempts"], &callback["retriesLeft"]), (&Value::from(1), &Value::from(0)));
        shared.pass(10);
        let retry = shared.due();
        assert_eq!(retry.len(), 1);
        shared.sandbox.delivered(shared.now, &retry[0].id, Ok(StatusCode::OK));
    }
}

#[test]
fn an_account_that_nothing_is_due_at_costs_no_transaction() {
    let (mut shared, control) = shared();
    let mut costs = Vec::new();
    for accounts in [1, 40] {
        for number in 0..accounts {
            shared.account(&format!(r#"{{"name":"ci-{accounts}-{number}"}}"#));
        }
        shared.due();
        let before = control.begun.load(Relaxed);
        shared.account(r#"{"name":"one-more"}"#);
        shared.due();
        shared.sandbox.handle(shared.now, pg_support::request(http::Method::DELETE, "/_sandbox/accounts/one-more", ""));
        shared.due();
        costs.push(control.begun.load(Relaxed) - before);
    }
    assert_eq!(costs[0], costs[1]);
}

#[test]
fn tasks_of_accounts_are_done_after_a_restart_and_only_at_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    let open = || Shared::over(Sandbox::open(&path, Settings::default(), [9; 32]).unwrap());
    let mut shared = open();
    for name in ["ci-1", "ci-12", "ci-2", "frozen"] {
        shared.account(&format!(r#"{{"name":"{name}"}}"#)).batch(&mut shared);
    }
    Job::configured("main").batch(&mut shared);
    shared.post("clock?account=ci-1", r#"{"advanceSeconds":60}"#);
    shared.post("clock?account=frozen", r#"{"speed":0}"#);
    let now = shared.now;
    drop(shared);
    let mut shared = open();
    shared.now = now;
    for (seconds, callbacks) in [(0, 0), (59, 0), (2, 1), (58, 0), (2, 3), (10_000, 0)] {
        shared.pass(seconds);
        assert_eq!(shared.due().len(), callbacks, "after {seconds} more seconds");
    }
}

#[test]
fn batches_that_are_due_together_are_read_once() {
    const BATCHES: usize = 200;
    let (mut shared, control) = shared();
    let main = Job::configured("main");
    let paid = main.done(&mut shared, "transaction/auth", &payment("order-1"));
    let tokens = main.done(
        &mut shared,
        "token/tokeniseTransactionKey",
        &[("transactionKey", paid["transactionKey"].as_str().unwrap())],
    );
    let key = main.merchant.account_updater_key.clone().unwrap();
    let request =
        [("accountUpdaterKey", key.expose()), ("cardKey", tokens["cardKeyDetails"]["0"]["cardKey"].as_str().unwrap())];
    for _ in 0..BATCHES {
        main.done(&mut shared, "token/requestAccountUpdater", &request);
    }
    shared.pass(121);
    let before = control.selected.load(Relaxed);
    shared.due();
    let selected = control.selected.load(Relaxed) - before;
    assert!((BATCHES..BATCHES + 50).contains(&selected), "{selected} rows for {BATCHES} batches");
}
