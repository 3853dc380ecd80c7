//! What happens when the store fails under the core.

use std::sync::Mutex;

use super::*;
use crate::store::{Kind, Query, Row, Syncer};

/// SQLite in memory that fails or panics on command.
struct Failing {
    inner: Sqlite,
    commits_left: usize,
    syncer: Option<Syncer>,
    /// Set while the store is away: how often it was asked to begin, and to begin to wait for it.
    away: Option<Arc<Mutex<(u32, u32)>>>,
}

const PANIC_KEY: &str = "panic";
const LOSE_KEY: &str = "lose";

impl Store for Failing {
    pg_stores::pass_on!(inner: rollback, in_transaction, holds, put, remove, select);

    fn begin(&mut self) -> Result<(), StoreError> {
        let Some(away) = &self.away else { return self.inner.begin() };
        away.lock().unwrap().0 += 1;
        Err(StoreError::Unreachable("planted".to_owned()))
    }
    fn begin_patience(&mut self, is_task: bool) {
        if let Some(away) = &self.away {
            away.lock().unwrap().1 += u32::from(!is_task);
        }
    }
    fn may_try_again(&self) -> bool {
        self.away.is_some()
    }
    fn commit(&mut self) -> Result<(), StoreError> {
        match self.commits_left.checked_sub(1) {
            Some(left) => {
                self.commits_left = left;
                self.inner.commit()
            }
            None => {
                self.inner.rollback();
                Err(StoreError::Full)
            }
        }
    }
    fn syncer(&self) -> Option<Syncer> {
        self.syncer.clone()
    }
    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        assert_ne!(key, PANIC_KEY, "asked to panic");
        if key == LOSE_KEY {
            self.inner.rollback();
            return Err(StoreError::Full);
        }
        self.inner.get(kind, key)
    }
}

/// Creates a sandbox whose store commits this many times, including the key check, and a token of the account `main`.
pub(super) fn failing(commits: usize) -> (Sandbox, String) {
    let mut sandbox =
        over(Failing { inner: Sqlite::in_memory().unwrap(), commits_left: commits + 2, syncer: None, away: None })
            .unwrap();
    let key = token(&mut sandbox, "main");
    (sandbox, key)
}

fn over(store: Failing) -> Result<Sandbox, OpenError> {
    Sandbox::assemble(Box::new(store), Settings::default(), &[1; 32], Box::new(SeededRandom::new([2; 32])))
}

fn disable(key: &str, encoding: &str) -> Request<Bytes> {
    let body = signed(&account("main"), &[("cardKey", key)]);
    request(Method::POST, &format!("/v3/token/disable/{encoding}"), body)
}

