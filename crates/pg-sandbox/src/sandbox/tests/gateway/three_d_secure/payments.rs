//! The third step: one payment for one authentication.

use super::*;

// spec: 2 §3.3 Steps, A108: auth3DSecure and preauth3DSecure make the payment.
// spec: 2 §2.5, A03; 2 §3.2; method transaction/auth3DSecure
#[test]
fn an_authenticated_customer_pays() {
    let mut shop = Shop::open();
    for (method, kind) in [("auth3DSecure", "Auth"), ("preauth3DSecure", "PreAuth")] {
        let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
        let answer = pay_with(&mut shop, method, &key);
        assert_eq!((answer.status, answer.code(), answer.text("transactionType")), (200, "600", kind));
        assert_eq!(answer.text("transactionStatus"), "Transaction approved");
        assert_eq!(answer.basis, "2 4.4, A07, A41, A88, A101, A108, A109, A131");
        let payment = shop.payment(answer.text("transactionKey"));
        assert_eq!((payment.amount, payment.currency.as_str()), (998, "GBP"));
        assert_eq!(payment.details["itemName0"], "Tea");
        assert_eq!(payment.details["cardholderName"], "A Customer");
        assert_eq!((payment.customer_reference.as_deref(), payment.parent), (Some("customer-7"), None));
        assert_eq!(payment.card.unwrap().number(&shop.sandbox.vault, &payment.key).unwrap().expose(), CHALLENGE);
    }
}

// spec: 2 §3.2, A96; method transaction/preauth3DSecure
#[test]
fn authenticated_payments_are_captured_cancelled_and_refunded_as_any_other() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    let auth = pay_with(&mut shop, "auth3DSecure", &key).key();
    assert_eq!(shop.operate("refund", &auth, None).code(), "600");
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    let preauth = pay_with(&mut shop, "preauth3DSecure", &key).key();
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(500)).code(), "600");
    assert_eq!(shop.operate("capturepreauth", &preauth, None).code(), "600");
    assert_eq!(shop.operate("cancelpreauth", &preauth, None).code(), "952");
}

// spec: 2 §3.3, A108; codes SandboxErrorCode 962
#[test]
fn the_card_decides_after_any_end_of_the_challenge() {
    for method in ["auth3DSecure", "preauth3DSecure"] {
        let mut shop = Shop::open();
        for (number, outcome, wanted) in [
            (PAN, "authenticate", "600"),
            (CHALLENGE, "authenticate", "600"),
            (DECLINED, "authenticate", "901"),
            (POOR, "authenticate", "902"),
            (CHALLENGE, "fail", "600"),
            (CHALLENGE, "abandon", "600"),
            (DECLINED, "abandon", "901"),
            (ALWAYS_FAILS, "authenticate", "600"),
            (INSISTS, "authenticate", "600"),
            (INSISTS, "fail", "907"),
            (INSISTS, "abandon", "907"),
            ("4000000000010001", "authenticate", "600"),
        ] {
            let key = answered(&mut shop, number, outcome, &[]);
            let status = status_of(&mut shop, &key);
            let passed = outcome == "authenticate" && number != ALWAYS_FAILS;
            let liability = if passed { ("Y", "05") } else { ("N", "07") };
            assert_eq!((status.text("liabilityShift"), status.text("bankECIValue")), liability, "{number} {outcome}");
            let answer = pay_with(&mut shop, method, &key);
            assert_eq!((answer.status, answer.code()), (200, wanted), "{number} {outcome}");
            assert_eq!(pay_with(&mut shop, method, &key).code(), "962", "{number} {outcome}");
        }
        let key = open(&mut shop, NOT_ENROLLED, &[]);
        assert_eq!(pay_with(&mut shop, method, &key).code(), "600");
        assert_eq!(shop.call("auth", &raw(INSISTS, &[])).code(), "600", "no challenge was asked for");
    }
}

