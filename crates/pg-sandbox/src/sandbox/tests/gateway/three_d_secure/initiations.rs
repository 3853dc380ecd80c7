//! The first step, by session and by card key.

use super::*;
use crate::cards::{CARDS, Scenario, Scheme};

fn by_token<'a>(token: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    changed(&order(&[("cardKey", token)]), more)
}

// spec: 2 §2.5, A03: authenticationKey has 32 letters and digits and is required to authorise.
// spec: 2 §3.3 Steps, A105: An initiation by session key or card key gives 607 with key and URL, or 608 without.
// spec: 2 §4.4, A105: An initiation returns status code, status, transactionKey and bankECIValue, and on success key
//   and URL.
// spec: method transaction/initiate3DSecureSessionKey; codes TransactionType 3DSecureCheck
#[test]
fn a_session_gives_key_and_address() {
    let mut shop = Shop::open();
    let session = shop.session(CHALLENGE);
    let answer = shop.call("initiate3DSecureSessionKey", &by_session(&session, &[]));
    assert_eq!((answer.status, answer.basis.as_str()), (200, "2 4.4, A41, A85, A86, A105, A107, A131"));
    let key = answer.text("authenticationKey").to_owned();
    assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key}");
    let names: Vec<&str> = answer.body.as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = [
        "transactionStatusCode",
        "transactionStatus",
        "transactionType",
        "transactionKey",
        "bankECIValue",
        "authenticationKey",
        "authenticationUrl",
    ];
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    assert_eq!((answer.text("transactionStatus"), answer.text("bankECIValue")), ("Success", "07"));
    assert_eq!(answer.text("transactionType"), "3DSecureCheck");
    assert_eq!(answer.text("authenticationUrl"), format!("http://127.0.0.1:8480/3ds/{key}"));
    let check = shop.payment(answer.text("transactionKey"));
    assert_eq!((check.kind, check.amount, check.currency.as_str()), (PaymentKind::ThreeDSecureCheck, 998, "GBP"));
    assert_eq!(check.customer_reference.as_deref(), Some("customer-7"));
    assert_eq!(check.card.unwrap().number(&shop.sandbox.vault, &check.key).unwrap().expose(), CHALLENGE);
    assert!(!check.details.contains_key("returnUrl"));
}

// spec: 2 §4.4, A06: initiate3DSecureCardKey takes the order, the card key, its CV2 and a return URL.
// spec: 2 §3.3, A105; method transaction/initiate3DSecureCardKey
#[test]
fn a_card_key_does_so_too_with_and_without_a_return_address() {
    let mut shop = Shop::open();
    let token = shop.token(CHALLENGE, ("01", "2030"));
    let answer = shop.call("initiate3DSecureCardKey", &by_token(&token, &[("cardCV2", CV2)]));
    assert_eq!((answer.code(), answer.basis.as_str()), ("607", "2 4.4, A06, A41, A101, A103, A105, A107, A131"));
    let held: Authentication = shop.stored(answer.text("authenticationKey")).unwrap();
    assert_eq!((held.return_to, held.session_key), (None, None));
    assert!(!holds(&shop.payment(answer.text("transactionKey")), CV2));
    let answer = shop.call("initiate3DSecureCardKey", &by_token(&token, &[("returnUrl", RETURN)]));
    let held: Authentication = shop.stored(answer.text("authenticationKey")).unwrap();
    assert_eq!(held.return_to.as_deref(), Some(RETURN));
    let check = shop.payment(&held.check);
    assert_eq!(check.card_key.as_deref(), Some(token.as_str()));
}

#[test]
fn the_reply_in_xml() {
    let mut shop = Shop::open();
    let session = shop.session(CHALLENGE);
    let response = shop.response("main", "initiate3DSecureSessionKey", &by_session(&session, &[]));
    let (_, xml) = text(&response);
    let key = &shop.payments()[0].key;
    let start = format!(
        "<serviceResponse><transactionStatusCode>607</transactionStatusCode>\
         <transactionStatus>Success</transactionStatus><transactionType>3DSecureCheck</transactionType>\
         <transactionKey>{key}</transactionKey><bankECIValue>07</bankECIValue><authenticationKey>"
    );
    assert!(xml.contains(&start), "{xml}");
    assert!(xml.contains("</authenticationKey><authenticationUrl>http://127.0.0.1:8480/3ds/"), "{xml}");
}

