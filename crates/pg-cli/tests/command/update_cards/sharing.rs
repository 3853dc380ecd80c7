//! The limits that a run shares with other processes over a store of intents.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use pg_hyper::{Client, proto::machine::throttle::ThrottleLimits};
use pg_intents::{Fleet, FleetPlan, IntentKey, IntentStore, NewIntent, SqliteStore};
use pg_model::{AuthCardKey, Currency, Item, Order};
use pg_sandbox::Timestamp;

use super::{Cards, until_it_says};
use crate::command::pg::{Pg, Started, pg, words};

/// What a run says when the limit per minute is used up.
const USED_UP: &str = "have sent as many requests as the account may send in a minute: waiting";
const STOPPED: &str = "sending was stopped for all processes of the account: the service refused the credentials";

impl Cards {
    /// A new store of intents.
    pub(super) fn store(&self) -> String {
        let store = self.folder.path().join("intents.sqlite").display().to_string();
        pg(["intents", "--store", &store, "migrate"]).run().ends(0);
        store
    }

    /// A file of keys that no card has. Each is a batch, and so a request, which the service refuses.
    fn strangers(&self, name: &str, count: usize) -> PathBuf {
        let file = self.folder.path().join(name);
        let keys: Vec<String> = (0..count).map(|at| format!("no-card-has-this-{at}")).collect();
        fs::write(&file, keys.join("\n")).unwrap();
        file
    }

    /// A run over a file, one card key a batch.
    fn one_by_one(&self, file: &Path, flags: &str) -> Pg {
        let command = format!("update-cards {} --batch-size 1 --poll 1 {flags}", file.display());
        self.sandbox.with_account(words(&command), "main")
    }

    /// The account as a store names it.
    fn account(&self) -> String {
        self.shop.client.inner().account().bound_identity()
    }

    fn seen(&self) -> HashSet<String> {
        let seen = self.shop.list("requests?limit=1000");
        seen.iter().map(|request| request["id"].as_str().unwrap().to_owned()).collect()
    }

    /// The largest number of requests in any 60 seconds of the sandbox's clock, and the number of all, without those seen before.
    fn in_a_minute(&self, before: &HashSet<String>) -> (usize, usize) {
        let requests = self.shop.list("requests?limit=1000");
        let mut times: Vec<Timestamp> = requests
            .iter()
            .filter(|request| !before.contains(request["id"].as_str().unwrap()))
            .map(|request| Timestamp::parse(request["time"].as_str().unwrap()).unwrap())
            .collect();
        times.sort_unstable();
        let most = times.iter().enumerate().map(|(first, start)| {
            times[first..].iter().take_while(|time| time.since(*start) < Duration::from_secs(60)).count()
        });
        (most.max().unwrap_or(0), times.len())
    }
}

fn interrupt(child: &mut Started) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Makes this number of charges, as a fleet of one process over this store.
async fn charge<S: IntentStore>(cards: &Cards, store: S, times: usize) {
    // The runs of these tests name no account, so they use the fingerprint of its API key.
    let account = cards.shop.client.inner().account().clone();
    let fingerprint = account.name_or_fingerprint();
    let account = account.identity(fingerprint);
    let client = Client::builder(account).unwrap().limits(ThrottleLimits::unlimited()).build();
    let key = &cards.keys[0];
    let fleet = Fleet::new(client, Arc::new(store), FleetPlan::new("shop")).await.unwrap();
    for at in 0..times {
        let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
        let order = order.unique_merchant_reference(format!("order-{at}"));
        assert_eq!(fleet.charge(AuthCardKey::new(key.as_str(), order)).await.unwrap().name(), "approved");
    }
}

#[test]
#[cfg(unix)]
fn a_fleet_and_two_runs_over_a_store_send_a_hundred_requests_a_minute_together() {
    let cards = Cards::new(1);
    let store = cards.store();
    a_hundred_a_minute(&cards, &store, charge(&cards, SqliteStore::open(&store).unwrap(), 20));
}

#[test]
#[cfg(all(unix, feature = "postgres"))]
fn a_fleet_and_two_runs_over_postgres_send_a_hundred_requests_a_minute_together() {
    let Some(server) = pg_stores::Postgres::for_one_test(&[]) else { return };
    let (cards, url) = (Cards::new(1), migrated(&server));
    a_hundred_a_minute(&cards, &url, async {
        charge(&cards, pg_intents::PostgresStore::connect(&url).await.unwrap(), 20).await;
    });
}

