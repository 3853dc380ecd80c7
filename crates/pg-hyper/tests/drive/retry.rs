//! What a transport says about a request decides whether it is sent again.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, Transport, TransportError,
    proto::{
        Account, BaseUrl, Credentials,
        machine::{
            Reconcile, UnknownReason,
            retry::{RetryBounds, RetryOutcome},
        },
        model::{Refund, TokenLookup},
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
async fn what_never_left_and_what_only_reads_is_sent_again() {
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
