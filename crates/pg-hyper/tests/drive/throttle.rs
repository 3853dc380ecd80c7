//! The throttle by tokio's paused time: waiting takes no real time.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, ClientBuilder, DriveError, Error, Transport,
    proto::{
        Account, BaseUrl, Credentials,
        machine::{
            charge::ChargeOutcome,
            retry::{RetryBounds, RetryOutcome},
            throttle::{StopReason, ThrottleLimits},
        },
        model::{AuthCardKey, Currency, Item, Order, Remedy, TokenLookup},
    },
};
use tokio::time::Instant;

fn account() -> Account {
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("key", "password", "sha key"))
}

fn payment(reference: &str) -> AuthCardKey {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference(reference);
    AuthCardKey::new("a-card-key", order)
}

#[expect(clippy::disallowed_methods, reason = "tokio's time is paused here")]
fn now() -> Instant {
    Instant::now()
}

type Times = Arc<Mutex<Vec<Instant>>>;

/// Approves everything, and records when.
fn approving() -> (Times, impl Transport + Clone) {
    let times = Times::default();
    let noted = Arc::clone(&times);
    let transport = move |_: Request<Bytes>| {
        noted.lock().unwrap().push(now());
        let body = "<serviceResponse><transactionStatusCode>600</transactionStatusCode>\
                    <transactionType>Auth</transactionType><transactionKey>a</transactionKey></serviceResponse>";
        async move { Ok::<_, Infallible>(Response::new(Bytes::from_static(body.as_bytes()))) }
    };
    (times, transport)
}

/// Checks the number of requests, that no minute has more than 100 of them, and that they take less than `longest`.
#[track_caller]
fn assert_within_the_limit(times: &Times, requests: usize, longest: Duration) {
    let times = times.lock().unwrap();
    assert_eq!(times.len(), requests);
    for minute in times.windows(101) {
        assert!(minute[100] - minute[0] > Duration::from_secs(60));
    }
    let whole = times[requests - 1] - times[0];
    assert!(whole < longest, "it waits no longer than it has to: {whole:?}");
}

#[tokio::test(start_paused = true)]
async fn no_minute_sees_more_than_the_limit_however_many_charge_at_once() {
    let (times, transport) = approving();
    let client = Client::with_transport(account(), transport);
    let mut charges = tokio::task::JoinSet::new();
    for at in 0..250 {
        let charging = client.charge(payment(&format!("order-{at}"))).unwrap();
        charges.spawn(charging);
    }
    while let Some(charged) = charges.join_next().await {
        assert!(matches!(charged.unwrap(), ChargeOutcome::Approved(_)));
    }
    assert_within_the_limit(&times, 250, Duration::from_secs(130));
}

