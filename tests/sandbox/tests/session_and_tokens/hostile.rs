//! Forms from people who mean no good.

use http::Method;
use proptest::prelude::*;

use crate::session_and_tokens::{CURRENT, ERROR_PAGE, GOOD, NEXT, PAN, Shop, with};

#[test]
fn script_comes_back_as_text_inside_the_encryption() {
    let script = "<script>alert('1')</script>\"]]>&amp;";
    let mut shop = Shop::new();
    let session = shop.initiate();
    let changes = [("cardholderName", script), ("collect<b>", script), ("cardExpiryMonth", script)];
    let landing = shop.post(&session, &with(GOOD, &changes));
    assert!(landing.page() == CURRENT && !landing.location.contains(['<', '"', '\'']));
    assert_eq!(landing.json()["cardholderName"], script);
    let body = serde_urlencoded::to_string(with(&with(GOOD, &changes), &[("sessionKey", &session)])).unwrap();
    let landing = shop.post_raw("/v3/session/postform/xml", body);
    assert!(!landing.text.contains("<script>") && !landing.text.contains("collect<b>"), "{}", landing.text);
    assert_eq!(landing.shown().cardholder_name, script);
    assert_eq!(landing.shown().card_expiry_month, script);
}

#[test]
fn only_http_addresses_are_redirected_to() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    for address in [
        "javascript:alert(1)",
        "JavaScript://shop.example/%0aalert(1)",
        "data:text/html,<script>",
        "file:///etc/passwd",
        "//other.example/",
        "/session-error",
        "https:other.example",
        "https:\\\\other.example",
        "https://shop.example\\.other.example/",
        "https://shop.example/\r\nLocation: https://other.example/",
        "https://shop.example/\u{85}x",
        "\thttps://shop.example/",
        "https://shop.example/<script>",
        "https://",
    ] {
        let next = shop.post(&session, &with(GOOD, &[("nextPageUrl", address)]));
        assert_eq!((next.page(), next.faults()), (CURRENT, vec![("nextPageUrl".into(), "134".into())]), "{address}");
        let current = shop.post(&session, &with(GOOD, &[("currentPageUrl", address), ("cardNumber", "1")]));
        assert_eq!((current.page(), current.error().as_str()), (ERROR_PAGE, "135"), "{address}");
    }
}

// spec: 2 §4.2, A79
#[test]
fn without_a_session_no_address_of_the_form_is_gone_to() {
    let mut shop = Shop::new();
    let form = with(GOOD, &[("nextPageUrl", "https://other.example/"), ("currentPageUrl", "https://other.example/")]);
    for session in ["", "x", "' OR 1=1 --", "../../etc", "%00"] {
        assert_eq!(shop.post(session, &form).location, "/session-error?errorCode=129");
    }
}

#[test]
fn encoded_line_breaks_stay_encoded() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let address = "https://shop.example/next?x=%0d%0aSet-Cookie:%20a=b";
    let landing = shop.post(&session, &with(GOOD, &[("nextPageUrl", address)]));
    assert!(landing.location.starts_with("https://shop.example/next?x=%0d%0aSet-Cookie:%20a=b&data="));
}

// spec: 2 §4.2, A135: A URL that is too long, or would be with the data, is refused.
#[test]
fn long_names_come_back_and_endless_ones_do_not() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let long = "é".repeat(5_000);
    let landing = shop.post(&session, &with(GOOD, &[("cardholderName", &long)]));
    assert!(landing.page() == NEXT && landing.shown().cardholder_name == long);
    let endless = "n".repeat(70_000);
    for name in ["cardholderName", "collectNote", "cardExpiryMonth", "cardNumber"] {
        let landing = shop.post(&session, &with(GOOD, &[(name, &endless)]));
        assert_eq!((landing.page(), landing.error().as_str()), (ERROR_PAGE, "931"), "{name}");
    }
    // Nothing of the refused forms was kept.
    assert_eq!(shop.post(&session, GOOD).shown().collect.iter().len(), 0);
}

#[test]
fn a_body_beyond_the_limit_leads_to_the_sandboxs_own_page() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let body = format!("sessionKey={session}&collectX={}", "x".repeat(1 << 20));
    assert_eq!(shop.post_raw("/v3/session/postform/json", body).location, "/session-error?errorCode=129");
}

// spec: 2 §1.1, A101: No reply contains a whole card number or any CV2; the CV2 is never stored.
#[test]
fn a_card_number_in_the_wrong_place_is_masked_there_too() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let note = format!("my card is {PAN}.");
    let changes = [
        ("cardholderName", PAN),
        ("collectNote", &note),
        (&*format!("collect{PAN}"), "x"),
        ("customerFirstName", PAN),
        ("cardDescription", PAN),
    ];
    let landing = shop.post(&session, &with(GOOD, &changes));
    assert_eq!(landing.json()["cardholderName"], "400000******1000");
    assert_eq!(landing.json()["collectNote"], "my card is 400000******1000.");
    let order = [("sessionKey", session.as_str()), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    let paid = shop.done("transaction/authSessionKey", &order);
    let transaction = paid["transactionKey"].as_str().unwrap();
    let token = shop.done("token/tokeniseTransactionKey", &[("transactionKey", transaction)]);
    assert!(!token.to_string().contains(PAN), "{token}");
}

#[test]
fn any_bytes_lead_somewhere() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let own = ["/session-error?errorCode=129", ERROR_PAGE];
    for body in [&b"\0\xff\xfe"[..], b"&&&&", b"====", b"%", b"sessionKey", b"sessionKey[]=1", b"{\"sessionKey\":1}"] {
        let landing = shop.post_raw("/v3/session/postform", body.to_vec());
        assert!(own.contains(&landing.page()), "{body:?}");
    }
    let named = shop.post_raw("/v3/session/postform", [b"\xff=\xff&sessionKey=", session.as_bytes()].concat());
    assert_eq!((named.page(), named.error().as_str()), (ERROR_PAGE, "930"));
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::HEAD, Method::OPTIONS] {
        assert_eq!(shop.ask(method, "/v3/session/postform/json", "").status(), 400);
    }
}

const FIELDS: &[&str] = &[
    "cardNumber",
    "cardExpiryMonth",
    "cardExpiryYear",
    "cardExpiryDate",
    "cardCV2",
    "cardholderName",
    "cardholderAddressPostcode",
    "formId",
    "nextPageUrl",
    "currentPageUrl",
    "collectNote",
    "collect",
    "customerEmail",
    "unknown",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_values_lead_to_a_page_of_the_merchant_with_data_that_can_be_read(
        values in proptest::collection::btree_map(proptest::sample::select(FIELDS), "\\PC{0,30}|[0-9]{0,20}|.{0,40}", 0..6),
        xml in any::<bool>(),
    ) {
        let mut shop = Shop::new();
        let session = shop.initiate();
        let changes: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let form = with(&with(GOOD, &changes), &[("sessionKey", &session)]);
        let path = if xml { "/v3/session/postform/xml" } else { "/v3/session/postform/json" };
        let landing = shop.post_raw(path, serde_urlencoded::to_string(form).unwrap());
        match landing.page() {
            NEXT => prop_assert!(landing.faults().is_empty()),
            CURRENT => prop_assert!(!landing.faults().is_empty()),
            page => {
                prop_assert_eq!(page, ERROR_PAGE);
                landing.error();
            }
        }
    }
}
