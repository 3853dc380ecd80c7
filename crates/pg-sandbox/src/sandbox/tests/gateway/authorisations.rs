//! Auth and preauth by raw card.

use super::*;

#[test]
fn an_approval_is_recorded_without_its_secrets() {
    let mut shop = Shop::open();
    for (method, kind, refundable, reserved) in [("auth", "Auth", 998, 0), ("preauth", "PreAuth", 0, 998)] {
        let answer =
            shop.call(method, &raw(PAN, &[("merchantReference", "order 7"), ("cardholderName", "A Customer")]));
        assert_eq!((answer.status, answer.text("transactionStatus")), (200, "Transaction approved"));
        assert_eq!(answer.text("transactionType"), kind);
        assert_eq!(answer.basis, "2 4.4, A10, A41, A88, A101, A131");
        let payment = shop.payment(&answer.key());
        assert_eq!((payment.amount, payment.currency.as_str()), (998, "GBP"));
        assert_eq!((payment.refundable(), payment.reserved()), (refundable, reserved));
        assert_eq!(payment.merchant_reference.as_deref(), Some("order 7"));
        assert_eq!((&*payment.details["itemName0"], &*payment.details["cardholderName"]), ("Tea", "A Customer"));
        let body = serde_json::to_string(&payment).unwrap() + &format!("{payment:?}");
        assert!(!body.contains(PAN) && body.contains("411111******1111"), "{body}");
        assert!(!holds(&payment, CV2) && !body.contains("CV2"), "{body}");
        let card = payment.card.unwrap();
        assert_eq!((card.expiry_month.as_str(), card.expiry_year.as_str()), ("05", "2026"));
        assert_eq!(card.number(&shop.sandbox.vault, &payment.key).unwrap().expose(), PAN);
    }
}

// spec: 1 §1, A87: The test service simulates results and contacts no bank: the card decides.
// spec: 2 §4.3, A87, A89: A decline is a reply with HTTP status 200, a status code of its own, and a transaction.
// spec: 2 §4.3, A137; method transaction/auth; method transaction/preauth; codes ErrorCode 119
// spec: codes StatusCode 600; codes TransactionType Auth PreAuth; codes SandboxStatusCode 901 902
#[test]
fn the_card_decides_the_outcome_of_auth_and_preauth() {
    for method in ["auth", "preauth"] {
        let mut shop = Shop::open();
        for (number, code, words, bank) in [
            (DECLINED, "901", "Transaction declined", "05"),
            ("5200000000002003", "901", "Transaction declined", "05"),
            (POOR, "902", "Insufficient funds", "51"),
        ] {
            let answer = shop.call(method, &raw(number, &[]));
            assert_eq!((answer.status, answer.code()), (200, code));
            assert_eq!((answer.text("transactionStatus"), answer.text("bankResponseCode")), (words, bank));
            assert_eq!((answer.text("bankAuthCode"), answer.text("bankOrderId")), ("", ""));
            assert!(answer.rests_on("A87") && answer.rests_on("A89") && !answer.rests_on("A88"), "{answer:?}");
            let payment = shop.payment(answer.text("transactionKey"));
            assert_eq!((payment.amount, payment.refundable(), payment.reserved()), (998, 0, 0));
        }
        let recorded = shop.payments().len();
        let silent = shop.call(method, &raw(SILENT, &[]));
        assert_eq!((silent.status, silent.code()), (400, "119"));
        assert_eq!(silent.text("errorMessage"), "No response from bank");
        assert!(silent.rests_on("A93"), "{silent:?}");
        assert_eq!(shop.payments().len(), recorded);
    }
}

