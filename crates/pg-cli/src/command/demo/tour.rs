//! The steps of the demo: a payment from the card form to the refund, deliberate errors, cards that have changed, 3-D
//! Secure and the hosted checkout.

mod card_form;
mod checkout;
mod payments;
mod three_d_secure;
mod trouble;
mod updater;

use bytes::Bytes;
use pg_hyper::{Client, ClientBuilder, HyperTransport};
use pg_model::{Amount, CardKey, Currency, Encoding, Item, Order, SessionKey, TransactionKey};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, machine::throttle::ThrottleLimits};
use pg_sandbox::{Server, merchants::Merchant};

use crate::{
    command::walkthrough::{
        fields::Pair,
        listener::{self, Listener},
        payment::{approved, card, number},
        report::{Report, Step},
        wire::{Exchange, Wire},
    },
    failure::Failure,
    listen_address::from_here,
};

/// The result, or the unexpected result.
type Seen = Result<String, String>;

/// A walk through the service, with results of earlier steps for later ones.
struct Tour<'a> {
    merchant: &'a Merchant,
    base: BaseUrl,
    wire: Wire,
    listener: Listener,
    client: Client<Wire>,
    report: &'a mut Report,
    /// The messages and findings of the current step.
    exchanges: Vec<Exchange>,
    findings: Vec<Pair>,
    session: Option<SessionKey>,
    redirect: Option<String>,
    payment: Option<TransactionKey>,
    card: Option<CardKey>,
    preauth: Option<TransactionKey>,
    capture: Option<TransactionKey>,
    updater: updater::Left,
    secure: three_d_secure::Left,
    checkout: checkout::Left,
}

/// Runs all steps, even after a failed one.
///
/// # Errors
/// If the sandbox's URL is invalid, or no port is free for callbacks.
pub(super) async fn walk(server: &Server, merchant: &Merchant, report: &mut Report) -> Result<(), Failure> {
    let address = |url: &str| {
        BaseUrl::parse(&from_here(url, server.address())).map_err(|error| Failure::misuse(error.to_string()))
    };
    let base = address(&server.base_url())?;
    let listener =
        Listener::start().await.map_err(|error| Failure::misuse(format!("cannot listen for callbacks: {error}")))?;
    let wire = Wire::new(HyperTransport::new());
    let mut account = account(&base, merchant, merchant.sha_key.expose());
    if let Some(held) = &merchant.enterprise {
        let credentials = EnterpriseCredentials::new(held.api_key.expose(), held.api_password.expose());
        account = account.enterprise(address(&server.enterprise_base_url())?, credentials);
    }
    // The tour takes less than a minute, and the sandbox's account has no limits.
    let client = ClientBuilder::with_transport(account, wire.clone()).limits(ThrottleLimits::unlimited()).build();
    let mut tour = Tour {
        merchant,
        base,
        wire,
        listener,
        client,
        report,
        exchanges: Vec::new(),
        findings: Vec::new(),
        session: None,
        redirect: None,
        payment: None,
        card: None,
        preauth: None,
        capture: None,
        updater: updater::Left::default(),
        secure: three_d_secure::Left::default(),
        checkout: checkout::Left::default(),
    };
    tour.report.chapter("Payments");
    tour.pay_by_card_form().await;
    tour.pay_again().await;
    tour.report.chapter("What goes wrong");
    tour.meet_trouble().await;
    tour.report.chapter("Account updater");
    tour.update_cards().await;
    tour.report.chapter("3-D Secure");
    tour.authenticate_customers().await;
    tour.report.chapter("Hosted checkout");
    tour.sell_by_hosted_checkout().await;
    Ok(())
}

impl Tour<'_> {
    async fn step(&mut self, title: &'static str, story: &'static str, action: impl AsyncFnOnce(&mut Self) -> Seen) {
        let seen = action(self).await;
        self.look();
        let exchanges = std::mem::take(&mut self.exchanges);
        let findings = std::mem::take(&mut self.findings);
        self.report.add(Step { title, story, exchanges, findings, seen });
    }

    /// Returns the next callback, which is added to the current step.
    async fn callback(&mut self) -> Result<http::Request<Bytes>, String> {
        self.look();
        let callback = self.listener.next().await?;
        self.exchanges.push(Exchange::callback(callback.clone(), listener::ANSWER));
        Ok(callback)
    }

    /// Takes the messages from the wire.
    fn look(&mut self) {
        self.exchanges.extend(self.wire.take());
    }
}

/// Returns the merchant's account. It asks for JSON; everything here works in XML too.
fn account(base: &BaseUrl, merchant: &Merchant, sha_key: &str) -> Account {
    let credentials = Credentials::new(merchant.api_key.expose(), merchant.api_password.expose(), sha_key);
    Account::new(base.clone(), credentials).encoding(Encoding::Json).with_dialect(pg_sandbox::dialect())
}

/// Returns the result of an earlier step.
fn left<T: Clone>(what: &Option<T>, name: &str) -> Result<T, String> {
    what.clone().ok_or_else(|| format!("skipped: an earlier step returned no {name}"))
}

/// One item in pounds.
fn order(name: &str, price: u64) -> Order {
    Order::new(Currency::GBP).item(Item::new(name, price))
}

/// Returns an amount for people.
fn pounds(pence: u64) -> String {
    Amount::new(pence, Currency::GBP).to_string()
}
