//! Payments with the card that was posted to a session.

use super::*;

fn with<'a>(session: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    changed(&order(&[("sessionKey", session)]), more)
}

// spec: 2 §3.1, A78; 2 §3.1, A85; method transaction/authSessionKey; codes ErrorCode 136
#[test]
fn a_session_pays_until_it_expires() {
    let mut shop = Shop::open();
    let session = shop.session(PAN);
    let first = shop.call("authSessionKey", &with(&session, &[]));
    assert_eq!((first.code(), first.text("transactionType")), ("600", "Auth"));
    assert_eq!(first.basis, "2 4.4, A41, A85, A86, A88, A101, A131");
    shop.wait(30 * 60 - 1);
    assert_eq!(shop.call("authSessionKey", &with(&session, &[])).code(), "600");
    shop.wait(1);
    let late = shop.call("authSessionKey", &with(&session, &[]));
    assert_eq!((late.status, late.code(), late.text("errorMessage")), (400, "136", "Session expired"));
    assert_eq!(shop.payments().len(), 2);
}

// spec: 2 §2.1 Fields of a session, A86: merchantCustomerReference is stored with the session and copied to its
//   payments.
#[test]
fn the_payment_takes_over_card_customer_and_details() {
    let mut shop = Shop::open();
    let session = shop.session(PAN);
    let key = shop.call("authSessionKey", &with(&session, &[])).key();
    let payment = shop.payment(&key);
    assert_eq!(payment.customer_reference.as_deref(), Some("customer-7"));
    assert_eq!(payment.details["cardholderName"], "A Customer");
    assert!(!payment.details.contains_key("collectPlan"));
    assert_eq!(payment.card.unwrap().number(&shop.sandbox.vault, &key).unwrap().expose(), PAN);
    let own = shop.call("authSessionKey", &with(&session, &[("merchantCustomerReference", "customer-8")])).key();
    assert_eq!(shop.payment(&own).customer_reference.as_deref(), Some("customer-8"));
}

// spec: 2 §3.1, A85
#[test]
fn the_cv2_is_dropped_by_the_first_request_that_reaches_the_bank() {
    for number in [PAN, DECLINED, SILENT] {
        let mut shop = Shop::open();
        let session = shop.session(number);
        assert_eq!(shop.call("authSessionKey", &with(&session, &[("currency", "SEK")])).code(), "111");
        assert!(shop.call("authSessionKey", &with(&session, &[])).rests_on("A101"));
        assert!(!has_cv2(&mut shop.sandbox, &session), "{number}");
        assert!(!shop.call("authSessionKey", &with(&session, &[])).rests_on("A101"));
    }
}

// spec: 2 §4.4: authSessionKey needs posted card details.
// spec: 2 §3.1, A85; codes ErrorCode 129; codes SandboxErrorCode 956
#[test]
fn a_session_that_cannot_pay_is_refused() {
    let mut shop = Shop::open();
    let session = shop.session(PAN);
    for key in ["", NO_KEY, "no key at all"] {
        let answer = shop.call("authSessionKey", &with(key, &[]));
        assert_eq!((answer.code(), answer.text("errorMessage")), ("129", "Invalid session key"));
    }
    assert_eq!(shop.call_as("other", "authSessionKey", &with(&session, &[])).code(), "129");
    let empty = Session { card: None, ..shop.stored(&session).unwrap() };
    shop.put(&empty);
    let answer = shop.call("authSessionKey", &with(&session, &[]));
    assert_eq!((answer.code(), answer.rests_on("A85")), ("956", true));
    assert!(shop.payments().is_empty());
}

#[test]
fn the_scenario_of_the_posted_card_decides() {
    let mut shop = Shop::open();
    for (number, wanted) in [(PAN, "600"), (DECLINED, "901"), (POOR, "902"), (SILENT, "119")] {
        let session = shop.session(number);
        assert_eq!(shop.call("authSessionKey", &with(&session, &[])).code(), wanted);
    }
}

#[test]
fn a_card_that_expires_after_it_was_posted_is_declined() {
    let mut shop = Shop::open();
    shop.at = Timestamp::parse("2026-05-31T23:50:00Z").unwrap();
    let session = shop.session(PAN);
    shop.wait(10 * 60);
    let answer = shop.call("authSessionKey", &with(&session, &[]));
    assert_eq!((answer.status, answer.code(), answer.text("bankResponseCode")), (200, "903", "54"));
}

// spec: 2 §1.2, A102
#[test]
fn sessions_need_no_permission_for_raw_cards() {
    let mut shop = Shop::open();
    let session = shop.session(PAN);
    let strict = Session { merchant: "strict".to_owned(), ..shop.stored(&session).unwrap() };
    shop.put(&strict);
    assert_eq!(shop.call_as("strict", "authSessionKey", &with(&session, &[])).code(), "600");
}

// spec: 2 §1.1, A130
#[test]
fn a_card_form_leads_to_a_payment_and_its_refund() {
    let mut shop = Shop::open();
    let error_page = ("errorPageUrl", "https://shop.example/error");
    let body = signed(&account("main"), &[error_page, ("merchantCustomerReference", "customer-9")]);
    let (_, initiated) = post(&mut shop.sandbox, "/v3/session/initiate/json", body);
    let initiated: Value = serde_json::from_str(&initiated).unwrap();
    let session = initiated["sessionKey"].as_str().unwrap();
    assert_eq!(shop.call("authSessionKey", &with(session, &[])).code(), "956");
    let form = [
        ("sessionKey", session),
        ("cardNumber", PAN),
        ("cardExpiryDate", "0530"),
        ("cardCV2", CV2),
        ("cardholderName", "A Customer"),
        ("collectPlan", "gold"),
        ("nextPageUrl", "https://shop.example/next"),
        ("currentPageUrl", "https://shop.example/card"),
    ];
    let (status, _) = post(&mut shop.sandbox, "/v3/session/postform", serde_urlencoded::to_string(form).unwrap());
    assert_eq!(status, StatusCode::SEE_OTHER);
    let answer = shop.call("authSessionKey", &with(session, &[]));
    assert!(answer.rests_on("A101"), "{answer:?}");
    let payment = shop.payment(&answer.key());
    assert_eq!(payment.customer_reference.as_deref(), Some("customer-9"));
    let recorded: Vec<_> = payment.details.keys().map(String::as_str).collect();
    assert_eq!(recorded, ["cardholderName", "itemName0", "itemPrice0", "itemQuantity0"]);
    assert!(!holds(&payment, CV2));
    let card = payment.card.unwrap();
    assert_eq!((card.masked.as_str(), card.expiry_year.as_str()), ("411111******1111", "2030"));
    assert_eq!(shop.operate("refund", &payment.key, None).code(), "600");
}
