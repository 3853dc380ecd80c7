//! A store that fails at every operation of every request of a tour through the services. Each failure gives the
//! documented error in the format of its service and leaves no partial change, and the same request succeeds when it is
//! sent again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod shop;
mod tour;

use pg_sandbox::ResponseDelivery;
use pg_tests::failing_store::Failure;
use shop::{Request, Shop};

/// An error of the engine, a full disk, a lost transaction; and a disk that stays full for a while.
const FAILURES: [(Failure, usize); 4] =
    [(Failure::Engine, 1), (Failure::Full, 1), (Failure::Lost, 1), (Failure::Full, usize::MAX)];

#[test]
fn a_failure_at_any_operation_is_an_error_and_the_next_attempt_succeeds() {
    let usual = {
        let mut shop = Shop::open();
        tour::walk(&mut shop, |shop, request| shop.send(request));
        shop.summary()
    };
    for (failure, times) in FAILURES {
        let mut shop = Shop::open();
        let mut failed = 0;
        tour::walk(&mut shop, |shop, request| {
            let before = shop.lists();
            for operation in 0.. {
                shop.store.fail(failure, operation, times);
                let response = shop.send(request);
                let met = shop.store.well();
                // What the journal notes about a request may fail without harm.
                if !met || !Request::has_failed(&response) {
                    return response;
                }
                let at = format!("{} at operation {operation}, {failure:?}, {times} times", request.path);
                request.assert_failed(&response, &at);
                assert_eq!(shop.lists(), before, "{at}");
                failed += 1;
            }
            panic!("it fails for ever");
        });
        assert_eq!(shop.summary(), usual, "{failure:?}");
        assert!(failed > 100, "only {failed} operations failed");
    }
}

/// Checks that the check can fail.
#[test]
fn a_write_that_was_reported_failed_but_persisted_is_detected() {
    let kept = (0..).find(|operation| {
        let mut shop = Shop::open();
        let (payment, before) = (shop.payment("order-7"), shop.lists());
        shop.store.fail(Failure::Lie, *operation, 1);
        let response = shop.send(&payment);
        assert!(Request::has_failed(&response) && shop.store.well(), "{operation}");
        shop.lists() != before
    });
    assert!(kept.is_some_and(|operation| operation > 3), "{kept:?}");
}

/// The disk accepts a write and then loses it. The outcome is unknown, nothing more is acknowledged, and after the next
/// start the reference still makes one payment.
#[cfg(unix)]
#[test]
fn uncertain_writes_are_resolved_at_the_next_start() {
    for kept in [true, false] {
        let mut shop = Shop::open();
        let payment = shop.payment("order-7");
        shop.store.lose_sync(kept);
        let unknown = shop.send(&payment);
        assert_eq!(ResponseDelivery::of(&unknown), ResponseDelivery::Close, "it may have been paid");
        payment.assert_failed(&shop.send(&payment), "unsynced");
        let _ = shop.store.well();
        payment.assert_failed(&shop.send(&payment), "it is not asked again before a start");
        shop.start_again();
        let again = shop.send(&payment);
        let code = if kept { r#""errorCode":"950""# } else { r#""transactionStatusCode":"600""# };
        assert!(String::from_utf8_lossy(again.body()).contains(code), "{again:?}");
        assert_eq!(shop.list("transactions").as_array().unwrap().len(), 1);
    }
}

/// Tasks that no request triggers fail as well, and are executed once, a little later.
#[test]
fn an_unstarted_callback_is_sent_later_once() {
    for failure in [Failure::Engine, Failure::Full, Failure::Lost] {
        let mut shop = Shop::open();
        shop.order_callback();
        let before = shop.lists();
        for operation in 0.. {
            shop.wait(2);
            shop.store.fail(failure, operation, 1);
            let due = shop.sandbox.due(shop.now);
            if !shop.store.well() {
                assert_eq!(due.len(), 1, "{operation}");
                assert!(operation > 3);
                shop.sandbox.delivered(shop.now, &due[0].id, Ok(http::StatusCode::OK));
                break;
            }
            assert!(due.is_empty() && shop.lists() == before, "{operation} {failure:?}");
        }
        shop.wait(2);
        assert!(shop.sandbox.due(shop.now).is_empty());
        assert_eq!(shop.list("callbacks")[0]["status"], "delivered", "{}", shop.list("callbacks"));
    }
}
