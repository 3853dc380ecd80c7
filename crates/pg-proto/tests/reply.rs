//! Replies: sorted by fault, one line each, nothing secret in them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use bytes::Bytes;
use pg_model::{AuthSessionKey, ErrorCode, Initiate, Outcome, Remedy, TokenLookup};
use pg_proto::{Account, BaseUrl, Credentials, ReplyError};

fn account() -> Account {
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("key", "password", "sha"))
}

fn response(status: u16, content_type: &str, body: &str) -> http::Response<Bytes> {
    let builder = http::Response::builder().status(status).header("content-type", content_type);
    builder.body(Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

fn transaction(code: &str) -> http::Response<Bytes> {
    let body = format!(
        "<serviceResponse><transactionStatusCode>{code}</transactionStatusCode><transactionStatus>S</transactionStatus>\
         <transactionType>Auth</transactionType><transactionKey>k</transactionKey></serviceResponse>"
    );
    response(200, "application/xml", &body)
}

#[test]
fn a_decline_is_an_outcome_and_an_unknown_status_is_neither() {
    let outcome = |code| account().reply::<AuthSessionKey>(transaction(code)).unwrap();
    assert!(matches!(outcome("600"), Outcome::Approved(_)));
    assert!(matches!(outcome("901"), Outcome::Declined(_)));
    for code in ["601", "607", "0600", "60", "A"] {
        assert!(matches!(outcome(code), Outcome::Other(_)), "{code}");
    }
}

#[test]
fn an_error_code_is_a_refusal_whatever_the_status() {
    let xml = "<serviceResponse><errorCode>133</errorCode><traceCode>123456789</traceCode>\
               <errorMessage>Error page URL not supplied</errorMessage></serviceResponse>";
    for status in [200, 400, 500] {
        let error = account().reply::<Initiate>(response(status, "application/xml", xml)).unwrap_err();
        let ReplyError::Refused(refused) = &error else { panic!("{error:?}") };
        assert_eq!(*refused.code(), ErrorCode::ERROR_PAGE_URL_NOT_SUPPLIED);
        assert_eq!(error.remedy(), Remedy::FixRequest);
        let line =
            format!("refused: 133 Error page URL not supplied (trace code 123456789, HTTP {status}): fix the request");
        assert_eq!(error.to_string(), line);
    }
}

#[test]
fn remedies_follow_the_code_and_then_the_status() {
    let remedy = |status, code: &str| {
        let body = format!(r#"{{"errorCode":{code},"traceCode":"1","errorMessage":""}}"#);
        account().reply::<Initiate>(response(status, "application/json", &body)).unwrap_err().remedy()
    };
    for (status, code, expected) in [
        (401, "102", Remedy::FixCredentials),
        (403, "106", Remedy::AskOperator),
        (403, "121", Remedy::WaitOneMinute),
        (403, "122", Remedy::WaitFiveMinutes),
        (400, "119", Remedy::Retry),
        (400, "\"950\"", Remedy::FixRequest),
        (401, "777", Remedy::FixCredentials),
        (503, "777", Remedy::Retry),
    ] {
        assert_eq!(remedy(status, code), expected, "{code} with HTTP {status}");
    }
}

#[test]
fn no_answer_from_the_bank_may_have_been_a_payment() {
    let body = r#"{"errorCode":"119","traceCode":"1","errorMessage":"No response from bank"}"#;
    assert!(account().reply::<AuthSessionKey>(response(400, "application/json", body)).unwrap_err().may_be_executed());
    let body = r#"{"errorCode":"108","traceCode":"1","errorMessage":"Invalid card number"}"#;
    assert!(!account().reply::<AuthSessionKey>(response(400, "application/json", body)).unwrap_err().may_be_executed());
}

#[test]
fn an_unreadable_reply_may_have_been_executed_and_says_where_and_what() {
    for (status, kind, body, words) in [
        (200, "text/html", "<html>pan 4111111111111111</html>", "root element other than serviceResponse"),
        (
            200,
            "application/json",
            "{\"transactionStatusCode\":\"600\"",
            "ends before its JSON does (line 1, column 30)",
        ),
        (200, "application/json", "", "is empty"),
        (
            200,
            "application/xml",
            "<serviceResponse><transactionKey>k</transactionKey></serviceResponse>",
            "lacks transactionStatusCode",
        ),
        (502, "text/plain", "Bad gateway\r\nx", "neither XML nor JSON"),
        (500, "application/json", "{\"transactionStatusCode\":\"600\"}", "names no error code"),
    ] {
        let error = account().reply::<AuthSessionKey>(response(status, kind, body)).unwrap_err();
        let text = error.to_string();
        assert!(error.may_be_executed() && matches!(error, ReplyError::Unreadable(_)), "{text}");
        assert!(text.contains(words), "{text}");
        assert!(
            text.contains("may have been executed") && text.contains(kind) && text.contains(&status.to_string()),
            "{text}"
        );
        assert!(!text.contains("4111111111111111") && !text.contains('\n'), "{text}");
    }
}

#[test]
fn json_of_something_else_is_no_empty_lookup() {
    let error =
        account().reply::<TokenLookup>(response(200, "application/json", r#"{"message":"proxy"}"#)).unwrap_err();
    assert!(matches!(error, ReplyError::Unreadable(_)), "{error}");
    let empty = account().reply::<TokenLookup>(response(200, "application/json", r#"{"cardKeyDetails":[]}"#)).unwrap();
    assert!(empty.card_key_details.is_empty());
}
