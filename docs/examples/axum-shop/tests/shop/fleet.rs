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
use pg_intents::{PostgresStore, SqliteStore};
use pg_sandbox::{Config, Server, Settings};
use pg_stores::Postgres;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

use crate::place::{account, text};

/// The bank asks the customer.
const CHALLENGED: [&str; 2] = ["4000000000005001", "5200000000005006"];
/// The cookies of two customers with stored cards, and of one whose record has the key of another customer's card.
const ALICE: &str = "lang=en; customer=a1";
const BOB: &str = "customer=b2";
const MIXED_UP: &str = "customer=c3";

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
        let record = |owner, card_key: &str| json!({"reference": owner, "cardKey": card_key});
        let records = json!({"a1": record("alice", &alice), "b2": record("bob", &bob), "c3": record("bob", &alice)});
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
    fn start_again(&mut self, at: usize) {
        let (child, address) =
            server(&self.sandbox, &format!("http://{}", self.balancer), &self.store, &self.customers);
        (self.servers[at], self.addresses[at]) = (Some(child), address);
    }

    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.runtime.block_on(HyperTransport::new().send(request)).unwrap()
    }

    /// Posts to one server, past the balancer. Says where that leads.
    fn post(&self, server: usize, path: &str) -> String {
        self.post_to(&format!("http://{}{path}", self.addresses[server]), "")
    }

    /// A customer pays with a stored card, at one server.
    fn pay(&self, server: usize, order: &str, cookie: &str, form: &str) -> Response<Bytes> {
        let url = format!("http://{}/orders/{order}/card", self.addresses[server]);
        let request = Request::post(url).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request.header(header::COOKIE, cookie).body(Bytes::from(form.to_owned())).unwrap())
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
            let page = text(&self.get(&format!("http://{}/orders/{order}", self.addresses[server])));
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
        let of_order = listed.iter().filter(|listed| listed["uniqueMerchantReference"] == order);
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
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleet-shop"));
    command.envs(environment);
    command
}

fn server(sandbox: &Server, public_url: &str, store: &str, customers: &str) -> (Child, SocketAddr) {
    let mut child =
        command(sandbox, public_url, store, customers).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
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
    assert_eq!(back, format!("http://{}/orders/order-1/back", fleet.balancer));
    assert_eq!(fleet.get(&back).status(), StatusCode::SEE_OTHER);
    for server in [1, 0] {
        assert!(fleet.order(server, "order-1").contains("Paid"), "server {server}");
    }
    assert_eq!(fleet.payments("order-1"), 1);

    // The hosted page: the callback reaches either server, and no browser comes back.
    for (order, begins, called) in [("order-2", 0, 1), ("order-3", 1, 0)] {
        let page = fleet.post(begins, &format!("/orders/{order}/hosted"));
        fleet.lead_to(called);
        let form =
            "cardNumber=4111111111111111&cardExpiryMonth=12&cardExpiryYear=2031&cardCV2=987&cardholderName=A+Holder";
        assert_eq!(fleet.get(&page).status(), StatusCode::OK);
        let success = fleet.post_to(&page, form);
        assert!(success.contains(&format!("/orders/{order}/paid?trans_key=")), "{success}");
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
    fleet.start_again(1);
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
    let challenge = location(&fleet.pay(0, "order-2", BOB, &form));
    let back = fleet.post_to(&challenge, "outcome=authenticate");
    assert_eq!(fleet.get(&back).status(), StatusCode::SEE_OTHER);
    assert!(fleet.order(0, "order-2").contains("Paid"));
    assert_eq!(fleet.cards("order-2"), ["520000******5006"]);
    // Even if the shop's record names the wrong card, the service compares its owner.
    assert_eq!(location(&fleet.pay(0, "order-3", MIXED_UP, "")), "/orders/order-3");
    assert!(fleet.order(0, "order-3").contains("Not paid"));
    assert!(fleet.cards("order-1").is_empty() && fleet.cards("order-3").is_empty());
}

#[test]
fn a_database_that_cannot_be_used_is_refused_in_one_line_that_says_what_to_type() {
    let runtime = Runtime::new().unwrap();
    let sandbox = runtime.block_on(Server::start(Config::default())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "not a database, but long enough to be one: ".repeat(200)).unwrap();
    let mut refused = vec![(file.to_str().unwrap().to_owned(), "notes.txt: ")];
    let customers = folder.path().join("customers.json").to_str().unwrap().to_owned();
    fs::write(&customers, "{}").unwrap();
    let postgres = Postgres::installed().map(|_| Postgres::start(&[]).unwrap());
    if let Some(postgres) = &postgres {
        refused.push((
            format!("{}?sslmode=disable", postgres.database().unwrap()),
            r#"pg intents --store "$SHOP_STORE" migrate"#,
        ));
    }
    for (store, says) in refused {
        let ended = command(&sandbox, "http://127.0.0.1:1", &store, &customers).output().unwrap();
        let error = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && ended.stdout.is_empty(), "{:?}", ended.stdout);
        assert!(error.contains(says) && error.lines().count() == 1, "{error}");
    }
}
