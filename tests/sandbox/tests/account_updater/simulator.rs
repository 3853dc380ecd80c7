//! The answers of the simulator by default (spec 1 §2.4), and with the settings of a test (A73 to A75).

use http::Method;
use serde_json::{Value, json};

use crate::account_updater::{A, B, Desk, MONTH, OTHER, PLAIN};

// spec: 1 §2.1: The result of the updater contains the card fields of a record, without customer and address.
// spec: 1 §2.4: Two test cards give 700, each with the number of the other.
// spec: 1 §1, A74, A59
#[test]
fn two_cards_get_each_others_number() {
    let mut desk = Desk::new();
    let (a, b) = (desk.token(A, "anna"), desk.token(B, "bert"));
    let before = [desk.look_up(&a), desk.look_up(&b)];
    let entries = desk.updated(&[&a, &b]);
    for (entry, (old, new_number, customer)) in
        entries.iter().zip([(&a, "400000******9003", "anna"), (&b, "400000******8005", "bert")])
    {
        assert_eq!((&entry["oldCardKey"], &entry["response"]), (&json!(old), &json!("700")));
        assert_eq!(entry["card"]["cardNumber"], new_number);
        assert_eq!(
            (&entry["card"]["cardExpiryMonth"], &entry["card"]["cardExpiryYear"]),
            (&json!("05"), &json!("2030"))
        );
        assert_eq!((&entry["merchantCustomerReference"], &entry["enabled"]), (&json!(customer), &json!("1")));
        assert!(entry.get("customer").is_none() && entry.get("cardholderAddress").is_none());
    }
    // The identifiers change places as the numbers do; the old tokens are as they were.
    let identifier = |token: &Option<Value>| token.as_ref().unwrap()["cardUniqueIdentifier"].to_string();
    assert_eq!(entries[0]["cardUniqueIdentifier"], json!(identifier(&before[1])));
    assert_eq!(entries[1]["cardUniqueIdentifier"], json!(identifier(&before[0])));
    assert_eq!([desk.look_up(&a), desk.look_up(&b)], before);
}

// spec: 1 §2.4: One test card gives 702, with its number and one month more.
#[test]
fn one_card_gets_a_month_and_december_is_followed_by_january() {
    let mut desk = Desk::new();
    for (expiry, later) in [(("05", "2030"), ("06", "2030")), (("12", "2029"), ("01", "2030"))] {
        let key = desk.token_until(MONTH, "c", expiry);
        let entry = desk.updated(&[&key]).remove(0);
        assert_eq!((&entry["response"], &entry["card"]["cardNumber"]), (&json!("702"), &json!("400000******0001")));
        assert_eq!(
            (&entry["card"]["cardExpiryMonth"], &entry["card"]["cardExpiryYear"]),
            (&json!(later.0), &json!(later.1))
        );
    }
}

// spec: 1 §1, A74, A59: Every updated card has a new card key; the old token is unchanged, and the merchant decides
//   when to switch.
#[test]
fn the_new_token_has_everything_of_the_old_one_and_pays() {
    let mut desk = Desk::new();
    let old = desk.token(MONTH, "c");
    let details = [
        ("cardKey", old.as_str()),
        ("cardDescription", "the blue one"),
        ("customerEmail", "r@example.org"),
        ("cardholderAddressTown", "Leeds"),
    ];
    desk.done("token/updateCardKeyDetails", &details);
    desk.done("token/disable", &[("cardKey", &old)]);
    let entry = desk.updated(&[&old]).remove(0);
    let new = entry["cardKey"].as_str().unwrap().to_owned();
    assert_ne!(new, old);
    let (was, is) = (desk.look_up(&old).unwrap(), desk.look_up(&new).unwrap());
    assert_eq!((&was["enabled"], &is["enabled"]), (&json!("0"), &json!("0")));
    for part in ["customer", "cardholderAddress", "merchantCustomerReference", "cardUniqueIdentifier"] {
        assert_eq!(was[part], is[part], "{part}");
    }
    for field in ["cardDescription", "cardholderName", "cardNumber", "cardType", "cardScheme", "cardBank"] {
        assert_eq!(was["card"][field], is["card"][field], "{field}");
        assert_eq!(entry["card"][field], is["card"][field], "{field}");
    }
    // A customer who withdrew the consent is not charged under the new key either (A59).
    desk.done("token/enable", &[("cardKey", &new)]);
    let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499"), ("cardKey", &*new)];
    assert_eq!(desk.done("transaction/authCardKey", &order)["transactionStatusCode"], "600");
}

