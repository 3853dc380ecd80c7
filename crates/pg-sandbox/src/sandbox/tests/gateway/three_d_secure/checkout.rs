//! Hosted payment pages whose token asks for 3-D Secure (spec 3 §4.1; A122).

use super::*;
use crate::records::{Callback, CheckoutToken};

const SUCCESS: &str = "https://shop.example/paid?order=7";

/// The path of the payment page of a new token, changed by `more`; what is empty is left out.
fn page_of_token(shop: &mut Shop, more: &[(&str, &str)]) -> String {
    let merchant = account("main");
    let enterprise = merchant.enterprise.unwrap();
    let basic = [
        ("api_key", enterprise.api_key.expose()),
        ("api_password", enterprise.api_password.expose()),
        ("version", "5"),
        ("item_name[0]", "Tea"),
        ("item_price[0]", "9.98"),
        ("currency", "GBP"),
        ("success_url", SUCCESS),
        ("cancel_url", "https://shop.example/"),
        ("auto_redirect", "1"),
        ("3D_secure", "1"),
    ];
    let sent: Vec<_> = changed(&basic, more).into_iter().filter(|pair| !pair.1.is_empty()).collect();
    let body = serde_urlencoded::to_string(sent).unwrap();
    let (status, xml) = text(&shop.sandbox.handle(shop.at, request(Method::POST, "/enterprise/gettoken", body)));
    assert_eq!(status, 200, "{xml}");
    let at = xml.find("/pay/").unwrap();
    xml[at..at + "/pay/".len() + 32].to_owned()
}

fn get(shop: &mut Shop, path: &str) -> Response<Bytes> {
    shop.sandbox.handle(shop.at, request(Method::GET, path, ""))
}

/// Opens the page and posts its form with a card; the answer, and the form that was posted.
fn submit(shop: &mut Shop, page: &str, number: &str) -> (Response<Bytes>, String) {
    let html = text(&get(shop, page)).1;
    let visit = html.split("name=\"visit\" value=\"").nth(1).unwrap()[..32].to_owned();
    let form = form(&visit, number);
    (shop.sandbox.handle(shop.at, request(Method::POST, page, form.clone())), form)
}

fn form(visit: &str, number: &str) -> String {
    format!("visit={visit}&cardNumber={number}&cardExpiryMonth=05&cardExpiryYear=2026&cardCV2={CV2}&cardholderName=A")
}

/// The authentication key that a redirect leads to.
fn challenged(response: &Response<Bytes>) -> String {
    location(response).strip_prefix("/3ds/").unwrap().to_owned()
}

/// Returns the records other than checks.
fn charges(shop: &mut Shop) -> Vec<(String, String)> {
    let checks = [PaymentKind::ThreeDSecureCheck, PaymentKind::ThreeDsAuthenticatedOnly];
    let payments = shop.payments().into_iter().filter(|payment| !checks.contains(&payment.kind));
    payments.map(|payment| (payment.kind.wire().to_owned(), payment.status_code)).collect()
}

// spec: 3 §4.1, A122
#[test]
fn the_customer_authenticates_and_pays() {
    for (kind, wanted) in [("Auth", "Auth"), ("PreAuth", "PreAuth")] {
        let mut shop = Shop::open();
        let callback = ("callback_url", "http://127.0.0.1:9/called");
        let page = page_of_token(&mut shop, &[("trans_type", kind), ("token_uses", "2"), callback]);
        let (response, _) = submit(&mut shop, &page, CHALLENGE);
        let key = challenged(&response);
        assert!(charges(&mut shop).is_empty());
        let html = text(&visit(&mut shop, &key)).1;
        assert!(html.contains("\u{a3}9.98") && html.contains("400000******5001"), "{html}");
        let back = location(&press(&mut shop, &key, "authenticate")).to_owned();
        assert!(back.starts_with(&format!("{page}/")), "{back}");
        let paid = get(&mut shop, &back);
        assert!(location(&paid).starts_with("https://shop.example/paid?order=7&trans_key="), "{paid:?}");
        assert_eq!(charges(&mut shop), [(wanted.to_owned(), "600".to_owned())]);
        let token: CheckoutToken = shop.stored(&page[5..]).unwrap();
        assert_eq!(token.uses, 1);
        let callbacks: Vec<Callback> = Transaction::new(&mut *shop.sandbox.store).find(&Query::oldest(9)).unwrap();
        assert_eq!(callbacks.len(), 1);
        // Returning again shows the same page and charges nothing.
        assert_eq!(location(&get(&mut shop, &back)), location(&paid));
        assert_eq!(charges(&mut shop).len(), 1);
    }
}