// spec: 1 §7, A50: Failures of the sandbox itself are reported as such.
// spec: codes SandboxErrorCode 999
#[test]
fn a_group_that_cannot_be_written_gets_errors_and_changes_nothing() {
    let (mut sandbox, key) = failing(0);
    let group = vec![
        disable(&key, "json"),
        disable(&key, "xml"),
        request(Method::POST, "/enterprise/gettoken", "a=1"),
        request(Method::POST, "/_sandbox/clock", r#"{"advanceSeconds":60}"#),
    ];
    let responses = sandbox.handle_group(now(), group);
    let texts: Vec<(StatusCode, String)> = responses.iter().map(text).collect();
    assert!(texts.iter().all(|(status, _)| *status == 500), "{texts:?}");
    assert!(texts[0].1.contains(r#""errorCode":"999""#) && texts[0].1.contains("disk is full"));
    assert!(texts[1].1.contains("<errorCode>999</errorCode>"));
    assert!(texts[2].1.contains("<errorcode>999</errorcode>"));
    assert!(texts[3].1.contains("\"error\""));
    assert!(stored(&mut sandbox, &key).unwrap().enabled);
    assert_eq!(sandbox.clock, Clock::default());
}

#[test]
fn all_attempts_of_a_group_and_of_reports_share_one_patience_with_a_store_that_is_away() {
    let (mut sandbox, key) = failing(9);
    let counted = Arc::new(Mutex::new((0, 0)));
    let away = Some(Arc::clone(&counted));
    sandbox.store = Box::new(Failing { inner: Sqlite::in_memory().unwrap(), commits_left: 9, syncer: None, away });
    let responses = sandbox.handle_group(now(), vec![disable(&key, "json"), disable(&key, "xml")]);
    assert_eq!(responses.iter().map(|response| response.status().as_u16()).collect::<Vec<_>>(), [500, 500]);
    // The group, and then each request alone.
    assert_eq!(*counted.lock().unwrap(), (1 + 2 * group::ATTEMPTS, 1));
    sandbox.all_delivered(now(), (0..9).map(|id| (id.to_string(), Ok(StatusCode::OK))).collect());
    // A result is written later, so requests do not wait for it.
    assert_eq!(counted.lock().unwrap().1, 1);
}

// spec: 1 §7, A50; codes SandboxErrorCode 999
#[test]
fn a_panic_undoes_its_own_request_only() {
    let (mut sandbox, key) = failing(1);
    let group = vec![disable(&key, "json"), disable(PANIC_KEY, "json"), disable("unknown", "json")];
    let responses = sandbox.handle_group(now(), group);
    let statuses: Vec<u16> = responses.iter().map(|response| response.status().as_u16()).collect();
    assert_eq!(statuses, [200, 500, 400]);
    assert!(text(&responses[1]).1.contains(r#""errorCode":"999""#));
    assert!(!stored(&mut sandbox, &key).unwrap().enabled);
}

#[test]
fn an_aborted_store_transaction_fails_its_group() {
    let (mut sandbox, key) = failing(9);
    let responses = sandbox.handle_group(now(), vec![disable(&key, "json"), disable(LOSE_KEY, "json")]);
    assert_eq!(responses.iter().map(|response| response.status().as_u16()).collect::<Vec<_>>(), [500, 500]);
    assert!(stored(&mut sandbox, &key).unwrap().enabled);
    assert_eq!(sandbox.handle(now(), disable(&key, "json")).status(), 200);
    assert!(!stored(&mut sandbox, &key).unwrap().enabled);
}

/// A pipe accepts writes and cannot be synced, like a disk that fails late.
#[cfg(unix)]
#[test]
fn a_commit_that_the_disk_lost_is_not_acknowledged_or_used() {
    let (mut sandbox, key) = failing(9);
    let (_reader, writer) = std::io::pipe().unwrap();
    let pipe = std::fs::File::from(std::os::fd::OwnedFd::from(writer));
    let store = Box::new(Failing {
        inner: Sqlite::in_memory().unwrap(),
        commits_left: 9,
        syncer: Some(Syncer::new(pipe)),
        away: None,
    });
    let healthy = std::mem::replace(&mut sandbox.store, store);
    let syncer = sandbox.syncer().unwrap();

    // The server answers before the disk has the commit, and waits for the disk before it sends the answers.
    assert_eq!(
        sandbox.answer_group(&now, &mut vec![Inbound::new(&Settings::default(), disable(&key, "json"))], &mut |_| {})
            [0]
        .status(),
        400
    );
    assert!(matches!(syncer.sync(), Err(StoreError::Unsynced(_))));
    // A caller without a thread for that waits, and learns nothing: the commit may be on the disk.
    let unknown = sandbox.handle_group(now(), vec![disable(&key, "json"), disable(&key, "xml")]);
    assert_eq!(unknown.iter().map(ResponseDelivery::of).collect::<Vec<_>>(), [ResponseDelivery::Close; 2]);
    // From then on nothing is executed.
    let refused = text(&sandbox.handle(now(), disable(&key, "json")));
    assert_eq!(refused.0, 500);
    assert!(refused.1.contains(r#""errorCode":"999""#) && refused.1.contains("restart the sandbox"), "{}", refused.1);
    assert_eq!(refused.1.matches("restart the sandbox").count(), 1);

    // The disk seems to work again, and it is unknown what it has stored.
    sandbox.store = healthy;
    assert_eq!(sandbox.handle(now(), disable(&key, "json")).status(), 500);
    assert!(stored(&mut sandbox, &key).unwrap().enabled);
    assert!(matches!(sandbox.close(), Err(StoreError::Unsynced(_))));
}
