//! Looking tokens up and changing their details (spec 1 §4.2, §4.6).

use serde_json::{Value, json};

use crate::session_and_tokens::{ERROR_PAGE, GOOD, NEXT, Shop, with};

/// A token of a card that was posted to a session for a customer; empty for none.
pub(crate) fn token(shop: &mut Shop, customer: &str, form: &[(&str, &str)]) -> Value {
    let session = shop.initiate();
    shop.post(&session, &with(GOOD, form));
    let order = [
        ("sessionKey", session.as_str()),
        ("currency", "GBP"),
        ("itemName0", "Tea"),
        ("itemPrice0", "499"),
        ("merchantCustomerReference", customer),
    ];
    let paid = shop.done("transaction/authSessionKey", &order);
    let transaction = paid["transactionKey"].as_str().unwrap().to_owned();
    shop.done("token/tokeniseTransactionKey", &[("transactionKey", &transaction)])["cardKeyDetails"]["0"].clone()
}

pub(crate) fn key(token: &Value) -> String {
    token["cardKey"].as_str().unwrap().to_owned()
}

fn found(shop: &mut Shop, pairs: &[(&str, &str)]) -> Vec<String> {
    let answer = shop.done("token/lookup", pairs);
    let tokens = answer["cardKeyDetails"].as_object().unwrap();
    (0..tokens.len()).map(|at| key(&tokens[&at.to_string()])).collect()
}

// spec: 1 §4.2, A69: Each parameter alone finds tokens.
// spec: 1 §4.2: With both parameters, only tokens that match both are found.
// spec: 1 §4.2: A customer reference finds only tokens that were made with one.
// spec: 1 §4.2, A68, A08: Without a parameter the lookup is refused; the SDK leaves that to the service.
// spec: method token/lookup
#[test]
fn lookups_match_all_given_parameters() {
    let mut shop = Shop::new();
    let tokens: Vec<String> =
        ["a", "b", "a", ""].iter().map(|customer| key(&token(&mut shop, customer, &[]))).collect();
    let by_customer = |customer| [("merchantCustomerReference", customer)];
    assert_eq!(found(&mut shop, &by_customer("a")), [tokens[0].clone(), tokens[2].clone()]);
    assert_eq!(found(&mut shop, &by_customer("b")), [tokens[1].clone()]);
    assert_eq!(found(&mut shop, &[("cardKey", &tokens[3])]), [tokens[3].clone()]);
    assert_eq!(found(&mut shop, &[("cardKey", &tokens[0]), ("merchantCustomerReference", "a")]), [tokens[0].clone()]);
    assert_eq!(found(&mut shop, &[("cardKey", &tokens[0]), ("merchantCustomerReference", "")]), [tokens[0].clone()]);
    for nothing in [
        vec![("cardKey", tokens[0].as_str()), ("merchantCustomerReference", "b")],
        vec![("cardKey", &tokens[3]), ("merchantCustomerReference", "a")],
        vec![("cardKey", "00000000-0000-0000-0000-0000000000000000")],
        vec![("merchantCustomerReference", "A")],
        vec![("merchantCustomerReference", "a ")],
    ] {
        assert_eq!(shop.done("token/lookup", &nothing), json!({"cardKeyDetails": {}}), "{nothing:?}");
    }
    let xml = shop.xml("token/lookup", &by_customer("nobody"));
    assert!(xml.contains("<serviceResponse><cardKeyDetails></cardKeyDetails></serviceResponse>"), "{xml}");
    for none in [vec![], vec![("cardKey", ""), ("merchantCustomerReference", "")], vec![("x", "1")]] {
        assert_eq!(shop.refused("token/lookup", &none), "101");
    }
}

// spec: 1 §3.1
#[test]
fn disabled_tokens_are_found_and_deleted_ones_are_not() {
    let mut shop = Shop::new();
    let (one, two) = (token(&mut shop, "a", &[]), token(&mut shop, "a", &[]));
    shop.done("token/disable", &[("cardKey", &key(&one))]);
    shop.done("token/delete", &[("cardKey", &key(&two))]);
    let answer = shop.done("token/lookup", &[("merchantCustomerReference", "a")]);
    assert_eq!(answer["cardKeyDetails"]["0"]["enabled"], "0");
    assert_eq!(answer["cardKeyDetails"].as_object().unwrap().len(), 1);
    assert_eq!(shop.done("token/lookup", &[("cardKey", &key(&two))]), json!({"cardKeyDetails": {}}));
}

