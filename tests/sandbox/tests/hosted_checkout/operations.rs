//! What follows a payment: refund, capture and cancel (spec 3 §2.2, §3.2, §4.3 to §4.5).

use pg_model::EnterpriseResult;

use crate::hosted_checkout::{Answer, DECLINED, Shop, with};

const DAY: u64 = 24 * 60 * 60;

fn operate(shop: &mut Shop, method: &str, key: &str, value: &str) -> Answer {
    shop.call(method, &[("prev_trans_key", key), ("trans_value", value)])
}

fn reserve(shop: &mut Shop) -> String {
    shop.paid(&[("trans_type", "PreAuth")])
}

// spec: 3 §1: The other methods work on earlier transactions, or are utilities; none needs the hosted pages.
// spec: 3 §2.2, A124: trans_type is returned in lower case.
// spec: 3 §2.2, A15: prev_trans_key is the original, and trans_key the new transaction, which later operations take.
// spec: 3 §2.2: trans_class is returned if it was sent.
// spec: 3 §2.2, A113, A124: status is 1 for success and 0 for failure; auth_code is the bank's.
// spec: 3 §3.2 Transitions: It is captured once, up to the reserved amount.
// spec: 3 §3.2 Transitions: It is cancelled up to the reserved amount, and the reservation is removed.
// spec: 3 §4.3: The result has trans_type refund and system_action REFUND.
// spec: 3 §4.4, A95: The pre-auth is captured up to the reserved amount; the result has CAPTURE.
// spec: 3 §4.5, A95: The pre-auth is cancelled up to the reserved amount; the result has CANCEL.
// spec: 3 §4, A41, A49; method enterprise/refund; method enterprise/capture; method enterprise/cancel
// spec: codes EnterpriseTransactionType refund capture cancel; codes SystemAction REFUND CAPTURE CANCEL
#[test]
fn each_operation_says_what_it_did() {
    let mut shop = Shop::new();
    for (method, action, trans_type) in
        [("refund", "REFUND", "refund"), ("capture", "CAPTURE", "capture"), ("cancel", "CANCEL", "cancel")]
    {
        let key = if method == "refund" { shop.paid(&[]) } else { reserve(&mut shop) };
        let answer =
            shop.done(method, &[("prev_trans_key", &key), ("trans_value", "0.98"), ("trans_class", "late <order>")]);
        let result: EnterpriseResult = answer.record();
        assert_eq!((result.trans_type.as_str(), result.trans_value.as_str()), (trans_type, "0.98"));
        assert_eq!((result.prev_trans_key.as_str(), result.trans_class.as_str()), (key.as_str(), "late <order>"));
        assert_eq!((result.system_action.as_str(), result.status.as_str()), (action, "1"));
        assert_eq!(result.trans_key.as_str().len(), 32);
        assert_eq!(result.auth_code.len(), if method == "capture" { 6 } else { 0 });
        assert!(result.extra.is_empty() && answer.basis.contains(", A15, "), "{answer:?}");
        assert_eq!(shop.status_of(result.trans_key.as_str()), "Success");
    }
    let key = shop.paid(&[]);
    let answer = operate(&mut shop, "refund", &key, "1");
    assert!(!answer.names().contains(&"trans_class") && answer.text("trans_value") == "1.00");
}