// spec: 3 §4.1, A122: With 3D_secure 1 the challenge comes before the payment; with 0 or without it there is none.
#[test]
fn a_token_without_3d_secure_has_no_challenge() {
    for asked in ["0", ""] {
        let mut shop = Shop::open();
        let page = page_of_token(&mut shop, &[("3D_secure", asked)]);
        let (response, _) = submit(&mut shop, &page, CHALLENGE);
        assert!(location(&response).starts_with(SUCCESS), "{response:?}");
        assert_eq!(charges(&mut shop), [("Auth".to_owned(), "600".to_owned())]);
    }
}

#[test]
fn a_card_without_3d_secure_pays_without_a_question() {
    let mut shop = Shop::open();
    let page = page_of_token(&mut shop, &[("auto_redirect", "0")]);
    let (response, _) = submit(&mut shop, &page, NOT_ENROLLED);
    let back = location(&visit(&mut shop, &challenged(&response))).to_owned();
    let paid = get(&mut shop, &back);
    assert!(paid.status() == 200 && text(&paid).1.contains("Payment complete"));
    assert_eq!(charges(&mut shop), [("Auth".to_owned(), "600".to_owned())]);
}

// spec: 3 §1, A181: After a challenge that was not passed, the page shows how it ended.
// spec: 3 §4.1, A122
#[test]
fn a_failed_challenge_is_a_decline_and_the_customer_can_try_again() {
    for (number, outcome, code, words) in [
        (CHALLENGE, "fail", "907", "Your bank could not confirm that it was you"),
        (CHALLENGE, "abandon", "907", "You left before confirming that it was you"),
        (ALWAYS_FAILS, "authenticate", "907", "Your bank could not confirm that it was you"),
        (DECLINED, "authenticate", "901", "Your card was declined"),
    ] {
        let mut shop = Shop::open();
        let page = page_of_token(&mut shop, &[("token_redemptions", "1")]);
        let (response, first) = submit(&mut shop, &page, number);
        let key = challenged(&response);
        let back = location(&press(&mut shop, &key, outcome)).to_owned();
        let html = text(&get(&mut shop, &back)).1;
        assert!(html.contains(words) && html.contains("Nothing was charged"), "{html}");
        assert_eq!(html.contains("declined"), code == "901", "{html}");
        assert_eq!(charges(&mut shop), [("Auth".to_owned(), code.to_owned())]);
        // The form that follows is a new one; the first one stays used.
        let again = shop.sandbox.handle(shop.at, request(Method::POST, &page, first));
        let again = text(&again).1;
        assert!(again.contains("This form was already sent") && again.contains(words), "{again}");
        let next = html.split("name=\"visit\" value=\"").nth(1).unwrap()[..32].to_owned();
        let second = shop.sandbox.handle(shop.at, request(Method::POST, &page, form(&next, CHALLENGE)));
        let back = location(&press(&mut shop, &challenged(&second), "authenticate")).to_owned();
        assert!(location(&get(&mut shop, &back)).starts_with(SUCCESS));
        assert_eq!(charges(&mut shop).len(), 2);
    }
}