#[test]
fn tokens_of_other_accounts_are_not_there() {
    let mut shop = Shop::new();
    let token = key(&token(&mut shop, "a", &[]));
    shop.become_merchant("other");
    for pairs in [[("cardKey", token.as_str())], [("merchantCustomerReference", "a")]] {
        assert_eq!(shop.done("token/lookup", &pairs), json!({"cardKeyDetails": {}}));
    }
    assert_eq!(shop.refused("token/updateCardKeyDetails", &[("cardKey", &token), ("cardDescription", "x")]), "940");
}

// spec: 1 §2.1: A lookup returns one cardKeyDetail for each token: a repeated element in XML, an object indexed from 0
//   in JSON.
// spec: 1 §2.1, A42: merchantCustomerReference may be empty.
// spec: 1 §2.1, A10: The month has 2 digits, the year 4.
// spec: 1 §4.1: Nested names of replies are nested elements or objects.
// spec: 1 §4.2, A43: The reply contains the full record of each token; without a match it is an empty list.
// spec: 1 §2.1, A23
#[test]
fn a_record_has_every_field_in_both_encodings() {
    let mut shop = Shop::new();
    let form = [("cardholderName", "Zoë & Co"), ("cardNumber", "6799990000000001001")];
    let token = token(&mut shop, "", &form);
    let identifier = token["cardUniqueIdentifier"].as_u64().unwrap();
    assert!(identifier < 1 << 53);
    assert_eq!(
        token,
        json!({
            "cardKey": key(&token), "cardUniqueIdentifier": identifier, "merchantCustomerReference": "", "enabled": "1",
            "card": {
                "cardDescription": "", "cardholderName": "Zoë & Co", "cardNumber": "679999******1001",
                "cardExpiryMonth": "12", "cardExpiryYear": "2030",
                "cardType": "DEBIT", "cardScheme": "MAESTRO", "cardBank": "Second Test Bank"
            },
            "customer": {
                "customerTitle": "", "customerFirstName": "", "customerSurname": "", "customerEmail": "",
                "customerMobile": "", "customerTelephone": ""
            },
            "cardholderAddress": {
                "cardholderAddressPropertyName": "", "cardholderAddressLine1": "", "cardholderAddressLine2": "",
                "cardholderAddressLine3": "", "cardholderAddressTown": "", "cardholderAddressCounty": "",
                "cardholderAddressPostcode": "", "cardholderAddressCountry": ""
            }
        })
    );
    let xml = shop.xml("token/lookup", &[("cardKey", &key(&token))]);
    for part in [
        "<serviceResponse><cardKeyDetails><cardKeyDetail><cardKey>",
        "<merchantCustomerReference></merchantCustomerReference><enabled>1</enabled><card><cardDescription></cardDescription>",
        "<cardholderName>Zoë &amp; Co</cardholderName><cardNumber>679999******1001</cardNumber>",
        "</customer><cardholderAddress><cardholderAddressPropertyName></cardholderAddressPropertyName>",
    ] {
        assert!(xml.contains(part), "{part} in {xml}");
    }
}

// spec: 1 §2.1: Type, scheme and bank are empty if they are unknown.
#[test]
fn unknown_card_details_are_empty() {
    let mut shop = Shop::new();
    for (number, scheme, bank) in [
        ("9000000000000001", "", ""),
        ("6011000000001002", "DISCOVER", ""),
        ("5200000000001005", "MASTERCARD", "Third Test Bank"),
    ] {
        let made = token(&mut shop, "a", &[("cardNumber", number)]);
        let kind = if scheme.is_empty() { "" } else { "CREDIT" };
        let card = &made["card"];
        assert_eq!([&card["cardType"], &card["cardScheme"], &card["cardBank"]], [kind, scheme, bank], "{number}");
        let xml = shop.xml("token/lookup", &[("cardKey", &key(&made))]);
        let shown =
            format!("<cardType>{kind}</cardType><cardScheme>{scheme}</cardScheme><cardBank>{bank}</cardBank></card>");
        assert!(xml.contains(&shown), "{xml}");
    }
}