// spec: 2 §2.5, A107: authenticationUrl is the URL of the challenge page.
#[test]
fn the_address_is_where_the_merchant_called() {
    let mut shop = Shop::open();
    let session = shop.session(CHALLENGE);
    for host in ["127.0.0.1:34567", "[::1]:8480", "sandbox"] {
        let body = signed(&account("main"), &by_session(&session, &[]));
        let mut request = request(Method::POST, "/v3/transaction/initiate3DSecureSessionKey/json", body);
        request.headers_mut().insert("host", host.parse().unwrap());
        let answer: Value = serde_json::from_slice(shop.sandbox.handle(shop.at, request).body()).unwrap();
        let address = answer["authenticationUrl"].as_str().unwrap();
        assert!(address.starts_with(&format!("http://{host}/3ds/")), "{address}");
    }
}

// spec: 2 §3.3, A105; codes StatusCode 607 608
#[test]
fn every_test_card_is_checked() {
    for card in CARDS {
        let mut shop = Shop::open();
        let session = shop.session(card.number);
        let answer = shop.call("initiate3DSecureSessionKey", &by_session(&session, &[]));
        let silent = card.scenario == Scenario::NoResponse;
        let mastercard = Scheme::of(card.number) == Some(Scheme::Mastercard);
        assert_eq!((answer.status, answer.code()), (200, if silent { "608" } else { "607" }), "{}", card.number);
        assert_eq!(answer.text("transactionStatus"), if silent { "Failed" } else { "Success" });
        assert_eq!(answer.text("bankECIValue"), if mastercard { "00" } else { "07" }, "{}", card.number);
        assert_eq!(answer.body.get("authenticationKey").is_some(), !silent);
        assert_eq!(answer.body.get("authenticationUrl").is_some(), !silent);
        let check = shop.payment(answer.text("transactionKey"));
        assert_eq!((check.kind, check.status_code.as_str()), (PaymentKind::ThreeDSecureCheck, answer.code()));
    }
}

#[test]
fn invalid_requests_are_refused_and_change_nothing() {
    let mut shop = Shop::open();
    let session = shop.session(CHALLENGE);
    let long = format!("https://shop.example/{}", "a".repeat(9000));
    let terminal = ("terminalKey", "nowhere");
    for (change, wanted) in [
        (("returnUrl", ""), "938"),
        (("returnUrl", "shop.example"), "937"),
        (("returnUrl", "/back"), "937"),
        (("returnUrl", "//shop.example/"), "937"),
        (("returnUrl", "javascript:alert(1)"), "937"),
        (("returnUrl", "javascript://shop.example/%0aalert(1)"), "937"),
        (("returnUrl", "data:text/html,x"), "937"),
        (("returnUrl", "file:///etc/passwd"), "937"),
        (("returnUrl", "https://shop.example/\r\nSet-Cookie: a=b"), "937"),
        (("returnUrl", "https://shop.example\\@other.example/"), "937"),
        (("returnUrl", "https://shop.example/\"><script>"), "937"),
        (("returnUrl", long.as_str()), "937"),
        (("sessionKey", ""), "129"),
        (("sessionKey", NO_KEY), "129"),
        (("currency", ""), "120"),
        (("currency", "SEK"), "111"),
        (("itemPrice0", "0"), "107"),
        (terminal, "957"),
        (("uniqueMerchantReference", "u\nu"), "125"),
    ] {
        let answer = shop.call("initiate3DSecureSessionKey", &by_session(&session, &[change]));
        assert_eq!((answer.status, answer.code()), (400, wanted), "{change:?}");
        if change.0 == "returnUrl" {
            assert!(answer.text("errorMessage").ends_with(": returnUrl"), "{answer:?}");
        }
    }
    let empty = Session { card: None, ..shop.stored(&session).unwrap() };
    shop.put(&empty);
    assert_eq!(shop.call("initiate3DSecureSessionKey", &by_session(&session, &[])).code(), "956");
    shop.wait(30 * 60);
    assert_eq!(shop.call("initiate3DSecureSessionKey", &by_session(&session, &[])).code(), "136");
    assert!(shop.payments().is_empty());
}

#[test]
fn a_token_that_cannot_pay_is_refused() {
    let mut shop = Shop::open();
    let token = shop.token(CHALLENGE, ("01", "2030"));
    for (change, wanted) in [
        (("cardKey", ""), "938"),
        (("cardKey", "unknown"), "940"),
        (("cardCV2", "12"), "110"),
        (("merchantCustomerReference", "customer-8"), "941"),
        (("returnUrl", "javascript:alert(1)"), "937"),
    ] {
        let answer = shop.call("initiate3DSecureCardKey", &by_token(&token, &[change]));
        assert_eq!((answer.status, answer.code()), (400, wanted), "{change:?}");
    }
    let disabled = CardToken { enabled: false, ..shop.stored(&token).unwrap() };
    shop.put(&disabled);
    assert_eq!(shop.call("initiate3DSecureCardKey", &by_token(&token, &[])).code(), "942");
    assert!(shop.payments().is_empty());
}

