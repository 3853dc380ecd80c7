//! `uniqueMerchantReference`: accepted once, whatever the result of the first request.

use pg_model::dialect::ReferenceAfterRefusal;

use super::*;

const UNIQUE: (&str, &str) = ("uniqueMerchantReference", "u-1");

// spec: 2 §2.3, A92: uniqueMerchantReference is accepted once, whatever the result of the first request, even with
//   fifty requests at the same time.
// spec: 2 §7, A93; codes SandboxErrorCode 950
#[test]
fn every_request_that_reaches_the_bank_uses_the_reference_up() {
    for (number, first) in [(PAN, "600"), (DECLINED, "901"), (POOR, "902"), (SILENT, "119")] {
        let mut shop = Shop::open();
        let answer = shop.call("auth", &raw(number, &[UNIQUE]));
        assert_eq!((answer.code(), answer.rests_on("A92")), (first, true), "{answer:?}");
        let recorded = shop.payments().len();
        let again = shop.call("auth", &raw(PAN, &[UNIQUE]));
        assert_eq!((again.status, again.code()), (400, "950"));
        assert_eq!(again.text("errorMessage"), "Unique merchant reference already used");
        assert_eq!(shop.payments().len(), recorded);
        let used: UniqueReference = shop.stored(&UniqueReference::key_of("main", "u-1")).unwrap();
        assert_eq!(used.transaction.as_deref(), answer.body["transactionKey"].as_str());
    }
}

// spec: 2 §4.3, A92: uniqueMerchantReference is rejected after its first request, by every method of the account.
#[test]
fn a_unique_reference_is_used_up_for_every_method() {
    const METHODS: [&str; 4] = ["auth", "preauth", "authSessionKey", "authCardKey"];
    for first in METHODS {
        let mut shop = Shop::open();
        let (session, token) = (shop.session(PAN), shop.token(PAN, ("01", "2030")));
        let pairs = |method: &str| match method {
            "authSessionKey" => order(&[("sessionKey", &session), UNIQUE]),
            "authCardKey" => order(&[("cardKey", &token), UNIQUE]),
            _ => raw(PAN, &[UNIQUE]),
        };
        assert_eq!(shop.call(first, &pairs(first)).code(), "600", "{first}");
        for second in METHODS {
            assert_eq!(shop.call(second, &pairs(second)).code(), "950", "{first} {second}");
        }
    }
}

// spec: 2 §4.3, A92
#[test]
fn a_refused_request_uses_up_its_unique_reference() {
    for change in [
        ("cardNumber", "4111111111111112"),
        ("cardExpiryMonth", "04"),
        ("cardCV2", "1"),
        ("currency", "SEK"),
        ("itemPrice0", "0"),
        ("terminalKey", "nowhere"),
        ("merchantReference", "a reference that has more than 32 characters"),
    ] {
        let mut shop = Shop::open();
        let refused = shop.call("auth", &raw(PAN, &[UNIQUE, change]));
        assert_eq!((refused.status, refused.rests_on("A92")), (400, true), "{change:?}");
        assert_ne!(refused.code(), "950", "{change:?}");
        assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE])).code(), "950", "{change:?}");
        assert!(shop.payments().is_empty());
        assert!(shop.find(&[UNIQUE]).is_empty());
    }
    let mut shop = Shop::open();
    let token = shop.token(PAN, ("01", "2030"));
    let refused = order(&[("cardKey", &token), UNIQUE, ("merchantCustomerReference", "customer-8")]);
    assert_eq!(shop.call("authCardKey", &refused).code(), "941");
    assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE])).code(), "950");
}

// spec: 2 §4.3, A92
#[test]
fn a_request_without_credentials_rate_or_permission_uses_up_no_reference() {
    let mut shop = Shop::open();
    let merchant = account("main");
    let good = signed(&merchant, &raw(PAN, &[UNIQUE]));
    for (from, to, code) in [
        (format!("apiPassword={}", merchant.api_password.expose()), "apiPassword=wrong".to_owned(), "102"),
        ("itemPrice0=499".to_owned(), "itemPrice0=498".to_owned(), "123"),
    ] {
        let body = good.replace(&from, &to);
        let response = shop.sandbox.handle(shop.at, request(Method::POST, "/v3/transaction/auth/json", body));
        assert!(text(&response).1.contains(&format!("\"errorCode\":\"{code}\"")), "{response:?}");
    }
    assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE])).code(), "600");
    // The account `strict` may not send raw cards, and may send 100 requests a minute.
    for _ in 0..100 {
        assert_eq!(shop.call_as("strict", "auth", &raw(PAN, &[UNIQUE])).code(), "106");
    }
    assert_eq!(shop.call_as("strict", "auth", &raw(PAN, &[UNIQUE])).code(), "936");
    let key = UniqueReference::key_of("strict", "u-1");
    assert!(shop.stored::<UniqueReference>(&key).is_none());
}

// spec: 2 §2.3, A92
#[test]
fn fifty_at_once_make_one_payment() {
    let mut shop = Shop::open();
    let body = signed(&account("main"), &raw(PAN, &[UNIQUE]));
    let group = (0..50).map(|_| request(Method::POST, "/v3/transaction/auth/json", body.clone())).collect();
    let responses = shop.sandbox.handle_group(now(), group);
    let statuses: Vec<u16> = responses.iter().map(|response| response.status().as_u16()).collect();
    assert_eq!((statuses[0], &statuses[1..]), (200, &[400; 49][..]));
    assert_eq!(shop.payments().len(), 1);
}

// spec: 2 §4.3, A92
#[test]
fn unique_references_are_compared_exactly_and_within_the_account() {
    let mut shop = Shop::open();
    let longest = "u".repeat(128);
    for value in ["u-1", "U-1", "u-1 ", "ü-1", longest.as_str()] {
        let unique = ("uniqueMerchantReference", value);
        assert_eq!(shop.call("auth", &raw(PAN, &[unique])).code(), "600", "{value}");
        assert_eq!(shop.call_as("other", "auth", &raw(PAN, &[unique])).code(), "600", "{value}");
        assert_eq!(shop.call("auth", &raw(PAN, &[unique])).code(), "950", "{value}");
    }
    let too_long = format!("{longest}u");
    assert_eq!(shop.call("auth", &raw(PAN, &[("uniqueMerchantReference", &too_long)])).code(), "125");
    for _ in 0..2 {
        assert_eq!(shop.call("auth", &raw(PAN, &[("uniqueMerchantReference", "")])).code(), "600");
    }
}

// spec: 2 §2.3, A92
#[test]
fn a_unique_reference_stays_used_up_for_ever() {
    let mut shop = Shop::open();
    assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE])).code(), "600");
    shop.wait(10 * 365 * 24 * 60 * 60);
    assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE, ("cardExpiryYear", "40")])).code(), "950");
}

// spec: 2 §4.3, A92, A93
#[test]
fn where_refusals_free_their_reference_a_silent_bank_still_uses_it_up() {
    let mut dialect = (*crate::dialect()).clone();
    dialect.refused_reference = Some(ReferenceAfterRefusal::Free);
    let dialect = Arc::new(dialect);
    for (first, code, then) in [(("cardCV2", "1"), "110", "600"), (("cardNumber", SILENT), "119", "950")] {
        let settings = Settings::default().dialect(Arc::clone(&dialect));
        let mut shop = Shop { sandbox: empty_with(settings), at: now() };
        assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE, first])).code(), code);
        assert_eq!(shop.call("auth", &raw(PAN, &[UNIQUE])).code(), then, "{code}");
    }
}
