//! A sandbox and a store on one virtual clock, and workers that share them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use pg_faulty_intents::{FaultyStore, StoreBug};
use pg_hyper::{
    Client, ClientBuilder, TowerTransport, Transport, TransportError, VirtualClock,
    proto::{
        Account, BaseUrl, Credentials, EnterpriseCredentials,
        machine::{checkout::CheckoutPlan, throttle::ThrottleLimits},
        model::{
            Auth, AuthCardKey, CardDetails, CardKey, Currency, Item, Order, TokeniseTransactionKey, Transaction,
            TransactionLookup,
        },
    },
};
use pg_intents::{Fleet, FleetError, FleetPlan, IntentKey, IntentStore, NewIntent, PaymentOutcome, SqliteStore};
use pg_sandbox::{InProcess, Sandbox, Timestamp};
use tokio::sync::Notify;

pub(crate) const CARD: &str = "4000000000001000";
pub(crate) const LEASE: Duration = Duration::from_secs(15);

pub(crate) struct World {
    pub(crate) sandbox: InProcess,
    pub(crate) store: Arc<SqliteStore>,
}

/// The sandbox, with something done at each request.
#[derive(Clone)]
pub(crate) struct Wire {
    inner: TowerTransport<InProcess>,
    pub(crate) paid: Arc<AtomicUsize>,
    /// The methods of all requests that have left.
    pub(crate) sent: Arc<Mutex<Vec<String>>>,
    pub(crate) fault: Arc<Mutex<Option<Fault>>>,
    pub(crate) hanging: Arc<Notify>,
    /// Lets a held reply go.
    pub(crate) released: Arc<Notify>,
    /// How often each request lets other tasks run before its reply arrives.
    pub(crate) yields: Arc<AtomicUsize>,
    /// No request reaches the service.
    pub(crate) away: Arc<AtomicBool>,
    /// From now on the service does not take the SHA key: each request has a wrong signature.
    pub(crate) invalid: Arc<AtomicBool>,
    /// Each request arrives, and its reply is lost.
    pub(crate) silent: Arc<AtomicBool>,
    /// The reply to the next request with this in its path is lost.
    pub(crate) losing: Arc<Mutex<Option<&'static str>>>,
    /// The service refuses to look an unknown transaction up, with HTTP 403 and a code that no document or dialect lists.
    pub(crate) forbids: Arc<AtomicBool>,
    /// Requests with a wrong signature, and those of them that the service refused because it has locked the address out.
    pub(crate) failed: Arc<AtomicUsize>,
    pub(crate) locked_out: Arc<AtomicUsize>,
}

/// The fault of the next payment: its future never ends, unless the reply is lost or released.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// It has arrived.
    After,
    /// It never arrives.
    Before,
    /// It has arrived, and the connection breaks before the reply.
    Lost,
    /// The same, and from then on every reply is lost.
    Silence,
    /// It has arrived, and its reply is held until `released`.
    Held,
}

impl Transport for Wire {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        if self.away.load(Ordering::SeqCst) {
            return Err(TransportError::not_sent("connection refused"));
        }
        let method = request.uri().path().rsplit('/').find(|part| *part != "xml").unwrap_or_default().to_owned();
        self.sent.lock().unwrap().push(method);
        let pays = ["/auth", "/refund"].iter().any(|path| request.uri().path().contains(path));
        let fault = if pays { self.fault.lock().unwrap().take() } else { None };
        if pays {
            self.paid.fetch_add(1, Ordering::SeqCst);
        }
        if fault == Some(Fault::Before) {
            self.hanging.notify_one();
            std::future::pending::<()>().await;
        }
        let loses = self.losing.lock().unwrap().take_if(|path| request.uri().path().contains(*path)).is_some();
        let invalid = self.invalid.load(Ordering::SeqCst);
        let request = if invalid { request.map(|body| wrongly_signed(&body)) } else { request };
        let reply = self.inner.send(request).await;
        if loses {
            return Err(TransportError::maybe_sent("connection reset"));
        }
        let reply = if self.forbids.load(Ordering::SeqCst) { reply.map(forbidden) } else { reply };
        if invalid {
            self.failed.fetch_add(1, Ordering::SeqCst);
            let said = String::from_utf8_lossy(reply.as_ref().unwrap().body()).into_owned();
            let is_locked_out = ["121", "122"].iter().any(|code| said.contains(&format!("<errorCode>{code}<")));
            assert!(is_locked_out || said.contains("<errorCode>123<"), "{said}");
            self.locked_out.fetch_add(usize::from(is_locked_out), Ordering::SeqCst);
        }
        for _ in 0..self.yields.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        if fault == Some(Fault::Held) {
            self.hanging.notify_one();
            self.released.notified().await;
        }
        if fault == Some(Fault::Silence) {
            self.silent.store(true, Ordering::SeqCst);
        }
        if fault == Some(Fault::Lost) || self.silent.load(Ordering::SeqCst) {
            return Err(TransportError::maybe_sent("connection reset"));
        }
        if fault == Some(Fault::After) {
            self.hanging.notify_one();
            std::future::pending::<()>().await;
        }
        reply
    }
}

