use std::time::Duration;

use bytes::Bytes;
use pg_model::CheckoutItem;

use super::*;
use crate::{BaseUrl, Credentials, EnterpriseCredentials, machine::Failure};

mod closing;
mod opening;
mod stories;
mod waiting;

const CANARIES: [&str; 6] =
    ["canary-api-key", "canary-password", "canary-v5-key", "canary-v5-password", "canary-surname", "01021980"];
/// 2024-05-01T12:00:00Z.
const NOON: Moment = Moment::from_millis(1_714_564_800_000);
const HOUR: Duration = Duration::from_secs(3_600);

/// One machine, its clock, and what it said last.
struct Run {
    machine: Checkout,
    now: Moment,
    last: Option<Next>,
    steps: usize,
}

impl Run {
    fn new() -> Self {
        Self::of(Some("order-7"))
    }

    fn of(reference: Option<&str>) -> Self {
        let machine = Checkout::new(account(), request(reference), CheckoutPlan::default()).unwrap();
        Self { machine, now: NOON, last: None, steps: 0 }
    }

    /// The customer has been led to the payment page.
    fn waiting(reference: Option<&str>) -> Self {
        let mut run = Self::of(reference);
        run.step(Event::Begin).say(&token());
        run
    }

    fn step(&mut self, event: Event<CheckoutInput>) -> &mut Self {
        self.steps += 1;
        assert!(self.steps < 10_000, "it does not end");
        self.last = Some(self.machine.step(event, self.now, self.steps as u64 * 77));
        let shown = format!("{} {:?}", self.machine.save(), self.machine);
        assert!(CANARIES.iter().all(|canary| !shown.contains(canary)), "{shown}");
        self
    }

    fn say(&mut self, body: &str) -> &mut Self {
        self.say_with(200, body)
    }

    fn say_with(&mut self, status: u16, body: &str) -> &mut Self {
        assert!(matches!(self.last, Some(Action::Send(_))), "{:?}", self.last);
        let reply = http::Response::builder().status(status).body(Bytes::copy_from_slice(body.as_bytes()));
        self.step(Event::Reply(reply.unwrap()))
    }

    fn refuse(&mut self, code: &str) -> &mut Self {
        let status = if code == "3" || code == "102" { 401 } else { 400 };
        self.say_with(status, &format!("<serviceResponse><errorcode>{code}</errorcode></serviceResponse>"))
    }

    fn fail(&mut self, failure: Failure) -> &mut Self {
        assert!(matches!(self.last, Some(Action::Send(_))), "{:?}", self.last);
        self.step(Event::Failed(failure))
    }

    fn tell(&mut self, key: &str) -> &mut Self {
        self.step(Event::Input(CheckoutInput::Told(key.to_owned())))
    }

    /// Waits as long as the machine says.
    fn wait(&mut self) -> &mut Self {
        while let Some(Action::WaitUntil(until)) = self.last {
            assert!(until > self.now && until != UNTIL_THE_REPLY, "{until:?}");
            self.now = until;
            self.step(Event::Woken);
        }
        self
    }

    fn at(&mut self, moment: Moment) -> &mut Self {
        self.now = moment;
        self.step(Event::Woken)
    }

    /// The method of the request that is to be sent.
    fn method(&self) -> &str {
        let path = match &self.last {
            Some(Action::Send(request)) => request.uri().path(),
            _ => "",
        };
        path.rsplit('/').find(|part| *part != "xml").unwrap_or_default()
    }

    fn crash(&mut self) -> &mut Self {
        let saved = Saved::from_text(self.machine.save().text());
        self.machine = Checkout::resume(&saved, account(), CheckoutPlan::default()).unwrap();
        self.step(Event::Begin)
    }

    #[track_caller]
    fn ended(&self) -> &CheckedOut {
        match &self.last {
            Some(Action::Done(outcome)) => outcome,
            last => panic!("not over: {last:?}"),
        }
    }

    #[track_caller]
    fn redirect(&self) -> (&str, Moment) {
        match &self.last {
            Some(Action::Ask(CheckoutDemand::Redirect { url, until })) => (url.as_str(), *until),
            last => panic!("asks nothing: {last:?}"),
        }
    }
}

fn account() -> Account {
    let credentials = Credentials::new("canary-api-key", "canary-password", "sha");
    let base = |text| BaseUrl::parse(text).unwrap();
    Account::new(base("https://gateway.example"), credentials).enterprise(
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

fn withdraw(run: &mut Run) -> &mut Run {
    run.step(Event::Input(CheckoutInput::Cancel))
}
