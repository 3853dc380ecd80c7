//! What a transport says about a request decides whether it is sent again.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, Transport, TransportError,
    proto::{
        Account, BaseUrl, Credentials,
        machine::{
            Reconcile, SavedState, UnknownReason,
            retry::{RetryBounds, RetryOutcome},
        },
        model::{ApiRequest, Refund, TokenLookup},
    },
};

/// Fails always in the same way, and counts.
fn failing(error: fn(&'static str) -> TransportError) -> (Arc<AtomicU32>, Client<impl Transport + Clone>) {
    let sent = Arc::<AtomicU32>::default();
    let counted = Arc::clone(&sent);
    let transport = move |_: Request<Bytes>| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { Err::<Response<Bytes>, _>(error("the cable was cut")) }
    };
    let base = BaseUrl::parse("https://gateway.example").unwrap();
    let account = Account::new(base, Credentials::new("key", "password", "sha key"));
    (sent, Client::with_transport(account, transport))
}

#[tokio::test(start_paused = true)]
async fn a_refund_that_was_maybe_sent_is_not_sent_again() {
    let (sent, client) = failing(TransportError::maybe_sent);
    let mut refund = client.retry(Refund::new("0123456789abcdef0123456789abcdef"), RetryBounds::default()).unwrap();
    let tried = refund.run().await;
    assert!(
        matches!(tried, RetryOutcome::Unknown { reconcile: Reconcile::AskOperator, why: UnknownReason::NoReply }),
        "{tried:?}"
    );
    assert_eq!(sent.load(Ordering::SeqCst), 1);
    assert_eq!(refund.error().unwrap().to_string(), "maybe sent: the cable was cut");
}

#[tokio::test(start_paused = true)]
async fn requests_that_never_left_and_lookups_are_sent_again() {
    let (sent, client) = failing(TransportError::not_sent);
    let refund = client.retry(Refund::new("0123456789abcdef0123456789abcdef"), RetryBounds::default()).unwrap();
    assert!(matches!(refund.await, RetryOutcome::NotSent));
    assert_eq!(sent.load(Ordering::SeqCst), 4);

    let (sent, client) = failing(TransportError::maybe_sent);
    let bounds = RetryBounds::default().again(2);
    let lookup = client.retry(TokenLookup::new().card_key("a"), bounds).unwrap();
    assert!(matches!(lookup.await, RetryOutcome::Unknown { .. }));
    assert_eq!(sent.load(Ordering::SeqCst), 3);
}

/// The state that a process saved before it sent its first request, and died.
async fn saved_before_the_first_request<M: ApiRequest<Output: Clone>>(request: M) -> SavedState {
    let first = Arc::new(Mutex::new(None));
    let disk = Arc::clone(&first);
    let (_, client) = failing(TransportError::maybe_sent);
    let tried = client.retry(request, RetryBounds::default()).unwrap().store(move |saved| {
        disk.lock().unwrap().get_or_insert(saved);
        async { Ok::<_, Infallible>(()) }
    });
    let _ = tried.await;
    first.lock().unwrap().take().unwrap()
}

#[tokio::test(start_paused = true)]
async fn another_process_goes_on_with_what_was_saved_and_sends_no_refund_twice() {
    let refund = Refund::new("0123456789abcdef0123456789abcdef");
    let saved = saved_before_the_first_request(refund.clone()).await;
    let (sent, client) = failing(TransportError::maybe_sent);
    let outcome = client.resume_retry(&saved, refund).unwrap().await;
    assert!(matches!(outcome, RetryOutcome::Unknown { reconcile: Reconcile::AskOperator, .. }), "{outcome:?}");
    assert_eq!(sent.load(Ordering::SeqCst), 0);

    let lookup = TokenLookup::new().card_key("a");
    let saved = saved_before_the_first_request(lookup.clone()).await;
    let base = BaseUrl::parse("https://gateway.example").unwrap();
    let account = || Account::new(base.clone(), Credentials::new("key", "password", "sha key"));
    let answers = |_: Request<Bytes>| async {
        Ok::<_, TransportError>(Response::new(Bytes::from("<serviceResponse><cardKeyDetails/></serviceResponse>")))
    };
    let client = Client::with_transport(account(), answers);
    let outcome = client.resume_retry(&saved, lookup.clone()).unwrap().await;
    assert!(matches!(outcome, RetryOutcome::Answered(_)), "{outcome:?}");

    let other = Account::new(base.clone(), Credentials::new("other key", "password", "sha key"));
    let error = Client::with_transport(other, answers).resume_retry(&saved, lookup).unwrap_err();
    assert!(error.to_string().contains("account"), "{error}");
}
