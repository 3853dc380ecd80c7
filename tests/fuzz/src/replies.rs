//! Replies as a client reads them: a value or an error of one line, which shows no card number.

use bytes::Bytes;
use http::Response;
use pg_model::{Auth, Encoding, METHODS, TransactionLookup, encode};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, ReplyError};

use crate::{
    dice::Dice,
    secrets::{API_KEY, API_PASSWORD, SHA_KEY, no_digits},
};

/// A client's account, with credentials that may not occur in any output.
pub(crate) fn account() -> Account {
    let base = |path| BaseUrl::parse(path).unwrap();
    Account::new(base("https://gateway.example"), Credentials::new(API_KEY, API_PASSWORD, SHA_KEY))
        .enterprise(base("https://gateway.example/enterprise"), EnterpriseCredentials::new(API_KEY, API_PASSWORD))
}

/// Reads any response as the reply of any method.
pub fn reply(input: &[u8]) {
    const TYPES: [&str; 5] = ["application/json", "text/xml", "text/html; charset=utf-8", "a/b", "\t"];
    let mut dice = Dice::new(input);
    let info = dice.one_of(METHODS);
    let status = match dice.below(4) {
        0 => 200,
        1 => 400,
        2 => 500,
        _ => 100 + u16::try_from(dice.below(900)).unwrap(),
    };
    let content_type = dice.one_of(&TYPES);
    let body = Bytes::copy_from_slice(dice.rest());
    let response = || {
        let mut built = Response::new(body.clone());
        *built.status_mut() = http::StatusCode::from_u16(status).unwrap();
        built.headers_mut().insert("content-type", http::HeaderValue::from_static(content_type));
        built
    };
    let account = account();
    let (first, again) = (account.reply_of(info, &response()), account.reply_of(info, &response()));
    match (first, again) {
        (Ok(first), Ok(again)) => assert_eq!(encode(&*first, Encoding::Json), encode(&*again, Encoding::Json)),
        (Err(first), Err(again)) => {
            assert_eq!(first, again);
            told(&first);
        }
        (first, again) => panic!("{:?} and {:?} of the same bytes", first.is_ok(), again.is_ok()),
    }
    let paid = account.reply::<Auth>(response());
    assert_eq!(paid, account.reply::<Auth>(response()));
    if let Err(error) = &paid {
        told(error);
    }
    drop(account.reply::<TransactionLookup>(response()));
}

fn told(error: &ReplyError) {
    let shown = error.to_string();
    assert!(!shown.contains(['\n', '\r', '\u{1b}']), "{shown:?}");
    no_digits(&shown);
    if let ReplyError::Unreadable(unreadable) = error {
        no_digits(&unreadable.excerpt);
        assert!(error.may_be_executed());
    }
    // Every code has a remedy.
    let _remedy = error.remedy();
}
