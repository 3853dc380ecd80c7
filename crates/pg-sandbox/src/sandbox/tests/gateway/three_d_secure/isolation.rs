//! An authentication belongs to the account and the service that opened it.

use super::*;
use crate::records::Service;

#[test]
fn an_authentication_of_another_account_is_unknown() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    let before = shop.payments();
    for method in ["getAuthenticationStatus", "auth3DSecure", "preauth3DSecure"] {
        let theirs = shop.call_as("other", method, &[("authenticationKey", &key)]);
        let nobodys = shop.call_as("other", method, &[("authenticationKey", NO_KEY)]);
        assert_eq!((theirs.status, theirs.code()), (400, "960"), "{method}");
        assert_eq!(theirs.without_trace(), nobodys.without_trace(), "{method}");
        assert_eq!(theirs.basis, nobodys.basis, "{method}");
    }
    assert_eq!(shop.payments(), before);
    assert_eq!(pay_with(&mut shop, "auth3DSecure", &key).code(), "600");
}

#[test]
fn cards_of_another_account_are_not_checked() {
    let mut shop = Shop::open();
    let (session, token) = (shop.session(CHALLENGE), shop.token(CHALLENGE, ("01", "2030")));
    let answer = shop.call_as("other", "initiate3DSecureSessionKey", &by_session(&session, &[]));
    assert_eq!(answer.code(), "129");
    let answer = shop.call_as("other", "initiate3DSecureCardKey", &order(&[("cardKey", &token)]));
    assert_eq!(answer.code(), "940");
    assert!(shop.payments().is_empty());
}

#[test]
fn an_authentication_of_the_payment_page_cannot_pay_through_the_gateway() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    let hosted = Authentication { service: Service::V5, ..shop.stored(&key).unwrap() };
    shop.put(&hosted);
    for method in ["getAuthenticationStatus", "auth3DSecure", "preauth3DSecure"] {
        assert_eq!(pay_with(&mut shop, method, &key).code(), "960", "{method}");
    }
}
