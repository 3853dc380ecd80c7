//! Tokens that cannot be paid: too early, too late, cancelled, used up (spec 3 §3.1; A117
//! and 119).

use bytes::Bytes;
use http::Request;

use crate::hosted_checkout::{CANCEL, CARD, DECLINED, NO_KEY, PAN, Page, SILENT, Shop, UNHEARD, with};

// spec: 3 §3.1 Transitions: gettoken makes a token that is valid from token_start.
// spec: 3 §3.1, A119
#[test]
fn a_token_works_from_its_start_to_its_expiry() {
    let mut shop = Shop::new();
    let token =
        shop.token(&[("token_start", "1777888860"), ("token_expiry", "1777888920"), ("token_redemptions", "2")]);
    let early = shop.visit(&token);
    assert!(early.status == 410 && early.says("cannot be used yet"), "{}", early.html);
    shop.wait(60);
    let page = shop.visit(&token);
    assert_eq!(page.status, 200);
    shop.wait(59);
    assert_eq!(shop.visit(&token).status, 200);
    shop.wait(1);
    let late = shop.visit(&token);
    assert!(late.status == 410 && late.says("has expired") && late.says(CANCEL), "{}", late.html);
    // The page that was open cannot be paid any more.
    let paid = shop.submit(&token, &page, CARD);
    assert!(paid.status == 410 && paid.says("has expired"));
}

// spec: 3 §3.1, A119
#[test]
fn the_clock_of_the_sandbox_ends_tokens() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    shop.ask(http::Method::POST, "/_sandbox/clock", r#"{"advanceSeconds":604799}"#);
    assert_eq!(shop.visit(&token).status, 200);
    shop.ask(http::Method::POST, "/_sandbox/clock", r#"{"advanceSeconds":1}"#);
    assert_eq!(shop.visit(&token).status, 410);
}

// spec: 3 §3.1
#[test]
fn a_cancelled_token_is_expired() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    let page = shop.visit(&token);
    shop.done("canceltoken", &[("tokenid", &token)]);
    let gone = shop.visit(&token);
    assert!(gone.status == 410 && gone.says("has expired"));
    assert_eq!(shop.submit(&token, &page, CARD).status, 410);
    assert_eq!(shop.visit(NO_KEY).status, 404);
    assert_eq!(shop.post(NO_KEY, CARD).status, 404);
}

// spec: 3 §3.1, A119
#[test]
fn a_paid_page_says_so_after_any_later_end_of_the_token() {
    let mut shop = Shop::new();
    for cancelled in [true, false] {
        let token = shop.token(&[("token_uses", "1")]);
        assert!(shop.pay(&token, PAN).says("Payment complete"));
        end(&mut shop, &token, cancelled);
        let page = shop.visit(&token);
        assert!(page.status == 410 && page.says("has been made") && page.says("has expired"), "{}", page.html);
        assert!(!page.says(CANCEL), "{}", page.html);
    }
}

fn end(shop: &mut Shop, token: &str, cancelled: bool) {
    if cancelled {
        assert_eq!(shop.done("canceltoken", &[("tokenid", token)]).text("status"), "1");
    } else {
        shop.wait(8 * 24 * 60 * 60);
    }
}

// spec: 2 §7, A93; 3 §3.1, A119; 3 §6, A120: The page of an ended token does not tell a charge whose response was lost from none.
#[test]
fn an_ended_page_says_that_a_payment_without_an_answer_may_have_been_charged() {
    for (cancelled, uses) in [(true, "-1"), (false, "-1"), (true, "2"), (false, "2")] {
        let texts = [SILENT, UNHEARD].map(|card| {
            let mut shop = Shop::new();
            let token = shop.token(&[("token_uses", uses)]);
            let (page, open) = (shop.visit(&token), shop.visit(&token));
            let silent = shop.submit(&token, &page, &with(CARD, &[("cardNumber", card)]));
            // A later decline does not answer it.
            shop.submit(&token, &open, &with(CARD, &[("cardNumber", DECLINED)]));
            end(&mut shop, &token, cancelled);
            let pages = [shop.submit(&token, &page, CARD), shop.visit(&token), own(&mut shop, &token, &silent)];
            pages.map(|page| {
                assert!(page.status == 410 && page.says("link has expired"), "{}", page.html);
                assert!(page.says("It is unknown whether your card was charged"), "{card} {uses}: {}", page.html);
                assert!(!page.says("paid here") && !page.says(CANCEL), "{card} {uses}: {}", page.html);
                page.html
            })
        });
        assert_eq!(texts[0], texts[1], "{uses}");
    }
    // Another payment that was answered is what counts from then on, except for the form without an answer.
    let mut shop = Shop::new();
    let token = shop.token(&[("token_uses", "2")]);
    let (page, other) = (shop.visit(&token), shop.visit(&token));
    assert!(shop.submit(&token, &page, &with(CARD, &[("cardNumber", UNHEARD)])).says("did not answer"));
    assert!(shop.submit(&token, &other, CARD).says("Payment complete"));
    assert!(shop.visit(&token).says("This payment has been made"));
    assert!(shop.submit(&token, &page, CARD).says("It is unknown whether your card was charged"));
}

