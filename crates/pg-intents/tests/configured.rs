//! Databases and roles that were configured in an unusual way: the store is opened and works, or one line says what to do.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use pg_intents::{
    Directive, Fleet, FleetError, IntentKey, IntentStore as _, POSTGRES_MIGRATIONS, PostgresStore, StoreError,
    conformance,
};
use pg_stores::Postgres;

use crate::world::{World, by_key, submitted};

/// The rights of the role `shop`, all of which some statement needs.
const RIGHTS: [(&str, &[&str]); 5] = [
    ("payment_events", &["SELECT", "INSERT", "DELETE"]),
    ("payment_intents", &["SELECT", "INSERT", "UPDATE"]),
    ("payment_shares", &["SELECT", "INSERT", "UPDATE"]),
    ("payment_stops", &["SELECT", "INSERT", "DELETE"]),
    ("payment_store", &["SELECT", "UPDATE"]),
];

/// Creates the role `shop` with these rights only, and returns its URL.
fn with_shop(server: &Postgres) -> String {
    server.psql("postgres", "CREATE ROLE shop LOGIN").unwrap();
    for (table, rights) in RIGHTS {
        server.psql("postgres", &format!("GRANT {} ON {table} TO shop", rights.join(", "))).unwrap();
    }
    server.url("postgres").replace("pg@", "shop@")
}

async fn refused(url: &str) -> String {
    let error = PostgresStore::connect(url).await.unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

/// Otherwise the process would send a request, and could not store its outcome.
#[tokio::test]
async fn a_process_does_not_start_without_a_right_that_a_later_statement_needs() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let url = with_shop(&server);
    conformance::check(&PostgresStore::connect(&url).await.unwrap(), "humble").await;
    for (table, rights) in RIGHTS {
        for right in rights {
            server.psql("postgres", &format!("REVOKE {right} ON {table} FROM shop")).unwrap();
            let error = refused(&url).await;
            let grant = format!("GRANT {right} ON public.{table} TO shop");
            assert!(error.contains("role shop lacks rights") && error.ends_with(&grant), "{error}");
            server.psql("postgres", &grant).unwrap();
        }
    }
    // The only column of its table that a statement changes.
    server
        .psql("postgres", "REVOKE UPDATE ON payment_store FROM shop; GRANT UPDATE (workers) ON payment_store TO shop")
        .unwrap();
    PostgresStore::connect(&url).await.unwrap().enlist("w").await.unwrap();
    server.psql("postgres", "REVOKE ALL ON payment_events, payment_stops FROM shop").unwrap();
    let all = "GRANT DELETE, INSERT, SELECT ON public.payment_events TO shop; GRANT DELETE, INSERT, SELECT ON public.payment_stops TO shop";
    assert!(refused(&url).await.ends_with(all));
    server.psql("postgres", all).unwrap();
    drop(PostgresStore::connect(&url).await.unwrap());
}

/// As after a migration by the owner: the role has no right on the new table.
#[tokio::test]
async fn a_table_that_a_migration_has_added_is_granted_before_a_process_starts() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    server.psql("postgres", POSTGRES_MIGRATIONS[0]).unwrap();
    server
        .psql(
            "postgres",
            "CREATE ROLE shop LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO shop",
        )
        .unwrap();
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let error = refused(&server.url("postgres").replace("pg@", "shop@")).await;
    assert!(error.ends_with("GRANT DELETE, INSERT, SELECT ON public.payment_events TO shop"), "{error}");
}

