//! Two servers of the shop, each its own process, with one database and a balancer before them.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use pg_hyper::{
    Client, HyperTransport, Transport,
    proto::model::{Auth, CardDetails, Currency, Item, Order, TokeniseTransactionKey},
};
use pg_intents::{IntentFilter, IntentStore, PostgresStore, SqliteStore};
use pg_sandbox::{Config, Server, Settings};
use pg_stores::Postgres;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

mod refused_starts;

use crate::place::{account, text};

/// The bank asks the customer.
const CHALLENGED: [&str; 2] = ["4000000000005001", "5200000000005006"];
/// The cookies of two customers with stored cards, and of one whose record has the key of another customer's card.
const ALICE: &str = "lang=en; customer=a1";
const BOB: &str = "customer=b2";
const MIXED_UP: &str = "customer=c3";

const CARD_FORM: &str =
    "cardNumber=4111111111111111&cardExpiryMonth=12&cardExpiryYear=2031&cardCV2=987&cardholderName=A+Holder";

struct Fleet {
    runtime: Runtime,
    sandbox: Server,
    /// The servers, and which of them the balancer leads to.
    servers: Vec<Option<Child>>,
    addresses: Vec<SocketAddr>,
    leads_to: Arc<AtomicUsize>,
    balancer: SocketAddr,
    store: String,
    customers: String,
    /// The keys of the cards of Alice and Bob.
    card_keys: [String; 2],
    _folder: TempDir,
    _postgres: Option<Postgres>,
}