#[tokio::test(start_paused = true)]
async fn calls_and_machines_of_all_clones_share_the_limit() {
    let (times, transport) = approving();
    let client = Client::with_transport(account(), transport);
    let mut tasks = tokio::task::JoinSet::new();
    for at in 0..80 {
        let (one, other) = (client.clone(), client.clone());
        tasks.spawn(async move { one.call(&payment(&format!("call-{at}"))).await.unwrap().is_approved() });
        let charging = other.charge(payment(&format!("charge-{at}"))).unwrap();
        tasks.spawn(async move { matches!(charging.await, ChargeOutcome::Approved(_)) });
    }
    while let Some(approved) = tasks.join_next().await {
        assert!(approved.unwrap());
    }
    assert_within_the_limit(&times, 160, Duration::from_secs(65));
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_up_to_its_limit_and_returns_a_retry_time() {
    let (times, transport) = approving();
    let limits = ThrottleLimits::default().per_minute(1);
    let builder = ClientBuilder::with_transport(account(), transport).limits(limits);
    let client = builder.longest_wait(Duration::from_secs(30)).build();
    assert!(client.call(&payment("order-1")).await.unwrap().is_approved());
    let start = now();
    let error = client.call(&payment("order-2")).await.unwrap_err();
    assert!(matches!(error, Error::Throttled { wait } if wait == Duration::from_secs(61)), "{error:?}");
    assert!(!error.may_be_executed() && error.remedy() == Remedy::WaitOneMinute);
    assert_eq!(error.to_string(), "not sent: the account's rate limit is reached; call again in 62 s");
    assert_eq!((now() - start, times.lock().unwrap().len()), (Duration::ZERO, 1), "at once, and nothing sent");
    tokio::time::advance(Duration::from_secs(40)).await;
    assert!(client.call(&payment("order-2")).await.unwrap().is_approved());
    assert_eq!((now() - start).as_secs(), 61);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_counts_as_lost() {
    let limits = ThrottleLimits::default().in_flight(1).longest_way(Duration::from_secs(20));
    let silent = |_: Request<Bytes>| std::future::pending::<Result<Response<Bytes>, Infallible>>();
    let builder = ClientBuilder::with_transport(account(), silent).limits(limits);
    let client = builder.longest_wait(Duration::from_secs(10)).build();
    let lookup = TokenLookup::new().card_key("a");
    let call = tokio::time::timeout(Duration::from_secs(1), client.call(&lookup));
    assert!(call.await.is_err());
    // It may still be executed, but the place is free: the caller has given up.
    let call = tokio::time::timeout(Duration::from_secs(1), client.call(&lookup));
    assert!(call.await.is_err(), "it was sent");
}

#[tokio::test(start_paused = true)]
async fn invalid_credentials_of_a_machine_stop_the_calls() {
    let sent = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&sent);
    let client = Client::with_transport(account(), move |_: Request<Bytes>| {
        *counted.lock().unwrap() += 1;
        let body = "<serviceResponse><errorCode>102</errorCode></serviceResponse>";
        let reply = Response::builder().status(401).body(Bytes::from_static(body.as_bytes())).unwrap();
        async { Ok::<_, Infallible>(reply) }
    });
    assert!(matches!(client.charge(payment("order-1")).unwrap().await, ChargeOutcome::Unknown { .. }));
    let error = client.clone().call(&TokenLookup::new().card_key("a")).await.unwrap_err();
    assert!(matches!(&error, Error::Stopped(StopReason::Credentials(code)) if code == "102"), "{error:?}");
    assert_eq!(*sent.lock().unwrap(), 1);
}

/// The first request is approved. Each later lookup gets a 401 with an unlisted code, or a proxy's page with 401.
// spec: 1 §7: Which condition has HTTP 401 is not shown.
#[tokio::test(start_paused = true)]
async fn another_401_stops_nothing_once_the_credentials_were_accepted() {
    for body in ["<serviceResponse><errorCode>148</errorCode></serviceResponse>", "<html>Sign in</html>"] {
        let (_, approving) = approving();
        let client = Client::with_transport(account(), move |request: Request<Bytes>| {
            let (approving, is_lookup) = (approving.clone(), request.uri().path().contains("lookup"));
            async move {
                if is_lookup {
                    return Ok(Response::builder().status(401).body(Bytes::from_static(body.as_bytes())).unwrap());
                }
                approving.send(request).await
            }
        });
        for at in 0..10 {
            let paid = client.charge(payment(&format!("order-{at}"))).unwrap().await;
            assert!(matches!(paid, ChargeOutcome::Approved(_)), "{paid}");
            let error = client.call(&TokenLookup::new().card_key("a")).await.unwrap_err();
            assert!(matches!(error, Error::Refused(_) | Error::Unreadable(_)), "{error:?}");
            assert!(error.remedy() != Remedy::FixCredentials && !error.to_string().contains("credentials"), "{error}");
            assert_eq!(client.stopped(), None);
        }
    }
}

/// The service's proxy answers for it from the start, with correct credentials.
#[tokio::test(start_paused = true)]
async fn a_stop_without_replies_blames_no_credentials_and_ends_by_itself_after_a_day() {
    let is_away = Arc::new(Mutex::new(true));
    let away = Arc::clone(&is_away);
    let (_, approving) = approving();
    let client = Client::with_transport(account(), move |request: Request<Bytes>| {
        let (approving, is_away) = (approving.clone(), *away.lock().unwrap());
        async move {
            if is_away {
                return Ok(Response::builder()
                    .status(503)
                    .body(Bytes::from_static(b"<html>Unavailable</html>"))
                    .unwrap());
            }
            approving.send(request).await
        }
    });
    let lookup = TokenLookup::new().card_key("a");
    for _ in 0..5 {
        assert!(matches!(client.call(&lookup).await, Err(Error::Unreadable(_))));
    }
    assert_eq!(client.stopped(), Some(StopReason::Unanswered));
    let error = client.call(&lookup).await.unwrap_err();
    assert!(matches!(error, Error::Stopped(StopReason::Unanswered)), "{error:?}");
    assert!(error.remedy() == Remedy::Retry && !error.may_be_executed(), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("check the address and the service") && !text.contains("correct the credentials"), "{text}");
    *is_away.lock().unwrap() = false;
    tokio::time::advance(Duration::from_secs(24 * 60 * 60 + 2)).await;
    assert_eq!(client.stopped(), None);
    assert!(client.call(&payment("order-1")).await.unwrap().is_approved());
}

#[tokio::test(start_paused = true)]
async fn a_reply_releases_the_next_request_at_once() {
    // One in flight at a time, each for ten seconds.
    let transport = |_: Request<Bytes>| async {
        #[expect(clippy::disallowed_methods, reason = "tokio's time is paused here")]
        tokio::time::sleep(Duration::from_secs(10)).await;
        Ok::<_, Infallible>(Response::new(Bytes::from_static(b"<serviceResponse><cardKeyDetails/></serviceResponse>")))
    };
    let client =
        ClientBuilder::with_transport(account(), transport).limits(ThrottleLimits::default().in_flight(1)).build();
    let start = now();
    let lookup = || client.retry(TokenLookup::new().card_key("a"), RetryBounds::default()).unwrap();
    let (first, second, third) = tokio::join!(lookup(), lookup(), lookup());
    for tried in [first, second, third] {
        assert!(matches!(tried, RetryOutcome::Answered(_)), "{tried:?}");
    }
    assert_eq!((now() - start).as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn invalid_credentials_of_a_call_stop_the_machines() {
    let sent = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&sent);
    let client = Client::with_transport(account(), move |_: Request<Bytes>| {
        *counted.lock().unwrap() += 1;
        let body = "<serviceResponse><errorCode>102</errorCode></serviceResponse>";
        let reply = Response::builder().status(401).body(Bytes::from_static(body.as_bytes())).unwrap();
        async { Ok::<_, Infallible>(reply) }
    });
    let refused = client.call(&TokenLookup::new().card_key("a")).await;
    assert!(matches!(refused, Err(Error::Refused(_))));
    let clone = client.clone();
    assert!(matches!(clone.stopped(), Some(StopReason::Credentials(code)) if code == "102"));
    let mut charging = clone.charge(payment("order-1")).unwrap();
    assert_eq!(charging.run().await, ChargeOutcome::NotSent);
    let error = charging.error().unwrap();
    assert!(matches!(error, DriveError::Stopped(_)));
    assert!(error.to_string().starts_with("held back: the service refused the credentials (102)"), "{error}");
    assert_eq!(*sent.lock().unwrap(), 1);
    client.resume_sending();
    assert!(matches!(clone.charge(payment("order-1")).unwrap().await, ChargeOutcome::Unknown { .. }));
    assert_eq!(*sent.lock().unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn charges_that_are_dropped_while_they_wait_free_their_places() {
    let (times, transport) = approving();
    let slow = move |request: Request<Bytes>| {
        let transport = transport.clone();
        async move {
            #[expect(clippy::disallowed_methods, reason = "tokio's time is paused here")]
            tokio::time::sleep(Duration::from_secs(1)).await;
            transport.send(request).await
        }
    };
    let limits = ThrottleLimits::default().in_flight(1);
    let client = ClientBuilder::with_transport(account(), slow).limits(limits).build();
    for at in 0..20 {
        // Storing never ends, so nothing is sent.
        let charging = client
            .charge(payment(&format!("order-{at}")))
            .unwrap()
            .store(|_| std::future::pending::<Result<(), Infallible>>());
        assert!(tokio::time::timeout(Duration::from_millis(10), charging).await.is_err());
    }
    let start = now();
    assert!(matches!(client.charge(payment("order-x")).unwrap().await, ChargeOutcome::Approved(_)));
    assert_eq!((now() - start).as_secs(), 1);
    assert_eq!(times.lock().unwrap().len(), 1);
}
