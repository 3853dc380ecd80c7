//! Tokens from transactions (spec 1 §4.7; A59 and A62 to A66).

use crate::session_and_tokens::{
    CV2, PAN, Shop,
    tokens::{key, token},
};

const ORDER: &[(&str, &str)] = &[("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];

fn transaction(shop: &mut Shop, method: &str, pairs: &[(&str, &str)]) -> String {
    // What follows a payment has no items of its own.
    let order = if pairs.iter().any(|(name, _)| *name == "transactionKey") { &[][..] } else { ORDER };
    let pairs: Vec<_> = order.iter().chain(pairs).copied().collect();
    shop.done(method, &pairs)["transactionKey"].as_str().unwrap().to_owned()
}

fn raw(shop: &mut Shop, method: &str, number: &str) -> String {
    let card = [
        ("cardNumber", number),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "30"),
        ("cardCV2", CV2),
        ("cardholderName", "R Holder"),
    ];
    transaction(shop, method, &card)
}

fn tokenised(shop: &mut Shop, pairs: &[(&str, &str)]) -> serde_json::Value {
    shop.done("token/tokeniseTransactionKey", pairs)["cardKeyDetails"]["0"].clone()
}

// spec: 1 §2.4: A client session gives the first card key for tests.
// spec: 1 §3.1 Transitions: A token is made from a transaction, and its record is returned.
// spec: 1 §3.1, A59: A new token is enabled.
// spec: 1 §4.7, A63, A100: transactionKey is that of any payment: of the gateway, a callback or a success URL.
// spec: 1 §4.7: The reply is the token's record.
// spec: 1 §1; method token/tokeniseTransactionKey
#[test]
fn every_approved_payment_gives_an_enabled_token_that_pays() {
    let mut shop = Shop::new();
    let auth = raw(&mut shop, "transaction/auth", PAN);
    let preauth = raw(&mut shop, "transaction/preauth", PAN);
    let capture = transaction(&mut shop, "transaction/capturepreauth", &[("transactionKey", &preauth)]);
    let mut identifiers = Vec::new();
    for transaction in [&auth, &preauth, &capture] {
        let token = tokenised(&mut shop, &[("transactionKey", transaction), ("merchantCustomerReference", "c")]);
        assert_eq!((&token["enabled"], &token["merchantCustomerReference"]), (&"1".into(), &"c".into()));
        assert_eq!(token["card"]["cardNumber"], "400000******1000");
        assert_eq!(token["card"]["cardholderName"], "R Holder");
        let groups: Vec<usize> = token["cardKey"].as_str().unwrap().split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 16]);
        identifiers.push(token["cardUniqueIdentifier"].clone());
        let paid = transaction_of_token(&mut shop, &key(&token));
        // A payment by card key can be tokenised again.
        assert_eq!(tokenised(&mut shop, &[("transactionKey", &paid)])["card"], token["card"]);
    }
    identifiers.dedup();
    assert_eq!(identifiers.len(), 1);
}

fn transaction_of_token(shop: &mut Shop, card_key: &str) -> String {
    transaction(shop, "transaction/authCardKey", &[("cardKey", card_key)])
}

// spec: 1 §4.7, A62: merchantCustomerReference is stored with the token; the same request returns the same token again.
#[test]
fn the_same_request_gives_the_same_token_again() {
    let mut shop = Shop::new();
    let auth = raw(&mut shop, "transaction/auth", PAN);
    let none = tokenised(&mut shop, &[("transactionKey", &auth)]);
    assert_eq!(tokenised(&mut shop, &[("transactionKey", &auth), ("merchantCustomerReference", "")]), none);
    let a = tokenised(&mut shop, &[("transactionKey", &auth), ("merchantCustomerReference", "a")]);
    assert_ne!(key(&a), key(&none));
    assert_eq!(a["cardUniqueIdentifier"], none["cardUniqueIdentifier"]);
    assert_eq!(tokenised(&mut shop, &[("transactionKey", &auth), ("merchantCustomerReference", "a")]), a);
    shop.done("token/delete", &[("cardKey", &key(&a))]);
    let fresh = tokenised(&mut shop, &[("transactionKey", &auth), ("merchantCustomerReference", "a")]);
    assert_ne!(key(&fresh), key(&a));
}

// spec: 1 §2.1, A65: The details of a new token come from the payment, its session or its token.
#[test]
fn the_customer_of_the_transaction_is_taken_over() {
    let mut shop = Shop::new();
    let session = token(&mut shop, "customer-7", &[]);
    assert_eq!(session["merchantCustomerReference"], "customer-7");
}

