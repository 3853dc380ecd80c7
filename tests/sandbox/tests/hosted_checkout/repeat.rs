//! Charging a card again (spec 3 §3.2, §4.2; A123).

use pg_model::EnterpriseResult;

use crate::hosted_checkout::{Answer, CARD, DECLINED, NO_KEY, PAN, SILENT, Shop, UNHEARD, with};

fn repeat(shop: &mut Shop, key: &str, trans_type: &str, value: &str) -> Answer {
    shop.call("repeat", &[("prev_trans_key", key), ("trans_type", trans_type), ("trans_value", value)])
}

/// A payment of 10.00 through version 3; no key when it was refused.
fn paid_by_raw_card(shop: &mut Shop, number: &str, expiry: (&str, &str)) -> String {
    let pairs = [
        ("cardNumber", number),
        ("cardExpiryMonth", expiry.0),
        ("cardExpiryYear", expiry.1),
        ("currency", "GBP"),
        ("itemName0", "Tea"),
        ("itemPrice0", "1000"),
    ];
    shop.version_3("transaction/auth", &pairs)["transactionKey"].as_str().unwrap_or_default().to_owned()
}

// spec: 3 §4.2: trans_value may be any amount.
// spec: 3 §2.2, A113, A124; 3 §4.2, A123, A15; method enterprise/repeat
// spec: codes EnterpriseTransactionType Auth PreAuth auth; codes SystemAction REPEAT
#[test]
fn a_card_is_charged_again_with_any_amount() {
    let mut shop = Shop::new();
    let paid = shop.paid(&[("trans_reference", "order-7"), ("trans_class", "first")]);
    for (trans_type, wanted) in [("Auth", "auth"), ("PreAuth", "preauth")] {
        let answer = repeat(&mut shop, &paid, trans_type, "12345.67");
        let result: EnterpriseResult = answer.record();
        assert_eq!((result.trans_type.as_str(), result.trans_value.as_str()), (wanted, "12345.67"));
        assert_eq!((result.prev_trans_key.as_str(), result.system_action.as_str()), (paid.as_str(), "REPEAT"));
        assert_eq!((result.status.as_str(), result.auth_code.len(), result.trans_class.as_str()), ("1", 6, ""));
        assert_eq!(answer.basis, "3 4.2, A15, A41, A88, A100, A113, A123, A124");
        let known = shop.version_3("transaction/lookup", &[("transactionKey", result.trans_key.as_str())]);
        assert_eq!(known["transactions"]["0"]["bankAuthCode"], result.auth_code.as_str());
    }
    let found = shop.version_3("transaction/lookup", &[("merchantReference", "order-7")]);
    assert_eq!(found["transactions"].as_object().unwrap().len(), 3);
    assert_eq!(found["transactions"]["1"]["originalTransactionKey"], paid.as_str());
}

// spec: 2 §4.4, A99
#[test]
fn a_reference_that_an_update_has_set_does_not_find_the_repeats_that_copy_it() {
    let mut shop = Shop::new();
    let paid = paid_by_raw_card(&mut shop, PAN, ("12", "30"));
    let update = [("transactionKey", paid.as_str()), ("merchantReference", "order-7")];
    assert_eq!(shop.version_3("transaction/update", &update)["result"], "OK");
    let again = repeat(&mut shop, &paid, "Auth", "1").text("trans_key");
    let shown = shop.version_3("transaction/lookup", &[("transactionKey", again.as_str())]);
    assert_eq!(shown["transactions"]["0"]["merchantReference"], "order-7");
    let found = shop.version_3("transaction/lookup", &[("merchantReference", "order-7")]);
    assert!(!found.to_string().contains(&again) && !found.to_string().contains(&paid), "{found}");
}

