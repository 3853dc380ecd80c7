//! Replies: sorted by fault, one line each, nothing secret in them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use bytes::Bytes;
use pg_model::{
    ApiRequest as _, Auth, AuthSessionKey, CardDetails, Currency, Dialect, EnterpriseRefund, ErrorCode, Initiate, Item,
    Order, Outcome, Refund, Remedy, Repeat, TokenLookup,
};
use pg_proto::{
    Account, BaseUrl, Credentials, Refused, ReplyError,
    machine::{
        Event, Machine as _, Moment,
        charge::{Charge, ChargeBounds},
    },
};

fn account() -> Account {
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("key", "password", "sha"))
        .with_dialect(sandbox())
}

fn sandbox() -> Dialect {
    Dialect::from_toml(include_str!("../../pg-sandbox/dialects/sandbox.toml")).unwrap()
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

// spec: 2 §2.3, A11: An unlisted status is neither approved nor declined.
// spec: 2 §7, A11: An unlisted status is neither approved nor declined.
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

/// What a payment is to do that is refused with each code of the tables. A client that follows it neither pays twice nor loses a
/// payment: `LookUp` where one may have been made, by this request or an earlier one.
const REMEDIES: &[(&[&str], Remedy)] = &[
    // Nothing was changed, and the same request would be refused again.
    (
        &[
            "101", "103", "104", "107", "108", "109", "110", "111", "120", "129", "133", "134", "135", "136", "180",
            "183", "184", "930", "931", "932", "933", "934", "935", "937", "938", "939", "940", "941", "942", "943",
            "944", "945", "946", "951", "955", "956", "957", "960", "963", "964", "970", "971", "975",
        ],
        Remedy::FixRequest,
    ),
    (&["102", "105", "123"], Remedy::FixCredentials),
    (&["121", "936"], Remedy::WaitOneMinute),
    (&["122"], Remedy::WaitFiveMinutes),
    // Reading again does nothing, and of a payment these say that the customer is not done, or that the service broke down.
    (&["181", "182", "961", "998", "999"], Remedy::Retry),
    // The bank may have paid; the reference, the authentication or the reservation was used.
    (&["119", "125", "950", "952", "953", "954", "962"], Remedy::LookUp),
    (&["106"], Remedy::AskOperator),
];

fn refused(status: u16, code: &str) -> Refused {
    let body = format!(r#"{{"errorCode":"{code}","traceCode":"1","errorMessage":""}}"#);
    match account().reply::<Initiate>(response(status, "application/json", &body)) {
        Err(ReplyError::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

// spec: 1 §7, A132: Each code has one remedy; for an unlisted code the HTTP status decides. A client that follows the
//   remedy neither pays twice nor loses a payment.
#[test]
fn every_code_has_the_remedy_that_loses_no_payment_and_doubles_none() {
    let sandbox = sandbox();
    let tables = ErrorCode::KNOWN.iter().map(|code| (code.as_str(), code.http_status()));
    let tables = tables.filter(|(code, _)| code.len() == 3);
    let own = sandbox.errors.iter().filter(|entry| !ErrorCode::KNOWN.contains(&entry.code));
    let invented = own.map(|entry| (entry.code.as_str(), entry.http));
    for (code, status) in tables.chain(invented) {
        let refused = refused(status.unwrap(), code);
        let told = REMEDIES.iter().find(|(codes, _)| codes.contains(&code)).map(|(_, remedy)| *remedy);
        let expected = told.unwrap_or_else(|| panic!("say here what a payment does that is refused with {code}"));
        assert_eq!(refused.remedy(), expected, "{code}");
        let broke_down = ["998", "999"].contains(&code);
        assert_eq!(refused.may_be_executed(), expected == Remedy::LookUp || broke_down, "{code}");
        let unseen = ["102", "105", "106", "121", "122", "123", "936"].contains(&code);
        assert_eq!(refused.spends_reference(), !unseen, "{code}");
    }
}

// spec: 3 §7, A112: Version 5 lists 1 and 3. A number of the other version has no meaning of its own.
#[test]
fn a_code_of_the_other_version_is_unlisted() {
    let documented = account().with_dialect(Dialect::documented());
    let of = |account: &Account, info, code: &str| {
        let body = format!("<serviceResponse><errorcode>{code}</errorcode></serviceResponse>");
        match account.reply_of(info, &response(400, "text/xml", &body)) {
            Err(ReplyError::Refused(refused)) => refused,
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    for (info, code) in [(EnterpriseRefund::INFO, "108"), (Repeat::INFO, "121"), (Refund::INFO, "3")] {
        let refused = of(&documented, info, code);
        assert!(!refused.is_known() && refused.meaning().is_none() && refused.assumption().is_none(), "{refused}");
        assert_eq!(refused.remedy(), Remedy::LookUp, "{refused}");
    }
    assert_eq!(
        of(&documented, EnterpriseRefund::INFO, "108").to_string(),
        "refused: 108 no message (HTTP 400): look it up, it may have been done already; the code is neither in the \
         documents of version 5 nor in the dialect, add an [[error]] entry with code \"108\" to the dialect"
    );
    let shared = of(&account(), EnterpriseRefund::INFO, "108");
    assert_eq!((shared.meaning(), shared.assumption()), (Some("Invalid card number"), Some(112)));
    assert_eq!(of(&account(), EnterpriseRefund::INFO, "3").assumption(), None);
    assert!(of(&documented, EnterpriseRefund::INFO, "3").is_known());
    assert!(!of(&account(), Refund::INFO, "3").is_known());
    // Nothing is concluded from 119 in either version.
    assert!(of(&documented, EnterpriseRefund::INFO, "119").may_be_executed());
}

// spec: 1 §7, A132
#[test]
fn remedies_follow_the_code_and_then_the_status() {
    for (status, code, expected, may_be_executed) in [
        (401, "102", Remedy::FixCredentials, false),
        (400, "119", Remedy::LookUp, true),
        (400, "950", Remedy::LookUp, true),
        // The documents name no code for a reference that was used: any other may mean it.
        (400, "777", Remedy::LookUp, false),
        (401, "777", Remedy::AskOperator, false),
        (403, "777", Remedy::AskOperator, false),
        (429, "777", Remedy::WaitOneMinute, false),
        (503, "777", Remedy::Retry, true),
        (500, "108", Remedy::FixRequest, true),
    ] {
        let refused = refused(status, code);
        assert_eq!((refused.remedy(), refused.may_be_executed()), (expected, may_be_executed), "{code}, HTTP {status}");
    }
}

#[test]
fn no_answer_from_the_bank_may_have_been_a_payment() {
    let body = r#"{"errorCode":"119","traceCode":"1","errorMessage":"No response from bank"}"#;
    assert!(account().reply::<AuthSessionKey>(response(400, "application/json", body)).unwrap_err().may_be_executed());
    let body = r#"{"errorCode":"108","traceCode":"1","errorMessage":"Invalid card number"}"#;
    assert!(!account().reply::<AuthSessionKey>(response(400, "application/json", body)).unwrap_err().may_be_executed());
}

// spec: 1 §7, A44: A reply that cannot be read is neither a success nor a refusal.
#[test]
fn an_unreadable_reply_may_have_been_executed_and_says_where_and_what() {
    for (status, kind, body, words) in [
        (200, "text/html", "<html>pan 4111111111111111</html>", "root element other than serviceResponse"),
        (200, "application/json", "{\"transactionStatusCode\":\"600\"", "is truncated JSON (line 1, column 31)"),
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

/// A service, or a proxy, may answer with the form that it received.
#[test]
fn a_reply_that_repeats_the_request_shows_no_secret() {
    let secrets = ["TheApiKey0123", "ThePassword0123", "987", "4111111111111111"];
    let account = Account::new(
        BaseUrl::parse("https://gateway.example").unwrap(),
        Credentials::new("TheApiKey0123", "ThePassword0123", "TheShaKey"),
    );
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    let payment = Auth::new(CardDetails::new("4111111111111111", "12", "49").cv2("987"), order);
    let form = account.request(&payment).unwrap().into_body();
    let form = std::str::from_utf8(&form).unwrap();
    let html = form.replace('&', "&amp;");
    let words = "Invalid cardNumber 4111111111111111, CV2 987, key TheApiKey0123, password ThePassword0123";
    let refusal = |message: &str| {
        format!(
            "<serviceResponse><errorCode>937</errorCode><traceCode>ThePassword0123</traceCode><errorMessage>{message}\
             </errorMessage><note><cardCV2>987</cardCV2><text>{message}</text></note></serviceResponse>"
        )
    };
    for body in [refusal(&html), refusal(words), format!("<html><pre>{html}</pre>"), form.to_owned(), words.to_owned()]
    {
        for status in [200, 400, 502] {
            let reply = || response(status, "text/html; x=4111111111111111; y=ThePassword0123", &body);
            let error = account.reply::<Auth>(reply()).unwrap_err();
            let mut charge = Charge::new(account.clone(), payment.clone(), ChargeBounds::default().lookups(0)).unwrap();
            let _ = charge.step(Event::Begin, Moment::from_millis(1), 0);
            let action = charge.step(Event::Reply(reply()), Moment::from_millis(2), 0);
            for shown in
                [format!("{error} {error:?} {error:#}"), format!("{action:?}"), charge.save().text().to_owned()]
            {
                for secret in secrets {
                    assert!(!shown.contains(secret), "{secret} of {body} is in {shown}");
                }
            }
        }
    }
}
