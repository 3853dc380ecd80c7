//! How many requests share a write.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream as Blocking,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::{
    Sandbox,
    server::inbox::HAND_OVER,
    store::{Kind, Query, Row, Sqlite, Store, StoreError},
};

/// SQLite in memory that counts what is committed.
struct Counting(Sqlite, Arc<AtomicUsize>);

impl Store for Counting {
    pg_stores::pass_on!(0: begin, rollback, settle, in_transaction, get, holds, put, remove, select);

    fn commit(&mut self) -> Result<(), StoreError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.commit()
    }
}

#[tokio::test]
async fn requests_that_come_together_share_a_few_writes() {
    const CONNECTIONS: usize = 4 * HAND_OVER;
    let commits = Arc::new(AtomicUsize::new(0));
    let store = Counting(Sqlite::in_memory().unwrap(), Arc::clone(&commits));
    let sandbox = Sandbox::over(Box::new(store), Settings::default(), &[1; 32], [2; 32]).unwrap();
    let server = Server::serve(sandbox, Config::default().listen).await.unwrap();
    let address = server.address();
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // An answer on each, so that every connection is accepted.
        let one = b"GET /_sandbox/clock HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(one).await.unwrap();
        let mut some = [0; 4096];
        assert!(stream.read(&mut some).await.unwrap() > 0);
        let stream = stream.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        connections.push(stream);
    }
    let before = commits.load(Ordering::Relaxed);
    // The server runs on this thread, so it handles none of them before all have arrived.
    for stream in &mut connections {
        stream.write_all(head("GET", "/_sandbox/clock", "").as_bytes()).unwrap();
    }
    let answered = tokio::task::spawn_blocking(move || {
        connections.into_iter().map(last_answer).filter(|answer| answer.contains("HTTP/1.1 200 ")).count()
    });
    assert_eq!(answered.await.unwrap(), CONNECTIONS);
    // Requests that are handed over together are never split; how many of these groups share a write depends on the
    // speed of the writer.
    let commits = commits.load(Ordering::Relaxed) - before;
    assert!((1..=CONNECTIONS / HAND_OVER).contains(&commits), "{commits}");
    server.shutdown().await.unwrap();
}

fn last_answer(mut stream: Blocking) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
