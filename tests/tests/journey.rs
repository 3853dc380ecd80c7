//! A merchant's journey over real HTTP: from a session to a refund, in both encodings.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use pg_hyper::Error;
use pg_model::{
    AuthCardKey, AuthSessionKey, CancelPreauth, CapturePreauth, CardDetails, CardKey, Currency, DeleteToken,
    DisableToken, EnableToken, Encoding, ErrorCode, Initiate, Item, Order, Outcome, Preauth, Refund, TokenLookup,
    TokeniseTransactionKey, Transaction, TransactionKey, TransactionLookup, UpdateCardKeyDetails, UpdateTransaction,
};
use pg_proto::CardFormResult;
use pg_sandbox::codes::{SandboxErrorCode, SandboxStatusCode};
use pg_tests::{
    browser::{self, VISA},
    shop::{CARD_PAGE, ERROR_PAGE, NEXT_PAGE, Shop, order},
};

fn approved(outcome: Outcome<Transaction>) -> Transaction {
    match outcome {
        Outcome::Approved(transaction) => transaction,
        other => panic!("not approved: {other:?}"),
    }
}

/// The error code of a refused call, also if an earlier attempt may have paid.
fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    let result = match result {
        Err(Error::Unknown { cause, .. }) => Err(*cause),
        other => other,
    };
    match result {
        Err(Error::Refused(refused)) => refused.code().clone(),
        other => panic!("not refused: {other:?}"),
    }
}

// spec: 2 §1.2
#[tokio::test]
async fn from_a_session_to_a_refund_in_xml() {
    from_a_session_to_a_refund(Encoding::Xml).await;
}

// spec: 2 §1.2: Payments are made with raw card details, with a card key and with a session key.
// spec: 2 §1.1, A130
#[tokio::test]
async fn from_a_session_to_a_refund_in_json() {
    from_a_session_to_a_refund(Encoding::Json).await;
}

async fn from_a_session_to_a_refund(encoding: Encoding) {
    let shop = Shop::open(encoding).await;
    let client = &shop.client;

    let session = client.call(&Initiate::new(ERROR_PAGE).merchant_customer_reference("customer-1")).await.unwrap();
    let form = client.account().card_form(&session.session_key, NEXT_PAGE, CARD_PAGE).form_id("card");
    let reply = browser::post(&form, &VISA).await;
    let CardFormResult::Accepted(data) = client.account().redirect(browser::location(&reply)).unwrap() else {
        panic!("not accepted")
    };
    assert_eq!(data.get().card_number.expose(), "411111******1111");
    assert_eq!(data.get().cardholder_name, "A Holder");
    assert!(data.get().card_cv2.is_empty());

    let paid = approved(client.call(&AuthSessionKey::new(&session.session_key, order("order-1", 998))).await.unwrap());
    assert_eq!(paid.transaction_key.as_str().len(), 32);

    let stored = client.call(&TokeniseTransactionKey::new(&paid.transaction_key)).await.unwrap();
    let [token] = &stored.card_key_details[..] else { panic!("{stored:?}") };
    assert_eq!(token.card.card_number.expose(), "411111******1111");
    assert_eq!(token.card.card_expiry_year, "2031");

    approved(client.call(&AuthCardKey::new(&token.card_key, order("order-2", 250))).await.unwrap());
    token_life(&shop, &token.card_key).await;
    preauth_life(&shop).await;

    let refund = approved(client.call(&Refund::new(&paid.transaction_key).transaction_value(98)).await.unwrap());
    assert_eq!(refund.transaction_type, pg_model::TransactionType::REFUND);
    assert_eq!(
        refusal(client.call(&Refund::new(&paid.transaction_key).transaction_value(901)).await),
        ErrorCode::INVALID_TRANSACTION_VALUE
    );
    approved(client.call(&Refund::new(&paid.transaction_key)).await.unwrap());

    let lookup = TransactionLookup::new().unique_merchant_reference("order-1");
    let found = client.call(&lookup).await.unwrap();
    assert_eq!(found.transactions.len(), 1);
    assert_eq!(found.transactions[0].transaction_key, paid.transaction_key);
    assert_eq!(found.transactions[0].unique_merchant_reference, "order-1");
    shop.server.shutdown().await.unwrap();
}

async fn token_life(shop: &Shop, card_key: &CardKey) {
    let client = &shop.client;
    client.call(&DisableToken::new(card_key)).await.unwrap();
    let refused = refusal(client.call(&AuthCardKey::new(card_key, order("order-3", 1))).await);
    assert_eq!(refused.as_str(), SandboxErrorCode::CARD_KEY_DISABLED.as_str());
    client.call(&EnableToken::new(card_key)).await.unwrap();
    client.call(&UpdateCardKeyDetails::new(card_key).card_description("Blue card")).await.unwrap();
    let found = client.call(&TokenLookup::new().card_key(card_key)).await.unwrap();
    assert_eq!(found.card_key_details[0].card.card_description, "Blue card");
    assert_eq!(found.card_key_details[0].enabled, pg_model::Flag::YES);
    client.call(&DeleteToken::new(card_key)).await.unwrap();
    let refused = refusal(client.call(&AuthCardKey::new(card_key, order("order-4", 1))).await);
    assert_eq!(refused.as_str(), SandboxErrorCode::UNKNOWN_CARD_KEY.as_str());
}

