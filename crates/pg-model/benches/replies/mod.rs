//! Replies of realistic size and content: one transaction, one stored card, and a batch of the account updater.

use pg_model::{
    AccountUpdaterBatch, Card, CardKeyDetail, CardKeyDetails, Encoding, Flag, Transaction, UpdatedCard, encode,
};

/// A payment's reply.
pub(crate) fn transaction(encoding: Encoding) -> String {
    let reply = Transaction::default().with(|record| {
        record.transaction_status_code = "600".into();
        record.transaction_status = "Transaction approved".into();
        record.transaction_type = "Auth".into();
        record.transaction_key = "10f2d3b4c5a697887766554433221100".into();
        record.bank = [
            ("bankAuthCode", "093711"),
            ("bankTransId", "5512009871"),
            ("bankResponseCode", "00"),
            ("bankResponseMessage", "Approved"),
        ]
        .into_iter()
        .collect();
    });
    encode(&reply, encoding)
}

/// A token lookup that found one card.
pub(crate) fn token(encoding: Encoding) -> String {
    let detail = CardKeyDetail::default().with(|record| {
        record.card_key = "5b1e9f3c-7a2d-4c88-9e10-3f6d2b7a4c51".into();
        record.card_unique_identifier = "2001934".into();
        record.merchant_customer_reference = "customer-42".into();
        record.enabled = Flag::YES;
        record.card = card(0);
    });
    encode(
        &CardKeyDetails::default().with(|record| {
            record.card_key_details = vec![detail];
        }),
        encoding,
    )
}

/// A finished batch: three in four cards are unchanged, as most are.
pub(crate) fn batch(cards: usize, encoding: Encoding) -> String {
    let entry = |number: usize| {
        let unchanged = UpdatedCard::default().with(|record| {
            record.old_card_key = card_key(number).into();
            record.response = "706".into();
        });
        if !number.is_multiple_of(4) {
            return unchanged;
        }
        unchanged.with(|record| {
            record.response = "700".into();
            record.card_key = card_key(number + 1_000_000).into();
            record.card_unique_identifier = (2_000_000 + number).to_string().into();
            record.merchant_customer_reference = format!("customer-{number}").into();
            record.enabled = Flag::YES;
            record.card = card(number);
        })
    };
    let reply = AccountUpdaterBatch::default().with(|record| {
        record.batch_key = "7f3a90c2d5e84b61a0c9e7d2f4b86135".into();
        record.created_on = "2026-03-14T09:26:53+00:00".into();
        record.card_key_details = (0..cards).map(entry).collect();
    });
    encode(&reply, encoding)
}

fn card_key(number: usize) -> String {
    format!("{:08x}-7a2d-4c88-9e10-{number:012x}", number * 2_654_435_761 % 0xffff_ffff)
}

fn card(number: usize) -> Card {
    Card::default().with(|record| {
        record.card_description = "Household card".into();
        record.cardholder_name = "A N Other".into();
        record.card_number = format!("411111******{:04}", number % 10_000).into();
        record.card_expiry_month = "12".into();
        record.card_expiry_year = "2030".into();
        record.card_type = "CREDIT".into();
        record.card_scheme = "VISA".into();
    })
}