/// The reply, unless it says that there is no such transaction.
fn forbidden(reply: Response<Bytes>) -> Response<Bytes> {
    if !String::from_utf8_lossy(reply.body()).contains("<errorcode>943<") {
        return reply;
    }
    let error = Bytes::from_static(b"<serviceResponse><errorcode>17</errorcode></serviceResponse>");
    Response::builder().status(403).body(error).unwrap()
}

/// The same form with another signature.
fn wrongly_signed(form: &[u8]) -> Bytes {
    let form = String::from_utf8(form.to_vec()).unwrap();
    let (before, after) = form.split_once("shaSignature=").unwrap();
    let digit = if after.starts_with('0') { '1' } else { '0' };
    format!("{before}shaSignature={digit}{}", &after[1..]).into()
}

impl World {
    pub(crate) fn new() -> Self {
        let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2046-05-04T10:00:00Z").unwrap());
        let clock = sandbox.clone();
        let store = SqliteStore::in_memory(move || i64::try_from(clock.unix_time().as_millis()).unwrap()).unwrap();
        Self { sandbox, store: Arc::new(store) }
    }

    /// A world, a wire without a fault, and a stored card.
    pub(crate) async fn with_card() -> (Self, Wire, CardKey) {
        let world = Self::new();
        let (wire, key) = (world.wire(None), world.card_key().await);
        (world, wire, key)
    }

    /// A world, a wire without a fault, and one worker.
    pub(crate) async fn of_one() -> (Self, Wire, Fleet<SqliteStore, Wire>) {
        let world = Self::new();
        let wire = world.wire(None);
        let fleet = world.worker("one", &wire).await;
        (world, wire, fleet)
    }

    /// Its store with one planted bug, or none.
    pub(crate) fn faulty(&self, bug: Option<StoreBug>) -> FaultyStore<SqliteStore> {
        FaultyStore::new(Arc::clone(&self.store), bug)
    }