#[test]
fn an_initiation_uses_up_the_unique_reference_with_any_result() {
    const UNIQUE: (&str, &str) = ("uniqueMerchantReference", "u-1");
    for (number, first) in [(CHALLENGE, "607"), (NOT_ENROLLED, "607"), (SILENT, "608")] {
        let mut shop = Shop::open();
        let session = shop.session(number);
        let answer = shop.call("initiate3DSecureSessionKey", &by_session(&session, &[UNIQUE]));
        assert_eq!((answer.code(), answer.rests_on("A92")), (first, true));
        assert_eq!(shop.call("initiate3DSecureSessionKey", &by_session(&session, &[UNIQUE])).code(), "950");
        assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE])).code(), "950");
        assert_eq!(shop.payments().len(), 1);
        let rows = shop.find(&[UNIQUE]);
        assert_eq!((rows.len(), &rows[0]["transactionType"]), (1, &json!("3DSecureCheck")));
    }
    let mut shop = Shop::open();
    let session = shop.session(CHALLENGE);
    assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE])).code(), "600");
    assert_eq!(shop.call("initiate3DSecureSessionKey", &by_session(&session, &[UNIQUE])).code(), "950");
}

#[test]
fn a_session_opens_several_and_keeps_its_cv2() {
    let mut shop = Shop::open();
    let session = shop.session(CHALLENGE);
    let mut keys: Vec<String> = (0..3)
        .map(|_| shop.call("initiate3DSecureSessionKey", &by_session(&session, &[])))
        .map(|answer| answer.text("authenticationKey").to_owned())
        .collect();
    keys.dedup();
    assert_eq!(keys.len(), 3);
    assert!(has_cv2(&mut shop.sandbox, &session));
}

// spec: codes TransactionType 3DSecureCheck 3DSAuthenticatedOnly
#[test]
fn a_check_is_no_payment() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    let check = shop.stored::<Authentication>(&key).unwrap().check;
    for method in ["capturepreauth", "cancelpreauth", "refund"] {
        assert_eq!(shop.operate(method, &check, None).code(), "951", "{method}");
    }
    let body = signed(&account("main"), &[("transactionKey", &check)]);
    let (_, refused) = post(&mut shop.sandbox, "/v3/token/tokeniseTransactionKey/json", body);
    assert!(refused.contains("944"), "{refused}");
    let rows = shop.find(&[("transactionKey", &check)]);
    assert_eq!(rows[0]["transactionType"], "3DSAuthenticatedOnly");
    assert_eq!((&rows[0]["transactionStatusCode"], &rows[0]["bankECIValue"]), (&json!("607"), &json!("05")));
    assert!(rows[0].get("originalTransactionKey").is_none());
}

/// Spec 2 §3.2: any transaction may be updated, and it changes no state.
// spec: 2 §3.2, A98
#[test]
fn a_check_accepts_references_and_changes_nothing_else() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    let check = shop.stored::<Authentication>(&key).unwrap().check;
    let before = shop.payment(&check);
    let pairs = [("transactionKey", check.as_str()), ("merchantReference", "order 7")];
    assert_eq!(shop.call("update", &pairs).body, json!({"result": "OK"}));
    let after = Payment { merchant_reference: None, reference_added: false, ..shop.payment(&check) };
    assert_eq!(after, before);
    assert_eq!(shop.find(&[("transactionKey", &check)])[0]["merchantReference"], "order 7");
    press(&mut shop, &key, "authenticate");
    let paid = pay_with(&mut shop, "auth3DSecure", &key).key();
    assert_eq!(shop.find(&[("transactionKey", &paid)])[0]["merchantReference"], "order 7");
    assert!(shop.find(&[("merchantReference", "order 7")]).is_empty(), "an update has set it on the check (A99)");
}

#[test]
fn no_permission_is_needed() {
    let mut shop = Shop::open();
    let session = shop.session(CHALLENGE);
    let strict = Session { merchant: "strict".to_owned(), ..shop.stored(&session).unwrap() };
    shop.put(&strict);
    let answer = shop.call_as("strict", "initiate3DSecureSessionKey", &by_session(&session, &[]));
    assert_eq!(answer.code(), "607");
}