// spec: 1 §4.6, A09: Each given detail is stored; an empty one erases the stored value.
// spec: 1 §4.6, A67: Missing details stay unchanged: an expiry needs only its month and year.
// spec: 1 §3.1; method token/updateCardKeyDetails
#[test]
fn details_that_are_sent_are_written_and_others_stay() {
    let mut shop = Shop::new();
    let form = [("cardholderName", "A"), ("customerEmail", "a@b.example"), ("cardholderAddressLine1", "1 High Street")];
    let token = key(&token(&mut shop, "a", &form));
    let changes = [
        ("cardKey", token.as_str()),
        ("customerEmail", ""),
        ("customerTelephone", "0123"),
        ("cardholderAdressTown", "Springfield"),
        ("cardHolderAddressCounty", "Shire"),
        ("cardDescription", "<b>Blue</b>"),
        ("cardExpiryMonth", "01"),
        ("cardExpiryYear", "33"),
    ];
    assert_eq!(shop.done("token/updateCardKeyDetails", &changes), json!({"result": "OK"}));
    let read = |shop: &mut Shop| shop.done("token/lookup", &[("cardKey", &token)])["cardKeyDetails"]["0"].clone();
    let record = read(&mut shop);
    assert_eq!(record["card"]["cardholderName"], "A");
    assert_eq!(record["card"]["cardDescription"], "<b>Blue</b>");
    assert_eq!((&record["card"]["cardExpiryMonth"], &record["card"]["cardExpiryYear"]), (&json!("01"), &json!("2033")));
    assert_eq!(
        (&record["customer"]["customerEmail"], &record["customer"]["customerTelephone"]),
        (&json!(""), &json!("0123"))
    );
    let address = &record["cardholderAddress"];
    assert_eq!(address["cardholderAddressLine1"], "1 High Street");
    assert_eq!(
        (&address["cardholderAddressTown"], &address["cardholderAddressCounty"]),
        (&json!("Springfield"), &json!("Shire"))
    );
    assert_eq!(record["merchantCustomerReference"], "a");

    let nothing = [("cardKey", token.as_str()), ("merchantCustomerReference", "a")];
    assert_eq!(
        shop.xml("token/updateCardKeyDetails", &nothing).lines().last(),
        Some("<serviceResponse><result>OK</result></serviceResponse>")
    );
    shop.done("token/updateCardKeyDetails", &[("cardKey", &token), ("cardExpiryYear", "2020")]);
    let changed = read(&mut shop);
    assert_eq!(
        (&changed["card"]["cardExpiryMonth"], &changed["card"]["cardExpiryYear"]),
        (&json!("01"), &json!("2020"))
    );
    // The card has expired in the meantime, so the bank declines it.
    let order = [("cardKey", token.as_str()), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    assert_eq!(shop.done("transaction/authCardKey", &order)["transactionStatusCode"], "903");
}

#[test]
fn an_empty_expiry_removes_the_stored_one_and_a_new_one_makes_the_card_pay_again() {
    let mut shop = Shop::new();
    let token = key(&token(&mut shop, "a", &[]));
    let order = [("cardKey", &*token), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    let expiry = |shop: &mut Shop| {
        let card = shop.done("token/lookup", &[("cardKey", &token)])["cardKeyDetails"]["0"]["card"].clone();
        (card["cardExpiryMonth"].as_str().unwrap().to_owned(), card["cardExpiryYear"].as_str().unwrap().to_owned())
    };
    let before = expiry(&mut shop);
    shop.done("token/updateCardKeyDetails", &[("cardKey", &token), ("cardExpiryMonth", "")]);
    assert_eq!(expiry(&mut shop), (String::new(), before.1));
    assert_eq!(shop.refused("transaction/authCardKey", &order), "109");
    assert_eq!(shop.refused("transaction/initiate3DSecureCardKey", &order), "109");
    shop.done("token/updateCardKeyDetails", &[("cardKey", &token), ("cardExpiryYear", "")]);
    assert_eq!(expiry(&mut shop), (String::new(), String::new()));
    // The spelling of the documents' table is read too.
    let new = [("cardKey", &*token), ("cardExpiryMonth", "11"), ("cardExipryYear", "31")];
    shop.done("token/updateCardKeyDetails", &new);
    assert_eq!(expiry(&mut shop), ("11".to_owned(), "2031".to_owned()));
    assert_eq!(shop.done("transaction/authCardKey", &order)["transactionStatusCode"], "600");
}

#[test]
fn every_misspelt_name_is_read_wherever_its_field_is_taken() {
    for info in pg_model::METHODS {
        let named = |wire: &str| info.fields.iter().find(|field| field.wire == wire);
        for (right, misspelt) in [
            ("cardholderName", "cardHolderName"),
            ("cardExpiryYear", "cardExipryYear"),
            ("cardholderAddressTown", "cardholderAdressTown"),
            ("cardholderAddressCounty", "cardHolderAddressCounty"),
        ] {
            assert!(named(right).is_none_or(|field| field.aliases == [misspelt]), "{info:?} {right}");
        }
    }
    let mut shop = Shop::new();
    let session = shop.initiate();
    let form = with(GOOD, &[("cardExpiryYear", ""), ("cardExipryYear", "2030"), ("cardHolderName", "Z. Other")]);
    let landing = shop.post(&session, &form);
    assert_eq!((landing.page(), landing.shown().card_expiry_year.as_str()), (NEXT, "2030"), "{landing:?}");
    let card = [("cardNumber", "4000000000001000"), ("cardExpiryMonth", "12"), ("cardExipryYear", "30")];
    let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    shop.done("transaction/auth", &[&card[..], &order].concat());
}

#[test]
fn no_transaction_gets_a_customer_reference_of_more_than_45_characters() {
    let mut shop = Shop::new();
    let (most, long) = ("é".repeat(45), "é".repeat(46));
    let initiate = |reference| [("errorPageUrl", ERROR_PAGE), ("merchantCustomerReference", reference)];
    assert_eq!(shop.refused("session/initiate", &initiate(&long)), "125");
    let session = shop.done("session/initiate", &initiate(&most))["sessionKey"].as_str().unwrap().to_owned();
    shop.post(&session, GOOD);
    let order = [("sessionKey", &*session), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    let paid = shop.done("transaction/authSessionKey", &order)["transactionKey"].as_str().unwrap().to_owned();
    let tokenise = |reference| [("transactionKey", &*paid), ("merchantCustomerReference", reference)];
    assert_eq!(shop.refused("token/tokeniseTransactionKey", &tokenise(&long)), "125");
    shop.done("token/tokeniseTransactionKey", &tokenise(&most));
}

// spec: 1 §4.6: An invalid request changes nothing.
// spec: 1 §7, A57, A58, A63: Failures of token methods have codes of their own.
// spec: 1 §3.1, A58; 1 §4.6, A23
#[test]
fn wrong_details_change_nothing() {
    let mut shop = Shop::new();
    let token = key(&token(&mut shop, "a", &[]));
    let before = shop.done("token/lookup", &[("cardKey", &token)]);
    for (changes, code) in [
        (vec![("cardExipryYear", "030")], "109"),
        (vec![("cardExpiryMonth", "13"), ("cardDescription", "x")], "109"),
        (vec![("cardExpiryYear", "030")], "109"),
        (vec![("cardDescription", &*"x".repeat(51))], "937"),
        (vec![("customerMobile", "012345678901234")], "937"),
        (vec![("cardDescription", "x"), ("merchantCustomerReference", "b")], "941"),
        (vec![("cardholderAddressTown", "x"), ("cardholderAdressTown", "x")], "935"),
    ] {
        let pairs: Vec<_> = [("cardKey", token.as_str())].into_iter().chain(changes).collect();
        assert_eq!(shop.refused("token/updateCardKeyDetails", &pairs), code, "{pairs:?}");
    }
    assert_eq!(shop.refused("token/updateCardKeyDetails", &[("cardDescription", "x")]), "938");
    assert_eq!(shop.refused("token/updateCardKeyDetails", &[("cardKey", "x"), ("cardDescription", "x")]), "940");
    assert_eq!(shop.done("token/lookup", &[("cardKey", &token)]), before);
}
