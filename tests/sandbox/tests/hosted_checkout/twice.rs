//! Impatient customers: no customer is charged twice for one form (A136).

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Method, Request};
use pg_sandbox::Settings;

use crate::hosted_checkout::{CARD, DECLINED, PAN, Page, SILENT, Shop, with};

/// How many transactions with this reference were approved.
fn charges(shop: &mut Shop, reference: &str) -> usize {
    let found = shop.version_3("transaction/lookup", &[("merchantReference", reference)]);
    let rows = found["transactions"].as_object().unwrap();
    rows.values().filter(|row| row["transactionStatusCode"] == "600").count()
}

// spec: 3 §3.1, A136
#[test]
fn a_double_click_charges_once() {
    let mut shop = Shop::new();
    let token = shop.token(&[("trans_reference", "r"), ("auto_redirect", "1")]);
    let visit = shop.visit(&token).form_key();
    let body = serde_urlencoded::to_string([&[("visit", visit.as_str())], CARD].concat()).unwrap();
    let request = || {
        let form = "application/x-www-form-urlencoded";
        let request = Request::post(format!("/pay/{token}")).header("content-type", form);
        request.body(body.clone().into()).unwrap()
    };
    let group = (0..5).map(|_| request()).collect();
    let responses = shop.handle_group(group);
    let locations: BTreeSet<_> = responses.iter().map(|response| response.headers()["location"].clone()).collect();
    assert_eq!((locations.len(), charges(&mut shop, "r")), (1, 1));
}

// spec: 3 §3.1, A136
#[test]
fn going_back_and_paying_again_shows_the_first_payment() {
    let mut shop = Shop::new();
    let token = shop.token(&[("trans_reference", "r")]);
    let page = shop.visit(&token);
    let paid = shop.submit(&token, &page, CARD);
    // Another card in the old form changes nothing either, nor does a form with mistakes.
    for form in [CARD.to_vec(), with(CARD, &[("cardNumber", "5200000000001005")]), with(CARD, &[("cardNumber", "")])] {
        let again = shop.submit(&token, &page, &form);
        assert!(again.says("Payment complete") && again.trans_key() == paid.trans_key());
    }
    assert_eq!(charges(&mut shop, "r"), 1);
}

#[test]
fn the_first_payment_is_shown_also_when_the_token_has_ended() {
    let mut shop = Shop::new();
    for end in ["used up", "cancelled", "expired"] {
        let token = shop.token(&[("token_uses", if end == "used up" { "1" } else { "5" }), ("trans_reference", end)]);
        let page = shop.visit(&token);
        let paid = shop.submit(&token, &page, CARD);
        match end {
            "cancelled" => drop(shop.done("canceltoken", &[("tokenid", &token)])),
            "expired" => shop.wait(8 * 24 * 60 * 60),
            _ => {}
        }
        assert_eq!(shop.visit(&token).status, 410);
        assert_eq!(shop.submit(&token, &page, CARD).trans_key(), paid.trans_key());
        assert_eq!(charges(&mut shop, end), 1);
    }
}

// spec: 3 §3.1, A136
#[test]
fn one_of_two_browsers_pays_a_single_use_token() {
    let mut shop = Shop::new();
    let token = shop.token(&[("token_uses", "1"), ("trans_reference", "r")]);
    let (one, two) = (shop.visit(&token), shop.visit(&token));
    assert!(shop.submit(&token, &one, CARD).says("Payment complete"));
    let late = shop.submit(&token, &two, CARD);
    assert!(late.status == 410 && late.says("This payment has been made") && late.says("nothing more will be charged"));
    assert_eq!(charges(&mut shop, "r"), 1);
}

#[test]
fn two_browsers_at_a_token_for_many_uses_make_two_payments() {
    let mut shop = Shop::new();
    let token = shop.token(&[("token_uses", "2"), ("trans_reference", "r")]);
    let (one, two) = (shop.visit(&token), shop.visit(&token));
    let keys = [&one, &two, &one, &two].map(|page| shop.submit(&token, page, CARD).trans_key());
    assert!(keys[0] == keys[2] && keys[1] == keys[3] && keys[0] != keys[1]);
    assert_eq!((charges(&mut shop, "r"), shop.visit(&token).status), (2, 410));
}

// spec: 3 §3.1, A136
#[test]
fn the_browser_that_paid_is_shown_its_payment_when_it_opens_the_page_again() {
    let mut shop = Shop::new();
    let open = |shop: &mut Shop, path: &str, cookie: &str| {
        Page::of(shop.send(Request::get(path).header("cookie", cookie).body(Bytes::new()).unwrap()))
    };
    for auto_redirect in ["0", "1"] {
        let token = shop.token(&[("trans_reference", auto_redirect), ("auto_redirect", auto_redirect)]);
        let other = shop.token(&[]);
        let paid = shop.pay(&token, PAN);
        let (cookie, attributes) = paid.headers["set-cookie"].to_str().unwrap().split_once(';').unwrap();
        assert_eq!(attributes, format!(" Path=/pay/{token}; HttpOnly; SameSite=Lax"));
        let page = open(&mut shop, &format!("/pay/{token}"), &format!("a=b; {cookie}"));
        assert!(page.says("Payment complete") && !page.says("<form"), "{}", page.html);
        assert_eq!(page.trans_key(), paid.trans_key());
        // A customer who wants to pay once more says so; another token and an unknown cookie show the form.
        let again = format!("/pay/{token}?again={}", paid.trans_key());
        assert!(page.says(&format!("href=\"{again}\"")), "{}", page.html);
        let form = open(&mut shop, &again, cookie);
        let second = shop.submit(&token, &form, CARD);
        assert_ne!(second.trans_key(), paid.trans_key());
        assert_eq!(charges(&mut shop, auto_redirect), 2);
        for (token, cookie) in [(&other, cookie), (&token, "sent=unknown"), (&token, "sent"), (&token, "")] {
            assert!(open(&mut shop, &format!("/pay/{token}"), cookie).says("<form"), "{cookie}");
        }
    }
    // Without an answer the customer is told so again, before the next form.
    let silent = shop.token(&[]);
    let answer = shop.pay(&silent, SILENT);
    let (cookie, _) = answer.headers["set-cookie"].to_str().unwrap().split_once(';').unwrap();
    let page = open(&mut shop, &format!("/pay/{silent}"), cookie);
    assert!(page.says("It is unknown whether your card was charged") && page.form_key() == answer.form_key());
    assert!(shop.submit(&silent, &page, CARD).says("Payment complete"));
    assert!(open(&mut shop, &format!("/pay/{silent}"), cookie).says("Make another payment"));
    let declined = shop.token(&[]);
    assert!(!shop.pay(&declined, DECLINED).headers.contains_key("set-cookie"), "nothing was paid");
}

