//! No card number, CV2, key or password reaches a log or an error, whatever happens to a call.

use std::{
    future::{Future, ready},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::client::recorder::Recorder;
use crate::client::server::{Answer, Server, unanswered_port};
use pg_hyper::{
    Client, ClientBuilder, Clock, Error,
    proto::{
        Account, BaseUrl, Credentials, RawRequest,
        machine::{Moment, charge::ChargeBounds},
        model::{Auth, CardDetails, Currency, Item, Order, RequestAccountUpdater, Transaction},
    },
};

const NUMBER: &str = "4929000000006";
const CV2: &str = "CV2-canary-739";
const KEY: &str = "api-key-canary";
const PASSWORD: &str = "api-password-canary";
const SHA_KEY: &str = "sha-key-canary";
const UPDATER_KEY: &str = "updater-key-canary";
const CANARIES: [&str; 6] = [NUMBER, CV2, KEY, PASSWORD, SHA_KEY, UPDATER_KEY];

fn client(base: &str) -> Client {
    builder(base).build()
}

fn builder(base: &str) -> ClientBuilder {
    let credentials = Credentials::new(KEY, PASSWORD, SHA_KEY);
    let account = Account::new(BaseUrl::parse(base).expect("an address"), credentials);
    Client::builder(account).expect("loopback").deadline(Duration::from_millis(200))
}

fn payment(cv2: &str) -> Auth {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    Auth::new(CardDetails::new(NUMBER, "12", "30").cv2(cv2), order)
}

/// Everything that an error says, its sources included.
fn words(error: &Error) -> String {
    let mut words = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        words += &format!(" {error} {error:?}");
        source = error.source();
    }
    words
}

/// Answers that end a payment in every way there is, some of which repeat what they were sent.
fn answers() -> [Answer; 8] {
    let echo = format!("cardNumber {NUMBER} is unknown");
    [
        Answer::reply(
            "200 OK",
            r#"{"transactionStatusCode":"600","transactionStatus":"ok","transactionType":"Auth","transactionKey":"0123456789abcdef0123456789abcdef"}"#,
        ),
        Answer::reply(
            "200 OK",
            &format!(
                r#"{{"transactionStatusCode":"601","transactionStatus":"{echo}","transactionType":"Auth","transactionKey":"k","cardNumber":"{NUMBER}"}}"#
            ),
        ),
        Answer::reply(
            "400 Bad Request",
            &format!(r#"{{"errorCode":"108","traceCode":"{NUMBER}","errorMessage":"{echo}"}}"#),
        ),
        Answer::reply(
            "400 Bad Request",
            &format!(r#"{{"errorCode":"{NUMBER}","traceCode":"1","errorMessage":"{echo}"}}"#),
        ),
        Answer::reply("500 Internal Server Error", &echo),
        Answer::bytes(format!("{echo}\r\n\r\n")).then_close(),
        Answer::bytes(format!("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{echo}")).then_close(),
        Answer::silence(),
    ]
}

#[tokio::test]
async fn no_secret_is_shown() {
    let recorder = Recorder::default();
    let _guard = pg_support::traced_by(recorder.clone());
    let mut told = String::new();
    let mut outcomes = 0;
    for answer in answers() {
        let server = Server::always(answer).await;
        let client = client(&format!("http://{}", server.address));
        told += &format!("{client:?}");
        match client.call(&payment("123")).await {
            // The tests of pg-model check what the `Debug` output of a record shows.
            Ok(_) => {}
            Err(error) => told += &words(&error),
        }
        let raw = RawRequest::gateway("preauth").parameter("cardNumber", NUMBER).parameter("cardCV2", CV2);
        told += &format!("{raw:?}");
        match client.call_raw::<Transaction>(&raw).await {
            Ok(_) => {}
            Err(error) => told += &words(&error),
        }
        outcomes += 1;
    }
    let (_socket, address) = unanswered_port();
    let unreachable = client(&format!("https://{address}"));
    told += &words(&unreachable.call(&payment("123")).await.unwrap_err());
    told += &words(&unreachable.call(&payment(CV2)).await.unwrap_err());
    let batch = RequestAccountUpdater::new(UPDATER_KEY, Vec::<String>::new());
    told += &words(&unreachable.call(&batch).await.unwrap_err());

    let logged = recorder.text();
    for canary in CANARIES {
        assert!(!told.contains(canary), "an error or a Debug tells {canary}: {told}");
        assert!(!logged.contains(canary), "a span or an event tells {canary}: {logged}");
    }
    assert_eq!(logged.lines().filter(|line| line.starts_with("pg.call")).count(), 2 * outcomes + 3);
    for expected in [
        r#"pg.call pg.service="transaction" pg.method="auth""#,
        "record http.response.status_code=200",
        r#"record error.type="refused""#,
        r#"record error.type="unknown""#,
        r#"record error.type="not_sent""#,
        r#"record error.type="misuse""#,
        r#"record pg.error.code="108""#,
        "record pg.trace.code=",
        "pg.metrics histogram.http.client.request.duration=",
    ] {
        assert!(logged.contains(expected), "{expected} is missing: {logged}");
    }
}

/// Every wait ends at once, and it is later.
#[derive(Default)]
struct Leaping(AtomicU64);

impl Clock for Leaping {
    fn now(&self) -> Moment {
        Moment::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, moment: Moment) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.fetch_max(moment.millis(), Ordering::SeqCst);
        Box::pin(ready(()))
    }
}

#[tokio::test]
async fn a_charge_shows_and_stores_no_secret() {
    let recorder = Recorder::default();
    let _guard = pg_support::traced_by(recorder.clone());
    let told = Arc::new(Mutex::new(String::new()));
    for answer in answers() {
        let server = Server::always(answer).await;
        let client = builder(&format!("http://{}", server.address)).clock(Leaping::default()).build();
        let stored = Arc::clone(&told);
        let mut charging = client
            .charge(payment("123"))
            .expect("a payment")
            .bounds(ChargeBounds::default().attempts(2).lookups(2))
            .store(move |saved| {
                stored.lock().expect("not poisoned").push_str(saved.text());
                async { Ok::<_, std::io::Error>(()) }
            });
        // The tests of pg-model check what the `Debug` output of a record shows, and so that of an outcome.
        let before = format!("{charging:?}");
        let _ = charging.run().await;
        let mut told = told.lock().expect("not poisoned");
        *told += &before;
        if let Some(trouble) = charging.error() {
            *told += &format!("{trouble} {trouble:?}");
        }
    }
    let failing = client("https://127.0.0.1:1").charge(payment("123")).expect("a payment");
    let _ =
        failing.store(|saved| async move { Err::<(), _>(format!("no room for {NUMBER} in {}", saved.text())) }).await;

    let (told, logged) = (told.lock().expect("not poisoned").clone(), recorder.text());
    for canary in CANARIES {
        assert!(!told.contains(canary), "an error, a Debug or a store tells {canary}: {told}");
        assert!(!logged.contains(canary), "a span or an event tells {canary}: {logged}");
    }
    for expected in [
        r#"pg.send url.path="/v3/transaction/auth/xml""#,
        r#"pg.send url.path="/v3/transaction/lookup/xml""#,
        "record http.response.status_code=200",
        "pg.drive error=maybe sent: ",
        "pg.drive error=not sent: the machine could not be saved: no room for 4929",
    ] {
        assert!(logged.contains(expected), "{expected} is missing: {logged}");
    }
}
