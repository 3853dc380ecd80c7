//! The steps of the demo: a payment from the card form to the refund, and what goes wrong on purpose.

mod card_form;
mod payments;
mod trouble;

use pg_hyper::Client;
use pg_model::{CardDetails, CardKey, Currency, Encoding, Item, Order, SessionKey, TransactionKey};
use pg_proto::{Account, BaseUrl, Credentials};
use pg_sandbox::{
    Server,
    cards::{CARDS, Scenario},
    merchants::Merchant,
};

use super::{
    fields::Pair,
    report::{Report, Step},
    wire::{Exchange, Wire},
};
use crate::failure::Failure;

/// What was seen, or what was seen instead of what was expected.
type Seen = Result<String, String>;

/// A walk through the service, with what earlier steps leave for later ones.
struct Tour<'a> {
    merchant: &'a Merchant,
    base: BaseUrl,
    wire: Wire,
    client: Client<Wire>,
    report: &'a mut Report,
    /// What the step at hand sent and received, and what it found out besides.
    exchanges: Vec<Exchange>,
    findings: Vec<Pair>,
    session: Option<SessionKey>,
    redirect: Option<String>,
    payment: Option<TransactionKey>,
    card: Option<CardKey>,
    preauth: Option<TransactionKey>,
    capture: Option<TransactionKey>,
}

/// Walks through everything, whatever becomes of a single step.
///
/// # Errors
/// When the sandbox's own address is none.
pub(super) async fn walk(server: &Server, merchant: &Merchant, report: &mut Report) -> Result<(), Failure> {
    let base = BaseUrl::parse(&server.base_url()).map_err(|error| Failure::misuse(error.to_string()))?;
    let wire = Wire::default();
    let client = Client::with_transport(account(&base, merchant, merchant.sha_key.expose()), wire.clone());
    let mut tour = Tour {
        merchant,
        base,
        wire,
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
    };
    tour.pay_by_card_form().await;
    tour.pay_again().await;
    tour.meet_trouble().await;
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

    /// Takes over what went over the wire.
    fn look(&mut self) {
        self.exchanges.extend(self.wire.take());
    }
}

/// The merchant's account. Asks for JSON; everything here works in XML too.
fn account(base: &BaseUrl, merchant: &Merchant, sha_key: &str) -> Account {
    let credentials = Credentials::new(merchant.api_key.expose(), merchant.api_password.expose(), sha_key);
    Account::new(base.clone(), credentials).encoding(Encoding::Json)
}

/// What an earlier step should have left.
fn left<T: Clone>(what: &Option<T>, name: &str) -> Result<T, String> {
    what.clone().ok_or_else(|| format!("not tried: an earlier step gave no {name}"))
}

/// One item in pounds.
fn order(name: &str, price: u64) -> Order {
    Order::new(Currency::GBP).item(Item::new(name, price))
}

/// A card of the sandbox's list, valid for long.
fn card(scenario: Scenario) -> CardDetails {
    CardDetails::new(number(scenario), "12", "49").cv2("123").cardholder_name("Ada Lovelace")
}

/// The number of the first card with a scenario.
fn number(scenario: Scenario) -> &'static str {
    CARDS.iter().find(|card| card.scenario == scenario).map_or("", |card| card.number)
}
