use std::time::Duration;

use bytes::Bytes;
use pg_model::{CheckoutItem, EnterpriseTransactionLookup, TransactionLookup};

use super::*;
use crate::{
    BaseUrl, Credentials, EnterpriseCredentials,
    machine::{
        Failure, Reconcile, UnknownReason,
        run::{self, NOON, Tested},
    },
};

mod clocks;
mod closing;
mod opening;
mod reports;
mod resumed;
mod rounds;
mod stories;
mod waiting;
mod withdrawals;

const HOUR: Duration = Duration::from_secs(3_600);

type Run = run::Run<Checkout>;

impl Tested for Checkout {
    const CANARIES: &'static [&'static str] =
        &["canary-api-key", "canary-password", "canary-v5-key", "canary-v5-password", "canary-surname", "01021980"];

    fn resumed(saved: &SavedState) -> Self {
        Self::resume(saved, account(), CheckoutPlan::default()).unwrap()
    }
}

impl Run {
    fn new(reference: Option<&str>) -> Self {
        Self::of(Checkout::new(account(), request(reference), CheckoutPlan::default()).unwrap())
    }

    /// The customer was sent to the payment page.
    fn waiting(reference: Option<&str>) -> Self {
        let mut run = Self::new(reference);
        run.step(Event::Begin).say(&token());
        run
    }

    fn tell(&mut self, key: &str) -> &mut Self {
        self.input(CheckoutInput::Reported(key.to_owned()))
    }

    /// The reply to the request in flight, after other events.
    fn reply(&mut self, body: String) -> &mut Self {
        self.step(Event::Reply(http::Response::new(Bytes::from(body))))
    }

    /// The replies to this many requests of this method are lost.
    fn loses(&mut self, count: usize, method: &str) {
        for _ in 0..count {
            assert_eq!(self.wait().method(), method);
            self.fail(Failure::MaybeSent);
        }
    }

    fn withdraw(&mut self) -> &mut Self {
        self.input(CheckoutInput::Cancel)
    }

    /// Waits for late reports, and returns for how long.
    fn until_the_search(&mut self) -> Duration {
        let start = self.now;
        assert_eq!(self.wait().method(), "lookup");
        self.now.since(start)
    }

    fn at(&mut self, moment: Moment) -> &mut Self {
        self.now = moment;
        self.step(Event::Woken)
    }

    #[track_caller]
    fn redirect(&self) -> (&str, Moment) {
        let CheckoutDemand::Redirect { url, until } = self.asked();
        (url.as_str(), *until)
    }
}

fn account() -> Account {
    let credentials = Credentials::new("canary-api-key", "canary-password", "sha");
    let base = |text| BaseUrl::parse(text).unwrap();
    let mut dialect = (*crate::spoken::sandbox()).clone();
    dialect.checkout.pending.push("Processing".to_owned());
    dialect.checkout.paid.push("SUCCESS".to_owned());
    Account::new(base("https://gateway.example"), credentials).with_dialect(dialect).enterprise(
        base("https://gateway.example/enterprise"),
        EnterpriseCredentials::new("canary-v5-key", "canary-v5-password"),
    )
}

fn request(reference: Option<&str>) -> GetToken {
    let mut request = GetToken::new();
    request.currency = Some("GBP".into());
    request.items = vec![CheckoutItem::new("Tea", "500.00").quantity(2)];
    request.trans_reference = reference.map(Into::into);
    request.checkout_customer.surname = Some("canary-surname".into());
    request.checkout_customer.date_of_birth = Some("01021980".into());
    request
}

fn token() -> String {
    "<serviceResponse><token><tokenid>token-1</tokenid><redemption_url>https://gateway.example/pay/token-1</redemption_url>\
     <token_expiry>2024-05-01T13:00:00Z</token_expiry></token></serviceResponse>"
        .to_owned()
}

fn looked_up(status: &str, token: &str, value: &str, currency: &str) -> String {
    format!(
        "<serviceResponse><status>{status}</status><token>{token}</token><value>{value}</value>\
         <currency>{currency}</currency></serviceResponse>"
    )
}

fn paid() -> String {
    looked_up("Success", "token-1", "1,000.00", "GBP")
}

fn cancelled(status: &str) -> String {
    format!("<serviceResponse><status>{status}</status></serviceResponse>")
}

/// The lookup of everything with the request's reference.
fn by_reference() -> Reconcile {
    TransactionLookup::new().merchant_reference("order-7").into()
}

/// The lookup of one transaction.
fn by_key(key: &str) -> Reconcile {
    Reconcile::Enterprise(EnterpriseTransactionLookup::new(key))
}

fn found(keys: &[&str]) -> String {
    let one = |key: &&str| {
        format!(
            "<transaction><transactionStatusCode>600</transactionStatusCode><transactionType>Auth</transactionType>\
             <transactionKey>{key}</transactionKey><merchantReference>order-7</merchantReference></transaction>"
        )
    };
    let all: String = keys.iter().map(one).collect();
    format!("<serviceResponse><transactions>{all}</transactions></serviceResponse>")
}

/// The token is not cancelled, and no search finds a payment, until its last cancellation, after its expiry.
fn until_expiry(run: &mut Run) {
    let end = NOON.after(HOUR).after(CheckoutPlan::default().linger);
    while run.wait().now < end {
        assert_eq!(run.method(), "canceltoken");
        assert_eq!(run.say(&cancelled("0")).method(), "lookup");
        run.say(&found(&[]));
    }
    assert_eq!(run.method(), "canceltoken");
}

#[test]
fn saved_states_keep_their_form() {
    let examples = ("checkout.jsonl", include_str!("../../../tests/saved-states/checkout.jsonl"));
    crate::machine::saved::examples::check::<State>(examples, NAME, VERSION, &[]);
}
