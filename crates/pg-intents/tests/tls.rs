//! TLS to the database: required if the URL says so, and checked. If it fails, the server learns nothing, and nothing is sent to
//! the service.

use std::{fs, sync::Arc, sync::atomic::Ordering, time::Duration};

use pg_intents::{Fleet, FleetError, IntentStore as _, PostgresStore, StoreError, conformance};
use pg_stores::{Authority, Postgres};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::world::{World, by_key};

#[tokio::test]
async fn a_database_is_reached_through_tls_or_not_at_all() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let url = server.url("postgres");
    let refused = async |query: &str| {
        let error = PostgresStore::migrate(&format!("{url}?{query}")).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
        let text = error.to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    for mode in ["require", "verify-full"] {
        let error = refused(&format!("sslmode={mode}")).await;
        assert!(error.contains("server does not support TLS"), "{error}");
    }

    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        format!("sslrootcert={}", file.display())
    };
    let (authority, another) = (Authority::new(), Authority::new());
    authority.certify(&server, "127.0.0.1");
    let trusted = file("authority.pem", authority.pem());
    let stranger = file("another.pem", another.pem());
    for mode in ["require", "verify-full"] {
        // Mozilla trusts neither.
        for query in [format!("sslmode={mode}"), format!("sslmode={mode}&{stranger}")] {
            let error = refused(&query).await;
            assert!(error.contains("invalid peer certificate"), "{query}: {error}");
        }
    }
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(server.psql("postgres", tables).unwrap(), "0", "nothing was made through a connection that was refused");

    let encrypted = format!("{url}?sslmode=verify-full&{trusted}");
    let store = Arc::new(PostgresStore::migrate(&encrypted).await.unwrap().listening(&encrypted).unwrap());
    conformance::check(&*store, "tls").await;
    let (world, wire, key) = World::with_card().await;
    let others = store.accounts("", u32::MAX).await.unwrap();
    let plan = World::plan("one").apart_from(others).patience(Duration::from_millis(100));
    let fleet = Fleet::new(world.client(&wire), store, plan).await.unwrap();
    assert_eq!(fleet.charge(by_key(&key, "order-1")).await.unwrap().name(), "approved");
    let ours = "FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'pg-intents'";
    assert_eq!(server.psql("postgres", &format!("SELECT bool_and(ssl) {ours}")).unwrap(), "t");

    // The certificate of another server, while a fleet works.
    authority.certify(&server, "db.example");
    let error = refused(&format!("sslmode=require&{trusted}")).await;
    assert!(error.contains("not valid for name"), "{error}");
    let paid = wire.paid.load(Ordering::SeqCst);
    let error = fleet.charge(by_key(&key, "order-2")).await.unwrap_err();
    assert!(matches!(error, FleetError::Store(StoreError::Unavailable(_))), "{error}");
    assert_eq!((wire.paid.load(Ordering::SeqCst), world.ledger("order-2").await.len()), (paid, 0));
    authority.certify(&server, "127.0.0.1");
    assert_eq!(fleet.charge(by_key(&key, "order-2")).await.unwrap().name(), "approved");
}

/// A server without TLS, or an attacker between who pretends to be one.
#[tokio::test]
async fn neither_user_nor_password_is_sent_to_a_server_without_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = tokio::spawn(async move {
        let mut told = Vec::new();
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut question = [0; 8];
        connection.read_exact(&mut question).await.unwrap();
        connection.write_all(b"N").await.unwrap();
        connection.read_to_end(&mut told).await.unwrap();
        (question, told)
    });
    let url = format!("postgres://shop:hunter2@127.0.0.1:{port}/shop?sslmode=require");
    let error = PostgresStore::connect(&url).await.unwrap_err();
    assert!(error.to_string().contains("server does not support TLS"), "{error}");
    let (question, told) = told.await.unwrap();
    // SSLRequest: its length and its code.
    assert_eq!(question, [0, 0, 0, 8, 4, 210, 22, 47]);
    assert_eq!(told, [0_u8; 0]);
}