// spec: 1 §4.7, A08; 1 §7, A57, A58, A63; codes SandboxErrorCode 944
#[test]
fn some_transactions_cannot_be_tokenised() {
    let mut shop = Shop::new();
    let declined = raw(&mut shop, "transaction/auth", "4000000000002008");
    let auth = raw(&mut shop, "transaction/auth", PAN);
    let refund = transaction(&mut shop, "transaction/refund", &[("transactionKey", &auth)]);
    let preauth = raw(&mut shop, "transaction/preauth", PAN);
    let cancelled = transaction(&mut shop, "transaction/cancelpreauth", &[("transactionKey", &preauth)]);
    for (key, code) in [(&*declined, "944"), (&refund, "944"), (&cancelled, "944"), ("unknown", "943"), ("", "938")] {
        assert_eq!(shop.refused("token/tokeniseTransactionKey", &[("transactionKey", key)]), code, "{key}");
    }
    shop.become_merchant("other");
    assert_eq!(shop.refused("token/tokeniseTransactionKey", &[("transactionKey", &auth)]), "943");
}

// spec: 1 §4.7, A64: cardKey must be a token of the same card; the transaction becomes its new parent.
#[test]
fn a_card_key_moves_its_token_to_another_transaction() {
    let mut shop = Shop::new();
    let old = token(&mut shop, "a", &[("cardDescription", "Blue")]);
    let card_key = key(&old);
    let again = raw(&mut shop, "transaction/auth", PAN);
    let stranger = raw(&mut shop, "transaction/auth", "5200000000001005");
    let tokenise = |transaction: &str, card_key: &str, customer: &str| {
        [("transactionKey", transaction), ("cardKey", card_key), ("merchantCustomerReference", customer)]
            .map(|(name, value)| (name, value.to_owned()))
    };
    for (pairs, code) in [
        (tokenise(&again, "unknown", ""), "940"),
        (tokenise(&stranger, &card_key, ""), "944"),
        (tokenise(&stranger, &card_key, "b"), "944"),
        (tokenise(&again, &card_key, "b"), "941"),
    ] {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(shop.refused("token/tokeniseTransactionKey", &pairs), code);
    }
    let pairs = [("transactionKey", again.as_str()), ("cardKey", &card_key), ("merchantCustomerReference", "a")];
    assert_eq!(tokenised(&mut shop, &pairs), old);
    // From now on the token belongs to that transaction.
    let same = [("transactionKey", again.as_str()), ("merchantCustomerReference", "a")];
    assert_eq!(key(&tokenised(&mut shop, &same)), card_key);
}

// spec: 1 §4.6, §4.7, A200: A token returns its texts as they were sent; only whole card numbers in them are masked.
#[test]
fn texts_of_a_token_are_returned_as_sent_unless_they_contain_a_card_number() {
    let mut shop = Shop::new();
    let paid = |shop: &mut Shop, name: &str| {
        let card = [("cardNumber", PAN), ("cardExpiryMonth", "12"), ("cardExpiryYear", "30"), ("cardCV2", CV2)];
        transaction(shop, "transaction/auth", &[&card[..], &[("cardholderName", name)]].concat())
    };
    for (text, wanted) in [
        ("Order 202611281117", "Order 202611281117"),
        ("DE08337790519001514408", "DE08337790519001514408"),
        ("4006381333931", "4006381333931"),
        ("1765031763019399145 ", "1765031763019399145 "),
        // An article number that may be a card number.
        ("4006381300063", "400638***0063"),
        ("4000 0000 0000 1000", "4000 00** **** 1000"),
        // The card's own number beside other digits, also a CV2 or an expiry.
        ("4000000000001000123", "400000******1000123"),
        ("40000000000010001240", "400000******10001240"),
        ("04000000000001000", "0400000******1000"),
    ] {
        let transaction = paid(&mut shop, text);
        let token = tokenised(&mut shop, &[("transactionKey", &transaction)]);
        assert_eq!(token["card"]["cardholderName"], wanted);
        let warned = |shop: &mut Shop| {
            let newest = shop.control("requests?limit=1")[0].clone();
            newest["warnings"].to_string().contains("like a card number")
        };
        assert_eq!(warned(&mut shop), text != wanted, "{text}");
        for name in ["cardDescription", "cardholderAddressLine1"] {
            shop.done("token/updateCardKeyDetails", &[("cardKey", &key(&token)), (name, text)]);
            assert_eq!(warned(&mut shop), text != wanted, "{name} {text}");
            let read = shop.done("token/lookup", &[("cardKey", &key(&token))])["cardKeyDetails"]["0"].clone();
            let part = if name == "cardDescription" { "card" } else { "cardholderAddress" };
            assert_eq!(read[part][name], wanted);
        }
    }
}
