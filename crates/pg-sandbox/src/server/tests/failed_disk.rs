//! A disk that reports an error after it has accepted a write.

use std::{
    fs::File,
    os::fd::OwnedFd,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::*;
use crate::{
    Log, Settings,
    store::{Kind, Query, Row, Sqlite, Store, Syncer},
};

/// SQLite in memory, and a pipe in place of its disk: it accepts writes, and cannot be synced.
struct Failing {
    inner: Sqlite,
    pipe: File,
    asked: AtomicUsize,
}

impl Store for Failing {
    pg_stores::pass_on!(inner: begin, commit, rollback, in_transaction, get, holds, put, remove, select);

    fn syncer(&self) -> Option<Syncer> {
        // Only the server's thread gets the pipe: opening a sandbox, and its tasks, succeed.
        let is_servers = self.asked.fetch_add(1, Ordering::Relaxed) == 1;
        is_servers.then(|| Syncer::new(self.pipe.try_clone().unwrap()))
    }
}

#[tokio::test]
async fn a_commit_that_the_disk_may_have_lost_closes_its_connection_and_later_requests_are_refused() {
    let (_reader, writer) = io::pipe().unwrap();
    let store = Failing {
        inner: Sqlite::in_memory().unwrap(),
        pipe: File::from(OwnedFd::from(writer)),
        asked: AtomicUsize::new(0),
    };
    let lines = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&lines);
    let settings = Settings::default().log(Some(Log::new(move |line| kept.lock().unwrap().push_str(line))));
    let sandbox = Sandbox::over(Box::new(store), settings, &[1; 32], [2; 32]).unwrap();
    let server = Server::serve(sandbox, Config::default().listen).await.unwrap();
    let advance = post("/_sandbox/clock", "application/json", br#"{"advanceSeconds":60}"#);
    assert_eq!(exchange(&server, &advance).await, "", "its outcome is unknown");
    assert!(matches!(server.store_failed().await, StoreError::Unsynced(_)));
    assert_eq!(lines.lock().unwrap().matches("store-failed").count(), 1);
    for request in [advance, head("GET", "/_sandbox/transactions", "").into_bytes()] {
        let answer = exchange(&server, &request).await;
        assert!(answer.starts_with("HTTP/1.1 500 ") && answer.contains("restart the sandbox"), "{answer}");
    }
    let answer = exchange(&server, head("GET", "/_sandbox/health/ready", "").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("\"not ready\""), "{answer}");
    assert_eq!(lines.lock().unwrap().matches("store-failed").count(), 1);
    assert!(matches!(server.shutdown().await, Err(StoreError::Unsynced(_))));
}
