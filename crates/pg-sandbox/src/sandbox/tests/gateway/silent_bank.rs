//! Error 119, with and without a charge.

use super::{
    three_d_secure::{CHALLENGE, answered},
    *,
};

const UNHEARD: &str = "4000000000011009";
const UNIQUE: (&str, &str) = ("uniqueMerchantReference", "u-1");

fn fault(shop: &mut Shop, method: &str, kind: &str) {
    let body = json!({ "method": method, "kind": kind }).to_string();
    let response = shop.sandbox.handle(shop.at, request(Method::POST, "/_sandbox/faults", body));
    assert_eq!(response.status(), 200, "{response:?}");
}

// spec: 2 §7, A93
#[test]
fn a_card_may_be_charged_although_the_reply_is_119() {
    for method in ["auth", "preauth"] {
        let mut shop = Shop::open();
        let answer = shop.call(method, &raw(UNHEARD, &[UNIQUE, ("merchantReference", "order 7")]));
        assert_eq!((answer.status, answer.code(), answer.rests_on("A93")), (400, "119", true));
        for reference in [UNIQUE, ("merchantReference", "order 7")] {
            let rows = shop.find(&[reference]);
            assert_eq!((rows.len(), &rows[0]["transactionStatusCode"]), (1, &json!("600")), "{reference:?}");
        }
        assert_eq!(shop.call(method, &raw(PAN, &[UNIQUE])).code(), "950");
        assert_eq!(shop.payments().len(), 1);
    }
}

#[test]
fn an_authentication_that_was_charged_is_used_up() {
    let mut shop = Shop::open();
    let key = answered(&mut shop, UNHEARD, "authenticate", &[UNIQUE]);
    let pay = [("authenticationKey", key.as_str())];
    assert_eq!(shop.call("auth3DSecure", &pay).code(), "119");
    assert_eq!(shop.find(&[UNIQUE]).len(), 2);
    assert_eq!(shop.call("auth3DSecure", &pay).code(), "962");
}

// spec: 2 §7, A93
#[test]
fn a_fault_silences_every_method_that_asks_the_bank() {
    for (kind, charged) in [("no-response", false), ("no-response-charged", true)] {
        let mut shop = Shop::open();
        let (paid, captured, cancelled) = (pay(&mut shop, 1000), reserve(&mut shop, 1000), reserve(&mut shop, 1000));
        let key = answered(&mut shop, CHALLENGE, "authenticate", &[]);
        for (method, pairs) in [
            ("auth", raw(PAN, &[])),
            ("preauth", raw(PAN, &[])),
            ("auth3DSecure", vec![("authenticationKey", key.as_str())]),
            ("refund", vec![("transactionKey", paid.as_str())]),
            ("capturepreauth", vec![("transactionKey", captured.as_str())]),
            ("cancelpreauth", vec![("transactionKey", cancelled.as_str())]),
        ] {
            fault(&mut shop, &format!("transaction/{method}"), kind);
            let unique = [("uniqueMerchantReference", method)];
            let before = shop.payments().len();
            let answer = shop.call(method, &[&pairs[..], &unique].concat());
            assert_eq!((answer.status, answer.code()), (400, "119"), "{method} {kind}");
            assert_eq!(shop.payments().len() - before, usize::from(charged), "{method} {kind}");
            assert_eq!(shop.find(&unique).len(), usize::from(charged), "{method} {kind}");
            assert_eq!(shop.call(method, &[&pairs[..], &unique].concat()).code(), "950", "{method} {kind}");
            // An operation that was not executed can still be executed.
            let code = if !charged {
                "600"
            } else {
                match method {
                    "auth3DSecure" => "962",
                    "refund" => "953",
                    "capturepreauth" | "cancelpreauth" => "952",
                    _ => "600",
                }
            };
            assert_eq!(shop.call(method, &pairs).code(), code, "{method} {kind}");
        }
    }
}

// spec: 2 §7, A93: Neither the reply nor its basis shows what the bank did.
#[test]
fn the_basis_of_a_silent_bank_is_that_of_a_bank_that_charged() {
    let replies = |card: &str, kind: &str| -> Vec<(u16, String, String)> {
        let mut shop = Shop::open();
        let charges = ["auth", "preauth"].map(|method| (method, raw(card, &[("merchantCustomerReference", "c")])));
        if kind.is_empty() {
            return charges.map(|(method, pairs)| said(&mut shop, method, &pairs)).into();
        }
        let (paid, captured, cancelled) = (pay(&mut shop, 1000), reserve(&mut shop, 1000), reserve(&mut shop, 1000));
        let [auth, preauth] = [(); 2].map(|()| answered(&mut shop, card, "authenticate", &[]));
        let others = [
            ("auth3DSecure", vec![("authenticationKey", auth.as_str())]),
            ("preauth3DSecure", vec![("authenticationKey", preauth.as_str())]),
            ("refund", vec![("transactionKey", paid.as_str())]),
            ("capturepreauth", vec![("transactionKey", captured.as_str())]),
            ("cancelpreauth", vec![("transactionKey", cancelled.as_str())]),
        ];
        let silent = |(method, pairs): (&str, Vec<(&str, &str)>)| {
            fault(&mut shop, &format!("transaction/{method}"), kind);
            said(&mut shop, method, &pairs)
        };
        charges.into_iter().chain(others).map(silent).collect()
    };
    let none = replies(PAN, "no-response");
    for card in [PAN, DECLINED] {
        assert_eq!(replies(card, "no-response-charged"), none, "{card}");
    }
    for card in [UNHEARD, SILENT] {
        assert_eq!(replies(card, ""), none[..2], "{card}");
    }
}

/// The status, the code and the basis of an answer that rests on A93.
fn said(shop: &mut Shop, method: &str, pairs: &[(&str, &str)]) -> (u16, String, String) {
    let answer = shop.call(method, pairs);
    assert!(answer.rests_on("A93"), "{method} {answer:?}");
    (answer.status, answer.code().to_owned(), answer.basis)
}

#[test]
fn a_silent_decline_is_found_as_what_it_is() {
    let mut shop = Shop::open();
    fault(&mut shop, "*", "no-response-charged");
    // The fault does not affect a call that does not ask the bank.
    assert!(shop.find(&[UNIQUE]).is_empty());
    assert_eq!(shop.call("auth", &raw(DECLINED, &[UNIQUE])).code(), "119");
    assert_eq!(shop.find(&[UNIQUE])[0]["transactionStatusCode"], "901");
}