// spec: codes SandboxStatusCode 907
#[test]
fn a_bank_that_requires_authentication_declines_without_it() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, INSISTS, "fail", &[("merchantReference", "order 7")]);
    let answer = pay_with(&mut shop, "auth3DSecure", &key);
    assert_eq!(answer.text("transactionStatus"), "Declined, authentication did not succeed");
    assert_eq!((answer.text("transactionType"), answer.text("bankResponseCode")), ("Auth", "1A"));
    assert!(answer.text("bankAuthCode").is_empty());
    assert_eq!(answer.basis, "2 4.4, A07, A41, A87, A89, A101, A108, A109, A131");
    assert_eq!(shop.operate("refund", answer.text("transactionKey"), None).code(), "951");
    let rows = shop.find(&[("merchantReference", "order 7")]);
    let types: Vec<_> = rows.iter().map(|row| (&row["transactionType"], &row["transactionStatusCode"])).collect();
    assert_eq!(types, [(&json!("3DSecureCheck"), &json!("607")), (&json!("Auth"), &json!("907"))]);
}

// spec: 2 §3.3, A108: An authentication pays once; before it has ended it pays nothing and stays usable.
// spec: codes SandboxErrorCode 961
#[test]
fn an_early_request_uses_nothing_up() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    for method in ["auth3DSecure", "preauth3DSecure"] {
        let answer = pay_with(&mut shop, method, &key);
        assert_eq!((answer.status, answer.code()), (400, "961"));
        assert_eq!(answer.text("errorMessage"), "Authentication is not finished");
    }
    assert_eq!(shop.payments().len(), 1);
    press(&mut shop, &key, "authenticate");
    assert_eq!(pay_with(&mut shop, "auth3DSecure", &key).code(), "600");
}

#[test]
fn an_authentication_that_timed_out_stays_so() {
    let mut shop = Shop::open();
    let key = open(&mut shop, INSISTS, &[]);
    shop.wait(900);
    assert_eq!(pay_with(&mut shop, "auth3DSecure", &key).code(), "907");
    assert_eq!(pay_with(&mut shop, "auth3DSecure", &key).code(), "962");
    // Setting the clock back does not reopen it.
    shop.at = now();
    assert_eq!(location(&press(&mut shop, &key, "authenticate")), RETURN);
    assert_eq!(status_of(&mut shop, &key).code(), "922");
    assert_eq!(pay_with(&mut shop, "auth3DSecure", &key).code(), "962");
}

#[test]
fn an_authentication_that_ended_has_no_further_limit() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, "4111111111111111", "authenticate", &[]);
    // Sessions end after 30 minutes, the card at the end of May.
    shop.wait(27 * 24 * 60 * 60);
    assert_eq!(pay_with(&mut shop, "auth3DSecure", &key).code(), "600");
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    shop.wait(60 * 24 * 60 * 60);
    let late = pay_with(&mut shop, "auth3DSecure", &key);
    assert_eq!((late.code(), late.text("bankResponseCode")), ("903", "54"));
}

// spec: 2 §3.3, A108
#[test]
fn fifty_at_once_pay_once() {
    for (first, second) in
        [("auth3DSecure", "auth3DSecure"), ("auth3DSecure", "preauth3DSecure"), ("preauth3DSecure", "auth3DSecure")]
    {
        let mut shop = Shop::open();
        let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
        let body = signed(&account("main"), &[("authenticationKey", &key)]);
        let call = |method: &str| request(Method::POST, &format!("/v3/transaction/{method}/json"), body.clone());
        let group = (0..50).map(|number| call(if number % 2 == 0 { first } else { second })).collect();
        let responses = shop.sandbox.handle_group(shop.at, group);
        let statuses: Vec<u16> = responses.iter().map(|response| response.status().as_u16()).collect();
        assert_eq!((statuses[0], &statuses[1..]), (200, &[400; 49][..]));
        assert!(responses[1..].iter().all(|response| text(response).1.contains("\"errorCode\":\"962\"")));
        let paid = shop.payments().into_iter().filter(|payment| payment.kind != PaymentKind::ThreeDsAuthenticatedOnly);
        assert_eq!(paid.count(), 1);
    }
}

