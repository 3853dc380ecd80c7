//! A charge driven by JSON: events in, actions out.

use std::error::Error;

use bytes::Bytes;
use http::{Request, Response};
use pg_proto::{
    Account, BaseUrl, Credentials,
    machine::{
        Action, Event as MachineEvent, Failure, Machine, Moment, SavedState,
        charge::{Charge, ChargeBounds, ChargeOutcome},
    },
    model::{Auth, CardDetails, Currency, Encoding, Item, Order},
};
use serde_json::{Value, json};

/// A charge that the host drives.
#[derive(Debug)]
pub struct Charging(Charge<Auth>);

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// The charge starts, or continues after it was resumed.
    Begin,
    /// A reply with this status and body.
    Reply(u16, Vec<u8>),
    /// There is no reply, and the request was certainly not sent.
    NotSent,
    /// There is no reply, and the request may have been sent.
    MaybeSent,
    /// The time has come.
    Woken,
}

/// The next action of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Store `saved`, then send the request of `method`, `url`, `headers` and `body`.
    Send,
    /// Wait until `until`, in milliseconds since 1970.
    Wait,
    /// Nothing: the charge ended with `outcome`.
    Nothing,
}

impl Charging {
    /// Starts a charge, or resumes it from `saved` if present.
    ///
    /// # Errors
    /// If the JSON is invalid, or lacks the account or the order.
    pub fn begin(start: &[u8]) -> Result<Self, Box<dyn Error>> {
        let start: Value = serde_json::from_slice(start)?;
        let text = |name: &str| start[name].as_str().ok_or_else(|| format!("{name} is missing"));
        let credentials = Credentials::new(text("apiKey")?, text("apiPassword")?, text("shaKey")?);
        let account = Account::new(BaseUrl::parse(text("baseUrl")?)?, credentials).encoding(Encoding::Json);
        let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference(text("order")?);
        let payment = Auth::new(CardDetails::new("4000000000001000", "12", "49"), order);
        Ok(Self(match start["saved"].as_str() {
            None => Charge::new(account, payment, ChargeBounds::default())?,
            Some(saved) => Charge::resume(&SavedState::from_text(saved), account, Some(payment))?,
        }))
    }

    /// Handles an event and returns the next action.
    pub fn step(&mut self, event: Event, now: u64, random: u64) -> (Wants, Value) {
        let event = match event {
            Event::Begin => MachineEvent::Begin,
            Event::Woken => MachineEvent::Woken,
            Event::NotSent => MachineEvent::Failed(Failure::NotSent),
            Event::MaybeSent => MachineEvent::Failed(Failure::MaybeSent),
            Event::Reply(status, body) => match Response::builder().status(status).body(Bytes::from(body)) {
                Ok(reply) => MachineEvent::Reply(reply),
                // The server answered, with an invalid status.
                Err(_) => MachineEvent::Failed(Failure::MaybeSent),
            },
        };
        match self.0.step(event, Moment::from_millis(now), random) {
            Action::Send(request) => (Wants::Send, self.sending(&request)),
            Action::WaitUntil(moment) => (Wants::Wait, json!({ "until": moment.millis() })),
            Action::Ask(never) => match never {},
            Action::Done(charged) => (Wants::Nothing, ended(&charged)),
        }
    }

    fn sending(&self, request: &Request<Bytes>) -> Value {
        let headers = request.headers().iter().map(|(name, value)| (name.as_str().to_owned(), shown(value.as_bytes())));
        json!({
            "saved": self.0.save().text(),
            "method": request.method().as_str(),
            "url": request.uri().to_string(),
            "headers": headers.collect::<serde_json::Map<_, _>>(),
            "body": shown(request.body()),
        })
    }
}

/// Returns bytes as text; requests are ASCII.
fn shown(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into()
}

fn ended(charged: &ChargeOutcome) -> Value {
    let (outcome, detail) = match charged {
        ChargeOutcome::Approved(paid) => ("approved", paid.transaction_key.to_string()),
        ChargeOutcome::Declined(not) => ("declined", not.transaction_status.clone()),
        ChargeOutcome::Refused(refused) => ("refused", refused.to_string()),
        ChargeOutcome::NotSent => ("not sent", String::new()),
        ChargeOutcome::Unknown { why, .. } => ("unknown", why.to_string()),
    };
    json!({ "outcome": outcome, "detail": detail })
}