/// What a statement after the request needs goes out of reach while the process works.
#[tokio::test]
async fn while_a_right_or_a_table_is_out_of_reach_nothing_is_sent_and_every_error_names_it() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let store = Arc::new(PostgresStore::connect(&with_shop(&server)).await.unwrap());
    let (world, wire, card_key) = World::with_card().await;
    let plan = World::plan("one").patience(Duration::ZERO);
    let fleet = Fleet::new(world.client(&wire), Arc::clone(&store), plan).await.unwrap();
    let said = |sql: &str| server.psql("postgres", sql).unwrap();
    said("CREATE SCHEMA other; CREATE SCHEMA shop AUTHORIZATION shop");
    for (name, harm, cure, names) in [
        (
            "right",
            "REVOKE DELETE ON payment_events FROM shop",
            "GRANT DELETE ON public.payment_events TO shop",
            "GRANT DELETE ON public.payment_events TO shop",
        ),
        (
            "moved",
            "ALTER TABLE payment_events SET SCHEMA other",
            "ALTER TABLE other.payment_events SET SCHEMA public",
            "role shop does not find tables of the store: payment_events.",
        ),
        (
            "namesake",
            "CREATE TABLE shop.payment_events (id bigint); ALTER TABLE shop.payment_events OWNER TO shop",
            "DROP TABLE shop.payment_events",
            "role shop does not find tables of the store: payment_events.",
        ),
    ] {
        let [first, second, third] = ["1", "2", "3"].map(|number| format!("{name}-{number}"));
        assert_eq!(fleet.charge(by_key(&card_key, &first)).await.unwrap().name(), "approved");
        said(harm);
        let error = fleet.charge(by_key(&card_key, &second)).await.unwrap_err();
        assert!(matches!(error, FleetError::MaybeSent { .. }), "{error}");
        let sent = wire.paid.load(Ordering::SeqCst);
        let is_named = |error: &str| error.contains(names) && !error.contains('\n');
        for reference in [&second, &third] {
            let error = fleet.charge(by_key(&card_key, reference)).await.unwrap_err();
            assert!(matches!(&error, FleetError::Store(StoreError::Unavailable(why)) if is_named(why)), "{error}");
        }
        assert!(is_named(&fleet.outcome(&second).await.unwrap_err().to_string()));
        assert_eq!(wire.paid.load(Ordering::SeqCst), sent, "nothing is sent");

        said(cure);
        // Rather than wait for the end of its lease.
        let key = IntentKey::new(fleet.account(), &second);
        assert!(store.direct(&key, Directive::Reconcile).await.unwrap());
        let other = world.worker_over(name, &store, &wire).await;
        for reference in [&second, &third] {
            assert_eq!(other.charge(by_key(&card_key, reference)).await.unwrap().name(), "approved");
            assert_eq!(world.ledger(reference).await.len(), 1);
        }
    }
}

#[tokio::test]
async fn where_pg_notify_is_denied_workers_poll() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    server.psql("postgres", "REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC").unwrap();
    conformance::check(&PostgresStore::connect(&with_shop(&server)).await.unwrap(), "silent").await;
}

/// A reply of the service may have any letter, and an outcome must be stored.
#[tokio::test]
async fn a_database_that_cannot_store_every_text_is_refused() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    for encoding in ["LATIN1", "SQL_ASCII"] {
        let name = encoding.to_lowercase();
        let create =
            format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'");
        server.psql("postgres", &create).unwrap();
        let said = format!("the encoding of the database {name} is {encoding}");
        let error = PostgresStore::migrate(&server.url(&name)).await.unwrap_err().to_string();
        assert!(error.contains(&said) && error.contains("UTF8") && !error.contains('\n'), "{error}");
        // A store of an earlier version of this program.
        for migration in POSTGRES_MIGRATIONS {
            server.psql(&name, migration).unwrap();
        }
        assert!(refused(&server.url(&name)).await.contains(&said));
    }
}

/// By default, a role searches the schema of its own name first.
#[tokio::test]
async fn a_migration_creates_tables_in_the_schema_of_the_store() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let said = |sql: &str| server.psql("postgres", sql).unwrap();
    said("CREATE SCHEMA \"Käse \"\"1\"\"\"; ALTER ROLE pg SET search_path = first, \"Käse \"\"1\"\"\"");
    said(POSTGRES_MIGRATIONS[0]);
    said("CREATE SCHEMA first");
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let schemas = "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename LIKE 'payment%'";
    assert_eq!(said(schemas), "Käse \"1\"");
}

/// Otherwise rows would be in a table that other processes do not use.
#[tokio::test]
async fn a_store_whose_tables_are_not_all_in_its_schema_is_refused() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let url = server.url("postgres");
    drop(PostgresStore::migrate(&url).await.unwrap());
    server.psql("postgres", "CREATE SCHEMA other; ALTER TABLE payment_events SET SCHEMA other").unwrap();
    for path in ["public", "public, other", "other, public"] {
        server.psql("postgres", &format!("ALTER ROLE pg SET search_path = {path}")).unwrap();
        let error = refused(&url).await;
        assert!(error.contains("role pg does not find tables of the store: payment_events."), "{error}");
        assert!(PostgresStore::migrate(&url).await.is_err());
    }
    server.psql("postgres", "ALTER TABLE other.payment_events SET SCHEMA public").unwrap();
    drop(PostgresStore::connect(&url).await.unwrap());
}

/// By default, a role searches the schema of its own name first.
#[tokio::test]
async fn a_table_of_the_same_name_in_an_earlier_schema_is_not_taken_for_that_of_the_store() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let url = with_shop(&server);
    server.psql("postgres", "CREATE SCHEMA shop AUTHORIZATION shop").unwrap();
    for (table, _) in RIGHTS.into_iter().filter(|(table, _)| *table != "payment_store") {
        for columns in ["(id bigint)".to_owned(), format!("(LIKE public.{table})")] {
            let create = format!("CREATE TABLE shop.{table} {columns}; ALTER TABLE shop.{table} OWNER TO shop");
            server.psql("postgres", &create).unwrap();
            let error = refused(&url).await;
            assert!(error.contains(&format!("role shop does not find tables of the store: {table}.")), "{error}");
            server.psql("postgres", &format!("DROP TABLE shop.{table}")).unwrap();
        }
    }
    drop(PostgresStore::connect(&url).await.unwrap());
}

