//! A merchant with its own sandbox.

use http::{Request, header};
use pg_hyper::{Client, Transport};
use pg_model::{Currency, Encoding, Initiate, Item, Order, SessionKey};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, machine::throttle::ThrottleLimits};
use pg_sandbox::{Config, Server, Settings};

use crate::browser;

/// The browser's target if everything is valid; it has a query and a fragment.
pub const NEXT_PAGE: &str = "https://shop.example/review?order=7#card";
/// The target if a field is invalid.
pub const CARD_PAGE: &str = "https://shop.example/card";
/// The target if the form cannot be processed.
pub const ERROR_PAGE: &str = "https://shop.example/error";

/// Without client limits, since the sandbox's limits are tested.
fn client(account: Account) -> Client {
    Client::builder(account).expect("loopback is private").limits(ThrottleLimits::unlimited()).build()
}

/// A merchant with its own sandbox, on a free port.
pub struct Shop {
    /// The sandbox.
    pub server: Server,
    /// A client of the account.
    pub client: Client,
}

impl Shop {
    /// The account `main` of a new sandbox in memory.
    ///
    /// # Panics
    /// When the sandbox does not start.
    pub async fn open(encoding: Encoding) -> Self {
        Self::open_with(Config::default(), "main", encoding).await
    }

    /// An account of a sandbox of your choice.
    ///
    /// # Panics
    /// When the sandbox does not start, or has no such account.
    pub async fn open_with(config: Config, merchant: &str, encoding: Encoding) -> Self {
        let server = Server::start(config).await.expect("a sandbox");
        let client = client(account(&server, merchant).encoding(encoding));
        Self { server, client }
    }

    /// API key, API password and SHA key of the account `main`, as the sandbox publishes them.
    ///
    /// # Panics
    /// When the sandbox has no such account.
    #[must_use]
    pub fn credentials(&self) -> [String; 3] {
        let settings = Settings::default();
        let merchant = settings.merchants.by_name("main").expect("a built-in account");
        [&merchant.api_key, &merchant.api_password, &merchant.sha_key].map(|secret| secret.expose().to_owned())
    }

    /// The account of another merchant of the same sandbox.
    ///
    /// # Panics
    /// When the sandbox has no such account.
    #[must_use]
    pub fn neighbour(&self, merchant: &str) -> Client {
        client(account(&self.server, merchant))
    }

    /// A session to which a customer has posted a card.
    ///
    /// # Panics
    /// When the card is not accepted.
    pub async fn session_with_card(&self, filled_in: &[(&str, &str)]) -> SessionKey {
        let session = self.client.call(&Initiate::new(ERROR_PAGE)).await.expect("a session");
        let form = self.client.account().card_form(&session.session_key, NEXT_PAGE, CARD_PAGE);
        let reply = browser::post(&form, filled_in).await;
        let location = browser::location(&reply);
        assert!(location.starts_with("https://shop.example/review?order=7&data="), "{location}");
        session.session_key
    }

    /// Puts the sandbox's clock forward.
    ///
    /// # Panics
    /// When the sandbox refuses.
    pub async fn advance(&self, seconds: u64) {
        self.control("clock", &format!("{{\"advanceSeconds\": {seconds}}}")).await;
    }

    /// Posts JSON to the sandbox's control interface.
    ///
    /// # Panics
    /// When the sandbox refuses.
    pub async fn control(&self, path: &str, body: &str) {
        let request = Request::post(format!("{}/_sandbox/{path}", self.server.base_url()))
            .header(header::CONTENT_TYPE, "application/json")
            .body(body.to_owned().into())
            .expect("a request");
        let reply = self.client.transport().send(request).await.expect("a reply");
        assert!(reply.status().is_success(), "{:?}", reply.body());
    }
}

/// An order of one item with a price in pence, under a reference.
pub fn order(reference: &str, pence: u64) -> Order {
    Order::new(Currency::GBP).item(Item::new("Tea", pence)).unique_merchant_reference(reference)
}

fn account(server: &Server, name: &str) -> Account {
    account_at(&server.base_url(), name)
}

/// The built-in account of this name, at a sandbox with this address.
///
/// # Panics
/// If the account does not exist, or the address is invalid.
#[must_use]
pub fn account_at(base_url: &str, name: &str) -> Account {
    let settings = Settings::default();
    let merchant = settings.merchants.by_name(name).expect("a built-in account");
    let base = |address: &str| BaseUrl::parse(address).expect("an address");
    let credentials =
        Credentials::new(merchant.api_key.expose(), merchant.api_password.expose(), merchant.sha_key.expose());
    let account = Account::new(base(base_url), credentials).with_dialect(pg_sandbox::dialect());
    match &merchant.enterprise {
        None => account,
        Some(own) => account.enterprise(
            base(&format!("{base_url}/enterprise")),
            EnterpriseCredentials::new(own.api_key.expose(), own.api_password.expose()),
        ),
    }
}
