//! Redirects from the card form, and callbacks of the account updater.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use bytes::Bytes;
use pg_model::ErrorCode;
use pg_proto::{
    Account, BaseUrl, CallbackError, CardFormResult, Credentials, Redirect, RedirectError, RedirectProblem,
    UpdaterHint, crypto::DecryptProblem,
};

const API_KEY: &str = "0123456789abcdef0123456789abcdef";
const IV: &str = "fedcba9876543210";

fn account() -> Account {
    let credentials = Credentials::new(API_KEY, "password", "sha");
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), credentials)
}

/// An address as the service makes it.
fn address(plaintext: &str) -> String {
    let data = account().session_cipher().unwrap().encrypt(plaintext, IV).unwrap();
    let query: String = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("formId", "card"), ("data", &data), ("iv", IV)])
        .finish();
    format!("https://shop.example/card?order=7&data=mine&{query}#top")
}

#[test]
fn valid_input_comes_back_masked() {
    let json = r#"{"cardholderName":"A Holder","cardNumber":"411111******1111","cardExpiryMonth":"12","cardExpiryYear":"2030","cardCV2":"","collectNote":"gift"}"#;
    assert_eq!(Redirect::parse(&address(json)).unwrap().form_id, "card");
    let CardFormResult::Accepted(data) = account().redirect(&address(json)).unwrap() else { panic!("not accepted") };
    assert_eq!(data.get().card_number.expose(), "411111******1111");
    assert_eq!(data.get().collect.get("collectNote"), Some("gift"));
}

#[test]
fn invalid_fields_are_named() {
    let xml = "<serviceResponse><cardNumber>411111******1112</cardNumber><errors><cardNumber><errorCode>108</errorCode>\
               <traceCode>1</traceCode><errorMessage>Invalid card number</errorMessage></cardNumber></errors></serviceResponse>";
    let CardFormResult::Invalid(data) = account().redirect(&address(xml)).unwrap() else { panic!("not invalid") };
    let errors = &data.get().errors;
    assert_eq!(errors.get("cardNumber").map(|error| &error.error_code), Some(&ErrorCode::INVALID_CARD_NUMBER));
}

#[test]
fn a_form_that_could_not_be_processed_is_an_error() {
    let json = r#"{"errorCode":"134","traceCode":"123456789","errorMessage":"Next page URL not supplied"}"#;
    let CardFormResult::Failed(error) = account().redirect(&address(json)).unwrap() else { panic!("no error") };
    assert_eq!(error.get().error_code, ErrorCode::NEXT_PAGE_URL_NOT_SUPPLIED);
}

// spec: 2 §2.2: Errors are present only if a field is invalid, and an error code only if the form could not be processed.
#[test]
fn errors_of_another_shape_are_errors() {
    for text in [
        r#"{"cardNumber":"411111******1112","errors":[{"field":"cardNumber","errorCode":"108"}]}"#,
        r#"{"errors":"108"}"#,
        "<serviceResponse><cardNumber>411111******1112</cardNumber><errors>108</errors></serviceResponse>",
    ] {
        let read = account().redirect(&address(text)).unwrap();
        assert!(matches!(&read, CardFormResult::Invalid(data) if data.get().extra.get("errors").is_some()), "{text}");
    }
    let read = account().redirect(&address(r#"{"errorCode":["136"]}"#)).unwrap();
    assert!(matches!(&read, CardFormResult::Failed(error) if error.get().extra.get("errorCode").is_some()), "{read:?}");
    for text in [r#"{"errors":[],"errorCode":""}"#, r#"{"errors":{},"errorCode":null}"#] {
        assert!(matches!(account().redirect(&address(text)), Ok(CardFormResult::Accepted(_))), "{text}");
    }
}

#[test]
fn other_addresses_are_reported_as_no_redirect() {
    let missing = account().redirect("https://shop.example/card?order=7");
    assert_eq!(missing, Err(RedirectError::Missing("data")));
    let other =
        Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("f".repeat(32), "p", "s"));
    let unreadable = other.redirect(&address("{}")).unwrap_err();
    assert!(matches!(unreadable, RedirectError::Unreadable(_)));
    assert_eq!(unreadable.to_string(), "session data cannot be read: wrong key, wrong iv, or damaged data");
    for plaintext in ["", "no data", "[]", "{", "{broken}", "<a>", "<a></b>"] {
        assert_eq!(account().redirect(&address(plaintext)), Err(unreadable.clone()), "{plaintext}");
    }
    let short = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("short", "p", "s"));
    assert!(matches!(short.redirect(&address("{}")), Err(RedirectError::Key(_))));
}

#[test]
fn causes_are_explained_to_developers_only() {
    let cipher = account().session_cipher().unwrap();
    let explained = |address: &str| Redirect::parse(address).unwrap().explain_locally(&cipher);
    assert_eq!(explained(&address("{}")), None);
    let problem = explained(&address("no data")).unwrap();
    assert_eq!(problem.to_string(), "decrypted, but the body is neither XML nor JSON");
    let cut = "https://shop.example/?data=AAAA&iv=fedcba9876543210";
    let problem = RedirectProblem::Decrypt(DecryptProblem::NotWholeBlocks { bytes: 3 });
    assert_eq!(explained(cut), Some(problem));
}

fn callback(method: &str, body: &str) -> http::Request<Bytes> {
    http::Request::builder().method(method).body(Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

// spec: 1 §6, A133: Its batchKey identifies the request. It is not signed, so the result is retrieved before it is
//   trusted.
#[test]
fn a_callback_is_a_hint_that_a_lookup_confirms() {
    let body = r#"{"batchKey":"0123456789abcdef0123456789abcdef","createdOn":"2026-01-01T00:00:00+00:00","cardKeyDetails":[{"oldCardKey":"a","response":"706"}]}"#;
    let hint = UpdaterHint::read(&callback("POST", body)).unwrap();
    assert_eq!(hint.confirm().batch_key, "0123456789abcdef0123456789abcdef");
    assert_eq!(hint.claimed().card_key_details.len(), 1);
    assert_eq!(UpdaterHint::read(&callback("GET", body)), Err(CallbackError::NotPost(http::Method::GET)));
    assert!(matches!(UpdaterHint::read(&callback("POST", "no batch")), Err(CallbackError::Unreadable(_))));
    let refusal = r#"{"errorCode":"182","traceCode":"1","errorMessage":"pending"}"#;
    assert_eq!(UpdaterHint::read(&callback("POST", refusal)), Err(CallbackError::Missing("batchKey")));
}
