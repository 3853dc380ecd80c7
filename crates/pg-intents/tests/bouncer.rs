//! PgBouncer in transaction mode between the store and the server.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::{Child, Stdio},
    sync::Arc,
};

use pg_intents::{PostgresStore, StoreError, conformance};
use tempfile::TempDir;

use crate::{
    server::{Server, on_ci, owned_by_user, unprivileged},
    world::{World, by_key},
};

const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// A pooler in a temporary folder, on a free port, that gives a connection of the server to a client for one transaction.
struct Bouncer {
    folder: TempDir,
    port: u16,
    running: Child,
}

impl Bouncer {
    /// `None` where Debian's package is missing, unless nothing may be left out.
    fn before(server: &Server) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            let why = format!("no {PROGRAM} (Debian's package pgbouncer)");
            assert!(!on_ci(), "nothing may be left out here, but there is {why}");
            eprintln!("left out: {why}");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("pg-intents-").tempdir().unwrap();
        owned_by_user(folder.path());
        for _ in 0..5 {
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
            let settings = folder.path().join("pgbouncer.ini");
            // Fewer connections than a store has: its clients share them, transaction by transaction.
            let text = format!(
                "[databases]\npostgres = user=pg host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
                 unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 100\n\
                 server_reset_query =\nadmin_users = pg\n",
                server.port
            );
            fs::write(&settings, text).unwrap();
            let log = fs::File::create(folder.path().join("log")).unwrap();
            let mut command = unprivileged(PROGRAM.as_ref());
            command.arg(&settings).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            let mut running = command.spawn().unwrap();
            while running.try_wait().unwrap().is_none() {
                if std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                    return Some(Self { folder, port, running });
                }
                std::thread::yield_now();
            }
            // Another program took the port.
        }
        panic!("PgBouncer does not start: {}", fs::read_to_string(folder.path().join("log")).unwrap());
    }

    /// What its own log says.
    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}

#[tokio::test]
async fn behind_pgbouncer_in_transaction_mode_a_store_keeps_what_it_promises() {
    let Some(server) = Server::start() else { return };
    let Some(bouncer) = Bouncer::before(&server) else { return };
    let url = server.url_at(bouncer.port);
    let refused = PostgresStore::connect(&url).await.unwrap_err();
    assert_eq!(refused, StoreError::Older { found: 0, known: 2 }, "{}", bouncer.log());
    let (one, other) = tokio::join!(PostgresStore::migrate(&url), PostgresStore::migrate(&url));
    let (one, other) = (Arc::new(one.unwrap()), Arc::new(other.unwrap()));
    // Side by side: each statement may run on another connection of the server.
    tokio::join!(conformance::check(&*one, "one"), conformance::check(&*other, "other"));
    conformance::check_rewriting(&*one, "one").await;

    let world = World::new();
    let (wire, key) = (world.wire(None), world.card_key().await);
    let listening = Arc::new(PostgresStore::connect(&url).await.unwrap().listening(&server.url()).unwrap());
    let fleet = world.worker_over("one", &listening, &wire).await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..20 {
        let (fleet, payment) = (fleet.clone(), by_key(&key, &format!("pooled-{}", number / 2)));
        calls.spawn(async move { fleet.charge(payment).await.unwrap() });
    }
    while let Some(settled) = calls.join_next().await {
        assert_eq!(settled.unwrap().name(), "approved");
    }
    for number in 0..10 {
        assert_eq!(world.ledger(&format!("pooled-{number}")).await.len(), 1);
    }
    let backends =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pg-intents' AND query NOT LIKE 'LISTEN%'";
    let reached = server.psql(backends).trim().parse::<u32>().unwrap();
    assert!((1..=3).contains(&reached), "the pooler's connections alone reach the server: {reached}");
}