/// The address of a store of intents on this server.
#[cfg(all(unix, feature = "postgres"))]
fn migrated(server: &pg_stores::Postgres) -> String {
    let url = server.database().unwrap();
    pg(["intents", "--store", &url, "migrate"]).run().ends(0);
    url
}

/// Twenty charges over this store, and two runs that share it.
#[cfg(unix)]
fn a_hundred_a_minute(cards: &Cards, store: &str, charges: impl Future<Output = ()>) {
    cards.shop.control("clock", r#"{"speed": 1}"#);
    let before = cards.seen();
    runtime().block_on(charges);
    let mut runs =
        ["one", "two"].map(|name| cards.one_by_one(&cards.strangers(name, 120), &format!("--store {store}")).start());
    // Each has more to send than the account may in a minute, so both wait.
    let _said = runs.each_mut().map(|run| until_it_says(run, USED_UP));
    runs.iter_mut().for_each(interrupt);
    let (most, all) = cards.in_a_minute(&before);
    println!("{all} requests, at most {most} in a minute");
    assert!(most <= 100 && all > 70, "{most} of {all}");
}

#[test]
fn without_a_store_each_run_has_limits_of_its_own() {
    let cards = Cards::new(1);
    let before = cards.seen();
    for name in ["one", "two"] {
        cards.one_by_one(&cards.strangers(name, 60), "").run().ends(1).says("60 keys were refused");
    }
    assert_eq!(cards.in_a_minute(&before).1, 120);
}

#[test]
#[cfg(unix)]
fn wrong_credentials_of_one_run_stop_the_others_until_an_operator_resumes() {
    let cards = Cards::new(2);
    stop_until_resumed(&cards, &cards.store());
}

#[test]
#[cfg(all(unix, feature = "postgres"))]
fn wrong_credentials_of_one_run_over_postgres_stop_the_others_until_an_operator_resumes() {
    let Some(server) = pg_stores::Postgres::for_one_test(&[]) else { return };
    stop_until_resumed(&Cards::new(2), &migrated(&server));
}

#[cfg(unix)]
fn stop_until_resumed(cards: &Cards, store: &str) {
    let sharing = format!("--store {store}");
    let mut waiting = cards.one_by_one(&cards.strangers("many", 40), &format!("--per-minute 10 {sharing}")).start();
    let mut said = until_it_says(&mut waiting, USED_UP);
    cards.update(&sharing).run().ends(2).says("nothing was sent").says("requests per minute than 100: set the number");
    // Without a limit, so that the others need not wait for a minute.
    let sharing = format!("--per-minute {} {sharing}", u32::MAX);
    let how = format!("`pg intents --store STORE --account '{}' resume`; then run the same command", cards.account());
    let stops = cards.update(&sharing).env("PG_SHA_KEY", "wrong").run().ends(1).says("refused: 123");
    stops.says("and no process of the account sends").says(&how);
    // It also blocks its own next run, even with the right credentials.
    let requests = cards.requests();
    let refused = cards.update(&sharing).run().ends(1).says("nothing was sent").says(STOPPED);
    assert!(refused.err.contains(how.split(';').next().unwrap()), "{}", refused.err);
    assert_eq!(waiting.wait().unwrap().code(), Some(1));
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut said, &mut rest).unwrap();
    assert!(rest.contains(STOPPED) && rest.contains("run the same command again to resume"), "{rest}");
    assert!(rest.contains(&how), "{rest}");
    assert_eq!(cards.requests(), requests);

    let resume = |account: &str| pg(["intents", "--store", store, "--account", account, "resume"]).run();
    let name = cards.account();
    let name = name.split(" at ").next().unwrap();
    resume(name).ends(2).says("the store has no payments of this account; accounts with payments: none");
    pg(["intents", "--store", store, "resume"]).run().ends(2).says("resume needs --account");
    resume(&cards.account()).ends(0).says("may send again");
    cards.update(&sharing).run().ends(0);
    cards.are_exact();
    cards.were_submitted_once();
}

#[test]
fn wrong_credentials_are_tried_once_by_all_runs_over_a_store() {
    let cards = Cards::new(1);
    let store = cards.store();
    let runs: Vec<Started> = (0..8)
        .map(|at| {
            let file = cards.strangers(&format!("run-{at}"), 3);
            let command = format!("update-cards {} --batch-size 1 --store {store}", file.display());
            let run = cards.sandbox.with_account(words(&command), "strict");
            run.env("PG_ACCOUNT_UPDATER_KEY", "any").env("PG_API_PASSWORD", "wrong").start()
        })
        .collect();
    let mut refused = 0;
    for run in runs {
        let ended = run.ended().ends(1);
        assert!(ended.err.contains("refused: 102") || ended.err.contains(STOPPED), "{}", ended.err);
        refused += usize::from(ended.err.contains("refused: 102"));
    }
    assert_eq!((refused, cards.requests()), (1, 1));
    // The address is not locked out.
    let command = words("call session/initiate errorPageUrl=https://shop.example/error");
    cards.sandbox.with_account(command, "strict").run().ends(0);
}