// spec: 3 §3.2 Transitions, A97: A successful transaction is refunded, in full or in part.
// spec: 3 §4.3, A97: trans_value is at most the original amount, in total over all refunds.
// spec: 3 §3.2; 3 §4.5, A95
#[test]
fn parts_together_never_exceed_the_original() {
    let mut shop = Shop::new();
    let paid = shop.paid(&[]);
    for (value, wanted) in [("10.99", "107"), ("0", "107"), ("0.00", "107"), ("1.001", "107"), ("10000000000", "107")] {
        assert_eq!(operate(&mut shop, "refund", &paid, value).code(), wanted, "{value}");
    }
    assert_eq!(operate(&mut shop, "refund", &paid, "10").text("status"), "1");
    assert_eq!(operate(&mut shop, "refund", &paid, "0.99").code(), "107");
    assert_eq!(shop.status_of(&paid), "Success");
    assert_eq!(operate(&mut shop, "refund", &paid, "0.98").text("status"), "1");
    assert_eq!(shop.status_of(&paid), "Refunded");
    assert_eq!(operate(&mut shop, "refund", &paid, "0.01").code(), "953");

    let reserved = reserve(&mut shop);
    assert_eq!(operate(&mut shop, "capture", &reserved, "11").code(), "107");
    assert_eq!(operate(&mut shop, "cancel", &reserved, "11").code(), "107");
    // One capture is all, and one cancellation removes the reservation, whatever their values.
    let cancelled = reserve(&mut shop);
    assert_eq!(operate(&mut shop, "capture", &reserved, "4").text("status"), "1");
    assert_eq!(operate(&mut shop, "cancel", &cancelled, "3").text("status"), "1");
    assert_eq!((shop.status_of(&reserved), shop.status_of(&cancelled)), ("Success".to_owned(), "Cancelled".to_owned()));
    for key in [&reserved, &cancelled] {
        assert_eq!(operate(&mut shop, "capture", key, "0.01").code(), "952");
        assert_eq!(operate(&mut shop, "cancel", key, "0.01").code(), "952");
    }
}

// spec: 3 §2.2, A113, A124
#[test]
fn bank_fields_without_a_bank_response_are_present_and_empty() {
    let mut shop = Shop::new();
    let key = shop.paid(&[]);
    let answer = operate(&mut shop, "refund", &key, "1");
    let wanted = [
        "serviceResponse",
        "trans_type",
        "trans_value",
        "prev_trans_key",
        "system_action",
        "status",
        "trans_key",
        "auth_code",
    ];
    assert_eq!(answer.names(), wanted);
    assert_eq!(answer.text("auth_code"), "");
}

// spec: 3 §4.4, A95
#[test]
fn each_kind_of_transaction_takes_its_operations_only() {
    let mut shop = Shop::new();
    let (paid, reserved) = (shop.paid(&[]), reserve(&mut shop));
    let released = reserve(&mut shop);
    let captured = operate(&mut shop, "capture", &reserved, "5").text("trans_key");
    let refunded = operate(&mut shop, "refund", &paid, "5").text("trans_key");
    let cancelled = operate(&mut shop, "cancel", &released, "1").text("trans_key");
    let token = shop.token(&[("trans_reference", "declined")]);
    shop.pay(&token, DECLINED);
    let found = shop.version_3("transaction/lookup", &[("merchantReference", "declined")]);
    let declined = found["transactions"]["0"]["transactionKey"].as_str().unwrap().to_owned();
    for key in [&paid, &captured, &refunded, &cancelled, &declined] {
        assert_eq!(operate(&mut shop, "capture", key, "1").code(), "951");
        assert_eq!(operate(&mut shop, "cancel", key, "1").code(), "951");
    }
    for key in [&reserved, &refunded, &cancelled, &declined] {
        assert_eq!(operate(&mut shop, "refund", key, "1").code(), "951");
    }
    assert_eq!(operate(&mut shop, "refund", &captured, "5").text("status"), "1");
    for method in ["refund", "capture", "cancel"] {
        assert_eq!(operate(&mut shop, method, crate::hosted_checkout::NO_KEY, "1").code(), "943");
    }
}

// spec: 3 §3.2 Transitions, A96: After 10 days without capture it expires.
// spec: 3 §8 Limits: A pre-auth can be captured for 10 days.
#[test]
fn a_reservation_is_void_ten_days_later() {
    let mut shop = Shop::new();
    for method in ["capture", "cancel"] {
        let (early, late) = (reserve(&mut shop), reserve(&mut shop));
        shop.wait(10 * DAY - 1);
        assert_eq!(shop.status_of(&late), "Success");
        assert_eq!(operate(&mut shop, method, &early, "10.98").text("status"), "1");
        shop.wait(1);
        assert_eq!(operate(&mut shop, method, &late, "0.01").code(), "952");
        assert_eq!(shop.status_of(&late), "Voided");
    }
}

