//! The second step: how the authentication ended, and who is liable.

use super::*;

/// Code, words, liability and indicator of a status.
fn shown(answer: &Answer) -> (&str, &str, &str, &str) {
    let text = |name| answer.text(name);
    (text("transactionStatusCode"), text("transactionStatus"), text("liabilityShift"), text("bankECIValue"))
}

// spec: 2 §2.5, A105, A106: bankECIValue has 2 digits.
// spec: 2 §3.3 Steps, A106: getAuthenticationStatus returns liabilityShift Y or N; the merchant decides.
// spec: method transaction/getAuthenticationStatus; codes TransactionType 3DSAuthenticatedOnly
// spec: codes LiabilityShift Y N; codes SandboxAuthenticationCode 921
#[test]
fn every_end_has_its_status() {
    let mut shop = Shop::open();
    for (number, outcome, wanted) in [
        (CHALLENGE, "authenticate", ("607", "Success", "Y", "05")),
        (CHALLENGE, "fail", ("608", "Failed", "N", "07")),
        (CHALLENGE, "abandon", ("921", "Authentication abandoned", "N", "07")),
        (PAN, "authenticate", ("607", "Success", "Y", "05")),
        (DECLINED, "authenticate", ("607", "Success", "Y", "05")),
        (ALWAYS_FAILS, "authenticate", ("608", "Failed", "N", "07")),
        (MASTERCARD, "authenticate", ("607", "Success", "Y", "02")),
        (MASTERCARD, "fail", ("608", "Failed", "N", "00")),
        (MASTERCARD, "abandon", ("921", "Authentication abandoned", "N", "00")),
        ("340000000001007", "authenticate", ("607", "Success", "Y", "05")),
    ] {
        let key = answered(&mut shop, number, outcome, &[]);
        let answer = status_of(&mut shop, &key);
        assert_eq!(shown(&answer), wanted, "{number} {outcome}");
        let authenticated = wanted.0 == "607";
        let wanted = if authenticated { "3DSAuthenticatedOnly" } else { "3DSecureCheck" };
        let check = shop.stored::<Payment>(answer.text("transactionKey")).unwrap();
        assert_eq!(check.kind.wire(), wanted, "{number} {outcome}");
        assert_eq!(answer.basis, "2 4.4, A41, A106, A131");
    }
}

// spec: 2 §3.3, A106; codes SandboxAuthenticationCode 920 922
#[test]
fn before_and_without_an_answer() {
    let mut shop = Shop::open();
    for (number, eci) in [(CHALLENGE, "07"), (MASTERCARD, "00")] {
        let key = open(&mut shop, number, &[]);
        assert_eq!(shown(&status_of(&mut shop, &key)), ("920", "Authentication pending", "N", eci));
        visit(&mut shop, &key);
        assert_eq!(status_of(&mut shop, &key).code(), "920");
        shop.wait(899);
        assert_eq!(status_of(&mut shop, &key).code(), "920");
        shop.wait(1);
        assert_eq!(shown(&status_of(&mut shop, &key)), ("922", "Authentication timed out", "N", eci));
        press(&mut shop, &key, "authenticate");
        assert_eq!(status_of(&mut shop, &key).code(), "922");
    }
}

// spec: codes SandboxAuthenticationCode 923
#[test]
fn a_card_without_3d_secure_is_reported_before_and_after_the_visit() {
    let mut shop = Shop::open();
    let key = open(&mut shop, NOT_ENROLLED, &[]);
    for _ in 0..2 {
        assert_eq!(shown(&status_of(&mut shop, &key)), ("923", "Card does not support 3-D Secure", "N", "07"));
        visit(&mut shop, &key);
    }
    shop.wait(9000);
    assert_eq!(status_of(&mut shop, &key).code(), "923");
}

#[test]
fn the_sandboxs_own_clock_decides() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    post(&mut shop.sandbox, "/_sandbox/clock", r#"{"advanceSeconds": 900}"#);
    assert_eq!(status_of(&mut shop, &key).code(), "922");
}

#[test]
fn the_status_is_that_of_the_check_and_stays_after_the_payment() {
    let mut shop = Shop::open();
    let session = shop.session(CHALLENGE);
    let opened = shop.call("initiate3DSecureSessionKey", &by_session(&session, &[]));
    let key = opened.text("authenticationKey");
    press(&mut shop, key, "authenticate");
    let before = status_of(&mut shop, key);
    assert_eq!(before.text("transactionKey"), opened.text("transactionKey"));
    assert_eq!(pay_with(&mut shop, "auth3DSecure", key).code(), "600");
    shop.wait(100_000);
    assert_eq!(status_of(&mut shop, key).body, before.body);
}

#[test]
fn the_reply_in_xml() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    let check = shop.stored::<Authentication>(&key).unwrap().check;
    let (_, xml) = text(&shop.response("main", "getAuthenticationStatus", &[("authenticationKey", &key)]));
    let wanted = format!(
        "<serviceResponse><transactionStatusCode>607</transactionStatusCode>\
         <transactionStatus>Success</transactionStatus>\
         <transactionKey>{check}</transactionKey><bankECIValue>05</bankECIValue>\
         <liabilityShift>Y</liabilityShift></serviceResponse>"
    );
    assert!(xml.contains(&wanted), "{xml}");
}

// spec: codes SandboxErrorCode 960
#[test]
fn all_three_methods_refuse_an_invalid_key() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    let check = shop.stored::<Authentication>(&key).unwrap().check;
    for method in ["getAuthenticationStatus", "auth3DSecure", "preauth3DSecure"] {
        for (given, wanted) in [
            ("", "938 Missing parameter: authenticationKey"),
            ("short", "937 Invalid parameter: authenticationKey"),
            ("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz-", "937 Invalid parameter: authenticationKey"),
            (NO_KEY, "960 Unknown authentication key"),
            (&check, "960 Unknown authentication key"),
            (&key.to_uppercase(), "960 Unknown authentication key"),
        ] {
            let answer = pay_with(&mut shop, method, given);
            assert_eq!(answer.status, 400);
            assert_eq!(format!("{} {}", answer.code(), answer.text("errorMessage")), wanted, "{method} {given}");
        }
    }
}