// spec: 2 §4.3, A19: currency is an ISO 4217 code in capitals that is enabled on the account.
// spec: 2 §4.3, A05: The other required parameters of an order.
// spec: 2 §4.3, A05, A12; codes ErrorCode 111 125
#[test]
fn an_unpayable_request_is_refused_and_changes_nothing() {
    let mut shop = Shop::open();
    for (change, wanted) in [
        (("cardNumber", "4111111111111112"), "108"),
        (("cardNumber", "411111111111"), "108"),
        (("cardNumber", "4111 1111 1111 1111"), "108"),
        (("cardNumber", ""), "108"),
        (("cardExpiryMonth", "04"), "109"),
        (("cardExpiryMonth", "13"), "109"),
        (("cardExpiryYear", "2026"), "109"),
        (("cardExpiryYear", ""), "109"),
        (("cardCV2", "12"), "110"),
        (("cardCV2", "12345"), "110"),
        (("currency", ""), "120"),
        (("currency", "SEK"), "111"),
        (("currency", "gbp"), "111"),
        (("currency", "POUND"), "111"),
        (("itemPrice0", "0"), "107"),
        (("itemPrice0", "4.99"), "107"),
        (("itemPrice0", "-1"), "107"),
        (("itemPrice0", "1000000000000"), "107"),
        (("itemPrice0", "18446744073709551615"), "107"),
        (("itemPrice0", "18446744073709551616"), "107"),
        (("itemQuantity0", "0"), "107"),
        (("itemQuantity0", "-1"), "107"),
        (("itemQuantity0", "1.5"), "107"),
        // 499 times this is 178 in 64 bits.
        (("itemQuantity0", "36967022191802708"), "107"),
        (("itemName0", ""), "938"),
        (("itemName2", "Cake"), "937"),
        (("terminalKey", "nowhere"), "957"),
        (("merchantReference", "123456789012345678901234567890123"), "125"),
    ] {
        for method in ["auth", "preauth"] {
            let answer = shop.call(method, &raw(PAN, &[change]));
            assert_eq!((answer.status, answer.code()), (400, wanted), "{change:?} {answer:?}");
            let text = answer.text("errorMessage");
            assert!(!text.contains(CV2) && !text.contains("4111"), "{text}");
        }
    }
    let without_items = [("currency", "GBP"), ("cardNumber", PAN), ("cardExpiryMonth", "05"), ("cardExpiryYear", "26")];
    assert_eq!(shop.call("auth", &without_items).code(), "107");
    assert!(shop.payments().is_empty());
}

// spec: 2 §4.3, A90: The default quantity is 1; the amount is the checked sum of price times quantity.
// spec: 2 §2.4, A14; codes ErrorCode 107
#[test]
fn the_amount_is_the_sum_of_price_times_quantity() {
    let mut shop = Shop::open();
    let more = [("itemName1", "Cake"), ("itemPrice1", "1"), ("itemName2", "Napkin"), ("itemPrice2", "0")];
    let key = shop.call("auth", &raw(PAN, &more)).key();
    assert_eq!(shop.payment(&key).amount, 999);
    let most = [("itemPrice0", "999999999999"), ("itemQuantity0", "1")];
    let key = shop.call("auth", &raw(PAN, &most)).key();
    assert_eq!(shop.payment(&key).amount, 999_999_999_999);
    let above = [most[0], most[1], ("itemName1", "Cake"), ("itemPrice1", "1")];
    let answer = shop.call("auth", &raw(PAN, &above));
    assert_eq!((answer.code(), answer.rests_on("A90")), ("107", true));
}

/// Spec 2 §8. All have a right check digit, so that their length alone decides.
// spec: 2 §8 Limits: A card number has 12 to 19 digits in the card form, and 13 to 19 in the gateway.
#[test]
fn a_card_number_has_13_to_19_digits() {
    let mut shop = Shop::open();
    for (number, wanted) in [
        ("400000000002", "108"),
        ("4000000000006", "600"),
        ("36000000001006", "600"),
        ("400000000000000002", "600"),
        ("6799990000000001001", "600"),
        ("40000000000000000002", "108"),
    ] {
        for method in ["auth", "preauth"] {
            assert_eq!(shop.call(method, &raw(number, &[])).code(), wanted, "{method} {number}");
        }
        assert!(crate::cards::luhn_valid(number), "{number}");
    }
}

/// If such an item were skipped, the customer would pay less than the order's amount.
// spec: 2 §2.4, A14
#[test]
fn an_item_with_an_unusual_number_counts_in_the_sum() {
    let mut shop = Shop::open();
    for (name, value) in [
        ("itemName01", "Cake"),
        ("itemPrice00", "1"),
        ("itemQuantity1000000", "2"),
        ("itemReference18446744073709551616", "C-1"),
        ("itemName", "Cake"),
        ("itemPrice1x", "1"),
        ("itemname1", "Cake"),
        ("item_price[1]", "1"),
    ] {
        let answer = shop.call("auth", &raw(PAN, &[(name, value)]));
        assert_eq!((answer.code(), answer.rests_on("A14")), ("937", true), "{name} {answer:?}");
        assert_eq!(answer.text("errorMessage"), format!("Invalid parameter: {}", pg_model::mask::text(name)));
    }
    // These are not items, but intended as items (A151).
    for name in ["itemNames1", "itemDescription0", "item01"] {
        assert_eq!(shop.call("auth", &raw(PAN, &[(name, "1")])).code(), "964", "{name}");
    }
    assert!(shop.payments().is_empty());
}

// spec: 2 §4.3, A10, A104: An expired card is refused if it is raw, and declined if it is stored.
#[test]
fn an_expiry_counts_to_the_end_of_its_month() {
    let mut shop = Shop::open();
    shop.at = Timestamp::parse("2026-05-31T23:59:59.999Z").unwrap();
    assert_eq!(shop.call("auth", &raw(PAN, &[])).code(), "600");
    shop.at = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
    let past = shop.call("auth", &raw(PAN, &[]));
    assert_eq!((past.code(), past.rests_on("A104")), ("109", true));
    assert_eq!(shop.call("auth", &raw(PAN, &[("cardExpiryYear", "27"), ("cardExpiryMonth", "01")])).code(), "600");
}