    /// Lets more time pass than a lease lasts.
    pub(crate) fn night(&self) -> impl Fn() + Send + Sync + 'static {
        let sandbox = self.sandbox.clone();
        move || sandbox.advance(LEASE * 2)
    }

    pub(crate) fn clock(&self) -> VirtualClock {
        VirtualClock::shared(self.sandbox.clone(), InProcess::unix_time, InProcess::advance)
    }

    /// The version 3 account of a merchant, with this password or its own.
    pub(crate) fn account_of(&self, merchant: &str, password: Option<&str>) -> Account {
        let merchant = self.sandbox.merchant(merchant).unwrap();
        let password = password.unwrap_or(merchant.api_password.expose());
        let credentials = Credentials::new(merchant.api_key.expose(), password, merchant.sha_key.expose());
        let account = Account::new(BaseUrl::parse(InProcess::BASE_URL).unwrap(), credentials);
        account.identity(&merchant.name).with_dialect(pg_sandbox::dialect())
    }

    pub(crate) fn account(&self) -> Account {
        let (account, merchant) = (self.account_of("main", None), self.sandbox.merchant("main").unwrap());
        let own = merchant.enterprise.as_ref().unwrap();
        let own = EnterpriseCredentials::new(own.api_key.expose(), own.api_password.expose());
        account.enterprise(BaseUrl::parse(InProcess::ENTERPRISE_BASE_URL).unwrap(), own)
    }

    pub(crate) fn wire(&self, fault: Option<Fault>) -> Wire {
        Wire {
            inner: TowerTransport::new(self.sandbox.clone()),
            paid: Arc::default(),
            sent: Arc::default(),
            fault: Arc::new(Mutex::new(fault)),
            hanging: Arc::default(),
            released: Arc::default(),
            yields: Arc::default(),
            away: Arc::default(),
            invalid: Arc::default(),
            silent: Arc::default(),
            losing: Arc::default(),
            forbids: Arc::default(),
            failed: Arc::default(),
            locked_out: Arc::default(),
        }
    }

    pub(crate) async fn worker(&self, name: &str, wire: &Wire) -> Fleet<SqliteStore, Wire> {
        self.worker_for(name, wire, self.account()).await
    }

    /// The worker's own clock is real: a request that hangs lets no time pass.
    pub(crate) fn plan(name: &str) -> FleetPlan {
        let plan = FleetPlan::new(name).lease(LEASE).poll(Duration::from_millis(5)).patience(Duration::from_secs(60));
        // A checkout that rests in its row would wait for the shared clock, which nothing moves then.
        plan.per_minute(u32::MAX).failures(u32::MAX).checkouts(CheckoutPlan::default().linger(Duration::from_secs(60)))
    }

    pub(crate) async fn worker_for(&self, name: &str, wire: &Wire, account: Account) -> Fleet<SqliteStore, Wire> {
        Fleet::new(self.client_for(account, wire), Arc::clone(&self.store), Self::plan(name)).await.unwrap()
    }

    /// A client on the shared clock.
    pub(crate) fn client(&self, wire: &Wire) -> Client<Wire> {
        self.client_for(self.account(), wire)
    }

    pub(crate) fn client_for(&self, account: Account, wire: &Wire) -> Client<Wire> {
        // A wait for the client's throttle would move the shared clock past every lease.
        let limits = ThrottleLimits::unlimited();
        ClientBuilder::with_transport(account, wire.clone()).clock(self.clock()).limits(limits).seed(1).build()
    }

    /// A worker over any store.
    pub(crate) async fn worker_over<S: IntentStore>(&self, name: &str, store: &Arc<S>, wire: &Wire) -> Fleet<S, Wire> {
        Fleet::new(self.client(wire), Arc::clone(store), Self::plan(name)).await.unwrap()
    }

    pub(crate) async fn card_key(&self) -> CardKey {
        self.key_of(CARD).await
    }

    pub(crate) async fn key_of(&self, card: &str) -> CardKey {
        let client = Client::with_transport(self.account(), self.wire(None));
        let card = CardDetails::new(card, "12", "49").cv2("123");
        let paid = client.call(&Auth::new(card, order("first", 100))).await.unwrap();
        let stored = client.call(&TokeniseTransactionKey::new(&paid.record().transaction_key)).await.unwrap();
        stored.card_key_details[0].card_key.clone()
    }

    /// What the service holds under a reference.
    pub(crate) async fn ledger(&self, reference: &str) -> Vec<Transaction> {
        let client = Client::with_transport(self.account(), self.wire(None));
        let lookup = TransactionLookup::new().unique_merchant_reference(reference);
        client.call(&lookup).await.map(|found| found.transactions).unwrap_or_default()
    }
}

/// Charges several payments by each of these workers at once, and returns the results.
pub(crate) async fn charge_at_once<S: IntentStore>(
    fleets: &[Fleet<S, Wire>],
    key: &CardKey,
    each: usize,
    round: &str,
) -> Vec<Result<PaymentOutcome, FleetError>> {
    let mut calls = tokio::task::JoinSet::new();
    for (process, fleet) in fleets.iter().enumerate() {
        for number in 0..each {
            let (fleet, payment) = (fleet.clone(), by_key(key, &format!("{round}-{process}-{number}")));
            calls.spawn(async move { fleet.charge(payment).await });
        }
    }
    calls.join_all().await
}

/// An intent that no worker has claimed yet.
pub(crate) fn submitted(account: &str, reference: &str) -> NewIntent {
    NewIntent {
        key: IntentKey::new(account, reference),
        kind: "charge authCardKey".to_owned(),
        digest: String::new(),
        request: None,
        state: String::new(),
        version: 1,
        owner: None,
        lease: Duration::ZERO,
    }
}

pub(crate) fn order(reference: &str, pence: u64) -> Order {
    Order::new(Currency::GBP).item(Item::new("Tea", pence)).unique_merchant_reference(reference)
}

pub(crate) fn by_card(reference: &str, pence: u64) -> Auth {
    Auth::new(CardDetails::new(CARD, "12", "49").cv2("123"), order(reference, pence))
}

pub(crate) fn by_key(key: &CardKey, reference: &str) -> AuthCardKey {
    AuthCardKey::new(key, order(reference, 499))
}