async fn preauth_life(shop: &Shop) {
    let client = &shop.client;
    let card = CardDetails::new("5555555555554444", "11", "31").cv2("123");
    let reserved = approved(client.call(&Preauth::new(card, order("order-5", 1_000))).await.unwrap()).transaction_key;
    let capture = |pence| CapturePreauth::new(&reserved).transaction_value(pence);
    approved(client.call(&CancelPreauth::new(&reserved).transaction_value(400)).await.unwrap());
    assert_eq!(refusal(client.call(&capture(601)).await), ErrorCode::INVALID_TRANSACTION_VALUE);
    let captured = approved(client.call(&capture(600)).await.unwrap()).transaction_key;
    approved(client.call(&Refund::new(&captured).transaction_value(600)).await.unwrap());
    let update = UpdateTransaction::new(&captured).merchant_reference("march");
    client.call(&update).await.unwrap();
    // Only transactions created with a reference are found by it (spec 2 §4.4).
    let found = client.call(&TransactionLookup::new().merchant_reference("march")).await.unwrap();
    assert!(found.transactions.is_empty());
    let found = client.call(&TransactionLookup::new().transaction_key(&captured)).await.unwrap();
    assert_eq!(found.transactions[0].merchant_reference, "march");
}

// spec: 2 §2.3, A92
#[tokio::test]
async fn fifty_concurrent_payments_of_one_reference_pay_once() {
    let shop = Shop::open(Encoding::Json).await;
    let mut sessions = Vec::new();
    for _ in 0..50 {
        sessions.push(shop.session_with_card(&VISA).await);
    }
    let attempts = sessions.into_iter().map(|session| {
        let client = shop.client.clone();
        tokio::spawn(async move { client.call(&AuthSessionKey::new(session, order("only-once", 500))).await })
    });
    let mut paid = 0;
    for attempt in attempts.collect::<Vec<_>>() {
        match attempt.await.unwrap() {
            Ok(outcome) => paid += usize::from(outcome.is_approved()),
            refused => {
                assert_eq!(refusal(refused).as_str(), SandboxErrorCode::DUPLICATE_UNIQUE_REFERENCE.as_str());
            }
        }
    }
    assert_eq!(paid, 1);
}

// spec: 2 §4.3, A87, A89
#[tokio::test]
async fn a_decline_is_an_outcome_and_uses_up_its_reference() {
    let shop = Shop::open(Encoding::Xml).await;
    let declined = pg_sandbox::cards::view();
    let number = declined.as_array().unwrap().iter().find(|card| card["scenario"] == "declined").unwrap();
    let card = CardDetails::new(number["number"].as_str().unwrap(), "12", "31");
    let auth = pg_model::Auth::new(card, order("declined-1", 100));
    let Outcome::Declined(not) = shop.client.call(&auth).await.unwrap() else { panic!("not declined") };
    assert_eq!(not.transaction_status_code.as_str(), SandboxStatusCode::DECLINED.as_str());
    let again = refusal(shop.client.call(&auth).await);
    assert_eq!(again.as_str(), SandboxErrorCode::DUPLICATE_UNIQUE_REFERENCE.as_str());
}

#[tokio::test]
async fn a_form_with_mistakes_comes_back_with_all_of_them() {
    let shop = Shop::open(Encoding::Json).await;
    let session = shop.client.call(&Initiate::new(ERROR_PAGE)).await.unwrap();
    let form = shop.client.account().card_form(&session.session_key, NEXT_PAGE, CARD_PAGE);
    let wrong =
        [("cardNumber", "4111111111111112"), ("cardExpiryMonth", "12"), ("cardExpiryYear", "2001"), ("cardCV2", "12")];
    let reply = browser::post(&form, &wrong).await;
    assert!(browser::location(&reply).starts_with(CARD_PAGE));
    let CardFormResult::Invalid(data) = shop.client.account().redirect(browser::location(&reply)).unwrap() else {
        panic!("not invalid")
    };
    let code = |field| data.get().errors.get(field).map(|error| error.error_code.as_str());
    assert_eq!(code("cardNumber"), Some("108"));
    assert_eq!(code("cardExpiryYear"), Some("109"));
    assert_eq!(code("cardCV2"), Some("110"));
}

// spec: 2 §5, A56
#[tokio::test]
async fn records_of_one_merchant_are_hidden_from_others() {
    let shop = Shop::open(Encoding::Json).await;
    let other = shop.neighbour("other");
    let session = shop.session_with_card(&VISA).await;
    let foreign = AuthSessionKey::new(&session, order("theirs", 100));
    assert_eq!(refusal(other.call(&foreign).await), ErrorCode::INVALID_SESSION_KEY);

    let paid = approved(shop.client.call(&AuthSessionKey::new(&session, order("ours", 100))).await.unwrap());
    let key: TransactionKey = paid.transaction_key;
    let unknown = SandboxErrorCode::UNKNOWN_TRANSACTION_KEY;
    assert_eq!(refusal(other.call(&Refund::new(&key)).await).as_str(), unknown.as_str());
    assert_eq!(refusal(other.call(&TokeniseTransactionKey::new(&key)).await).as_str(), unknown.as_str());
    let lookup = other.call(&TransactionLookup::new().unique_merchant_reference("ours")).await.unwrap();
    assert!(lookup.transactions.is_empty());
    // References are unique per merchant.
    let card = CardDetails::new("4111111111111111", "12", "31");
    approved(other.call(&Preauth::new(card, order("ours", 100))).await.unwrap());
}

#[tokio::test]
async fn a_session_ends_after_thirty_minutes_of_the_sandboxs_clock() {
    let shop = Shop::open(Encoding::Json).await;
    let session = shop.session_with_card(&VISA).await;
    shop.advance(1_801).await;
    let late = AuthSessionKey::new(&session, Order::new(Currency::GBP).item(Item::new("Tea", 1)));
    assert_eq!(refusal(shop.client.call(&late).await), ErrorCode::SESSION_EXPIRED);
}
