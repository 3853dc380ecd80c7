//! Data that is collected over several pages (spec 2 §1.1; A84).

use serde_json::Value;

use crate::session_and_tokens::{CV2, ERROR_PAGE, GOOD, Shop, with};

/// The token that a payment with the session leaves.
fn tokenised(shop: &mut Shop, session: &str) -> Value {
    let order = [("sessionKey", session), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    let paid = shop.done("transaction/authSessionKey", &order);
    let transaction = paid["transactionKey"].as_str().unwrap().to_owned();
    shop.done("token/tokeniseTransactionKey", &[("transactionKey", &transaction)])["cardKeyDetails"]["0"].clone()
}

// spec: 2 §1.1, A130: The other services make payments and tokens with the session key; a token needs a payment.
// spec: 2 §1.1, A84: Several posts can collect data over several pages.
// spec: 2 §4.2, A17
#[test]
fn later_pages_add_to_earlier_ones() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let first = [
        ("cardholderName", "A Holder"),
        ("cardDescription", "Blue card"),
        ("customerFirstName", "Anna"),
        ("customerLandline", "020 7946 0123"),
        ("cardholderAddressTown", "Springfield"),
        ("collectSize", "M"),
        ("collectColour", "red"),
    ];
    shop.post(&session, &with(GOOD, &first));
    let second = [
        ("cardNumber", "5200000000001005"),
        ("cardExpiryYear", "31"),
        ("cardholderName", "B Holder"),
        ("customerSurname", "Other"),
        ("cardholderAddressPostcode", "AB1 2CD"),
        ("collectColour", "blue"),
        ("collectGift", "yes"),
    ];
    let landing = shop.post(&session, &with(GOOD, &second));
    let data = landing.shown();
    let collected: Vec<_> = data.collect.iter().collect();
    assert_eq!(collected, [("collectSize", "M"), ("collectColour", "blue"), ("collectGift", "yes")]);
    assert!(landing.basis.contains("A84"), "{}", landing.basis);

    let token = tokenised(&mut shop, &session);
    assert_eq!(token["card"]["cardNumber"], "520000******1005");
    assert_eq!(token["card"]["cardExpiryYear"], "2031");
    // Name and description belong to the card, which was replaced.
    assert_eq!(token["card"]["cardholderName"], "B Holder");
    assert_eq!(token["card"]["cardDescription"], "");
    assert_eq!(token["customer"]["customerFirstName"], "Anna");
    assert_eq!(token["customer"]["customerSurname"], "Other");
    assert_eq!(token["customer"]["customerTelephone"], "020 7946 0123");
    assert_eq!(token["cardholderAddress"]["cardholderAddressTown"], "Springfield");
    assert_eq!(token["cardholderAddress"]["cardholderAddressPostcode"], "AB1 2CD");
}

// spec: 2 §1.1, A84
#[test]
fn an_empty_field_takes_an_earlier_value_away() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    shop.post(&session, &with(GOOD, &[("customerFirstName", "Anna"), ("customerSurname", "Other")]));
    let emptied: Vec<_> = GOOD.iter().copied().chain([("customerFirstName", "")]).collect();
    shop.post(&session, &emptied);
    let token = tokenised(&mut shop, &session);
    assert_eq!(token["customer"]["customerFirstName"], "");
    assert_eq!(token["customer"]["customerSurname"], "Other");
}

// spec: 2 §3.1
#[test]
fn an_invalid_form_changes_nothing() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    shop.post(&session, &with(GOOD, &[("customerFirstName", "Anna"), ("collectSize", "M")]));
    let wrong = [("cardCV2", "1"), ("customerFirstName", "Berta"), ("collectSize", "L"), ("cardExpiryYear", "31")];
    let landing = shop.post(&session, &with(GOOD, &wrong));
    // The page gets what was entered, for the form to be shown again.
    assert_eq!(landing.shown().collect.get("collectSize"), Some("L"));
    assert_eq!(shop.post(&session, GOOD).shown().collect.get("collectSize"), Some("M"));
    let token = tokenised(&mut shop, &session);
    assert_eq!(
        (&token["customer"]["customerFirstName"], &token["card"]["cardExpiryYear"]),
        (&"Anna".into(), &"2030".into())
    );
}

