//! References, amounts and items that a method does not have.

use super::*;

/// The code of an answer of version 5.
fn version_5(shop: &mut Shop, method: &str, pairs: &[(&str, &str)]) -> String {
    let enterprise = account("main").enterprise.unwrap();
    let own = [
        ("api_key", enterprise.api_key.expose()),
        ("api_password", enterprise.api_password.expose()),
        ("version", "5"),
    ];
    let body = serde_urlencoded::to_string([&own[..], pairs].concat()).unwrap();
    let response = shop.sandbox.handle(shop.at, request(Method::POST, &format!("/enterprise/{method}"), body));
    let xml = text(&response).1;
    xml.split("<errorcode>").nth(1).map_or_else(String::new, |rest| rest[..3].to_owned())
}

// spec: 2 §4.3, A150: A reference that a method does not have, or whose name is misspelt, is refused.
// spec: codes SandboxErrorCode 963
#[test]
fn a_reference_is_refused_by_methods_without_one() {
    let mut shop = Shop::open();
    for name in ["uniquemerchantreference", "unique_merchant_reference", "uniqueMerchantRefrence", "trans_reference"] {
        let answer = shop.call("auth", &raw(PAN, &[(name, "u-1")]));
        assert_eq!((answer.status, answer.code(), answer.rests_on("A150")), (400, "963", true), "{name}");
        assert!(answer.text("errorMessage").contains(name), "{answer:?}");
        assert_eq!(shop.call("auth", &raw(PAN, &[(name, "")])).code(), "600", "{name}");
    }
    let key = pay(&mut shop, 100);
    for name in ["merchantreference", "merchant_reference", "MerchantReference", "uniqueMerchantReference"] {
        // Without another field too, which alone would be 955.
        for more in [&[][..], &[("merchantReference", "a")]] {
            let answer = shop.call("update", &[&[("transactionKey", key.as_str()), (name, "u")], more].concat());
            assert_eq!((answer.code(), answer.rests_on("A150")), ("963", true), "{name}: {answer:?}");
        }
    }
    assert_eq!(shop.call("lookup", &[("transactionKey", &key), ("unique_merchant_reference", "u")]).code(), "963");
    let item = [("item_name[0]", "Tea"), ("item_price[0]", "1")];
    for name in ["uniqueMerchantReference", "merchantReference", "merchantCustomerReference", "trans_reference"] {
        let (paid, reserved) = (pay(&mut shop, 1000), reserve(&mut shop, 1000));
        let recorded = shop.payments().len();
        for (method, key) in [("repeat", &paid), ("refund", &paid), ("capture", &reserved), ("cancel", &reserved)] {
            let mut pairs = vec![("prev_trans_key", key.as_str()), ("trans_value", "1"), (name, "u-1")];
            pairs.extend((method == "repeat").then_some(("trans_type", "Auth")));
            assert_eq!(version_5(&mut shop, method, &pairs), "963", "{method} {name}");
        }
        assert_eq!(shop.payments().len(), recorded);
        let wanted = if name == "trans_reference" { "" } else { "963" };
        assert_eq!(version_5(&mut shop, "gettoken", &[&item[..], &[(name, "u-1")]].concat()), wanted, "{name}");
    }
}

// spec: 2 §4.4, A151: An amount or item that a method does not have is refused, since otherwise another amount would be
//   charged.
// spec: codes SandboxErrorCode 964
#[test]
fn an_amount_is_refused_by_methods_without_one() {
    let mut shop = Shop::open();
    for name in [
        "value",
        "amount",
        "transactionvalue",
        "TransactionValue",
        "transaction_value",
        "trans_value",
        "transactionVaule",
        "transactoinVale",
        "itemPrice0",
        "totalAmount",
    ] {
        let (paid, reserved) = (pay(&mut shop, 1000), reserve(&mut shop, 1000));
        for (method, key) in [("refund", &paid), ("capturepreauth", &reserved), ("cancelpreauth", &reserved)] {
            let answer = shop.call(method, &[("transactionKey", key), (name, "1")]);
            assert_eq!((answer.status, answer.code(), answer.rests_on("A151")), (400, "964", true), "{method} {name}");
            assert!(answer.text("errorMessage").contains(name), "{answer:?}");
        }
        assert_eq!((shop.payment(&paid).refunded, shop.payment(&reserved).reserved()), (0, 1000));
    }
}

