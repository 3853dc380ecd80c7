//! Lookups of transactions.

use super::*;

/// Two payments, and a capture and a refund of one of them.
fn recorded() -> (Shop, [String; 4]) {
    let mut shop = Shop::open();
    let first = [("merchantReference", "order 7"), ("uniqueMerchantReference", "u-1")];
    let preauth = shop.call("preauth", &raw(PAN, &first)).key();
    let second = [("merchantReference", "order 7"), ("merchantCustomerReference", "customer-7")];
    let declined = shop.call("auth", &raw(POOR, &second)).text("transactionKey").to_owned();
    shop.wait(60);
    let capture = shop.operate("capturepreauth", &preauth, Some(300)).key();
    let refund = shop.operate("refund", &capture, None).key();
    pay(&mut shop, 5);
    (shop, [preauth, declined, capture, refund])
}

fn keys(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["transactionKey"].as_str().unwrap()).collect()
}

// spec: 2 §2.3: merchantReference may be reused and is stored.
// spec: 2 §2.3: merchantCustomerReference is stored.
// spec: 2 §2.3, A21: The fields of a transaction that lookup returns.
// spec: 2 §3.2, A21: A transaction shows its type and its status, and no other state.
// spec: 2 §4.4, A21: lookup returns the reply to the payment and everything stored with it.
#[test]
fn a_row_holds_the_reply_and_what_was_recorded() {
    let (mut shop, [preauth, declined, capture, _]) = recorded();
    let rows = shop.find(&[("transactionKey", &capture)]);
    let row = rows[0].as_object().unwrap();
    let names: Vec<_> = row.keys().map(String::as_str).collect();
    let wanted = [
        "transactionStatusCode",
        "transactionStatus",
        "transactionType",
        "transactionKey",
        "bankAuthCode",
        "bankTransId",
        "bankResponseCode",
        "bankResponseMessage",
        "bankOrderId",
        "merchantReference",
        "currency",
        "transactionValue",
        "originalTransactionKey",
        "createdOn",
    ];
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>(), wanted.iter().collect());
    assert_eq!((&row["transactionType"], &row["transactionValue"]), (&json!("Capture"), &json!("300")));
    assert_eq!((&row["currency"], &row["originalTransactionKey"]), (&json!("GBP"), &json!(preauth)));
    assert_eq!(row["createdOn"], "2026-05-04T10:01:00+00:00");
    let rows = shop.find(&[("transactionKey", &declined)]);
    assert_eq!((&rows[0]["transactionStatusCode"], &rows[0]["bankResponseCode"]), (&json!("902"), &json!("51")));
    assert_eq!(rows[0]["merchantCustomerReference"], "customer-7");
    assert!(rows[0].get("uniqueMerchantReference").is_none());
}

// spec: 2 §4.4, A99, A43: lookup searches by each parameter; a result matches all given parameters.
// spec: method transaction/lookup
#[test]
fn every_parameter_finds_and_all_that_are_given_must_match() {
    let (mut shop, [preauth, declined, capture, refund]) = recorded();
    let (key, reference, unique) = ("transactionKey", "merchantReference", "uniqueMerchantReference");
    assert_eq!(keys(&shop.find(&[(key, &declined)])), [&declined]);
    assert_eq!(keys(&shop.find(&[(reference, "order 7")])), [&preauth, &declined, &capture, &refund]);
    assert_eq!(keys(&shop.find(&[(unique, "u-1")])), [&preauth]);
    assert_eq!(keys(&shop.find(&[(key, &capture), (reference, "order 7")])), [&capture]);
    assert_eq!(keys(&shop.find(&[(key, &preauth), (unique, "u-1")])), [&preauth]);
    assert_eq!(keys(&shop.find(&[(reference, "order 7"), (unique, "u-1")])), [&preauth]);
    assert_eq!(keys(&shop.find(&[(key, &preauth), (reference, "order 7"), (unique, "u-1")])), [&preauth]);
    assert_eq!(keys(&shop.find(&[(key, &preauth), (reference, ""), (unique, "")])), [&preauth]);
    for pairs in [
        &[(key, preauth.as_str()), (reference, "order 8")][..],
        &[(key, &capture), (unique, "u-1")],
        &[(reference, "order 8"), (unique, "u-1")],
        &[(key, &preauth), (reference, "order 7"), (unique, "u-2")],
        &[(reference, "Order 7")],
        &[(unique, "U-1")],
        &[(key, NO_KEY)],
    ] {
        assert!(shop.find(pairs).is_empty(), "{pairs:?}");
    }
}

