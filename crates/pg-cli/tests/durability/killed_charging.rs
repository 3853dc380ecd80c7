//! `kill -9` of the sandbox in the middle of a charge of `pg-hyper`: one payment in the end, and a true claim.

use std::{
    net::TcpStream,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use pg_hyper::{Client, ClientBuilder, Clock, HyperTransport};
use pg_model::{Auth, CardDetails, Currency, Encoding, Item, Order};
use pg_proto::{
    Account, BaseUrl, Credentials,
    machine::{Moment, charge::ChargeOutcome, throttle::ThrottleLimits},
};

use pg_support::Dice;

use crate::durability::{
    Sandbox,
    audit::transactions,
    kill_9::setting,
    killing_proxy::{Kill, KillingProxy},
};

/// The default number of kills; `PG_KILL_ROUNDS` sets another.
const ROUNDS: u64 = 40;
/// The default seed of the moments; `PG_KILL_SEED` sets another.
const SEED: u64 = 20;
/// How many spins to wait for a request that no process has read.
const WHILE: u64 = 400_000;

#[test]
fn a_charge_whose_server_is_killed_is_one_payment_and_a_true_claim() {
    let (rounds, seed) = (setting("PG_KILL_ROUNDS", ROUNDS), setting("PG_KILL_SEED", SEED));
    let mut dice = Dice::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    let proxy = KillingProxy::before(Sandbox::start(&store), &store);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = client(&proxy);

    let (mut faster, mut found, mut sent_again) = (0, 0, 0);
    let mut claims = vec![charge(&runtime, &client, 0)];
    proxy.settled();
    let [request, reply] = proxy.passed();
    assert!(request > 300 && reply > 200, "{request} {reply}");
    for round in 1..=rounds {
        // Once while the payment is on its way, and sometimes again while it is looked for.
        let kills: Vec<Kill> = (0..=dice.between(0, 1)).map(|_| moment(&mut dice, request, reply)).collect();
        proxy.plan(&kills);
        let (before, connections) = (proxy.killed(), proxy.connections());
        let key = charge(&runtime, &client, round);
        proxy.settled();
        assert!(proxy.killed() > before, "round {round} of seed {seed}: {kills:?} killed no process");
        proxy.plan(&[]);
        // Connections without a kill: none when the reply was faster, one for the lookup that found the payment,
        // and more when it had to be sent again.
        match proxy.connections() - connections - (proxy.killed() - before) {
            0 => faster += 1,
            1 => found += 1,
            _ => sent_again += 1,
        }
        let held = proxy.caller().lookup("uniqueMerchantReference", &reference(round));
        let keys: Vec<&str> = held.iter().map(|held| held["transactionKey"].as_str().unwrap()).collect();
        assert_eq!(keys, [key.as_str()], "round {round} of seed {seed}: {kills:?}");
        claims.push(key);
    }
    // There is no other payment, and none is lost.
    let all = transactions(&mut proxy.caller());
    let held: Vec<&str> = all.iter().rev().map(|held| held["transactionKey"].as_str().unwrap()).collect();
    assert_eq!(held, claims);
    eprintln!(
        "seed {seed}: killed {} times; the reply was faster {faster} times, a lookup found the payment {found} times, it was sent again {sent_again} times",
        proxy.killed()
    );
    assert!(found > 0 && sent_again > 0, "it died before the payment, and after it");
    // No process remains.
    let last = proxy.account();
    drop(proxy);
    assert!(TcpStream::connect(last.address()).is_err());
}

/// The key of the payment that the client claims.
fn charge(runtime: &tokio::runtime::Runtime, client: &Client, round: u64) -> String {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference(reference(round));
    let payment = Auth::new(CardDetails::new("4000000000001000", "12", "49").cv2("123"), order);
    match runtime.block_on(client.charge(payment).unwrap().into_future()) {
        ChargeOutcome::Approved(paid) => paid.transaction_key.as_str().to_owned(),
        other => panic!("round {round}: {other:?}"),
    }
}

/// A moment of the life of a connection; in half of them the request has arrived, and its progress is unknown.
fn moment(dice: &mut Dice, request: usize, reply: usize) -> Kill {
    let within = |dice: &mut Dice, bytes: usize| usize::try_from(dice.between(0, bytes as u64)).unwrap();
    match dice.between(0, 3) {
        0 => Kill::Request(within(dice, request), 0),
        1 => Kill::Reply(within(dice, reply.min(100))),
        _ => Kill::Request(request, dice.between(0, WHILE)),
    }
}

fn reference(round: u64) -> String {
    format!("order-{round:06}")
}

fn client(proxy: &KillingProxy) -> Client {
    let settings = pg_sandbox::Settings::default();
    let main = settings.merchants.by_name("main").unwrap();
    let credentials = Credentials::new(main.api_key.expose(), main.api_password.expose(), main.sha_key.expose());
    let base = BaseUrl::parse(&format!("http://{}", proxy.address)).unwrap();
    let account = Account::new(base, credentials).encoding(Encoding::Json).with_dialect(pg_sandbox::dialect());
    // No connection is used twice, so that each is one request.
    let transport = HyperTransport::new().pool(0, Duration::from_secs(1));
    let limits = ThrottleLimits::default().per_minute(1_000_000);
    let clock = Leaping(AtomicU64::new(1_777_888_800_000));
    ClientBuilder::with_transport(account, transport).clock(clock).limits(limits).build()
}

/// A clock that stands still until a wait advances it.
struct Leaping(AtomicU64);

impl Clock for Leaping {
    fn now(&self) -> Moment {
        Moment::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, moment: Moment) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.fetch_max(moment.millis(), Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}