// spec: 2 §4.4, A07, A109
#[test]
fn the_payment_takes_over_all_references() {
    let mut shop = Shop::open();
    let references = [
        ("merchantReference", "order 7"),
        ("uniqueMerchantReference", "u-7"),
        ("merchantCustomerReference", "customer-9"),
    ];
    let key = answered(&mut shop, CHALLENGE, "authenticate", &references);
    let paid = pay_with(&mut shop, "auth3DSecure", &key).key();
    for reference in &references[..2] {
        let rows = shop.find(&[*reference]);
        assert_eq!(rows.len(), 2, "{reference:?}");
        assert_eq!(
            (&rows[0]["transactionType"], &rows[1]["transactionKey"]),
            (&json!("3DSAuthenticatedOnly"), &json!(paid))
        );
        for row in rows {
            assert_eq!(row["merchantReference"], "order 7");
            assert_eq!(row["uniqueMerchantReference"], "u-7");
            assert_eq!(row["merchantCustomerReference"], "customer-9");
        }
    }
    assert_eq!(shop.find(&[references[1], ("transactionKey", &paid)]).len(), 1);
    assert_eq!(shop.find(&[references[0], references[1]]).len(), 2);
    assert_eq!(shop.find(&[references[1], ("merchantReference", "other")]).len(), 0);
    assert_eq!(shop.call("auth", &raw(PAN, &[references[1]])).code(), "950");
}

#[test]
fn the_recipient_of_category_6012_goes_along_sealed() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[("mccSurname", "Recipient")]);
    let paid = pay_with(&mut shop, "auth3DSecure", &key).key();
    let payment = shop.payment(&paid);
    assert!(!holds(&payment, "Recipient"));
    let sealed = &payment.recipient["mccSurname"];
    assert_eq!(shop.sandbox.vault.open(&paid, sealed).unwrap().expose(), "Recipient");
}

#[test]
fn a_payment_removes_the_cv2_from_its_session() {
    for outcome in ["authenticate", "fail"] {
        let mut shop = Shop::open();
        let key = answered(&mut shop, CHALLENGE, outcome, &[]);
        let session = shop.stored::<Authentication>(&key).unwrap().session_key.unwrap();
        assert!(pay_with(&mut shop, "auth3DSecure", &key).rests_on("A101"));
        assert!(!has_cv2(&mut shop.sandbox, &session));
    }
}

/// An authentication with the card of this token, whose customer has passed it.
fn authenticated_with(shop: &mut Shop, token: &str) -> String {
    let opened = shop.call("initiate3DSecureCardKey", &order(&[("cardKey", token), ("returnUrl", RETURN)]));
    let key = opened.text("authenticationKey").to_owned();
    press(shop, &key, "authenticate");
    key
}

// spec: 1 §3.1, 2 §3.3, A61, A108: A card that was removed or disabled is not charged by an authentication that began
//   before.
#[test]
fn the_last_step_needs_the_token_of_the_first() {
    let mut shop = Shop::open();
    for method in ["auth3DSecure", "preauth3DSecure"] {
        let token = shop.token(CHALLENGE, ("01", "2030"));
        let key = authenticated_with(&mut shop, &token);
        let recorded = shop.payments().len();
        let pairs = signed(&account("main"), &[("cardKey", &token)]);
        post(&mut shop.sandbox, "/v3/token/disable", pairs.clone());
        let refused = pay_with(&mut shop, method, &key);
        assert_eq!((refused.status, refused.code()), (400, "942"));
        assert!(refused.rests_on("A61") && refused.rests_on("A108"), "{refused:?}");
        post(&mut shop.sandbox, "/v3/token/enable", pairs.clone());
        let gone = authenticated_with(&mut shop, &token);
        let paid = pay_with(&mut shop, method, &key).key();
        assert_eq!(shop.payment(&paid).card_key.as_deref(), Some(token.as_str()), "nothing was used up");
        post(&mut shop.sandbox, "/v3/token/delete", pairs);
        let refused = pay_with(&mut shop, method, &gone);
        assert_eq!((refused.status, refused.code()), (400, "940"));
        assert!(refused.rests_on("A57") && refused.rests_on("A108"), "{refused:?}");
        assert_eq!(pay_with(&mut shop, method, &key).code(), "962", "it has paid, whatever became of the token");
        assert_eq!(shop.payments().len(), recorded + 2, "one payment and one check");
    }
}