// spec: 1 §1, A102: Raw card numbers are disabled until they are enabled for the account; everything else works without
//   them.
// spec: 2 §1.2, A102: Raw card numbers need a permission.
// spec: codes ErrorCode 106
#[test]
fn raw_cards_need_their_permission() {
    let mut shop = Shop::open();
    for method in ["auth", "preauth"] {
        let answer = shop.call_as("strict", method, &raw(PAN, &[]));
        assert_eq!((answer.status, answer.code()), (403, "106"));
        assert!(answer.rests_on("A102"), "{answer:?}");
        // Checked before the parameters (A51).
        assert_eq!(shop.call_as("strict", method, &[("cardNumber", "1")]).code(), "106");
        assert_eq!(shop.call("auth", &[("cardNumber", "1")]).code(), "108");
    }
    assert!(shop.payments().is_empty());
}

// spec: 2 §4.3, A09, A19, A45
#[test]
fn the_value_of_a_parameter_names_the_assumption_that_decides_about_it() {
    let mut shop = Shop::open();
    for (pairs, code, assumed, other) in [
        (raw(PAN, &[("currency", "gbp")]), "111", &["A19", "A45"][..], "A09"),
        (raw(PAN, &[("currency", "XXX")]), "111", &["A45"], "A19"),
        (raw(PAN, &[("cardNumber", "")]), "108", &["A05", "A09", "A45"], "A19"),
        (raw(PAN, &[("merchantReference", "")]), "600", &["A09"], "A45"),
        (raw(PAN, &[]), "600", &[], "A09"),
    ] {
        let answer = shop.call("auth", &pairs);
        assert_eq!(answer.code(), code, "{answer:?}");
        assert!(assumed.iter().all(|number| answer.rests_on(number)) && !answer.rests_on(other), "{answer:?}");
    }
}

// spec: 2 §4.3, A91: terminalKey must be a terminal of the account.
// spec: codes SandboxErrorCode 957
#[test]
fn a_terminal_must_belong_to_the_account() {
    let mut shop = Shop::open();
    for (merchant, terminal, wanted) in
        [("main", "main-web", "600"), ("main", "main-phone", "600"), ("main", "", "600"), ("other", "main-web", "957")]
    {
        let answer = shop.call_as(merchant, "auth", &raw(PAN, &[("terminalKey", terminal)]));
        assert_eq!(answer.code(), wanted, "{merchant} {terminal}");
    }
    let key = shop.call("auth", &raw(PAN, &[("terminalKey", "main-web")])).key();
    assert_eq!(shop.payment(&key).details["terminalKey"], "main-web");
    // A refund belongs to the terminal of its payment.
    let refund = shop.call("refund", &[("transactionKey", &key), ("terminalKey", "nowhere")]);
    assert!(refund.rests_on("A91") && refund.rests_on("A55"), "{refund:?}");
    assert_eq!((refund.code(), refund.warning.contains("terminalKey")), ("600", true), "{refund:?}");
    assert_eq!(shop.payment(&refund.key()).details["terminalKey"], "main-web");
}

// spec: 2 §4.3: The price is a whole number of minor units.
#[test]
fn every_currency_of_the_account_is_taken_in_its_minor_units() {
    let mut shop = Shop::open();
    for currency in ["GBP", "EUR", "USD", "JPY", "BHD"] {
        let key = shop.call("auth", &raw(PAN, &[("currency", currency)])).key();
        let payment = shop.payment(&key);
        assert_eq!((payment.amount, payment.currency.as_str()), (998, currency));
    }
}

// spec: 2 §4.3, A24: The MCC fields are stored encrypted, and are never required.
#[test]
fn the_recipient_of_category_6012_is_recorded_sealed() {
    let mut shop = Shop::open();
    let recipient = [
        ("mccAccountIdentifier", "GB29NWBK6016"),
        ("mccSurname", "Featherstonehaugh"),
        ("mccPostcode", "ZZ99 9ZZ"),
        ("mccDateOfBirth", "19700131"),
    ];
    let answer = shop.call("auth", &raw(PAN, &recipient));
    assert!(answer.rests_on("A24"));
    let payment = shop.payment(&answer.key());
    let body = serde_json::to_string(&payment).unwrap();
    for (name, value) in recipient {
        assert!(!body.contains(value), "{name}");
        assert_eq!(shop.sandbox.vault.open(&payment.key, &payment.recipient[name]).unwrap().expose(), value);
    }
}