// spec: 3 §4.3, A16: A given currency must be that of the original.
#[test]
fn a_refund_may_name_its_currency() {
    let mut shop = Shop::new();
    let paid = shop.paid(&[]);
    let refund = |shop: &mut Shop, currency: &str| {
        shop.call("refund", &[("prev_trans_key", &paid), ("trans_value", "1"), ("currency", currency)])
    };
    assert_eq!(refund(&mut shop, "EUR").code(), "111");
    assert_eq!(refund(&mut shop, "gbp").code(), "111");
    assert_eq!(refund(&mut shop, "GBP").text("status"), "1");
    assert_eq!(refund(&mut shop, "").code(), "120", "A09: an empty choice is answered as a missing one");
}

// spec: 3 §2, A13
#[test]
fn amounts_have_the_decimals_of_the_currency() {
    let mut shop = Shop::new();
    for (currency, price, value, wanted, too_exact) in [
        ("JPY", "1000", "250.0", "250", "0.5"),
        ("GBP", "10", "2.5", "2.50", "2.505"),
        ("BHD", "10", "2.505", "2.505", "2.5055"),
    ] {
        let changes = with(
            &[("currency", currency), ("trans_type", "PreAuth"), ("item_price[0]", price), ("item_price[1]", price)],
            &[],
        );
        let (reserved, released) = (shop.paid(&changes), shop.paid(&changes));
        let captured = operate(&mut shop, "capture", &reserved, value);
        assert_eq!(captured.text("trans_value"), wanted);
        assert_eq!(operate(&mut shop, "cancel", &released, value).text("trans_value"), wanted);
        assert_eq!(operate(&mut shop, "refund", &captured.text("trans_key"), value).text("trans_value"), wanted);
        assert_eq!(operate(&mut shop, "capture", &reserved, too_exact).code(), "107");
    }
}

// spec: 3 §3.2, A100
#[test]
fn both_versions_work_on_the_same_transactions() {
    let mut shop = Shop::new();
    let card = [("cardNumber", crate::hosted_checkout::PAN), ("cardExpiryMonth", "12"), ("cardExpiryYear", "30")];
    let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "1000"), ("merchantReference", "order-3")];
    let mut reserved = || {
        let reserved = shop.version_3("transaction/preauth", &[&card[..], &order].concat());
        reserved["transactionKey"].as_str().unwrap_or_else(|| panic!("{reserved}")).to_owned()
    };
    let (reserved, late) = (reserved(), reserved());
    let captured = operate(&mut shop, "capture", &reserved, "4");
    assert_eq!(captured.text("status"), "1");
    assert!(captured.basis.contains("A100"), "{}", captured.basis);
    let refund = shop.version_3("transaction/refund", &[("transactionKey", &captured.text("trans_key"))]);
    assert_eq!(refund["transactionStatusCode"], "600");
    // A reservation of version 3 lasts five days.
    shop.wait(5 * DAY);
    assert_eq!(operate(&mut shop, "capture", &late, "1").code(), "952");

    let hosted = shop.paid(&[("trans_type", "PreAuth"), ("trans_reference", "order-5")]);
    let part = [("transactionKey", hosted.as_str()), ("transactionValue", "98")];
    assert_eq!(shop.version_3("transaction/capturepreauth", &part)["transactionStatusCode"], "600");
    let found = shop.version_3("transaction/lookup", &[("merchantReference", "order-5")]);
    let types: Vec<_> = (0..2).map(|n| found["transactions"][n.to_string()]["transactionType"].clone()).collect();
    assert_eq!(types, ["PreAuth", "Capture"]);
    // A cancellation of one version through the other ends the reservation, as it does in version 5.
    let hosted = shop.paid(&[("trans_type", "PreAuth")]);
    let part = [("transactionKey", hosted.as_str()), ("transactionValue", "98")];
    assert_eq!(shop.version_3("transaction/cancelpreauth", &part)["transactionStatusCode"], "600");
    assert_eq!(operate(&mut shop, "capture", &hosted, "1").code(), "952");
}
