//! A throttle that is stored, and the process after.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, ClientBuilder, DriveError, Error, Transport, TransportError,
    proto::{
        Account, BaseUrl, Credentials,
        machine::{
            SavedState,
            retry::{Retry, RetryBounds, RetryOutcome},
            throttle::StopReason,
        },
        model::{Remedy, TokenLookup},
    },
};
use tokio::time::{Instant, sleep};

const RIGHT: &str = "right";

/// What survives a process.
#[derive(Clone, Default)]
struct Disk {
    throttle: Arc<Mutex<Option<SavedState>>>,
    writes: Arc<AtomicUsize>,
}

/// Refuses every password but one, or replies as it is set to.
#[derive(Clone, Default)]
struct Service {
    seen: Arc<AtomicUsize>,
    code: Arc<Mutex<Option<&'static str>>>,
    unreachable: Arc<AtomicBool>,
}

impl Transport for Service {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        if self.unreachable.load(Ordering::SeqCst) {
            return Err(TransportError::not_sent("no cable"));
        }
        self.seen.fetch_add(1, Ordering::SeqCst);
        let right = request.body().windows(RIGHT.len()).any(|window| window == RIGHT.as_bytes());
        let body = match *self.code.lock().unwrap() {
            Some(code) => format!("<serviceResponse><errorCode>{code}</errorCode></serviceResponse>"),
            None if right => "<serviceResponse><cardKeyDetails/></serviceResponse>".to_owned(),
            None => "<serviceResponse><errorCode>102</errorCode></serviceResponse>".to_owned(),
        };
        Ok(Response::new(Bytes::from(body)))
    }
}

impl Disk {
    fn last(&self) -> Option<SavedState> {
        self.throttle.lock().unwrap().clone()
    }

    /// A process begins.
    fn start(&self, service: &Service, password: &str) -> Client<Service> {
        let disk = self.clone();
        self.resumed(service, password)
            .store_throttle(move |saved| {
                let disk = disk.clone();
                async move {
                    *disk.throttle.lock().unwrap() = Some(saved);
                    disk.writes.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, Infallible>(())
                }
            })
            .build()
    }

    /// A client of a process that has just started, before its store of the throttle is set.
    fn resumed(&self, service: &Service, password: &str) -> ClientBuilder<Service> {
        let base = BaseUrl::parse("https://gateway.example").unwrap();
        let account = Account::new(base, Credentials::new("key", password, "sha key"));
        let builder = ClientBuilder::with_transport(account, service.clone());
        match self.last() {
            Some(saved) => builder.resume_throttle(&saved).unwrap(),
            None => builder,
        }
    }
}

