//! A sandbox, a shop before it, and a browser.

use std::{error::Error, fs, net::TcpListener, time::Duration};

use axum_shop::Config as Shop;
use bytes::Bytes;
use http::{Request, Response, header};
use pg_hyper::{
    Client, HyperTransport, Transport,
    proto::{
        Account, BaseUrl, Credentials, EnterpriseCredentials,
        machine::Backoff,
        model::{Auth, CardDetails, Currency, Item, Order, Outcome, Refund, TransactionLookup, TransactionType},
    },
};
use pg_sandbox::{Config, Server, Settings};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{runtime::Runtime, sync::oneshot, task::JoinHandle};

/// A card with 3-D Secure, typed into the form.
pub(crate) const CHALLENGED: Card = Card("4000000000005001");
/// A card typed into the hosted page.
pub(crate) const APPROVED_TOO: &str = "4111111111111111";

/// A card that is typed into the form.
pub(crate) struct Card(pub(crate) &'static str);

pub(crate) struct Place {
    runtime: Runtime,
    server: Server,
    client: Client,
    /// The shop's port, which stays when it is started again.
    listener: TcpListener,
    folder: TempDir,
    shop: Option<Running>,
}

/// A shop on its own runtime, so that it can be killed.
struct Running {
    runtime: Runtime,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Result<(), String>>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(Server::start(Config::default())).unwrap();
        let client = Client::new(account(&server)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let mut place = Self { runtime, server, client, listener, folder: tempfile::tempdir().unwrap(), shop: None };
        place.start();
        place
    }

    pub(crate) fn start(&mut self) {
        let base = BaseUrl::parse(&self.address("")).unwrap();
        let mut config = Shop::new(account(&self.server), base, self.folder.path().join("orders"));
        let pauses = Backoff::new(Duration::from_millis(1), Duration::from_millis(20));
        config.plan.pauses = pauses;
        config.checkout.pauses = pauses;
        config.checkout.linger = Duration::ZERO;
        config.lookups = Backoff::new(Duration::from_millis(50), Duration::from_millis(200));
        let runtime = Runtime::new().unwrap();
        let (stop, stopped) = oneshot::channel();
        let listener = self.listener.try_clone().unwrap();
        let served = runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let stopped = async { stopped.await.unwrap_or_default() };
            let served: Result<(), Box<dyn Error>> = axum_shop::serve(listener, config, stopped).await;
            served.map_err(|error| error.to_string())
        });
        self.shop = Some(Running { runtime, stop, served });
    }

    /// Tells it to stop, and waits until it has.
    pub(crate) fn stop(&mut self) -> Result<(), String> {
        let Running { runtime, stop, served } = self.shop.take().unwrap();
        stop.send(()).unwrap();
        runtime.block_on(served).unwrap()
    }

    /// Kills it, and starts another.
    pub(crate) fn restart(&mut self) {
        self.shop.take().unwrap().runtime.shutdown_timeout(Duration::from_secs(60));
        self.start();
    }

    /// Changes the file of an order while no shop runs.
    pub(crate) fn edit(&self, order: &str, from: &str, to: &str) {
        let id = order.rsplit('/').next().unwrap();
        let file = self.folder.path().join("orders").join(format!("{id}.json"));
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replace(from, to)).unwrap();
    }

    /// An address of the shop.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("http://{}{path}", self.listener.local_addr().unwrap())
    }

    pub(crate) fn fault(&self, method: &str, kind: &str) {
        self.fault_with(&format!(r#"{{"method": "{method}", "kind": "{kind}"}}"#));
    }

    pub(crate) fn fault_with(&self, fault: &str) {
        self.control("faults", fault);
    }

    pub(crate) fn clear_faults(&self) {
        let reply = Request::delete(self.sandbox("faults"));
        assert!(self.send(reply.body(Bytes::new()).unwrap()).status().is_success());
    }

    /// An address of the sandbox's control interface.
    fn sandbox(&self, path: &str) -> String {
        format!("{}/_sandbox/{path}", self.server.base_url())
    }

    /// A list of the control interface.
    pub(crate) fn listed(&self, path: &str) -> Vec<Value> {
        serde_json::from_slice(self.get(&self.sandbox(path)).body()).unwrap()
    }

    /// Posts JSON to the control interface of the sandbox.
    pub(crate) fn control(&self, path: &str, body: &str) {
        let reply = self.send(Request::post(self.sandbox(path)).body(Bytes::from(body.to_owned())).unwrap());
        assert!(reply.status().is_success(), "{reply:?}");
    }

    /// The calls of a method that the sandbox has journaled.
    pub(crate) fn calls(&self, method: &str) -> usize {
        self.listed("requests?limit=1000").iter().filter(|call| call["method"] == method).count()
    }

    /// Payments, without the checks of 3-D Secure, of all attempts of an order.
    pub(crate) fn payments(&self, order: &str) -> usize {
        let id = order.rsplit('/').next().unwrap();
        let lookups = (1..4).map(|attempt| format!("{id}-{attempt}")).flat_map(|reference| {
            let by_card = TransactionLookup::new().unique_merchant_reference(&*reference);
            [by_card, TransactionLookup::new().merchant_reference(&*reference)]
        });
        let found = lookups.flat_map(|lookup| self.runtime.block_on(self.client.call(&lookup)).unwrap().transactions);
        found.filter(|found| found.transaction_type == TransactionType::AUTH).count()
    }

    /// Waits until the service has made a payment. The control interface has no limit of requests.
    pub(crate) fn until_paid_anything(&self) {
        let listed = self.sandbox("transactions");
        while !self.page(&listed).contains(r#""transactionType": "Auth""#) {}
    }

    /// An order that is paid on the hosted page, without a callback or a return.
    pub(crate) fn paid_unnoticed(&self) -> String {
        self.control("callbacks/behaviour", r#"{"kind": "fail"}"#);
        let order = self.buy();
        let page = self.post(&format!("{order}/hosted"), &[]);
        self.pay_hosted(&page, APPROVED_TOO);
        order
    }

    /// An order that is paid by card; the reply is lost, and from then on every lookup fails.
    pub(crate) fn paid_without_a_reply(&self) -> String {
        let order = self.buy();
        let challenge = self.enter_card(&order, CHALLENGED);
        self.fault("transaction/auth3DSecure", "drop-reply");
        self.lose_lookups();
        self.answer_challenge(&challenge, "authenticate");
        order
    }

    pub(crate) fn lose_lookups(&self) {
        self.fault_with(r#"{"method": "transaction/lookup", "kind": "status", "times": 100000}"#);
    }

    /// Makes the payment of an order's first attempt with a card that is declined.
    pub(crate) fn decline(&self, order: &str) {
        let id = order.rsplit('/').next().unwrap();
        let basket = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference(format!("{id}-1"));
        let payment = Auth::new(CardDetails::new("4000000000002008", "12", "49"), basket);
        let declined = self.runtime.block_on(self.client.call(&payment)).unwrap();
        assert!(matches!(declined, Outcome::Declined(_)), "{declined:?}");
    }

    /// Refunds every payment, as an operator does.
    pub(crate) fn refund_all(&self) {
        for paid in self.listed("transactions").iter().filter(|one| one["transactionType"] == "Auth") {
            let refund = Refund::new(paid["transactionKey"].as_str().unwrap());
            let refunded = self.runtime.block_on(self.client.call(&refund)).unwrap();
            assert!(matches!(refunded, Outcome::Approved(_)), "{refunded:?}");
        }
    }

    pub(crate) fn one_payment(&self, order: &str) {
        assert_eq!(self.payments(order), 1, "{order}");
    }

    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.runtime.block_on(HyperTransport::new().send(request)).unwrap()
    }

    pub(crate) fn get(&self, address: &str) -> Response<Bytes> {
        self.send(Request::get(address).body(Bytes::new()).unwrap())
    }

    /// Posts a form, and says where that leads.
    pub(crate) fn post(&self, address: &str, fields: &[(String, String)]) -> String {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = Request::post(address).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let reply = self.send(request.body(body.into()).unwrap());
        self.location(&reply)
    }

    pub(crate) fn location(&self, reply: &Response<Bytes>) -> String {
        assert!(reply.status().is_redirection(), "{reply:?}");
        let location = reply.headers()[header::LOCATION].to_str().unwrap();
        if location.starts_with('/') { self.address(location) } else { location.to_owned() }
    }

    /// Buys, and gives back the address of the order.
    pub(crate) fn buy(&self) -> String {
        assert!(text(&self.get(&self.address("/"))).contains("£4.99"));
        self.post(&self.address("/orders"), &[])
    }

    /// The action of the card form, and its hidden fields.
    pub(crate) fn card_form(&self, order: &str) -> (String, Vec<(String, String)>) {
        let page = text(&self.get(&format!("{order}/card")));
        let after = |text: &str, mark: &str| {
            let rest = text.split_once(mark).unwrap_or_else(|| panic!("no {mark} in {text}")).1;
            rest.split('"').next().unwrap().replace("&amp;", "&")
        };
        let hidden = page
            .lines()
            .filter(|line| line.starts_with("<input type=\"hidden\"") || line.contains("><input type=\"hidden\""));
        let fields = hidden.map(|line| (after(line, "name=\""), after(line, "value=\"")));
        (after(&page, "<form method=\"post\" action=\""), fields.collect())
    }

    /// Where the service leads after the card was posted.
    pub(crate) fn post_card(&self, action: &str, hidden: &[(String, String)], card: &Card) -> String {
        let own =
            [("cardNumber", card.0), ("cardExpiryDate", "1249"), ("cardCV2", "123"), ("cardholderName", "A Holder")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.post(action, &[hidden, &own].concat())
    }

    /// Enters a card, and gives back where the shop leads then.
    pub(crate) fn enter_card(&self, order: &str, card: Card) -> String {
        let (action, hidden) = self.card_form(order);
        let back = self.post_card(&action, &hidden, &card);
        assert!(back.starts_with(&format!("{order}/card?")), "{back}");
        self.location(&self.get(&back))
    }

    /// Tries again with the card, and says how the order page begins then.
    pub(crate) fn again(&self, order: &str, card: Card) -> &'static str {
        self.post(&format!("{order}/again"), &[]);
        let challenge = self.enter_card(order, card);
        self.answer_challenge(&challenge, "authenticate");
        if self.settled(order).contains("<p>Paid") { "Paid" } else { "not paid" }
    }

    /// Presses a button of the challenge, and follows the way back to the shop.
    pub(crate) fn answer_challenge(&self, challenge: &str, button: &str) {
        let back = self.post(challenge, &[("outcome".to_owned(), button.to_owned())]);
        assert_eq!(self.get(&back).status(), http::StatusCode::SEE_OTHER);
    }

    /// Opens the hosted page, pays, and gives back where that leads.
    pub(crate) fn pay_hosted(&self, page: &str, number: &str) -> String {
        assert_eq!(self.get(page).status(), 200);
        let fields = [
            ("cardNumber", number),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "2031"),
            ("cardCV2", "987"),
            ("cardholderName", "A Holder"),
        ];
        self.post(page, &fields.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    pub(crate) fn page(&self, address: &str) -> String {
        text(&self.get(address))
    }

    /// The page of an order once it is as wanted.
    pub(crate) fn until(&self, order: &str, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let page = self.page(order);
            if wanted(&page) {
                return page;
            }
        }
    }

    /// The page of an order once nothing is under way any more.
    pub(crate) fn settled(&self, order: &str) -> String {
        self.until(order, |page| !page.contains("One moment") && !page.contains("Continue"))
    }
}

pub(crate) fn text(reply: &Response<Bytes>) -> String {
    assert_eq!(reply.status(), 200);
    String::from_utf8(reply.body().to_vec()).unwrap()
}

pub(crate) fn account(server: &Server) -> Account {
    let settings = Settings::default();
    let main = settings.merchants.by_name("main").unwrap();
    let enterprise = main.enterprise.as_ref().unwrap();
    let base = |address: &str| BaseUrl::parse(address).unwrap();
    Account::new(
        base(&server.base_url()),
        Credentials::new(main.api_key.expose(), main.api_password.expose(), main.sha_key.expose()),
    )
    .with_dialect(pg_sandbox::dialect())
    .enterprise(
        base(&format!("{}/enterprise", server.base_url())),
        EnterpriseCredentials::new(enterprise.api_key.expose(), enterprise.api_password.expose()),
    )
}