#[test]
fn the_cookie_of_a_page_with_tls_is_sent_over_tls_only() {
    for (public_url, is_secure) in
        [(None, false), (Some("http://pay.example"), false), (Some("HTTPS://pay.example/"), true)]
    {
        let mut shop = Shop::with(Settings::default().public_url(public_url.map(str::to_owned)));
        let token = shop.token(&[]);
        let cookie = shop.pay(&token, PAN).headers["set-cookie"].to_str().unwrap().to_owned();
        assert_eq!(cookie.ends_with("; HttpOnly; SameSite=Lax; Secure"), is_secure, "{cookie}");
    }
}

#[test]
fn resubmitting_a_declined_form_asks_the_bank_once() {
    let mut shop = Shop::new();
    let token = shop.token(&[("trans_reference", "r")]);
    let page = shop.visit(&token);
    let declined = shop.submit(&token, &page, &with(CARD, &[("cardNumber", DECLINED)]));
    let again = shop.submit(&token, &page, CARD);
    assert!(again.says("was already sent") && again.form_key() == declined.form_key(), "{}", again.html);
    assert_eq!(charges(&mut shop, "r"), 0);
    let paid = shop.submit(&token, &declined, CARD);
    // From then on every form of the row shows the payment.
    for form in [&page, &declined] {
        assert_eq!(shop.submit(&token, form, CARD).trans_key(), paid.trans_key());
    }
    assert_eq!(charges(&mut shop, "r"), 1);
}

#[test]
fn a_client_that_sends_the_five_inputs_only_is_charged_once_a_visit() {
    let mut shop = Shop::new();
    let token = shop.token(&[("trans_reference", "r")]);
    let unseen = shop.post(&token, CARD);
    assert_eq!((unseen.status, unseen.location()), (303, &*format!("/pay/{token}")));
    for visits in 1..4 {
        shop.visit(&token);
        let keys = [(); 3].map(|()| shop.post(&token, CARD).trans_key());
        assert!(keys[0] == keys[1] && keys[1] == keys[2]);
        assert_eq!(charges(&mut shop, "r"), visits);
    }
    shop.visit(&token);
    assert!(shop.post(&token, &with(CARD, &[("cardNumber", DECLINED)])).says("declined"));
    assert!(shop.post(&token, CARD).says("Payment complete"));
    for visit in ["", "x", crate::hosted_checkout::NO_KEY] {
        assert_eq!(
            shop.post(&token, &with(CARD, &[("visit", visit)])).status,
            if visit.is_empty() { 200 } else { 303 }
        );
    }
    let empty = Request::post(format!("/pay/{token}")).method(Method::POST).body(Bytes::new()).unwrap();
    assert_eq!(shop.send(empty).status(), 200);
}

/// A form that is sent again cannot be told from one of another customer: it must not be charged through an earlier visit.
#[test]
fn a_form_without_an_identifier_that_is_sent_again_is_not_charged_through_an_earlier_visit() {
    let mut shop = Shop::new();
    let token = shop.token(&[("trans_reference", "r")]);
    shop.visit(&token);
    shop.visit(&token);
    let keys = [(); 2].map(|()| shop.post(&token, CARD).trans_key());
    assert_eq!(keys[0], keys[1]);
    assert_eq!(charges(&mut shop, "r"), 1);
}

#[test]
fn a_restart_forgets_no_payment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut shop = Shop::in_file(&path);
    let token = shop.token(&[("trans_reference", "r")]);
    let page = shop.visit(&token);
    let paid = shop.submit(&token, &page, CARD);
    drop(shop);
    let mut shop = Shop::in_file(&path);
    assert_eq!(shop.submit(&token, &page, CARD).trans_key(), paid.trans_key());
    assert_eq!(charges(&mut shop, "r"), 1);
    assert!(shop.pay(&token, PAN).says("Payment complete"));
}

// spec: 3 §3.1, A136: A form without an identifier counts as the newest of its token.
#[test]
fn the_newest_form_is_the_last_one_also_after_a_clock_that_was_set_back_and_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut shop = Shop::in_file(&path);
    let token = shop.token(&[("trans_reference", "r")]);
    shop.ask(Method::POST, "/_sandbox/clock", r#"{"advanceSeconds": 1860}"#);
    shop.visit(&token);
    shop.ask(Method::POST, "/_sandbox/clock", r#"{"set": "2026-05-04T10:00:00Z"}"#);
    drop(shop);
    let mut shop = Shop::in_file(&path);
    let last = shop.visit(&token);
    let paid = shop.post(&token, CARD);
    assert_eq!(shop.submit(&token, &last, CARD).trans_key(), paid.trans_key());
    assert_eq!(charges(&mut shop, "r"), 1);
}
