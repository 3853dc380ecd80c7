//! A drive can be spawned, and tells one story: a span with what it works on and how it ended, over all of its requests.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, Transport, TransportError,
    proto::{
        Account, BaseUrl, Credentials,
        machine::charge::ChargeOutcome,
        model::{AuthCardKey, Currency, Item, Order},
    },
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Spans by number, and a line for each span, event and recorded value, with the name of the span that it belongs to.
#[derive(Clone, Default)]
struct Story(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    spans: Vec<&'static str>,
    entered: Vec<usize>,
    lines: Vec<String>,
}

impl Story {
    fn tell(&self, parent: Option<usize>, name: &str, values: impl FnOnce(&mut Words)) {
        let mut told = self.0.lock().unwrap();
        let at = parent.or_else(|| told.entered.last().copied());
        let within = at.map_or("", |at| told.spans[at - 1]);
        let mut words = Words(format!("{within} > {name}"));
        values(&mut words);
        told.lines.push(words.0);
    }
}

fn number(id: &span::Id) -> usize {
    usize::try_from(id.into_u64()).unwrap()
}

impl Subscriber for Story {
    /// Durations differ from run to run.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() != "pg.metrics"
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        self.tell(span.parent().map(number), span.metadata().name(), |words| span.record(words));
        let mut told = self.0.lock().unwrap();
        told.spans.push(span.metadata().name());
        span::Id::from_u64(told.spans.len() as u64)
    }

    fn record(&self, id: &span::Id, values: &span::Record<'_>) {
        self.tell(Some(number(id)), "record", |words| values.record(words));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        self.tell(event.parent().map(number), event.metadata().target(), |words| event.record(words));
    }

    fn enter(&self, id: &span::Id) {
        self.0.lock().unwrap().entered.push(number(id));
    }

    fn exit(&self, _: &span::Id) {
        self.0.lock().unwrap().entered.pop();
    }
}

struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

fn account() -> Account {
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("key", "password", "sha key"))
}

fn payment() -> AuthCardKey {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    AuthCardKey::new("card", order)
}

/// The first reply is lost; then the payment is found.
fn losing_one() -> impl Transport + Clone + 'static {
    |request: Request<Bytes>| async move {
        if request.uri().path().contains("authCardKey") {
            return Err(TransportError::maybe_sent("the cable was cut"));
        }
        let paid = r#"{"transactionStatusCode":"600","transactionType":"Auth","transactionKey":"k1"}"#;
        Ok(Response::new(Bytes::from(format!(r#"{{"transactions":{{"0":{paid}}}}}"#))))
    }
}

#[tokio::test(start_paused = true)]
async fn a_drive_is_one_span_with_reference_and_outcome() {
    let story = Story::default();
    let _guard = pg_support::traced_by(story.clone());
    let charged = Client::with_transport(account(), losing_one()).charge(payment()).unwrap().await;
    assert!(matches!(charged, ChargeOutcome::Approved(_)), "{charged}");
    let told = story.0.lock().unwrap();
    let sent = |path: &str| {
        format!(
            "pg.drive > pg.send url.path=\"{path}\" http.request.method=\"POST\" server.address=\"gateway.example\" \
             otel.kind=\"client\""
        )
    };
    assert_eq!(
        told.lines,
        [
            " > pg.drive machine=\"charge\" reference=\"order-7\"",
            &sent("/v3/transaction/authCardKey/xml"),
            "pg.send > record error.type=\"maybe_sent\"",
            "pg.drive > pg.drive error=maybe sent: the cable was cut",
            &sent("/v3/transaction/lookup/xml"),
            "pg.send > record http.response.status_code=200",
            "pg.drive > record outcome=\"approved\"",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_charge_can_be_spawned() {
    fn sent<F: Future + Send + 'static>(future: F) -> F {
        future
    }
    let client = Client::with_transport(account(), losing_one());
    let charged = tokio::spawn(client.charge(payment()).unwrap()).await.unwrap();
    assert!(matches!(charged, ChargeOutcome::Approved(_)), "{charged}");
    // Awaited by reference, it is still there to be asked.
    let mut charging = sent(client.charge(payment()).unwrap());
    assert_eq!((&mut charging).await, charged);
    assert_eq!(charging.run().await, charged);
    assert_eq!(charging.saved().machine().unwrap(), "charge");
}