// spec: 3 §1, A181
#[test]
fn a_customer_who_never_answers_is_declined_when_they_come_back() {
    let mut shop = Shop::open();
    let page = page_of_token(&mut shop, &[]);
    let (response, _) = submit(&mut shop, &page, CHALLENGE);
    let key = challenged(&response);
    shop.wait(900);
    let back = location(&visit(&mut shop, &key)).to_owned();
    let html = text(&get(&mut shop, &back)).1;
    assert!(html.contains("The time to confirm that it was you has run out") && !html.contains("declined"), "{html}");
    assert_eq!(charges(&mut shop), [("Auth".to_owned(), "907".to_owned())]);
}

#[test]
fn a_double_click_opens_one_challenge_and_an_early_return_repeats_it() {
    let mut shop = Shop::open();
    let page = page_of_token(&mut shop, &[]);
    let (response, form) = submit(&mut shop, &page, CHALLENGE);
    let key = challenged(&response);
    let again = shop.sandbox.handle(shop.at, request(Method::POST, &page, form));
    assert_eq!(challenged(&again), key);
    assert_eq!(shop.payments().len(), 1);
    let back = shop.stored::<Authentication>(&key).unwrap().return_to.unwrap();
    assert_eq!(challenged(&get(&mut shop, &back)), key);
    assert!(charges(&mut shop).is_empty());
    press(&mut shop, &key, "authenticate");
    let group = (0..20).map(|_| request(Method::GET, &back, "")).collect();
    let responses = shop.sandbox.handle_group(shop.at, group);
    assert!(responses.iter().all(|response| location(response) == location(&responses[0])));
    assert_eq!(charges(&mut shop).len(), 1);
}

#[test]
fn a_token_that_ended_meanwhile_is_not_paid() {
    let mut shop = Shop::open();
    let page = page_of_token(&mut shop, &[("token_uses", "1")]);
    let (first, _) = submit(&mut shop, &page, CHALLENGE);
    let (second, _) = submit(&mut shop, &page, CHALLENGE);
    let backs = [first, second].map(|response| {
        let key = challenged(&response);
        location(&press(&mut shop, &key, "authenticate")).to_owned()
    });
    assert!(location(&get(&mut shop, &backs[0])).starts_with(SUCCESS));
    let late = get(&mut shop, &backs[1]);
    assert_eq!(late.status(), 410);
    assert_eq!(charges(&mut shop).len(), 1);
}

#[test]
fn no_response_from_the_bank_is_shown_without_a_form() {
    let mut shop = Shop::open();
    let page = page_of_token(&mut shop, &[]);
    let (response, _) = submit(&mut shop, &page, SILENT);
    assert!(response.status() == 200 && text(&response).1.contains("Your bank did not answer"));
    assert!(charges(&mut shop).is_empty());
}

#[test]
fn the_way_back_belongs_to_its_token() {
    let mut shop = Shop::open();
    let (page, other) = (page_of_token(&mut shop, &[]), page_of_token(&mut shop, &[]));
    let (response, _) = submit(&mut shop, &page, CHALLENGE);
    let back = location(&press(&mut shop, &challenged(&response), "authenticate")).to_owned();
    let visit = back.rsplit('/').next().unwrap().to_owned();
    for path in [format!("{other}/{visit}"), format!("{page}/{NO_KEY}"), format!("{back}/x")] {
        let wanted = &path[..other.len()];
        assert_eq!(location(&get(&mut shop, &path)), wanted, "{path}");
    }
    assert_eq!(get(&mut shop, &format!("/pay/{NO_KEY}/{visit}")).status(), 404);
    assert_eq!(shop.sandbox.handle(now(), request(Method::POST, &back, "")).status(), 405);
    assert!(charges(&mut shop).is_empty());
}

#[test]
fn neither_card_nor_cv2_is_shown_or_kept() {
    let mut shop = Shop::open();
    let page = page_of_token(&mut shop, &[]);
    let (response, _) = submit(&mut shop, &page, CHALLENGE);
    let html = text(&visit(&mut shop, &challenged(&response))).1;
    assert!(!html.contains(CHALLENGE) && !html.contains(CV2));
    let check = shop.payments().pop().unwrap();
    assert!(!holds(&check, CHALLENGE) && !holds(&check, CV2));
}
