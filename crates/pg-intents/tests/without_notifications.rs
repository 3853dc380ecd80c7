//! Databases that speak PostgreSQL's protocol and have no notifications: workers poll there.

use std::{sync::atomic::Ordering, time::Duration};

use pg_intents::{PostgresStore, conformance};
use pg_stores::Postgres;

use crate::{between::before, postgres::picks_up};

const POLL: Duration = Duration::from_millis(5);

/// CockroachDB has no `pg_notify`, and refuses statements that name it.
#[tokio::test]
async fn without_pg_notify_a_store_keeps_what_it_promises() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    server.psql("postgres", "ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO pg_silent").unwrap();
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    conformance::check(&store, "silent").await;
    server.psql("postgres", "DELETE FROM payment_intents").unwrap();
    picks_up(&server, store.listening(&server.url("postgres")).unwrap(), POLL).await;
}

/// As YugabyteDB answered for years.
#[tokio::test]
async fn where_listen_is_refused_workers_poll() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    const FIELDS: &[u8] = b"SERROR\0C0A000\0MThis statement not supported yet\0\0";
    let length = u8::try_from(FIELDS.len() + 4).unwrap();
    let error = [&[b'E', 0, 0, 0, length], FIELDS, b"Z\0\0\0\x05I"].concat();
    let (port, refused) = before(server.port(), b"LISTEN payment_intents", Some(error)).await;
    let url = format!("postgres://pg@127.0.0.1:{port}/postgres");
    let store = PostgresStore::migrate(&url).await.unwrap().listening(&url).unwrap();
    while refused.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    conformance::check(&store, "deaf").await;
    server.psql("postgres", "DELETE FROM payment_intents").unwrap();
    picks_up(&server, store, POLL).await;
}