// spec: 2 §3.3, A108: The last step charges the card as it was at the initiation.
#[test]
fn the_last_step_charges_the_card_of_the_initiation() {
    let mut shop = Shop::open();
    let token = shop.token(CHALLENGE, ("01", "2030"));
    let key = authenticated_with(&mut shop, &token);
    let past = [("cardKey", &*token), ("cardExpiryMonth", "01"), ("cardExpiryYear", "2020")];
    post(&mut shop.sandbox, "/v3/token/updateCardKeyDetails", signed(&account("main"), &past));
    assert_eq!(shop.call("authCardKey", &order(&[("cardKey", &token)])).code(), "903");
    let paid = pay_with(&mut shop, "auth3DSecure", &key).key();
    assert_eq!(shop.payment(&paid).card.unwrap().expiry_year, "2030");
}

// spec: 2 §4.4, A103, A109: A customer reference validates the card key, also in the last step.
#[test]
fn the_last_step_refuses_a_customer_who_is_not_the_tokens() {
    let mut shop = Shop::open();
    let token = shop.token(CHALLENGE, ("01", "2030"));
    let opened = shop.call("initiate3DSecureCardKey", &order(&[("cardKey", &token), ("returnUrl", RETURN)]));
    let key = opened.text("authenticationKey");
    press(&mut shop, key, "authenticate");
    let mut pay =
        |customer| shop.call("auth3DSecure", &[("authenticationKey", key), ("merchantCustomerReference", customer)]);
    let refused = pay("customer-8");
    assert_eq!((refused.status, refused.code()), (400, "941"));
    assert!(refused.rests_on("A103"), "{refused:?}");
    assert_eq!(pay("customer-7").code(), "600", "nothing was used up");
    assert_eq!(shop.payments().len(), 2);
    // A card of a session has no customer yet.
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    let named = [("authenticationKey", &*key), ("merchantCustomerReference", "customer-8")];
    assert_eq!(shop.call("auth3DSecure", &named).code(), "600");
}

#[test]
fn no_response_from_the_bank_uses_nothing_up() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[("uniqueMerchantReference", "u-1")]);
    let check = shop.stored::<Authentication>(&key).unwrap().check;
    let check = shop.payment(&check);
    let silent = Payment { card: Some(shop.seal(&check.key, SILENT, ("05", "2026"))), ..check.clone() };
    shop.put(&silent);
    let answer = pay_with(&mut shop, "auth3DSecure", &key);
    assert_eq!((answer.status, answer.code()), (400, "119"));
    assert_eq!(shop.payments().len(), 1);
    shop.put(&check);
    assert_eq!(pay_with(&mut shop, "auth3DSecure", &key).code(), "600");
    assert_eq!(shop.find(&[("uniqueMerchantReference", "u-1")]).len(), 2);
}

// spec: 2 §4.3, A55: Other recordable parameters are unknown: they are accepted and ignored.
// spec: 2 §4.4, A07, A109: auth3DSecure and preauth3DSecure take the key and references; the amount and missing
//   references are those of the initiation.
// spec: 1 §4.1, A55, A29
#[test]
fn other_parameters_are_ignored() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
    let pairs = [("authenticationKey", key.as_str()), ("customerEmail", "other@shop.example"), ("currency", "GBP")];
    let amount = shop.call("auth3DSecure", &[&pairs[..], &[("transactionValue", "1")]].concat());
    assert_eq!(amount.code(), "964", "the amount is that of the initiation");
    let currency = shop.call("auth3DSecure", &[pairs[0], ("currency", "EUR")]);
    assert_eq!(currency.code(), "111");
    let paid = shop.call("auth3DSecure", &pairs).key();
    assert_eq!(shop.payment(&paid).amount, 998);
}
