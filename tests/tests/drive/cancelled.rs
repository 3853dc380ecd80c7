//! A charge that is dropped at every await, and resumes from the object or from the last saved state.

use std::{
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::Request;
use pg_hyper::{Client, Transport, TransportError};
use pg_proto::machine::{SavedState, charge::ChargeOutcome};
use pg_sandbox::InProcess;

use crate::drive::{APPROVED, World, payment};

const FAULTS: &[&str] =
    &["", r#""kind": "drop-request""#, r#""kind": "drop-reply""#, r#""kind": "status", "status": 500"#];

/// A future that is pending the given number of times before it polls the inner future.
struct Slow<F>(u32, Pin<Box<F>>);

impl<F: Future> Future for Slow<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        if self.0 > 0 {
            self.0 -= 1;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.1.as_mut().poll(context)
    }
}

fn slow<F: Future>(future: F) -> Slow<F> {
    Slow(1, Box::pin(future))
}

/// A transport that waits before the request arrives, and before the reply does.
#[derive(Clone)]
pub(crate) struct Waits(InProcess);

impl Waits {
    pub(crate) const fn new(sandbox: InProcess) -> Self {
        Self(sandbox)
    }
}

impl Transport for Waits {
    async fn send(&self, request: Request<Bytes>) -> Result<http::Response<Bytes>, TransportError> {
        slow(async {}).await;
        let reply = self.0.send(request).map_err(TransportError::maybe_sent);
        slow(async {}).await;
        reply
    }
}

#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<Mutex<Option<SavedState>>>);

impl Shelf {
    /// Waits before and after storing the state.
    pub(crate) fn put(&self, saved: SavedState) -> impl Future<Output = Result<(), String>> + Send + use<> {
        let shelf = self.clone();
        async move {
            slow(async {}).await;
            *shelf.0.lock().unwrap() = Some(saved);
            slow(async {}).await;
            Ok(())
        }
    }

    pub(crate) fn last(&self) -> Option<SavedState> {
        self.0.lock().unwrap().clone()
    }
}

/// Polls a future the given number of times, then drops it.
pub(crate) async fn polled<F: Future>(times: u32, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = times;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

fn world(fault: &str) -> (World, Client<Waits>) {
    let world = World::new();
    if !fault.is_empty() {
        world.control("faults", format!(r#"{{"method": "transaction/auth", {fault}}}"#));
    }
    let client = world.over(Waits::new(world.sandbox.clone()));
    (world, client)
}

#[tokio::test]
async fn run_can_be_dropped_at_any_point_and_called_again() {
    for fault in FAULTS {
        for pace in 1..12 {
            let (world, client) = world(fault);
            let shelf = Shelf::default();
            let keep = shelf.clone();
            let mut charging = client.charge(payment(APPROVED, "order-1")).unwrap().store(move |saved| keep.put(saved));
            let mut drops = 0;
            let charged = loop {
                // Each run gets that many polls and no more.
                match polled(pace, charging.run()).await {
                    Some(charged) => break charged,
                    None => drops += 1,
                }
            };
            assert!(drops > 0 || pace > 4, "it waits several times");
            assert!(matches!(charged, ChargeOutcome::Approved(_)), "{fault} {pace} {charged:?}");
            world.check("order-1", &charged, fault).await;
        }
    }
}

#[tokio::test]
async fn dropped_at_every_point_it_goes_on_from_what_was_stored() {
    for fault in FAULTS {
        for with_request in [true, false] {
            let mut ended = false;
            for polls in 0.. {
                let (world, client) = world(fault);
                let shelf = Shelf::default();
                let keep = shelf.clone();
                let mut charging =
                    client.charge(payment(APPROVED, "order-1")).unwrap().store(move |saved| keep.put(saved));
                let first = polled(polls, charging.run()).await;
                ended = first.is_some();
                drop(charging);
                let charged = match (first, shelf.last()) {
                    (Some(charged), _) => charged,
                    // No state was stored, so no request was sent: a new charge starts.
                    (None, None) => {
                        assert!(world.ledger("order-1").await.is_empty());
                        client.charge(payment(APPROVED, "order-1")).unwrap().await
                    }
                    (None, Some(saved)) => {
                        let again = with_request.then(|| payment(APPROVED, "order-1"));
                        client.resume_charge(&saved, again).unwrap().await
                    }
                };
                let what = format!("{fault}, dropped after {polls} polls, with the request: {with_request}");
                world.check("order-1", &charged, &what).await;
                assert!(
                    matches!(charged, ChargeOutcome::Approved(_))
                        || (!with_request && matches!(charged, ChargeOutcome::Unknown { .. })),
                    "{what}: {charged:?}"
                );
                if ended {
                    assert!(polls > 4, "it waits several times");
                    break;
                }
            }
            assert!(ended);
        }
    }
}
