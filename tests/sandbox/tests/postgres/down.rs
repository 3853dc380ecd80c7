//! The probes while the database is down, and a server that is stopped under load.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use pg_sandbox::{Config, Server, Settings, SharedStore, StoreChoice, StoreKey};
use pg_stores::Postgres;

use super::{
    KEY,
    process::payment,
    proof::{ask, ask_for_text},
    proxy,
};

async fn serving(url: &str) -> Server {
    let store = StoreChoice::Postgres(SharedStore::new(url, StoreKey::from_bytes(KEY)));
    Server::start(Config::default().store(store)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_without_its_database_lives_and_is_not_ready() {
    let Some(database) = Postgres::for_one_test(&[]) else { return };
    let server = serving(&database.database().unwrap()).await;
    let address = server.address();
    let probe = move |name: &str| ask(address, &format!("GET /_sandbox/health/{name}"), "").map(|(status, _)| status);
    assert_eq!([probe("live"), probe("ready")], [Some(200); 2]);
    database.stop_at_once().unwrap();
    // The first probe is answered once the process misses the database, the next one after a bounded wait.
    assert_eq!(
        [probe("live"), probe("ready"), probe("ready"), probe("live")],
        [Some(200), Some(503), Some(503), Some(200)]
    );
    database.start_again().unwrap();
    // A probe waits a little for the process to find the database again.
    assert!((0..20).any(|_| probe("ready") == Some(200)));
    assert_eq!(probe("live"), Some(200));
    server.shutdown().await.unwrap();
}

/// Stands before the server, and returns its port. Once it is silent it accepts connections and passes nothing on, as a stuck pooler
/// or a firewall that drops packets.
fn silenced_by(silent: &Arc<AtomicBool>, server: u16) -> u16 {
    let silent = Arc::clone(silent);
    proxy::before(server, move || {
        let way = || {
            let silent = Arc::clone(&silent);
            move |_: &mut [u8]| {
                while silent.load(SeqCst) {
                    thread::park();
                }
                true
            }
        };
        (way(), way())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_database_is_silent_shows_its_counters_and_ends() {
    let Some(database) = Postgres::for_tests() else { return };
    let url = database.database().unwrap();
    let silent = Arc::<AtomicBool>::default();
    let proxy = silenced_by(&silent, database.port());
    let server = serving(&url.replace(&database.port().to_string(), &proxy.to_string())).await;
    let address = server.address();
    let pay = move |reference: &str| {
        let (settings, pairs) = (Settings::default(), payment(reference));
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
        let body = pg_support::signed_form(settings.merchants.by_name("main").unwrap(), &pairs);
        ask(address, "POST /v3/transaction/auth/json", &body).map(|(status, _)| status)
    };
    assert_eq!(pay("order-1"), Some(200));
    silent.store(true, SeqCst);
    let pending = thread::spawn(move || pay("order-2"));
    // It misses the database once it has begun a group.
    assert_eq!(ask(address, "GET /_sandbox/health/ready", "").map(|(status, _)| status), Some(503));
    let (status, counters) = ask_for_text(address, "GET /_sandbox/metrics", "").unwrap();
    assert_eq!(status, 200);
    assert!(counters.contains("pg_sandbox_groups_committed_total"), "{counters}");
    // It waits for the database neither for the request nor for anything else: this returns.
    server.shutdown().await.unwrap();
    assert_eq!(pending.join().unwrap(), None, "no answer, since it is unknown what became of it");
    let held = database.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap();
    assert_eq!(held, "1");
}

/// How many callers pay at the same time.
const CALLERS: usize = 16;
/// The number of payments after which the server is stopped.
const PAID: usize = 40;

fn pay_until_it_stops(address: SocketAddr, caller: usize, paid: &AtomicUsize) {
    let settings = Settings::default();
    let main = settings.merchants.by_name("main").unwrap();
    for order in 0.. {
        let pairs = payment(&format!("caller-{caller}-order-{order}"));
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
        let body = pg_support::signed_form(main, &pairs);
        match ask(address, "POST /v3/transaction/auth/json", &body) {
            Some((200, _)) => paid.fetch_add(1, SeqCst),
            // The connection was not accepted any more, or its request was not begun.
            None | Some((503, _)) => return,
            Some(other) => panic!("{other:?}"),
        };
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_answers_every_request_that_it_carries_out() {
    let Some(database) = Postgres::for_tests() else { return };
    let url = database.database().unwrap();
    let server = serving(&url).await;
    let (address, paid) = (server.address(), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let paid = Arc::clone(&paid);
            thread::spawn(move || pay_until_it_stops(address, caller, &paid))
        })
        .collect();
    while paid.load(SeqCst) < PAID {
        tokio::task::yield_now().await;
    }
    server.shutdown().await.unwrap();
    callers.into_iter().for_each(|caller| caller.join().unwrap());
    let held = database.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap();
    assert_eq!(held, paid.load(SeqCst).to_string(), "payments without an answer, or answers without a payment");
}