// spec: 3 §3.2 Transitions: A pre-auth is made by repeat or by a token, with trans_type PreAuth.
// spec: 3 §2.2, A124; 3 §2.2, A15; 3 §4.2; codes EnterpriseTransactionType Auth PreAuth preauth
#[test]
fn a_repeated_reservation_lasts_ten_days_and_a_repeat_can_be_repeated() {
    let mut shop = Shop::new();
    let paid = shop.paid(&[]);
    let reserved = repeat(&mut shop, &paid, "PreAuth", "20").text("trans_key");
    shop.wait(10 * 24 * 60 * 60 - 1);
    let captured = shop.done("capture", &[("prev_trans_key", &reserved), ("trans_value", "20")]).text("trans_key");
    assert_eq!(repeat(&mut shop, &captured, "Auth", "1").text("status"), "1");
    shop.done("refund", &[("prev_trans_key", &paid), ("trans_value", "10.98")]);
    assert_eq!(repeat(&mut shop, &paid, "Auth", "1").text("status"), "1");
}

// spec: 3 §4.2, A123, A15: prev_trans_key is a successful charge of either version.
#[test]
fn only_successful_charges_are_repeated() {
    let mut shop = Shop::new();
    let paid = shop.paid(&[]);
    let refunded = shop.done("refund", &[("prev_trans_key", &paid), ("trans_value", "1")]).text("trans_key");
    let declined = paid_by_raw_card(&mut shop, DECLINED, ("12", "30"));
    for key in [&refunded, &declined] {
        assert_eq!(repeat(&mut shop, key, "Auth", "1").code(), "951");
    }
    assert_eq!(repeat(&mut shop, NO_KEY, "Auth", "1").code(), "943");
    for (value, wanted) in [("0", "107"), ("1.001", "107"), ("9999999999.99", ""), ("10000000000", "107")] {
        assert_eq!(repeat(&mut shop, &paid, "Auth", value).text("errorcode"), wanted, "{value}");
    }
}

// spec: 3 §4.2, A123, A15
#[test]
fn a_card_that_has_expired_since_is_declined() {
    let mut shop = Shop::new();
    let paid = paid_by_raw_card(&mut shop, PAN, ("05", "26"));
    assert_eq!(repeat(&mut shop, &paid, "Auth", "1").text("status"), "1");
    shop.wait(28 * 24 * 60 * 60);
    let answer = repeat(&mut shop, &paid, "Auth", "1");
    assert_eq!((answer.status, answer.text("status").as_str(), answer.text("auth_code").as_str()), (200, "0", ""));
    assert_eq!(shop.status_of(&answer.text("trans_key")), "Failed");
    assert_eq!(repeat(&mut shop, &answer.text("trans_key"), "Auth", "1").code(), "951");
}

#[test]
fn a_silent_bank_leaves_no_payment_to_repeat() {
    let mut shop = Shop::new();
    assert_eq!(paid_by_raw_card(&mut shop, SILENT, ("12", "30")), "");
    let token = shop.token(&[("trans_reference", "silent")]);
    assert!(shop.pay(&token, SILENT).says("did not answer"));
    let found = shop.version_3("transaction/lookup", &[("merchantReference", "silent")]);
    assert!(found["transactions"].as_object().unwrap().is_empty(), "{found}");
}

fn fault(shop: &mut Shop, fault: &str) {
    assert_eq!(shop.ask(http::Method::POST, "/_sandbox/faults", fault.to_owned()).status(), 200);
}