#[tokio::test]
async fn a_store_without_one_of_its_columns_is_refused() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let url = server.url("postgres");
    drop(PostgresStore::migrate(&url).await.unwrap());
    // Without the others, MADE_BY finds no store.
    let all = "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_name LIKE 'payment%' \
               AND column_name NOT IN ('program', 'version') OR table_name = 'payment_intents' AND column_name = 'version'";
    let columns = server.psql("postgres", all).unwrap();
    assert_eq!(columns.lines().count(), 37, "{columns}");
    for (table, column) in columns.lines().map(|line| line.split_once('.').unwrap()) {
        let rename = |from, to| {
            server.psql("postgres", &format!("ALTER TABLE {table} RENAME COLUMN {from} TO {to}")).unwrap();
        };
        rename(column, "renamed");
        let error = refused(&url).await;
        assert!(error.contains(&format!("does not find tables of the store: {table}.")), "{column}: {error}");
        rename("renamed", column);
    }
    drop(PostgresStore::connect(&url).await.unwrap());
}

#[tokio::test]
async fn a_migration_without_a_schema_or_without_the_right_to_create_says_what_to_do() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    server.psql("postgres", "CREATE ROLE shop LOGIN").unwrap();
    let url = server.url("postgres").replace("pg@", "shop@");
    let error = PostgresStore::migrate(&url).await.unwrap_err().to_string();
    assert!(error.contains("(42501)") && error.contains("let the owner"), "{error}");
    server.psql("postgres", "ALTER ROLE shop SET search_path = missing").unwrap();
    let error = PostgresStore::migrate(&url).await.unwrap_err().to_string();
    assert!(error.contains("(3F000)") && error.contains("search_path"), "{error}");
}

/// As `pg_dump` holds it. A lock that waits in a queue would keep the statements of the fleet waiting too.
#[tokio::test]
async fn a_migration_does_not_wait_without_limit_for_another_session() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let url = server.url("postgres");
    server.psql("postgres", POSTGRES_MIGRATIONS[0]).unwrap();
    let (dump, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    dump.batch_execute("BEGIN; LOCK TABLE payment_intents IN ACCESS SHARE MODE").await.unwrap();
    let error = PostgresStore::migrate(&url).await.unwrap_err().to_string();
    assert!(error.contains("pg_dump") && error.contains("run it again") && error.contains("(55P03)"), "{error}");
    assert_eq!(server.psql("postgres", "SELECT version FROM payment_store").unwrap(), "1");
    drop(dump);
    assert_eq!(PostgresStore::migrate(&url).await.unwrap().enlist("w").await.unwrap(), "w#1");
}

/// A policy hides the row of another role, and `ON CONFLICT` still meets it.
#[tokio::test]
async fn a_row_that_the_role_cannot_see_ends_a_beginning() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let owner = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    let shop = PostgresStore::connect(&with_shop(&server)).await.unwrap();
    owner.begin(submitted("shop", "order-1")).await.unwrap();
    let policy = "ALTER TABLE payment_intents ADD COLUMN tenant name DEFAULT current_user, ENABLE ROW LEVEL SECURITY; \
                  CREATE POLICY own ON payment_intents USING (tenant = current_user)";
    server.psql("postgres", policy).unwrap();
    shop.begin(submitted("shop", "order-2")).await.unwrap();
    let error = shop.begin(submitted("shop", "order-1")).await.unwrap_err();
    assert!(matches!(&error, StoreError::Unreadable(why) if why.contains("row-level security")), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_database_is_reached_over_its_socket_and_by_an_address_without_a_name() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let folder = server.psql("postgres", "SHOW unix_socket_directories").unwrap();
    let port = server.port();
    let socket = format!("postgres://pg@{}:{port}/postgres", folder.replace('/', "%2F"));
    let store = PostgresStore::migrate(&socket).await.unwrap().listening(&socket).unwrap();
    conformance::check(&store, "socket").await;
    let seen = "SELECT bool_and(client_addr IS NULL) FROM pg_stat_activity WHERE application_name = 'pg-intents'";
    assert_eq!(server.psql("postgres", seen).unwrap(), "t");
    for (name, url) in [
        ("unencrypted", format!("{socket}?sslmode=disable")),
        ("parameter", format!("postgres://pg@/postgres?host={folder}&port={port}")),
        ("address", format!("postgres:///postgres?user=pg&hostaddr=127.0.0.1&port={port}")),
    ] {
        conformance::check(&PostgresStore::connect(&url).await.unwrap(), name).await;
    }
}