// spec: 2 §4.4, A55, A151: Without transactionValue, an unknown parameter with a number may be the amount.
#[test]
fn a_number_without_a_known_name_is_refused_where_it_could_be_the_amount() {
    let mut shop = Shop::open();
    for (value, is_number) in [
        ("77", true),
        ("-77", true),
        ("4.99", true),
        (" 5 ", true),
        ("nan", false),
        ("inf", false),
        ("infinity", false),
        ("1e5", false),
        ("1.2.3", false),
        (".", false),
        ("-", false),
    ] {
        let paid = pay(&mut shop, 1000);
        let answer = shop.call("refund", &[("transactionKey", &paid), ("orderNumber", value)]);
        assert_eq!(answer.status, if is_number { 400 } else { 200 }, "{value}: {answer:?}");
        assert!(!is_number || answer.code() == "964", "{value}: {answer:?}");
    }
}

// spec: 2 §4.3, A91, A94, A151: Parameters that all methods share which create a transaction are no amounts, even if
//   their values are numbers.
#[test]
fn a_shared_parameter_with_digits_is_not_taken_for_the_amount() {
    let mut shop = Shop::open();
    for (name, value) in [
        ("terminalKey", "10045"),
        ("terminal_key", "10045"),
        ("mccDateOfBirth", "19700131"),
        ("mccdateofbirth", "19700131"),
        ("mccAccountIdentifier", "12345678"),
        ("mccPostcode", "8001"),
        ("mccSurname", "7"),
    ] {
        let (paid, reserved, other) = (pay(&mut shop, 1000), reserve(&mut shop, 1000), reserve(&mut shop, 1000));
        for (method, key) in [("refund", &paid), ("capturepreauth", &reserved), ("cancelpreauth", &other)] {
            let unique = format!("{method} with {name}");
            let pairs = [("transactionKey", &**key), (name, value), ("uniqueMerchantReference", &unique)];
            let answer = shop.call(method, &pairs);
            assert_eq!((answer.status, answer.code()), (200, "600"), "{method} {name}: {answer:?}");
            assert!(answer.warning.contains(&format!("{name} is not a parameter")), "{answer:?}");
        }
    }
    let paid = pay(&mut shop, 1000);
    let answer = shop.call("refund", &[("transactionKey", &paid), ("currency", "826")]);
    assert_eq!((answer.status, answer.code(), answer.rests_on("A151")), (400, "111", true), "{answer:?}");
}

// spec: 1 §5, 3 §4.1, A09, A45: The default of an empty choice, number or amount is not used.
#[test]
fn an_empty_choice_of_a_checkout_is_refused() {
    let mut shop = Shop::open();
    let item = [("item_name[0]", "Tea"), ("item_price[0]", "4.99")];
    for (name, code) in [("currency", "120"), ("trans_type", "938"), ("token_uses", "938"), ("item_quantity[0]", "107")]
    {
        assert_eq!(version_5(&mut shop, "gettoken", &[&item[..], &[(name, "")]].concat()), code, "{name}");
    }
    for name in ["trans_class", "callback_url", "date_of_birth", "mobile_phone"] {
        assert_eq!(version_5(&mut shop, "gettoken", &[&item[..], &[(name, "")]].concat()), "", "{name}");
    }
    let (paid, reserved) = (pay(&mut shop, 1000), reserve(&mut shop, 1000));
    for (method, key) in [("refund", &paid), ("capturepreauth", &reserved), ("cancelpreauth", &reserved)] {
        let answer = shop.call(method, &[("transactionKey", key), ("transactionValue", "")]);
        assert_eq!((answer.status, answer.code(), answer.rests_on("A09")), (400, "107", true), "{method}");
    }
    assert_eq!(shop.payment(&paid).refunded, 0);
}

// spec: 2 §4.4, A151
#[test]
fn an_item_that_is_misspelt_is_refused() {
    let mut shop = Shop::open();
    for (name, code) in
        [("itemQantity0", "964"), ("itemquantity0", "937"), ("item_quantity[0]", "937"), ("itemQuantity", "937")]
    {
        assert_eq!(shop.call("auth", &raw(PAN, &[(name, "5")])).code(), code, "{name}");
    }
    assert!(shop.payments().is_empty());
}