#[test]
fn a_repeat_that_the_bank_does_not_answer_may_have_been_charged() {
    for (kind, charged) in [("no-response", 1), ("no-response-charged", 2)] {
        let mut shop = Shop::new();
        let paid = shop.paid(&[("trans_reference", "order-7")]);
        fault(&mut shop, &format!(r#"{{"method": "enterprise/repeat", "kind": "{kind}"}}"#));
        assert_eq!(repeat(&mut shop, &paid, "Auth", "1").code(), "119");
        let found = shop.version_3("transaction/lookup", &[("merchantReference", "order-7")]);
        assert_eq!(found["transactions"].as_object().unwrap().len(), charged, "{kind}");
    }
}

// spec: 2 §7, A93: Neither the reply nor its basis shows what the bank did.
#[test]
fn the_basis_does_not_show_what_a_silent_bank_did() {
    let bases = |kind: &str, card: &str| -> Vec<String> {
        let mut shop = Shop::new();
        let [paid, refunded] = [shop.paid(&[]), shop.paid(&[])];
        let [captured, cancelled] = [(); 2].map(|()| repeat(&mut shop, &paid, "PreAuth", "5").text("trans_key"));
        let mut bases = Vec::new();
        for (method, key) in [("repeat", &paid), ("refund", &refunded), ("capture", &captured), ("cancel", &cancelled)]
        {
            fault(&mut shop, &format!(r#"{{"method": "enterprise/{method}", "kind": "{kind}"}}"#));
            let more: &[(&str, &str)] = if method == "repeat" { &[("trans_type", "Auth")] } else { &[] };
            let pairs = [("prev_trans_key", key.as_str()), ("trans_value", "5"), ("trans_class", "c")];
            let answer = shop.call(method, &[&pairs[..], more].concat());
            assert_eq!(answer.code(), "119", "{method}");
            bases.push(answer.basis);
        }
        let token = shop.token(&[("token_uses", "1")]);
        fault(&mut shop, &format!(r#"{{"method": "page/pay", "kind": "{kind}"}}"#));
        let page = shop.visit(&token);
        for card in [card, PAN] {
            let answer = shop.submit(&token, &page, &with(CARD, &[("cardNumber", card)]));
            bases.push(answer.headers["pg-basis"].to_str().unwrap().to_owned());
        }
        bases
    };
    let none = bases("no-response", PAN);
    assert!(none.iter().take(5).all(|basis| basis.contains("A93")), "{none:?}");
    assert_eq!(bases("no-response-charged", PAN), none);
    assert_eq!(bases("no-response-charged", DECLINED), none);
    let page = |card: &str| {
        let mut shop = Shop::new();
        let token = shop.token(&[]);
        shop.pay(&token, card).headers["pg-basis"].to_str().unwrap().to_owned()
    };
    assert_eq!(page(UNHEARD), page(SILENT));
}

// spec: 2 §7, A93: The page does not tell a charge whose response was lost from none.
#[test]
fn the_hosted_page_may_have_charged_too() {
    for (kind, charged) in [("no-response", 0), ("no-response-charged", 1)] {
        let mut shop = Shop::new();
        let token = shop.token(&[("trans_reference", "silent"), ("token_uses", "1")]);
        fault(&mut shop, &format!(r#"{{"method": "page/pay", "kind": "{kind}"}}"#));
        let page = shop.visit(&token);
        for _ in ["sent", "sent again"] {
            let answer = shop.submit(&token, &page, CARD);
            assert!(answer.status == 200 && answer.says("Your bank did not answer"), "{kind}: {}", answer.html);
            assert!(answer.says("It is unknown whether your card was charged"), "{kind}: {}", answer.html);
        }
        let found = shop.version_3("transaction/lookup", &[("merchantReference", "silent")]);
        assert_eq!(found["transactions"].as_object().unwrap().len(), charged, "{kind}");
        assert_eq!(shop.control("callbacks").as_array().unwrap().len(), 0);
        let later = shop.visit(&token);
        assert_eq!(later.status, if charged == 1 { 410 } else { 200 }, "{kind}");
        assert!(!later.says("has been made"), "{kind}: {}", later.html);
        assert_eq!(later.says("It is unknown whether your card was charged"), charged == 1, "{kind}: {}", later.html);
    }
}

// spec: 3 §4.2, A123: The result has system_action REPEAT, with the currency and terminal of the original.
#[test]
fn currency_and_terminal_are_those_of_the_original() {
    let mut shop = Shop::new();
    let paid = shop.paid(&[("currency", "JPY"), ("item_price[0]", "500"), ("terminal_key", "main-web")]);
    assert_eq!(repeat(&mut shop, &paid, "Auth", "0.5").code(), "107");
    let again = repeat(&mut shop, &paid, "Auth", "700");
    assert_eq!(again.text("trans_value"), "700");
    let found = shop.done("transaction_lookup", &[("trans_key", &again.text("trans_key"))]);
    assert_eq!((found.text("currency").as_str(), found.text("value").as_str()), ("JPY", "700"));
    let recorded = shop.control(&format!("transactions/{}", again.text("trans_key")));
    assert_eq!(recorded["details"]["terminalKey"], "main-web");
}
