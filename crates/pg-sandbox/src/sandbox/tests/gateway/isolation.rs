//! One account cannot see or use records of another.

use super::*;

// spec: 2 §5, A56: An account can neither see nor use anything of another account: to it, the other's keys do not
//   exist.
// spec: codes SandboxErrorCode 943
#[test]
fn keys_of_other_accounts_are_unknown() {
    let mut shop = Shop::open();
    let references = [("merchantReference", "order 7"), ("uniqueMerchantReference", "u-1")];
    let auth = shop.call("auth", &raw(PAN, &references)).key();
    let preauth = reserve(&mut shop, 1000);
    let before = shop.payments();
    for (method, key) in
        [("capturepreauth", &preauth), ("cancelpreauth", &preauth), ("refund", &auth), ("update", &auth)]
    {
        let mut ask =
            |key| shop.call_as("other", method, &[("transactionKey", key), ("merchantCustomerReference", "x")]);
        let (theirs, nobodys) = (ask(key), ask(NO_KEY));
        assert_eq!((theirs.status, theirs.code()), (400, "943"), "{method}");
        assert_eq!(theirs.without_trace(), nobodys.without_trace(), "{method}");
        assert_eq!(theirs.basis, nobodys.basis, "{method}");
    }
    for pairs in [
        &[("transactionKey", auth.as_str())][..],
        &[("merchantReference", "order 7")],
        &[("uniqueMerchantReference", "u-1")],
    ] {
        let answer = shop.call_as("other", "lookup", pairs);
        assert_eq!((answer.status, &answer.body), (200, &json!({"transactions": {}})), "{pairs:?}");
    }
    assert_eq!(shop.payments(), before);
}

// spec: 2 §5, A56
#[test]
fn cards_of_another_account_do_not_pay() {
    let mut shop = Shop::open();
    let (session, token) = (shop.session(PAN), shop.token(PAN, ("01", "2030")));
    for (method, name, key, wanted) in
        [("authSessionKey", "sessionKey", &session, "129"), ("authCardKey", "cardKey", &token, "940")]
    {
        let theirs = shop.call_as("other", method, &order(&[(name, key)]));
        let nobodys = shop.call_as("other", method, &order(&[(name, NO_KEY)]));
        assert_eq!((theirs.code(), theirs.without_trace()), (wanted, nobodys.without_trace()));
        assert_eq!(theirs.basis, nobodys.basis);
    }
    assert!(has_cv2(&mut shop.sandbox, &session));
    assert!(shop.payments().is_empty());
}
