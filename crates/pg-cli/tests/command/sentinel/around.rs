//! What stands around the calls: fleets and their stores, a listener, stories, and what operators watch.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    sync::Arc,
};

use pg_hyper::Client;
use pg_intents::{Fleet, FleetPlan, IntentFilter, IntentStore, SealKey, SealedStore, Sealing, SqliteStore};
use pg_model::{Auth, CardDetails, Currency, Item, Order};
use pg_proto::machine::throttle::ThrottleLimits;
use serde_json::Value;

use super::{
    Said,
    shop::{self, Shop},
};
use crate::command::pg::pg;

/// Charges by card through stores of fleets, one in clear and one sealed, as processes and operators see them.
pub(super) fn fleets(shop: &Shop, folder: &Path, said: &mut Said) {
    let [clear, sealed] = ["clear.sqlite", "sealed.sqlite"].map(|name| folder.join(name));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(SqliteStore::open(&clear).unwrap());
        fleet(shop, store, "clear", said).await;
        let below = Arc::new(SqliteStore::open(&sealed).unwrap());
        let store = SealedStore::open(Arc::clone(&below), Sealing::new(SealKey::from_bytes(&[7; 32]))).await.unwrap();
        fleet(shop, Arc::new(store), "sealed", said).await;
        let rows = below.list(IntentFilter::default()).await.unwrap();
        said.push(("rows of a sealed store".to_owned(), format!("{rows:?}").into_bytes()));
    });
    for file in [&clear, &sealed] {
        let store = file.to_str().unwrap();
        for arguments in [&["--json"][..], &[], &["show", "fleet-clear-1"], &["show", "fleet-sealed-1"]] {
            let ended = pg(["intents", "--store", store].iter().chain(arguments)).run();
            said.push((format!("pg intents {arguments:?} of {store}"), [ended.out, ended.err].concat().into_bytes()));
        }
    }
}

async fn fleet<S: IntentStore>(shop: &Shop, store: Arc<S>, name: &str, said: &mut Said) {
    let client = Client::builder(shop.account().identity("shop")).unwrap().limits(ThrottleLimits::unlimited()).build();
    let fleet = Fleet::new(client, Arc::clone(&store), FleetPlan::new(name)).await.unwrap();
    let [number, cv2] = shop::card();
    // The second is refused by the service.
    for (at, expiry) in [(1, "49"), (2, "01")] {
        let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
        let order = order.unique_merchant_reference(format!("fleet-{name}-{at}"));
        let charged = fleet.charge(Auth::new(CardDetails::new(&*number, "12", expiry).cv2(&*cv2), order)).await;
        said.push((format!("outcome {at} of a fleet, {name}"), format!("{charged:?} {charged:#?}").into_bytes()));
    }
    let rows = store.list(IntentFilter::default()).await.unwrap();
    assert_eq!(rows.len(), 2, "{rows:?}");
    said.push((format!("rows of a fleet, {name}"), format!("{rows:?}").into_bytes()));
}

/// A listener that a customer returns to from the card form, and that strangers send canaries to.
pub(super) fn listener(shop: &Shop, said: &mut Said) {
    let mut listening = shop.with_account(pg(["listen", "--port", "0", "--json"])).start();
    let mut out = BufReader::new(listening.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    let facts: Value = serde_json::from_str(&first).unwrap();
    let addresses: Vec<(String, String)> = facts["addresses"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, url)| (name.clone(), url.as_str().unwrap().to_owned()))
        .collect();
    let [number, cv2] = shop::card();
    for (name, url) in &addresses {
        let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let card = format!("cardNumber={number}&cardCV2={cv2}&trans_key={number}&batchKey={number}&data={number}&iv=1");
        for (method, path, body) in [
            ("GET", format!("/{path}?{card}"), String::new()),
            ("POST", format!("/{path}"), card.clone()),
            (
                "POST",
                format!("/{path}"),
                format!("{{\"batchKey\":\"{number}\",\"cardKeyDetails\":[{{\"x\":\"{number}\"}}]}}"),
            ),
        ] {
            said.push((
                format!("reply of pg listen, {method} {name}"),
                shop::ask(host, method, &path, &body).into_bytes(),
            ));
        }
        if name == "cardForm" {
            let back = shop.card_form(url);
            let (host, path) = back.strip_prefix("http://").unwrap().split_once('/').unwrap();
            said.push((
                "reply of pg listen to a customer".to_owned(),
                shop::ask(host, "GET", &format!("/{path}"), "").into_bytes(),
            ));
        }
    }
    super::interrupt(&listening);
    let mut told = first.into_bytes();
    out.read_to_end(&mut told).unwrap();
    assert!(String::from_utf8_lossy(&told).contains("unauthenticated"), "{}", String::from_utf8_lossy(&told));
    said.push(("standard output of pg listen".to_owned(), told));
    said.push(("standard error of pg listen".to_owned(), listening.ended().err.into_bytes()));
}

/// Stories that the command tells of a sandbox, and what programs watch of it.
pub(super) fn stories(shop: &Shop, said: &mut Said) {
    let base = shop.base();
    for scenario in ["payment", "lost-reply", "checkout", "challenge", "updater-batch"] {
        for flags in [&["--json"][..], &[]] {
            let ended = pg(["trigger", scenario, "--sandbox", &base].iter().chain(flags)).run();
            let place = format!("pg trigger {scenario} {flags:?}");
            assert_eq!(ended.code, 0, "{place}: {}", ended.err);
            said.push((place, [ended.out, ended.err].concat().into_bytes()));
        }
    }
    for path in ["metrics", "health/ready", "health/live", "clock", "faults", "accounts"] {
        said.push((format!("/_sandbox/{path}"), shop.get(&format!("/_sandbox/{path}")).into_bytes()));
    }
}