/// Spec 2 §3.1: where a required field is missing, the session is as it was.
// spec: 2 §3.1, A80
#[test]
fn an_incomplete_form_changes_nothing() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    shop.post(&session, &with(GOOD, &[("customerFirstName", "Anna"), ("collectSize", "M")]));
    let changes = [("customerFirstName", "Berta"), ("collectSize", "L"), ("cardExpiryYear", "31")];
    for name in ["nextPageUrl", "currentPageUrl", "cardNumber", "cardExpiryMonth"] {
        let landing = shop.post(&session, &with(&with(GOOD, &changes), &[(name, "")]));
        assert_eq!(landing.page(), ERROR_PAGE, "{name}");
    }
    let token = tokenised(&mut shop, &session);
    assert_eq!(
        (&token["customer"]["customerFirstName"], &token["card"]["cardExpiryYear"]),
        (&"Anna".into(), &"2030".into())
    );
    assert_eq!(shop.post(&session, GOOD).shown().collect.get("collectSize"), Some("M"));
}

/// A first form that lacks something, or is wrong, leaves nothing to pay with.
// spec: 2 §3.1, A85
#[test]
fn a_rejected_form_pays_nothing() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    shop.post(&session, &with(GOOD, &[("nextPageUrl", "")]));
    shop.post(&session, &with(GOOD, &[("cardCV2", "1")]));
    let order = [("sessionKey", session.as_str()), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    assert_eq!(shop.refused("transaction/authSessionKey", &order), "956");
}

#[test]
fn the_same_form_twice_is_the_same_as_once() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let form = with(GOOD, &[("cardCV2", CV2), ("collectSize", "M"), ("customerFirstName", "Anna")]);
    let (one, two) = (shop.post(&session, &form), shop.post(&session, &form));
    assert_eq!((one.page(), &one.text), (two.page(), &two.text));
    assert_eq!(tokenised(&mut shop, &session)["customer"]["customerFirstName"], "Anna");
}

// spec: 2 §5
#[test]
fn sessions_know_nothing_of_each_other() {
    let mut shop = Shop::new();
    let (one, two) = (shop.initiate(), shop.initiate());
    shop.post(&one, &with(GOOD, &[("collectSize", "M"), ("customerFirstName", "Anna")]));
    assert_eq!(shop.post(&two, GOOD).shown().collect.iter().len(), 0);
    assert_eq!(tokenised(&mut shop, &two)["customer"]["customerFirstName"], "");
    // Another account cannot pay with them.
    shop.become_merchant("other");
    let order = [("sessionKey", one.as_str()), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    assert_eq!(shop.refused("transaction/authSessionKey", &order), "129");
}

#[test]
fn a_session_without_raw_card_permission_takes_cards() {
    let mut shop = Shop::new();
    shop.become_merchant("strict");
    let session = shop.initiate();
    shop.post(&session, GOOD);
    assert_eq!(tokenised(&mut shop, &session)["card"]["cardNumber"], "400000******1000");
}

// spec: 2 §3.1, A85
#[test]
fn a_cv2_is_kept_for_one_authorisation_of_its_card() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let order = [("sessionKey", session.as_str()), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    let used = |shop: &mut Shop| shop.basis("transaction/authSessionKey", &order).contains("A101");
    shop.post(&session, &with(GOOD, &[("cardCV2", CV2)]));
    assert!(used(&mut shop) && !used(&mut shop));
    // A form that is wrong leaves it, one that is right and has none takes it away.
    shop.post(&session, &with(GOOD, &[("cardCV2", CV2)]));
    shop.post(&session, &with(GOOD, &[("cardCV2", "1")]));
    assert!(used(&mut shop));
    shop.post(&session, &with(GOOD, &[("cardCV2", CV2)]));
    shop.post(&session, GOOD);
    assert!(!used(&mut shop));
}
