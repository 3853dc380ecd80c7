//! `session/initiate` (spec 2 §4.1).

use crate::session_and_tokens::{ERROR_PAGE, GOOD, Shop};

// spec: 2 §2.1: sessionKey has 32 letters and digits and is valid for 30 minutes.
// spec: 2 §4.1: The reply is HTTP 200 with a sessionKey of 32 letters and digits.
// spec: 2 §1.1; 2 §3.1; method session/initiate
#[test]
fn a_session_key_of_32_letters_and_digits_in_both_encodings() {
    let mut shop = Shop::new();
    let (one, two) = (shop.initiate(), shop.initiate());
    assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_alphanumeric()) && one != two);
    let pairs = [("errorPageUrl", ERROR_PAGE), ("merchantCustomerReference", "customer-7")];
    let xml = shop.xml("session/initiate", &pairs);
    let (before, after) = xml.split_once("<serviceResponse><sessionKey>").unwrap();
    assert!(before.starts_with("<?xml") && after.ends_with("</sessionKey></serviceResponse>"), "{xml}");
}

// spec: 2 §2.1 Fields of a session: errorPageUrl is the URL of the merchant's page for errors of the form.
// spec: 2 §4.1: A request without errorPageUrl gets HTTP 400 with 133.
// spec: 2 §1.1, A134; 2 §7, A40; 2 §7, A80; codes ErrorCode 133
#[test]
fn the_error_page_must_be_an_http_address() {
    let mut shop = Shop::new();
    assert_eq!(shop.refused("session/initiate", &[("merchantCustomerReference", "c")]), "133");
    let long = format!("https://shop.example/{}", "a".repeat(8 << 10));
    for page in [
        "",
        "/error",
        "javascript:alert(1)",
        "ftp://shop.example/",
        "https://",
        "https://shop.example/a b",
        "https://shop.example:80port/",
        &long,
    ] {
        assert_eq!(shop.refused("session/initiate", &[("errorPageUrl", page)]), "133", "{page}");
    }
    for page in ["http://localhost:3000/error", "https://shop.example/?a=b#c", "HTTPS://SHOP.EXAMPLE"] {
        shop.initiate_for(page);
    }
}

// spec: 2 §4.2: The form is posted to postform without credentials or signature; the encoding is that of the redirect
//   data.
// spec: 2 §5: postform is authenticated by the session key only.
// spec: 2 §3.1; 2 §4.1
#[test]
fn initiate_needs_credentials_and_the_card_form_does_not() {
    let mut shop = Shop::new();
    let unsigned = shop.send("/v3/session/initiate/json", format!("errorPageUrl={ERROR_PAGE}"));
    assert_eq!(unsigned.status(), 401);
    let session = shop.initiate();
    assert_eq!(shop.post(&session, GOOD).page(), crate::session_and_tokens::NEXT);
}
