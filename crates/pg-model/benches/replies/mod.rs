//! Replies of realistic size and content: one transaction, one stored card, and a batch of the account updater.

use pg_model::{
    AccountUpdaterBatch, Card, CardKeyDetail, CardKeyDetails, Encoding, Flag, Transaction, UpdatedCard, encode,
};

/// A payment's reply.
pub(crate) fn transaction(encoding: Encoding) -> String {
    let reply = Transaction {
        transaction_status_code: "600".into(),
        transaction_status: "Transaction approved".into(),
        transaction_type: "Auth".into(),
        transaction_key: "10f2d3b4c5a697887766554433221100".into(),
        bank: [
            ("bankAuthCode", "093711"),
            ("bankTransId", "5512009871"),
            ("bankResponseCode", "00"),
            ("bankResponseMessage", "Approved"),
        ]
        .into_iter()
        .collect(),
        ..Transaction::default()
    };
    encode(&reply, encoding)
}

/// A token lookup that found one card.
pub(crate) fn token(encoding: Encoding) -> String {
    let detail = CardKeyDetail {
        card_key: "5b1e9f3c-7a2d-4c88-9e10-3f6d2b7a4c51".into(),
        card_unique_identifier: "2001934".into(),
        merchant_customer_reference: "customer-42".into(),
        enabled: Flag::YES,
        card: card(0),
        ..CardKeyDetail::default()
    };
    encode(&CardKeyDetails { card_key_details: vec![detail], ..CardKeyDetails::default() }, encoding)
}

/// A finished batch: three in four cards are unchanged, as most are.
pub(crate) fn batch(cards: usize, encoding: Encoding) -> String {
    let entry = |number: usize| {
        let unchanged =
            UpdatedCard { old_card_key: card_key(number).into(), response: "706".into(), ..UpdatedCard::default() };
        if !number.is_multiple_of(4) {
            return unchanged;
        }
        UpdatedCard {
            response: "700".into(),
            card_key: card_key(number + 1_000_000).into(),
            card_unique_identifier: (2_000_000 + number).to_string().into(),
            merchant_customer_reference: format!("customer-{number}").into(),
            enabled: Flag::YES,
            card: card(number),
            ..unchanged
        }
    };
    let reply = AccountUpdaterBatch {
        batch_key: "7f3a90c2d5e84b61a0c9e7d2f4b86135".into(),
        created_on: "2026-03-14T09:26:53+00:00".into(),
        card_key_details: (0..cards).map(entry).collect(),
        ..AccountUpdaterBatch::default()
    };
    encode(&reply, encoding)
}

fn card_key(number: usize) -> String {
    format!("{:08x}-7a2d-4c88-9e10-{number:012x}", number * 2_654_435_761 % 0xffff_ffff)
}

fn card(number: usize) -> Card {
    Card {
        card_description: "Household card".into(),
        cardholder_name: "A N Other".into(),
        card_number: format!("411111******{:04}", number % 10_000).into(),
        card_expiry_month: "12".into(),
        card_expiry_year: "2030".into(),
        card_type: "CREDIT".into(),
        card_scheme: "VISA".into(),
        ..Card::default()
    }
}
