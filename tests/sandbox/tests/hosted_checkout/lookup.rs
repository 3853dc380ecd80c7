//! Looking a transaction up, and cancelling tokens (spec 3 §4.8, §4.9; A125 and A126).

use pg_model::EnterpriseTransaction;

use crate::hosted_checkout::{DECLINED, NO_KEY, Shop, with};

// spec: 3 §4.8, A125: status, token, value and currency describe the transaction.
// spec: method enterprise/transaction_lookup
#[test]
fn a_payment_is_found_with_its_token() {
    let mut shop = Shop::new();
    let token = shop.token(&[("item_price[0]", "12345.50"), ("auto_redirect", "1")]);
    let key = shop.pay(&token, crate::hosted_checkout::PAN).trans_key();
    let answer = shop.done("transaction_lookup", &[("trans_key", &key)]);
    let found: EnterpriseTransaction = answer.record();
    assert_eq!((found.status.as_str(), found.token.as_str()), ("Success", token.as_str()));
    assert_eq!((found.value.as_str(), found.currency.as_str()), ("24,692.00", "GBP"));
    assert_eq!(answer.names(), ["serviceResponse", "status", "token", "value", "currency"]);
    // What follows the payment belongs to the token too.
    let refund = shop.done("refund", &[("prev_trans_key", &key), ("trans_value", "24692")]).text("trans_key");
    let found = shop.done("transaction_lookup", &[("trans_key", &refund)]);
    assert_eq!((found.text("token"), found.text("status")), (token, "Success".to_owned()));
    assert_eq!(shop.status_of(&key), "Refunded");
}

// spec: 3 §4.8, A125: value is formatted with the separators of the currency.
#[test]
fn separators_are_those_of_the_currency() {
    let mut shop = Shop::new();
    for (currency, wanted) in
        [("GBP", "2,001.00"), ("EUR", "2.001,00"), ("USD", "2,001.00"), ("JPY", "2,001"), ("BHD", "2,001.000")]
    {
        let key = shop.paid(&[("currency", currency), ("item_price[0]", "1000")]);
        assert_eq!(shop.done("transaction_lookup", &[("trans_key", &key)]).text("value"), wanted);
    }
}

// spec: 3 §3.1, A125: The words that transaction_lookup returns.
#[test]
fn each_state_has_its_word() {
    let mut shop = Shop::new();
    let reserved = |shop: &mut Shop, method: &str, value: &str| {
        let key = shop.paid(&[("trans_type", "PreAuth")]);
        shop.done(method, &[("prev_trans_key", &key), ("trans_value", value)]);
        key
    };
    let captured = reserved(&mut shop, "capture", "1");
    let released = reserved(&mut shop, "cancel", "10.98");
    let partly = reserved(&mut shop, "cancel", "1");
    assert_eq!(shop.status_of(&captured), "Success");
    assert_eq!(shop.status_of(&released), "Cancelled");
    assert_eq!(shop.status_of(&partly), "Cancelled");
    let late = shop.paid(&[("trans_type", "PreAuth")]);
    assert_eq!(shop.status_of(&late), "Success");
    shop.wait(10 * 24 * 60 * 60);
    assert_eq!(shop.status_of(&captured), "Success");
    assert_eq!(shop.status_of(&released), "Cancelled");
    assert_eq!(shop.status_of(&partly), "Cancelled");
    assert_eq!(shop.status_of(&late), "Voided");
    let token = shop.token(&[("trans_reference", "declined")]);
    shop.pay(&token, DECLINED);
    let found = shop.version_3("transaction/lookup", &[("merchantReference", "declined")]);
    let key = found["transactions"]["0"]["transactionKey"].as_str().unwrap().to_owned();
    assert_eq!(shop.status_of(&key), "Failed");
}

// spec: 3 §4.8, A125
#[test]
fn the_value_is_what_was_paid() {
    let mut shop = Shop::new();
    let value = |shop: &mut Shop, key: &str| shop.done("transaction_lookup", &[("trans_key", key)]).text("value");
    let paid = shop.paid(&[]);
    assert_eq!(value(&mut shop, &paid), "10.98");
    let refund = shop.done("refund", &[("prev_trans_key", &paid), ("trans_value", "3")]).text("trans_key");
    assert_eq!((value(&mut shop, &paid), value(&mut shop, &refund)), ("10.98".to_owned(), "3.00".to_owned()));
    let reserved = shop.paid(&[("trans_type", "PreAuth")]);
    assert_eq!(value(&mut shop, &reserved), "0.00");
    let captured = shop.done("capture", &[("prev_trans_key", &reserved), ("trans_value", "4")]).text("trans_key");
    assert_eq!((value(&mut shop, &reserved), value(&mut shop, &captured)), ("4.00".to_owned(), "4.00".to_owned()));
    let released = shop.paid(&[("trans_type", "PreAuth")]);
    let cancelled = shop.done("cancel", &[("prev_trans_key", &released), ("trans_value", "4")]).text("trans_key");
    assert_eq!((value(&mut shop, &released), value(&mut shop, &cancelled)), ("0.00".to_owned(), "0.00".to_owned()));
    let token = shop.token(&[("trans_reference", "declined")]);
    shop.pay(&token, DECLINED);
    let found = shop.version_3("transaction/lookup", &[("merchantReference", "declined")]);
    let declined = found["transactions"]["0"]["transactionKey"].as_str().unwrap().to_owned();
    assert_eq!(value(&mut shop, &declined), "0.00");
}

#[test]
fn a_payment_without_a_token_is_found_too_and_an_unknown_one_not() {
    let mut shop = Shop::new();
    let pairs = [
        ("cardNumber", crate::hosted_checkout::PAN),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "30"),
        ("currency", "GBP"),
        ("itemName0", "Tea"),
        ("itemPrice0", "499"),
    ];
    let paid = shop.version_3("transaction/auth", &pairs);
    let answer = shop.done("transaction_lookup", &[("trans_key", paid["transactionKey"].as_str().unwrap())]);
    assert_eq!(answer.names(), ["serviceResponse", "status", "token", "value", "currency"]);
    assert_eq!(shop.refused("transaction_lookup", &[("trans_key", NO_KEY)]), "943");
    assert_eq!(shop.refused("transaction_lookup", &[("trans_key", &NO_KEY.repeat(2))]), "937");
}

// spec: 3 §4.9, A126, A113: status is 1 if the token is cancelled, and 0 if it cannot be.
// spec: method enterprise/canceltoken
#[test]
fn a_token_is_cancelled_once_and_for_all() {
    let mut shop = Shop::new();
    let cancel = |shop: &mut Shop, token: &str| {
        let answer = shop.done("canceltoken", &[("tokenid", token)]);
        assert_eq!(answer.names(), ["serviceResponse", "status"]);
        answer.text("status")
    };
    let token = shop.token(&[]);
    assert_eq!(shop.visit(&token).status, 200);
    assert_eq!((cancel(&mut shop, &token), cancel(&mut shop, &token)), ("1".to_owned(), "1".to_owned()));
    assert_eq!(shop.visit(&token).status, 410);
    let soon = shop.token(&with(&[("token_start", "1777892400")], &[]));
    assert_eq!(cancel(&mut shop, &soon), "1");
    let old = shop.token(&[]);
    shop.wait(7 * 24 * 60 * 60);
    assert_eq!(cancel(&mut shop, &old), "0");
    assert_eq!(cancel(&mut shop, &token), "1");
    assert_eq!(cancel(&mut shop, NO_KEY), "0");
}