// spec: 2 §4.4
#[test]
fn another_currency_is_refused_where_none_is_sent() {
    let mut shop = Shop::open();
    for (currency, refused) in [("EUR", true), ("GBP", false), ("", false)] {
        let (paid, reserved) = (pay(&mut shop, 1000), reserve(&mut shop, 1000));
        for (method, key) in [("refund", &paid), ("capturepreauth", &reserved)] {
            let answer = shop.call(method, &[("transactionKey", key), ("currency", currency)]);
            assert_eq!(answer.code(), if refused { "111" } else { "600" }, "{method} {currency}");
            assert_eq!(answer.warning.contains("only compared with"), currency == "GBP", "{answer:?}");
            assert_eq!(refused, answer.warning.ends_with(": it is not the currency of the original"), "{answer:?}");
        }
        let repeat =
            [("prev_trans_key", paid.as_str()), ("trans_value", "1"), ("trans_type", "Auth"), ("currency", currency)];
        assert_eq!(version_5(&mut shop, "repeat", &repeat), if refused { "111" } else { "" });
    }
}

// spec: 2 §4.4, 3 §4.2, A151, A170: A misspelt currency is refused by methods that take it from the original too.
#[test]
fn a_misspelt_currency_moves_no_money_where_none_is_sent() {
    let mut shop = Shop::open();
    for (name, code) in [
        ("Currency", "964"),
        ("CURRENCY", "964"),
        ("_currency", "964"),
        ("currencyCode", "937"),
        ("trans_currency", "937"),
        ("curency", "937"),
    ] {
        let (paid, reserved) = (pay(&mut shop, 1000), reserve(&mut shop, 1000));
        let recorded = shop.payments().len();
        for (method, key) in [("refund", &paid), ("capturepreauth", &reserved), ("cancelpreauth", &reserved)] {
            let answer = shop.call(method, &[("transactionKey", key), ("transactionValue", "5"), (name, "EUR")]);
            assert_eq!((answer.status, answer.code()), (400, code), "{method} {name}");
            assert!(answer.rests_on("A151") && answer.rests_on("A170") == (code == "964"), "{answer:?}");
        }
        for (method, key) in [("repeat", &paid), ("refund", &paid), ("capture", &reserved), ("cancel", &reserved)] {
            let mut pairs = vec![("prev_trans_key", key.as_str()), ("trans_value", "5"), (name, "EUR")];
            pairs.extend((method == "repeat").then_some(("trans_type", "Auth")));
            assert_eq!(version_5(&mut shop, method, &pairs), code, "{method} {name}");
        }
        assert_eq!(shop.call("auth", &raw(PAN, &[(name, "EUR")])).code(), code, "{name}");
        assert_eq!(shop.payments().len(), recorded, "{name}");
    }
    // A lookup moves no money (A55).
    let key = pay(&mut shop, 1000);
    assert_eq!(shop.call("lookup", &[("transactionKey", &key), ("Currency", "EUR")]).status, 200);
}

// spec: 2 §4.4, A151, A170
#[test]
fn the_amount_of_the_whole_payment_is_refused_beside_items() {
    let mut shop = Shop::open();
    for name in ["transactionvalue", "transactionValue", "transaction_value", "trans_value", "value"] {
        assert_eq!(shop.call("auth", &raw(PAN, &[(name, "5")])).code(), "964", "{name}");
    }
    let key = pay(&mut shop, 1000);
    let repeat =
        [("prev_trans_key", key.as_str()), ("trans_value", "1"), ("trans_type", "Auth"), ("transactionValue", "5")];
    assert_eq!(version_5(&mut shop, "repeat", &repeat), "964");
    assert_eq!(shop.payments().len(), 1);
}

// spec: 3 §4.1, A151: Other names of the kind, the times and the limits of a payment are refused.
#[test]
fn another_name_of_a_decisive_option_of_a_checkout_is_refused() {
    let mut shop = Shop::open();
    let item = [("item_name[0]", "Tea"), ("item_price[0]", "1")];
    for name in [
        "transactionType",
        "TRANSACTION_TYPE",
        "uses",
        "redemptions",
        "start",
        "expiry",
        "token_end",
        "terminal",
        "threeDSecure",
        "3ds",
    ] {
        assert_eq!(version_5(&mut shop, "gettoken", &[&item[..], &[(name, "1")]].concat()), "937", "{name}");
        assert_eq!(version_5(&mut shop, "gettoken", &[&item[..], &[(name, "")]].concat()), "", "{name}");
    }
    // Any other name is accepted with a warning (A55).
    for name in ["expiryNote", "orderType", "usesOfMaker", "order"] {
        assert_eq!(version_5(&mut shop, "gettoken", &[&item[..], &[(name, "1")]].concat()), "", "{name}");
    }
}

