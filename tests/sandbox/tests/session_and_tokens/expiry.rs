//! 30 minutes (spec 2 §3.1; A78).

use std::time::Duration;

use crate::session_and_tokens::{CURRENT, ERROR_PAGE, GOOD, NEXT, Shop, with};

// spec: 2 §8 Limits, A78: A session key expires 30 minutes after the initiation; posting does not extend it.
// spec: 2 §2.1; 2 §3.1, A78; codes ErrorCode 136
#[test]
fn a_session_ends_after_30_minutes() {
    for (seconds, over) in [(29 * 60 + 59, false), (30 * 60, true), (30 * 60 + 1, true)] {
        let mut shop = Shop::new();
        let session = shop.initiate();
        assert_eq!(shop.post(&session, GOOD).page(), NEXT);
        shop.pass(Duration::from_secs(seconds));
        for (form, page) in [(GOOD.to_vec(), NEXT), (with(GOOD, &[("cardNumber", "1")]), CURRENT)] {
            let landing = shop.post(&session, &form);
            assert_eq!(landing.page(), if over { ERROR_PAGE } else { page }, "{seconds}");
            if over {
                assert_eq!(landing.error(), "136");
            }
        }
    }
}

// spec: 2 §3.1, A78
#[test]
fn a_millisecond_decides() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    shop.pass(Duration::from_millis(30 * 60_000 - 1));
    assert_eq!(shop.post(&session, GOOD).page(), NEXT);
    shop.pass(Duration::from_millis(1));
    assert_eq!(shop.post(&session, GOOD).error(), "136");
    // Even a form without any other parameter gets the code of the expired session.
    assert_eq!(shop.post(&session, &[]).error(), "136");
}

// spec: 2 §8, A78
#[test]
fn posting_does_not_lengthen_a_session() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    for _ in 0..5 {
        shop.pass(Duration::from_secs(359));
        assert_eq!(shop.post(&session, GOOD).page(), NEXT);
    }
    shop.pass(Duration::from_secs(5));
    assert_eq!(shop.post(&session, GOOD).error(), "136");
}

#[test]
fn paying_ends_with_the_session() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let order = [("sessionKey", session.as_str()), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    assert_eq!(shop.refused("transaction/authSessionKey", &order), "956");
    shop.post(&session, GOOD);
    shop.pass(Duration::from_secs(30 * 60 - 1));
    assert_eq!(shop.done("transaction/authSessionKey", &order)["transactionStatusCode"], "600");
    shop.pass(Duration::from_secs(1));
    assert_eq!(shop.refused("transaction/authSessionKey", &order), "136");
}