// spec: 1 §2.1, A42
#[test]
fn a_new_card_is_shown_with_its_empty_fields_and_no_others_are() {
    let mut desk = Desk::new();
    let (new, unchanged) = (desk.token(MONTH, ""), desk.token(PLAIN, ""));
    let batch = desk.request(&[&new, &unchanged], "");
    desk.wait(120);
    let entries = desk.retrieve(&batch)["cardKeyDetails"].clone();
    assert_eq!(entries[0]["merchantCustomerReference"], json!(""), "{entries}");
    assert_eq!(entries[0]["card"]["cardDescription"], json!(""), "{entries}");
    assert_eq!(entries[1], json!({ "oldCardKey": unchanged, "response": "706" }));
    let (_, xml) = desk.call("token/retrieveAccountUpdater", &[("batchKey", &batch)], true);
    let (first, second) = xml.split_once("</cardKeyDetail>").unwrap();
    assert!(first.contains("</cardUniqueIdentifier><merchantCustomerReference></merchantCustomerReference>"), "{xml}");
    assert!(!second.contains("merchantCustomerReference"), "{xml}");
}

// spec: 1 §3.2
#[test]
fn a_batch_shows_its_results_after_the_new_token_is_deleted() {
    let mut desk = Desk::new();
    let old = desk.token(MONTH, "c");
    let batch = desk.request(&[&old], "");
    desk.wait(120);
    let found = desk.retrieve(&batch);
    let new = found["cardKeyDetails"][0]["cardKey"].as_str().unwrap().to_owned();
    desk.done("token/delete", &[("cardKey", &new)]);
    assert_eq!(desk.retrieve(&batch), found);
}

// spec: 1 §2.2, A75: Every submitted card has an entry; without a new card it contains only oldCardKey and response.
// spec: 1 §2.3, A74: Each response code can be set for a card; the four codes of a new card return one.
// spec: 1 §2.4: Any other number that passes the Luhn check gives 706.
// spec: codes CardRetrievalCode 700 701 702 703 704 705 706 707 708 709 710 711 712
#[test]
fn any_answer_can_be_requested() {
    let mut desk = Desk::new();
    let (key, other) = (desk.token(PLAIN, "c"), desk.token(OTHER, "c"));
    for code in 700..=712 {
        let code = code.to_string();
        let told = desk.tell("cards/updater", &json!({ "cardKey": key, "response": code }).to_string());
        assert_eq!(told, json!({ "card": "400000******1000", "response": code }));
        let entries = desk.updated(&[&key, &other]);
        assert_eq!(entries[0]["response"], json!(code));
        let has_card = matches!(&*code, "700" | "702" | "707" | "712");
        assert_eq!(entries[0].get("card").is_some(), has_card, "{code}");
        assert_eq!(entries[1], json!({ "oldCardKey": other, "response": "706" }));
        let card = &entries[0]["card"];
        match &*code {
            "700" => {
                assert_eq!((&card["cardNumber"], &card["cardExpiryMonth"]), (&json!("400000******1018"), &json!("05")))
            }
            "707" => {
                assert_eq!((&card["cardNumber"], &card["cardExpiryMonth"]), (&json!("400000******1018"), &json!("06")))
            }
            "702" => {
                assert_eq!((&card["cardNumber"], &card["cardExpiryMonth"]), (&json!("400000******1000"), &json!("06")))
            }
            "712" => assert_eq!(card["cardScheme"], "MASTERCARD"),
            _ => {}
        }
    }
}

#[test]
fn updater_answers_are_set_listed_and_removed_by_number() {
    let mut desk = Desk::new();
    let (key, a) = (desk.token(PLAIN, "c"), desk.token(A, "c"));
    desk.tell("cards/updater", &json!({ "cardNumber": PLAIN, "response": "701" }).to_string());
    desk.tell("cards/updater", &json!({ "cardNumber": A, "response": "705" }).to_string());
    let listed = json!([
        { "card": "400000******1000", "response": "701" },
        { "card": "400000******8005", "response": "705" },
    ]);
    assert_eq!(desk.get("cards/updater").1, listed);
    let responses = |entries: Vec<Value>| entries.iter().map(|entry| entry["response"].clone()).collect::<Vec<_>>();
    assert_eq!(responses(desk.updated(&[&key, &a])), ["701", "705"]);
    assert_eq!(desk.control(Method::DELETE, "cards/updater", "").1, json!([]));
    assert_eq!(responses(desk.updated(&[&key, &a])), ["706", "700"]);
}

#[test]
fn invalid_updater_answers_are_refused() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    for (body, status) in [
        (json!({}), 400),
        (json!({ "response": "705" }), 400),
        (json!({ "cardKey": key, "cardNumber": PLAIN, "response": "705" }), 400),
        (json!({ "cardNumber": "4000000000001001", "response": "705" }), 400),
        (json!({ "cardNumber": "0", "response": "705" }), 400),
        (json!({ "cardKey": key, "response": "699" }), 400),
        (json!({ "cardKey": key, "response": "713" }), 400),
        (json!({ "cardKey": key, "response": "600" }), 400),
        (json!({ "cardKey": "none", "response": "705" }), 404),
    ] {
        let (found, answer) = desk.control(Method::POST, "cards/updater", &body.to_string());
        assert_eq!(found, status, "{body} {answer}");
        assert!(answer["error"].is_string() && !answer.to_string().contains("40000"), "{answer}");
    }
}