// spec: 2 §3.2, 3 §4.2, A151: A payment whose kind or 3-D Secure was named is not made in another way.
#[test]
fn a_payment_that_has_no_choice_of_its_kind_is_not_made_with_one() {
    let mut shop = Shop::open();
    let paid = pay(&mut shop, 1000);
    let recorded = shop.payments().len();
    let (token, session) = (shop.token(PAN, ("01", "2030")), shop.session(PAN));
    let by_token = order(&[("cardKey", &token)]);
    let by_session = order(&[("sessionKey", &session), ("returnUrl", "https://shop.example/")]);
    for name in ["transactionType", "transType", "trans_type", "paymentType"] {
        for (method, pairs) in [
            ("auth", raw(PAN, &[])),
            ("preauth", raw(PAN, &[])),
            ("authCardKey", by_token.clone()),
            ("authSessionKey", by_session[..by_session.len() - 1].to_vec()),
            ("initiate3DSecureSessionKey", by_session.clone()),
            ("auth3DSecure", vec![("authenticationKey", NO_KEY)]),
        ] {
            let answer = shop.call(method, &changed(&pairs, &[(name, "PreAuth")]));
            assert_eq!((answer.status, answer.code(), answer.rests_on("A151")), (400, "937", true), "{method} {name}");
            assert!(answer.text("errorMessage").contains(name), "{answer:?}");
        }
    }
    let repeat = [("prev_trans_key", paid.as_str()), ("trans_value", "1"), ("trans_type", "Auth")];
    for name in ["3D_secure", "threeDSecure", "3ds", "ThreeDS"] {
        for (method, pairs) in [("auth", raw(PAN, &[])), ("authCardKey", by_token.clone())] {
            let answer = shop.call(method, &changed(&pairs, &[(name, "1")]));
            assert_eq!((answer.status, answer.code(), answer.rests_on("A151")), (400, "937", true), "{method} {name}");
        }
        assert_eq!(version_5(&mut shop, "repeat", &[&repeat[..], &[(name, "1")]].concat()), "937", "{name}");
        // These methods are 3-D Secure.
        let answer = shop.call("auth3DSecure", &[("authenticationKey", NO_KEY), (name, "1")]);
        assert_eq!(answer.code(), "960", "{name}");
    }
    assert_eq!(shop.payments().len(), recorded);
    // Without a parameter of that meaning, the other options have no effect (A55), and neither has any on an operation.
    for name in ["expiry", "uses", "start"] {
        assert_eq!(shop.call("auth", &raw(PAN, &[(name, "1")])).code(), "600", "{name}");
    }
    for name in ["transactionType", "threeDSecure"] {
        let answer = shop.call("refund", &[("transactionKey", &paid), ("transactionValue", "1"), (name, "Refund")]);
        assert_eq!(answer.code(), "600", "{name}");
    }
}

#[test]
fn the_reason_of_a_refusal_has_no_warning_that_it_is_not_read() {
    let mut shop = Shop::open();
    for (name, code, told) in [
        ("itemQantity0", "964", "itemQantity0 is not a parameter of transaction/auth: did you mean itemQuantity0?; "),
        ("itemQuantity", "937", "itemQuantity is not a parameter of transaction/auth: did you mean itemQuantity0?; "),
        ("Currency", "964", "Currency is not a parameter of transaction/auth: did you mean currency?; "),
        ("currencyCode", "937", ""),
        ("itemPrice 0", "937", "itemPrice 0 is not a parameter of transaction/auth: did you mean itemPrice0?; "),
        (
            "merchant_Reference",
            "963",
            "merchant_Reference is not a parameter of transaction/auth: did you mean merchantReference?; ",
        ),
        (
            "itemPrice4000000000001000",
            "937",
            "(name not shown) is not a parameter of transaction/auth: did you mean itemPrice0?; ",
        ),
    ] {
        let answer = shop.call("auth", &raw(PAN, &[("first", "1"), (name, "5"), ("second", "1")]));
        assert_eq!(answer.code(), code, "{name}");
        let wanted = format!(
            "first is not a parameter of transaction/auth and is ignored; {told}second is not a parameter of \
             transaction/auth and is ignored"
        );
        assert_eq!(answer.warning, wanted, "{name}");
        let message = answer.text("errorMessage");
        assert!(!message.contains("4000000000001000") && !message.contains(" here"), "{answer:?}");
    }
}