#[test]
fn an_unusable_store_gives_one_line_and_sends_nothing() {
    let cards = Cards::new(2);
    let refuse = |store: &Path, code: i32, why: &str| {
        let ended = cards.update(&format!("--store {}", store.display())).run().ends(code).says("nothing was sent");
        // The password on the command line has a warning of its own.
        let ended = ended.says(why);
        assert_eq!(ended.err.lines().filter(|line| !line.contains("has a password")).count(), 1);
    };
    let none = cards.folder.path().join("none.sqlite");
    refuse(&none, 2, "there is no such file");
    assert!(!none.exists());
    let notes = cards.folder.path().join("notes.txt");
    fs::write(&notes, "my notes ".repeat(100)).unwrap();
    refuse(&notes, 2, "not a SQLite file");
    let newer = cards.store();
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
    refuse(Path::new(&newer), 2, "update the program");
    let unreachable = Path::new("postgres://shop:hunter2@127.0.0.1:1/shop");
    match cfg!(feature = "postgres") {
        true => refuse(unreachable, 3, "cannot be used"),
        false => refuse(unreachable, 2, "--features postgres"),
    }
    cards.update("--identity shop-uk").run().ends(2).says("--store");
    assert_eq!(cards.requests(), 0);
    assert!(!cards.beside(".pg-state").exists());
}

#[test]
#[cfg(all(unix, feature = "postgres"))]
fn an_unusable_database_gives_one_line_and_sends_nothing() {
    let Some(server) = pg_stores::Postgres::for_one_test(&[]) else { return };
    let cards = Cards::new(2);
    let refuse = |url: &str, code: i32, why: &str| {
        let ended = cards.update(&format!("--store {url}")).run().ends(code).says("nothing was sent").says(why);
        assert_eq!(ended.err.trim().lines().count(), 1, "{}", ended.err);
    };
    refuse(&server.database().unwrap(), 2, "run `pg intents --store URL migrate`");
    let foreign = server.database().unwrap();
    server.psql(&foreign, "CREATE TABLE payment_intents AS SELECT 7 AS mine").unwrap();
    refuse(&foreign, 2, "the table payment_intents was not created by this program");
    assert_eq!(server.psql(&foreign, "SELECT mine FROM payment_intents").unwrap(), "7");
    let newer = migrated(&server);
    server.psql(&newer, "UPDATE payment_store SET version = 99").unwrap();
    refuse(&newer, 2, "update the program");
    let read_only = migrated(&server);
    let name = read_only.rsplit('/').next().unwrap();
    server.psql(&read_only, &format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).unwrap();
    refuse(&read_only, 3, "read-only");
    assert_eq!(cards.requests(), 0);
    assert!(!cards.beside(".pg-state").exists());
}

#[test]
fn a_store_of_a_fleet_that_gives_the_account_a_name_is_noticed() {
    let cards = Cards::new(2);
    let store = cards.store();
    let named = cards.shop.client.inner().account().clone().identity("shop-uk").bound_identity();
    let begun = NewIntent {
        key: IntentKey::new(&*named, "order-1"),
        kind: "charge authCardKey".to_owned(),
        digest: String::new(),
        request: None,
        state: String::new(),
        version: 1,
        owner: None,
        lease: Duration::ZERO,
    };
    let fleet = SqliteStore::open(&store).unwrap();
    runtime().block_on(fleet.begin(begun)).unwrap();
    let with_name = cards.update(&format!("--store {store} --identity shop-uk")).run().ends(0);
    assert!(!with_name.err.contains("--identity"), "{}", with_name.err);
    // A fleet that keeps the account's earlier base URL in the store.
    let stored = cards.update(&format!("--store {store} --restart")).arg("--identity").arg(&named).run().ends(0);
    assert!(!stored.err.contains("--identity"), "{}", stored.err);
    let without = cards.update(&format!("--store {store} --restart")).run().ends(0);
    without.says("pass the name that the fleet gives it with --identity").says("shop-uk at ");
}