#[test]
fn the_basis_names_what_was_assumed() {
    let (mut shop, [preauth, ..]) = recorded();
    assert_eq!(shop.call("lookup", &[("transactionKey", &preauth)]).basis, "2 4.4, A21, A41, A131");
    let both = [("transactionKey", preauth.as_str()), ("merchantReference", "order 7")];
    assert_eq!(shop.call("lookup", &both).basis, "2 4.4, A21, A41, A99, A131");
    assert_eq!(shop.call("lookup", &[("transactionKey", NO_KEY)]).basis, "2 4.4, A41, A43, A131");
    // A capture and a refund copied the reference.
    let reference = [("merchantReference", "order 7")];
    assert_eq!(shop.call("lookup", &reference).basis, "2 4.4, A21, A41, A94, A99, A131");
    assert_eq!(shop.call("lookup", &[("uniqueMerchantReference", "u-1")]).basis, "2 4.4, A21, A41, A131");
    // An update has set it.
    let other = pay(&mut shop, 7);
    shop.call("update", &[("transactionKey", &other), ("merchantReference", "order 8")]);
    assert_eq!(shop.call("lookup", &[("merchantReference", "order 8")]).basis, "2 4.4, A41, A43, A99, A131");
}

// spec: 2 §4.4, A109
#[test]
fn a_lookup_that_finds_check_and_payment_names_the_assumption_about_their_reference() {
    let mut shop = Shop::open();
    let unique = [("uniqueMerchantReference", "u-1")];
    let key = three_d_secure::answered(&mut shop, three_d_secure::CHALLENGE, "authenticate", &unique);
    assert_eq!(shop.call("lookup", &unique).basis, "2 4.4, A21, A41, A131");
    assert_eq!(shop.call("auth3DSecure", &[("authenticationKey", &key)]).code(), "600");
    assert_eq!(shop.call("lookup", &unique).basis, "2 4.4, A21, A41, A109, A131");
}

// spec: 2 §4.4, A68: lookup without a parameter is an error.
#[test]
fn an_empty_search_is_an_error() {
    let (mut shop, _) = recorded();
    for pairs in [&[][..], &[("transactionKey", ""), ("merchantReference", "")], &[("unknown", "x")]] {
        let answer = shop.call("lookup", pairs);
        assert_eq!((answer.status, answer.code(), answer.rests_on("A68")), (400, "101", true), "{answer:?}");
    }
    assert_eq!(shop.call("lookup", &[("transactionKey", "short")]).code(), "937");
}

// spec: 2 §7, A93: A bank that does not respond gives 119, whether it charged or not, and the reference is used up.
#[test]
fn a_payment_without_a_response_from_the_bank_is_not_found() {
    let mut shop = Shop::open();
    let references = [("merchantReference", "order 7"), ("uniqueMerchantReference", "u-1")];
    assert_eq!(shop.call("auth", &raw(SILENT, &references)).code(), "119");
    assert!(shop.find(&[("uniqueMerchantReference", "u-1")]).is_empty());
    assert!(shop.find(&[("merchantReference", "order 7")]).is_empty());
}

// spec: 2 §4.4, A99: lookup by merchantReference finds only transactions that were created with it.
#[test]
fn a_reference_that_was_added_later_is_shown_and_does_not_find() {
    let mut shop = Shop::open();
    let key = pay(&mut shop, 100);
    assert_eq!(shop.call("update", &[("transactionKey", &key), ("merchantReference", "order 7")]).status, 200);
    assert_eq!(shop.find(&[("transactionKey", &key)])[0]["merchantReference"], "order 7");
    assert!(shop.find(&[("merchantReference", "order 7")]).is_empty());
    let both = [("transactionKey", key.as_str()), ("merchantReference", "order 7")];
    assert_eq!(shop.find(&both).len(), 1, "the recorded reference matches");
    assert!(shop.find(&[both[0], ("merchantReference", "order 8")]).is_empty());
    shop.call("update", &[("transactionKey", &key), ("merchantCustomerReference", "customer-7")]);
    assert!(shop.find(&[("merchantReference", "order 7")]).is_empty());
}

#[test]
fn more_than_ten_rows_stay_in_order() {
    let mut shop = Shop::open();
    let paid: Vec<String> =
        (0..12).map(|_| shop.call("auth", &raw(PAN, &[("merchantReference", "many")])).key()).collect();
    assert_eq!(keys(&shop.find(&[("merchantReference", "many")])), paid);
}