/// Visits a token in the browser that got this answer.
fn own(shop: &mut Shop, token: &str, answer: &Page) -> Page {
    let cookie = answer.headers["set-cookie"].clone();
    let visit = Request::get(format!("/pay/{token}")).header("cookie", cookie).body(Bytes::new());
    Page::of(shop.send(visit.unwrap()))
}

// spec: 3 §3.1, A119: A visit that shows an earlier payment is a redemption too.
#[test]
fn a_visit_of_the_browser_that_paid_counts() {
    let mut shop = Shop::new();
    let token = shop.token(&[("token_redemptions", "3")]);
    let paid = shop.pay(&token, PAN);
    for left in [1, 0] {
        let page = own(&mut shop, &token, &paid);
        assert!(page.status == 200 && page.says("Payment complete"), "{}", page.html);
        assert_eq!(page.says("Make another payment"), left > 0, "{}", page.html);
        assert_eq!(shop.control(&format!("checkouts/{token}"))["redemptionsLeft"], left);
    }
    assert_eq!([own(&mut shop, &token, &paid), shop.visit(&token)].map(|page| page.status), [200, 410]);
}

// spec: 2 §7, A93; 3 §3.1, A136
#[test]
fn the_browser_of_an_unanswered_payment_does_not_see_whether_it_used_the_token_up() {
    for (limit, status) in [("token_uses", 200), ("token_redemptions", 410)] {
        for card in [SILENT, UNHEARD] {
            let mut shop = Shop::new();
            let token = shop.token(&[(limit, "1")]);
            let answer = shop.pay(&token, card);
            let page = own(&mut shop, &token, &answer);
            assert_eq!((page.status, page.says("It is unknown")), (status, true), "{card} {limit}: {}", page.html);
        }
    }
}

// spec: 3 §6, A120
#[test]
fn an_unlimited_token_lets_the_next_customer_cancel_and_keeps_what_was_paid() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    assert!(shop.pay(&token, PAN).says("Payment complete"));
    // The next customer may still give up.
    assert!(shop.visit(&token).says(CANCEL));
    shop.done("canceltoken", &[("tokenid", &token)]);
    let page = shop.visit(&token);
    assert!(page.says("has expired") && page.says("What was paid here before is not affected"), "{}", page.html);
    assert!(!page.says("has been made") && !page.says(CANCEL), "{}", page.html);
}

// spec: 3 §3.1, A119; 3 §4.1, A117
#[test]
fn visits_are_counted_and_posts_are_not() {
    let mut shop = Shop::new();
    for (redemptions, wanted) in [("0", 0), ("1", 1), ("127", 127)] {
        let token = shop.token(&[("token_redemptions", redemptions)]);
        let mut visits = 0;
        while shop.visit(&token).status == 200 {
            visits += 1;
        }
        assert_eq!(visits, wanted);
    }
    let token = shop.token(&[("token_redemptions", "1")]);
    let page = shop.visit(&token);
    assert_eq!(shop.visit(&token).status, 410);
    for _ in 0..3 {
        assert_eq!(shop.submit(&token, &page, &[]).status, 200);
    }
    assert!(shop.submit(&token, &page, CARD).says("Payment complete"));
    let token = shop.token(&[("token_redemptions", "-1")]);
    assert!((0..200).all(|_| shop.visit(&token).status == 200));
}

// spec: 3 §3.1; 3 §4.1, A117
#[test]
fn approvals_are_counted_and_declines_are_not() {
    let mut shop = Shop::new();
    for (uses, wanted) in [("0", 0), ("1", 1), ("3", 3), ("127", 127)] {
        let token = shop.token(&[("token_uses", uses)]);
        let mut paid = 0;
        while shop.visit(&token).status == 200 {
            assert!(shop.pay(&token, DECLINED).says("declined"));
            assert!(shop.pay(&token, PAN).says("Payment complete"));
            paid += 1;
        }
        assert_eq!(paid, wanted);
        let used_up = shop.visit(&token);
        assert!(used_up.status == 410 && used_up.says("has expired"), "{}", used_up.html);
        // A customer who has paid sees that, and is not sent to the cancel URL.
        assert_eq!(used_up.says("has been made"), wanted > 0, "{}", used_up.html);
        assert_eq!(used_up.says(CANCEL), wanted == 0, "{}", used_up.html);
    }
    let token = shop.token(&[("token_redemptions", "1")]);
    shop.pay(&token, PAN);
    let over = shop.visit(&token);
    assert!(over.status == 410 && over.says("link has expired") && !over.says(CANCEL), "{}", over.html);
    let token = shop.token(&[("token_uses", "-1")]);
    assert!((0..130).all(|_| shop.pay(&token, PAN).says("Payment complete")));
}