fn lookup(client: &Client<Service>) -> pg_hyper::Drive<Retry<TokenLookup>, Service> {
    let bounds = RetryBounds::default().again(0);
    client.retry(TokenLookup::new().card_key("a"), bounds).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tokio's time is paused here")]
fn now() -> Instant {
    Instant::now()
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_started_again_and_again_fails_once() {
    let (disk, service) = (Disk::default(), Service::default());
    for start in 0..20 {
        let client = disk.start(&service, "wrong");
        let mut tried = lookup(&client);
        let outcome = tried.run().await;
        assert!(!matches!(outcome, RetryOutcome::Answered(_)), "{outcome:?}");
        assert_eq!(matches!(tried.error(), Some(DriveError::Stopped(_))), start > 0);
        assert!(matches!(client.stopped(), Some(StopReason::Credentials(code)) if code == "102"));
    }
    assert_eq!(service.seen.load(Ordering::SeqCst), 1);

    // Mended in the configuration, it works, and so does whatever comes after.
    for _ in 0..10 {
        let client = disk.start(&service, RIGHT);
        assert!(client.stopped().is_none());
        assert!(matches!(lookup(&client).await, RetryOutcome::Answered(_)));
    }
    assert_eq!(service.seen.load(Ordering::SeqCst), 11);
}

#[tokio::test(start_paused = true)]
async fn a_resume_with_unchanged_credentials_survives_a_restart() {
    let (disk, service) = (Disk::default(), Service::default());
    *service.code.lock().unwrap() = Some("105");
    let _ = lookup(&disk.start(&service, RIGHT)).await;
    *service.code.lock().unwrap() = None;
    let client = disk.start(&service, RIGHT);
    assert!(client.stopped().is_some());
    client.resume_sending();
    assert!(matches!(lookup(&client).await, RetryOutcome::Answered(_)));
    assert!(disk.start(&service, RIGHT).stopped().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_refused_is_stored() {
    let (disk, service) = (Disk::default(), Service::default());
    let _ = disk.start(&service, "wrong").call(&TokenLookup::new().card_key("a")).await.unwrap_err();
    let client = disk.start(&service, "wrong");
    assert!(client.stopped().is_some(), "the stop is visible before anything is sent");
    assert!(!matches!(lookup(&client).await, RetryOutcome::Answered(_)));
    assert_eq!(service.seen.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_closure_is_waited_out_by_the_process_after() {
    let (disk, service) = (Disk::default(), Service::default());
    *service.code.lock().unwrap() = Some("122");
    let _ = lookup(&disk.start(&service, RIGHT)).await;
    *service.code.lock().unwrap() = None;
    let start = now();
    assert!(matches!(lookup(&disk.start(&service, RIGHT)).await, RetryOutcome::Answered(_)));
    // The clock of a process begins at the wall clock's milliseconds, which do not pass here.
    assert!((299..=302).contains(&(now() - start).as_secs()), "{:?}", now() - start);
}

/// A program that is run for one request each time, before any was ever accepted.
#[tokio::test(start_paused = true)]
async fn unsent_requests_do_not_count() {
    let (disk, service) = (Disk::default(), Service::default());
    service.unreachable.store(true, Ordering::SeqCst);
    for _ in 0..20 {
        let _ = lookup(&disk.start(&service, RIGHT)).await;
    }
    service.unreachable.store(false, Ordering::SeqCst);
    let client = disk.start(&service, RIGHT);
    assert!(matches!(lookup(&client).await, RetryOutcome::Answered(_)));
}

#[tokio::test(start_paused = true)]
async fn a_lookup_is_sent_although_the_throttle_cannot_be_stored() {
    let service = Service::default();
    let client =
        Disk::default().resumed(&service, RIGHT).store_throttle(|_| async { Err::<(), _>("the disk is full") }).build();
    assert!(matches!(lookup(&client).await, RetryOutcome::Answered(_)));
    assert_eq!(service.seen.load(Ordering::SeqCst), 1);
}

/// How the first save of a throttle goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    PanicsAtOnce,
    Panics,
    NeverEnds,
}

// A payment whose reply is lost this way would be a payment whose outcome is unknown.
#[tokio::test(start_paused = true)]
async fn a_store_of_the_throttle_that_panics_or_hangs_costs_neither_a_reply_nor_the_next_request() {
    for trouble in [Trouble::PanicsAtOnce, Trouble::Panics, Trouble::NeverEnds] {
        // The first save is before the first request, the second one after its reply.
        for first in [0, 1] {
            let (saves, stored, service) = (Arc::new(AtomicUsize::new(0)), Disk::default(), Service::default());
            let disk = stored.clone();
            let client = Disk::default().resumed(&service, RIGHT).store_throttle(move |saved| {
                let is_troubled = saves.fetch_add(1, Ordering::SeqCst) == first;
                assert!(!is_troubled || trouble != Trouble::PanicsAtOnce, "a defect of the store");
                let disk = disk.clone();
                async move {
                    assert!(!is_troubled || trouble != Trouble::Panics, "a defect of the store");
                    if is_troubled {
                        std::future::pending::<()>().await;
                    }
                    *disk.throttle.lock().unwrap() = Some(saved);
                    Ok::<_, Infallible>(())
                }
            });
            let client = client.build();
            let start = now();
            for sent in 1..=3 {
                let found = client.call(&TokenLookup::new().card_key("a")).await;
                assert!(found.is_ok(), "{trouble:?} {first} {sent}: {found:?}");
            }
            assert!(matches!(lookup(&client).await, RetryOutcome::Answered(_)), "{trouble:?} {first}");
            assert_eq!(service.seen.load(Ordering::SeqCst), 4);
            // A request waits at most twice for its saves.
            assert!((now() - start).as_secs() <= 4 * 2 * 5, "{trouble:?} {first}: {:?}", now() - start);
            assert_eq!(stored.last().is_some(), first == 1 || trouble != Trouble::NeverEnds, "{trouble:?} {first}");
        }
    }
}

/// Two concurrent writes of one file could leave either, or a mixture.
#[tokio::test(start_paused = true)]
async fn one_state_is_stored_at_a_time_even_if_waits_are_dropped() {
    let at_once = Arc::new(AtomicUsize::new(0));
    let (noted, service) = (Arc::clone(&at_once), Service::default());
    let client = Disk::default().resumed(&service, RIGHT).store_throttle(move |_| {
        let noted = Arc::clone(&noted);
        async move {
            assert_eq!(noted.fetch_add(1, Ordering::SeqCst), 0, "another one is under way");
            pause(100).await;
            noted.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, Infallible>(())
        }
    });
    let client = client.build();
    for _ in 0..5 {
        let both = async { tokio::join!(lookup(&client), lookup(&client)) };
        assert!(tokio::time::timeout(Duration::from_millis(50), both).await.is_err());
    }
    assert!(matches!(lookup(&client).await, RetryOutcome::Answered(_)));
}

#[expect(clippy::disallowed_methods, reason = "tokio's time is paused here")]
async fn pause(millis: u64) {
    sleep(Duration::from_millis(millis)).await;
}

#[tokio::test(start_paused = true)]
async fn limits_and_clock_may_be_chosen_after_a_throttle_is_resumed() {
    let (disk, service) = (Disk::default(), Service::default());
    let _ = lookup(&disk.start(&service, "wrong")).await;
    let client = disk.resumed(&service, "wrong").limits(Default::default()).clock(pg_hyper::SystemClock::default());
    assert!(client.build().stopped().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_sent_once_the_credentials_were_refused() {
    let service = Service::default();
    let client = Disk::default().start(&service, "wrong");
    let request = TokenLookup::new().card_key("a");
    let refused = client.call(&request).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused:?}");
    for _ in 0..6 {
        let stopped = client.clone().call(&request).await.unwrap_err();
        assert!(matches!(&stopped, Error::Stopped(StopReason::Credentials(code)) if code == "102"), "{stopped:?}");
        assert_eq!((stopped.remedy(), stopped.may_be_executed()), (Remedy::FixCredentials, false));
    }
    assert_eq!(service.seen.load(Ordering::SeqCst), 1);
    client.resume_sending();
    assert!(matches!(client.call(&request).await, Err(Error::Refused(_))));
    assert_eq!(service.seen.load(Ordering::SeqCst), 2);
}
