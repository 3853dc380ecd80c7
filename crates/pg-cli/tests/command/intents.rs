//! Payments of a fleet, as operators see them.

use std::time::Duration;

use pg_intents::{
    IntentEnd, IntentKey, IntentLease, IntentRow, IntentStatus, IntentStore as _, NewIntent, SqliteStore,
};
use serde_json::Value;

use crate::command::pg::pg;

async fn begun(store: &SqliteStore, account: &str, reference: &str) -> IntentLease {
    let new = NewIntent {
        key: IntentKey::new(account, reference),
        kind: "charge authCardKey".to_owned(),
        digest: String::new(),
        request: Some("the payment".to_owned()),
        state: "the machine".to_owned(),
        version: 1,
        owner: Some("shop-1#1".to_owned()),
        lease: Duration::from_secs(3600),
    };
    store.begin(new).await.unwrap();
    IntentLease { key: IntentKey::new(account, reference), owner: "shop-1#1".to_owned(), fence: 1 }
}

async fn row(store: &SqliteStore, reference: &str) -> IntentRow {
    store.find(&IntentKey::new("shop", reference)).await.unwrap().unwrap()
}

#[tokio::test]
async fn operators_see_show_reconcile_and_park() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    let path = file.to_str().unwrap();
    pg(["intents", "--store", path]).run().ends(2).says("there is no such file");
    pg(["intents", "--store", path, "migrate"]).run().ends(0);
    pg(["intents", "--store", path]).run().ends(0).says("no payments");
    pg(["intents", "--store", path, "migrate", "--print"]).run().ends(0).prints("CREATE TABLE payment_intents");

    let store = SqliteStore::open(&file).unwrap();
    begun(&store, "shop", "order-open").await;
    let held = begun(&store, "shop", "order-ended").await;
    let outcome = r#"{"outcome":"approved"}"#.to_owned();
    let end = IntentEnd { status: IntentStatus::Ended, state: String::new(), outcome, wake: None };
    store.end(&held, end).await.unwrap();
    begun(&store, "another shop", "order-open").await;

    let all = pg(["intents", "--store", path, "--json"]).run().ends(0).hides(&["the payment", "the machine"]);
    let all: Value = serde_json::from_str(&all.out).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
    let ended = pg(["intents", "--store", path, "--status", "ended"]).run().ends(0);
    assert!(ended.out.contains("order-ended") && ended.out.contains("approved"), "{}", ended.out);
    assert_eq!(pg(["intents", "--store", path, "--stuck"]).run().ends(0).out, "");

    pg(["intents", "--store", path, "show", "order-open"]).run().ends(2).says("choose one with --account");
    let of_shop =
        |action: &str, reference: &str| pg(["intents", "--store", path, "--account", "shop", action, reference]).run();
    of_shop("show", "order-open").ends(0).prints("shop-1#1 1 begun");
    of_shop("show", "order-none").ends(1).says("no payment has this reference");
    of_shop("park", "order-open").ends(0).says("parked");
    assert_eq!(row(&store, "order-open").await.status, IntentStatus::Parked);
    of_shop("reconcile", "order-open").ends(0).says("a worker takes it");
    assert_eq!(
        (row(&store, "order-open").await.status, row(&store, "order-open").await.is_due()),
        (IntentStatus::Open, true)
    );
    of_shop("reconcile", "order-ended").ends(1).says("it has ended");
}

#[test]
fn another_programs_file_and_a_database_without_the_feature_get_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "my notes ".repeat(100)).unwrap();
    pg(["intents", "--store", file.to_str().unwrap()]).run().ends(2).says("not a SQLite file");
    if !cfg!(feature = "postgres") {
        pg(["intents", "--store", "postgres://shop@127.0.0.1:1/shop"]).run().ends(2).says("--features postgres");
    }
}
