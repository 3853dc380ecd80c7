//! Databases that speak PostgreSQL's protocol and have no notifications: workers poll there.

use std::{sync::atomic::Ordering, time::Duration};

use pg_intents::{PostgresStore, conformance};

use crate::{between::before, postgres::picks_up, server::Server};

const POLL: Duration = Duration::from_millis(5);

/// CockroachDB has no `pg_notify`, and refuses statements that name it.
#[tokio::test]
async fn without_pg_notify_a_store_keeps_what_it_promises() {
    let Some(server) = Server::start() else { return };
    server.psql("ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO pg_silent");
    let store = PostgresStore::migrate(&server.url()).await.unwrap();
    conformance::check(&store, "silent").await;
    server.psql("DELETE FROM payment_intents");
    picks_up(&server, store.listening(&server.url()).unwrap(), POLL).await;
}

/// As YugabyteDB answered for years.
#[tokio::test]
async fn where_listen_is_refused_workers_poll() {
    let Some(server) = Server::start() else { return };
    const FIELDS: &[u8] = b"SERROR\0C0A000\0MThis statement not supported yet\0\0";
    let length = u8::try_from(FIELDS.len() + 4).unwrap();
    let error = [&[b'E', 0, 0, 0, length], FIELDS, b"Z\0\0\0\x05I"].concat();
    let (port, refused) = before(server.port, b"LISTEN payment_intents", Some(error)).await;
    let url = server.url_at(port);
    let store = PostgresStore::migrate(&url).await.unwrap().listening(&url).unwrap();
    while refused.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    conformance::check(&store, "deaf").await;
    server.psql("DELETE FROM payment_intents");
    picks_up(&server, store, POLL).await;
}
