//! Databases that speak PostgreSQL's protocol and have no notifications: workers poll there.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pg_intents::{PostgresStore, conformance};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::{postgres::picks_up, server::Server};

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

/// What stands before a server and answers one statement itself, or closes the connection: its port, and how often it did.
pub(crate) async fn before(port: u16, statement: &'static [u8], answer: Option<Vec<u8>>) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, met) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
    let count = Arc::clone(&met);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (count, answer) = (Arc::clone(&count), answer.clone());
            tokio::spawn(async move {
                let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
                    (client.into_split(), server.into_split());
                let (mut asked, mut said) = (vec![0; 65536], vec![0; 65536]);
                loop {
                    tokio::select! {
                        read = from_client.read(&mut asked) => {
                            let Ok(length @ 1..) = read else { break };
                            if asked[..length].windows(statement.len()).any(|window| window == statement) {
                                count.fetch_add(1, Ordering::SeqCst);
                                let Some(answer) = &answer else { break };
                                let Ok(()) = to_client.write_all(answer).await else { break };
                                continue;
                            }
                            let Ok(()) = to_server.write_all(&asked[..length]).await else { break };
                        }
                        read = from_server.read(&mut said) => {
                            let Ok(length @ 1..) = read else { break };
                            let Ok(()) = to_client.write_all(&said[..length]).await else { break };
                        }
                    }
                }
            });
        }
    });
    (address.port(), met)
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