impl Fleet {
    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let sandbox = runtime.block_on(Server::start(Config::default())).unwrap();
        let client = Client::new(account(&sandbox)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (postgres, store) = runtime.block_on(database(&folder));
        let stored = |number, owner| runtime.block_on(stored_card(&client, number, owner));
        let [alice, bob] = [stored(CHALLENGED[0], "alice"), stored(CHALLENGED[1], "bob")];
        let customers = folder.path().join("customers.json").to_str().unwrap().to_owned();
        let record = |owner, card_key: &str, orders: &[&str]| {
            let orders: Value = orders.iter().map(|order| ((*order).to_owned(), json!(499))).collect();
            json!({"reference": owner, "cardKey": card_key, "orders": orders})
        };
        let of_alice = ["order-1", "order-2", "order-3", "order-4"];
        let records = json!({
            "a1": record("alice", &alice, &of_alice),
            "b2": record("bob", &bob, &["order-5", "order-6"]),
            "c3": record("bob", &alice, &["order-6"]),
        });
        fs::write(&customers, records.to_string()).unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let balancer = listener.local_addr().unwrap();
        let (mut servers, mut addresses) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let (server, address) = server(&sandbox, &format!("http://{balancer}"), &store, &customers);
            servers.push(Some(server));
            addresses.push(address);
        }
        let leads_to = Arc::new(AtomicUsize::new(0));
        runtime.spawn(balance(listener, addresses.clone(), Arc::clone(&leads_to)));
        let (_folder, _postgres, card_keys) = (folder, postgres, [alice, bob]);
        Self {
            runtime,
            sandbox,
            servers,
            addresses,
            leads_to,
            balancer,
            store,
            customers,
            card_keys,
            _folder,
            _postgres,
        }
    }

    /// From now on everything from outside reaches this server.
    fn lead_to(&self, server: usize) {
        self.leads_to.store(server, Ordering::SeqCst);
    }

    /// On Unix this is SIGKILL.
    fn kill(&mut self, server: usize) {
        let mut child = self.servers[server].take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// The server has another port then.
    fn start_again(&mut self, at: usize, environment: &[(&str, &str)]) {
        let public_url = format!("http://{}", self.balancer);
        let mut command = command(&self.sandbox, &public_url, &self.store, &self.customers);
        let (child, address) = started(command.envs(environment.iter().copied()));
        (self.servers[at], self.addresses[at]) = (Some(child), address);
    }

    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.runtime.block_on(HyperTransport::new().send(request)).unwrap()
    }

    /// A customer posts to one server, past the balancer.
    fn post(&self, server: usize, path: &str, cookie: &str, origin: &str) -> Response<Bytes> {
        let request = Request::post(format!("http://{}/orders/{path}", self.addresses[server]));
        let request = request.header(header::COOKIE, cookie).header(header::ORIGIN, origin);
        self.send(request.body(Bytes::new()).unwrap())
    }

    /// The origin of the shop's own pages.
    fn origin(&self) -> String {
        format!("http://{}", self.balancer)
    }

    /// Alice asks for the hosted page, or withdraws it. Says where that leads.
    fn alice_posts(&self, server: usize, path: &str) -> String {
        location(&self.post(server, path, ALICE, &self.origin()))
    }

    /// A customer pays with a stored card, at one server.
    fn pay(&self, server: usize, order: &str, cookie: &str, form: &str) -> Response<Bytes> {
        let url = format!("http://{}/orders/{order}/card", self.addresses[server]);
        let request = Request::post(url).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request.header(header::COOKIE, cookie).body(Bytes::from(form.to_owned())).unwrap())
    }

    /// The page of an order, as this customer gets it.
    fn shown(&self, server: usize, order: &str, cookie: &str) -> Response<Bytes> {
        let request = Request::get(format!("http://{}/orders/{order}", self.addresses[server]));
        self.send(request.header(header::COOKIE, cookie).body(Bytes::new()).unwrap())
    }

    /// The references of the payments that a fleet has begun.
    fn rows(&self) -> Vec<String> {
        self.runtime.block_on(async {
            match self.store.starts_with("postgres") {
                true => references(PostgresStore::connect(&self.store).await.unwrap()).await,
                false => references(SqliteStore::open(&self.store).unwrap()).await,
            }
        })
    }

    /// Alice pays with her stored card. Says where that leads.
    fn alice_pays(&self, server: usize, order: &str) -> String {
        location(&self.pay(server, order, ALICE, ""))
    }

    fn post_to(&self, url: &str, form: &str) -> String {
        let request = Request::post(url).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let reply = self.send(request.body(Bytes::from(form.to_owned())).unwrap());
        location(&reply)
    }

    fn get(&self, url: &str) -> Response<Bytes> {
        self.send(Request::get(url).body(Bytes::new()).unwrap())
    }

    /// The page of an order on one server, once the payment waits for nothing of the shop.
    fn order(&self, server: usize, order: &str) -> String {
        loop {
            let page = text(&self.shown(server, order, if order < "order-5" { ALICE } else { BOB }));
            if !page.contains("One moment") {
                return page;
            }
        }
    }

    /// The cards of the payments of an order, without the checks of 3-D Secure. The control interface lists them, which has no limit
    /// of requests.
    fn cards(&self, order: &str) -> Vec<String> {
        let listed = self.get(&format!("{}/_sandbox/transactions", self.sandbox.base_url()));
        let listed: Vec<Value> = serde_json::from_slice(listed.body()).unwrap();
        let attempt = format!("{order}-");
        let of_order = listed.iter().filter(|listed| {
            let reference = [&listed["uniqueMerchantReference"], &listed["merchantReference"]];
            reference.iter().any(|reference| reference.as_str().is_some_and(|given| given.starts_with(&attempt)))
        });
        let payments = of_order.filter(|listed| listed["transactionType"] == "Auth");
        payments.map(|payment| payment["card"]["cardNumber"].as_str().unwrap().to_owned()).collect()
    }

    fn payments(&self, order: &str) -> usize {
        self.cards(order).len()
    }

    fn fault(&self, fault: &str) {
        let address = format!("{}/_sandbox/faults", self.sandbox.base_url());
        let reply = self.send(Request::post(address).body(Bytes::from(fault.to_owned())).unwrap());
        assert!(reply.status().is_success(), "{reply:?}");
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for child in self.servers.iter_mut().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// PostgreSQL, or SQLite where that is not installed.
async fn database(folder: &TempDir) -> (Option<Postgres>, String) {
    let Some(postgres) = Postgres::for_one_test(&[]) else {
        let file = folder.path().join("intents.sqlite").to_str().unwrap().to_owned();
        drop(SqliteStore::open(&file).unwrap());
        return (None, file);
    };
    let url = format!("{}?sslmode=disable", postgres.database().unwrap());
    drop(PostgresStore::migrate(&url).await.unwrap());
    (Some(postgres), url)
}

async fn references(store: impl IntentStore) -> Vec<String> {
    let rows = store.list(IntentFilter::default()).await.unwrap();
    let mut references: Vec<String> = rows.into_iter().map(|row| row.key.reference).collect();
    references.sort();
    references
}

/// A card of a customer that the bank asks about.
async fn stored_card(client: &Client, number: &str, owner: &str) -> String {
    let order = Order::new(Currency::GBP).item(Item::new("Stored", 100)).unique_merchant_reference(owner);
    let auth = Auth::new(CardDetails::new(number, "12", "49").cv2("123"), order);
    let paid = client.call(&auth).await.unwrap();
    let tokenise = TokeniseTransactionKey::new(&paid.record().transaction_key).merchant_customer_reference(owner);
    client.call(&tokenise).await.unwrap().card_key_details[0].card_key.to_string()
}

fn location(reply: &Response<Bytes>) -> String {
    assert!(reply.status().is_redirection(), "{reply:?}");
    reply.headers()[header::LOCATION].to_str().unwrap().to_owned()
}

fn command(sandbox: &Server, public_url: &str, store: &str, customers: &str) -> Command {
    let settings = Settings::default();
    let main = settings.merchants.by_name("main").unwrap();
    let enterprise = main.enterprise.as_ref().unwrap();
    let base = sandbox.base_url();
    let environment = [
        ("PG_BASE_URL", base.clone()),
        ("PG_API_KEY", main.api_key.expose().to_owned()),
        ("PG_API_PASSWORD", main.api_password.expose().to_owned()),
        ("PG_SHA_KEY", main.sha_key.expose().to_owned()),
        ("PG_ENTERPRISE_BASE_URL", format!("{base}/enterprise")),
        ("PG_ENTERPRISE_API_KEY", enterprise.api_key.expose().to_owned()),
        ("PG_ENTERPRISE_API_PASSWORD", enterprise.api_password.expose().to_owned()),
        ("SHOP_DIALECT", format!("{}/../../../crates/pg-sandbox/dialects/sandbox.toml", env!("CARGO_MANIFEST_DIR"))),
        ("SHOP_LISTEN", "127.0.0.1:0".to_owned()),
        ("SHOP_URL", public_url.to_owned()),
        ("SHOP_STORE", store.to_owned()),
        ("SHOP_CUSTOMERS", customers.to_owned()),
        ("SHOP_LEASE", "1".to_owned()),
        ("SHOP_LINGER", "0".to_owned()),
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleet-shop"));
    command.envs(environment);
    command
}

fn server(sandbox: &Server, public_url: &str, store: &str, customers: &str) -> (Child, SocketAddr) {
    started(&mut command(sandbox, public_url, store, customers))
}

fn started(command: &mut Command) -> (Child, SocketAddr) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().rsplit_once("http://").expect("it says where it is").1.parse().unwrap();
    (child, address)
}

/// Leads each connection to the server that is named at the time.
async fn balance(listener: TcpListener, servers: Vec<SocketAddr>, leads_to: Arc<AtomicUsize>) {
    while let Ok((mut from, _)) = listener.accept().await {
        let to = servers[leads_to.load(Ordering::SeqCst)];
        tokio::spawn(async move {
            if let Ok(mut to) = TcpStream::connect(to).await {
                // A connection that breaks is what the other side notices.
                let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
            }
        });
    }
}

/// One server begins, the other one ends: 3-D Secure, the hosted page and its callback, a second post, and a server that is killed.
#[test]
fn two_servers_with_one_database_are_one_shop() {
    let mut fleet = Fleet::start();

    // 3-D Secure is begun on the first server, and posted to both: both lead to the same page.
    let challenge = fleet.alice_pays(0, "order-1");
    assert!(challenge.contains("/3ds/"), "{challenge}");
    assert_eq!(fleet.alice_pays(1, "order-1"), challenge);
    // The customer comes back to the second one.
    fleet.lead_to(1);
    let back = fleet.post_to(&challenge, "outcome=authenticate");
    assert_eq!(back, format!("http://{}/orders/order-1/1/back", fleet.balancer));
    assert_eq!(fleet.get(&back).status(), StatusCode::SEE_OTHER);
    for server in [1, 0] {
        assert!(fleet.order(server, "order-1").contains("Paid"), "server {server}");
    }
    assert_eq!(fleet.payments("order-1"), 1);

    // The hosted page: the callback reaches either server, and no browser comes back.
    for (order, begins, called) in [("order-2", 0, 1), ("order-3", 1, 0)] {
        let page = fleet.alice_posts(begins, &format!("{order}/hosted"));
        fleet.lead_to(called);
        assert_eq!(fleet.get(&page).status(), StatusCode::OK);
        let success = fleet.post_to(&page, CARD_FORM);
        assert!(success.contains(&format!("/orders/{order}/1/paid?trans_key=")), "{success}");
        while !fleet.order(begins, order).contains("Paid") {}
    }

    // The first server is alone, and is killed while the reply to its payment is on its way: the service says it in an hour.
    fleet.kill(1);
    let challenge = fleet.alice_pays(0, "order-4");
    fleet.fault(r#"{"method": "transaction/auth3DSecure", "kind": "delay", "delaySeconds": 3600}"#);
    fleet.lead_to(0);
    let back = fleet.post_to(&challenge, "outcome=authenticate");
    assert_eq!(fleet.get(&back).status(), StatusCode::SEE_OTHER);
    while fleet.payments("order-4") == 0 {}
    fleet.kill(0);
    fleet.start_again(1, &[]);
    assert!(fleet.order(1, "order-4").contains("Paid"));
    assert_eq!(fleet.payments("order-4"), 1);
    // Posted again, it is the same payment.
    assert_eq!(fleet.alice_pays(1, "order-4"), "/orders/order-4");
    assert_eq!(fleet.payments("order-4"), 1);
}

/// A browser can post any key of a card, and the service checks the owner of a key only if it gets a reference.
#[test]
fn a_customer_pays_with_no_card_of_another_customer() {
    let fleet = Fleet::start();
    let [alice, _] = &fleet.card_keys;
    let form = format!("card_key={alice}");
    for cookie in ["", "customer=", "customer=d4", "other=a1"] {
        assert_eq!(fleet.pay(0, "order-1", cookie, &form).status(), StatusCode::UNAUTHORIZED, "{cookie}");
    }
    // Bob posts the key of Alice's card, and pays with his own.
    let challenge = location(&fleet.pay(0, "order-5", BOB, &form));
    let back = fleet.post_to(&challenge, "outcome=authenticate");
    assert_eq!(fleet.get(&back).status(), StatusCode::SEE_OTHER);
    assert!(fleet.order(0, "order-5").contains("Paid"));
    assert_eq!(fleet.cards("order-5"), ["520000******5006"]);
    // Even if the shop's record names the wrong card, the service compares its owner.
    assert_eq!(location(&fleet.pay(0, "order-6", MIXED_UP, "")), "/orders/order-6");
    assert!(fleet.order(0, "order-6").contains("Not paid"));
    assert!(fleet.cards("order-1").is_empty() && fleet.cards("order-6").is_empty());
    // Another attempt has its own reference. Posted twice, it is one payment.
    let challenge = location(&fleet.pay(0, "order-6", BOB, ""));
    assert_eq!(location(&fleet.pay(1, "order-6", BOB, "")), challenge);
    let back = fleet.post_to(&challenge, "outcome=authenticate");
    assert!(back.ends_with("/orders/order-6/2/back"), "{back}");
    assert_eq!(fleet.get(&back).status(), StatusCode::SEE_OTHER);
    assert!(fleet.order(1, "order-6").contains("Paid"));
    assert_eq!(location(&fleet.pay(0, "order-6", BOB, "")), "/orders/order-6");
    assert_eq!(fleet.payments("order-6"), 1);
}

/// What the browser posts names an order, and the shop has it, with its customer and its amount.
#[test]
fn nobody_begins_a_payment_of_an_order_that_is_not_theirs() {
    let fleet = Fleet::start();
    let origin = fleet.origin();
    for way in ["hosted", "card", "withdraw"] {
        for (order, cookie, from, status) in [
            ("no-such-order", ALICE, &*origin, StatusCode::NOT_FOUND),
            ("order-5", ALICE, &origin, StatusCode::NOT_FOUND),
            ("%00", ALICE, &origin, StatusCode::NOT_FOUND),
            ("order-1", "", &origin, StatusCode::UNAUTHORIZED),
            ("order-1", ALICE, "https://evil.example", StatusCode::FORBIDDEN),
            ("order-1", ALICE, "null", StatusCode::FORBIDDEN),
        ] {
            assert_eq!(fleet.post(0, &format!("{order}/{way}"), cookie, from).status(), status, "{order} {way} {from}");
        }
    }
    for (order, cookie, status) in
        [("order-5", ALICE, StatusCode::NOT_FOUND), ("order-1", "", StatusCode::UNAUTHORIZED)]
    {
        assert_eq!(fleet.shown(0, order, cookie).status(), status, "{order}");
    }
    let body = Bytes::from_static(b"trans_key=forged");
    let callback = Request::post(format!("http://{}/orders/order-1/1/callback", fleet.addresses[0]));
    let callback = callback.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body).unwrap();
    assert_eq!(fleet.send(callback).status(), StatusCode::NOT_FOUND);
    assert!(fleet.rows().is_empty(), "nothing was begun: {:?}", fleet.rows());
    assert!(fleet.order(0, "order-1").contains("To pay: £4.99"));
}

#[test]
fn a_customer_who_leaves_the_hosted_page_pays_in_another_way() {
    let fleet = Fleet::start();
    let page = fleet.alice_posts(0, "order-1/hosted");
    assert_eq!(fleet.alice_pays(1, "order-1"), "/orders/order-1", "the page is open");
    assert!(fleet.order(1, "order-1").contains("Pay in another way"));
    assert_eq!(fleet.alice_posts(1, "order-1/withdraw"), "/orders/order-1");
    assert_eq!(fleet.alice_posts(1, "order-1/withdraw"), "/orders/order-1", "pressed twice");
    while !fleet.order(0, "order-1").contains("Not paid") {}
    let challenge = fleet.alice_pays(1, "order-1");
    assert!(challenge.contains("/3ds/"), "{challenge}");
    assert_ne!(fleet.get(&page).status(), StatusCode::OK, "the page is closed");
    let back = fleet.post_to(&challenge, "outcome=authenticate");
    assert_eq!(fleet.get(&back).status(), StatusCode::SEE_OTHER);
    assert!(fleet.order(0, "order-1").contains("Paid"));
    assert_eq!(fleet.alice_posts(0, "order-1/withdraw"), "/orders/order-1", "pressed on an old page");
    assert_eq!(fleet.rows(), ["order-1-1", "order-1-2"]);
    assert_eq!(fleet.payments("order-1"), 1);
}

#[test]
fn a_paid_order_stays_paid_when_the_api_key_is_replaced() {
    let mut fleet = Fleet::start();
    let page = fleet.alice_posts(0, "order-1/hosted");
    assert_eq!(fleet.get(&page).status(), StatusCode::OK);
    fleet.post_to(&page, CARD_FORM);
    while !fleet.order(0, "order-1").contains("Paid") {}
    fleet.kill(0);
    fleet.start_again(0, &[("PG_API_KEY", "0123456789abcdef0123456789abcdef")]);
    assert!(fleet.order(0, "order-1").contains("Paid"));
    assert_eq!(fleet.alice_posts(0, "order-1/hosted"), "/orders/order-1", "no second page");
    assert_eq!(fleet.alice_pays(0, "order-1"), "/orders/order-1");
    // With another name none of the payments would be found.
    let mut other = command(&fleet.sandbox, &fleet.origin(), &fleet.store, &fleet.customers);
    let refused = other.env("SHOP_ACCOUNT", "shop-uk").output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("FleetPlan::stored_as") && said.lines().count() == 1, "{said}");
    assert!(said.starts_with("SHOP_ACCOUNT ") && refused.stdout.is_empty(), "{said}");
    assert_eq!(fleet.payments("order-1"), 1);
}
