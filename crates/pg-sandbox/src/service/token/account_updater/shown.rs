//! A finished batch as it is retrieved and as its callback has it (spec 1 §2.2).

use pg_model::{AccountUpdaterBatch, Card, Flag, UpdatedCard};

use crate::records::{Batch, BatchCards, BatchEntry, NewToken};

/// Every submitted card in its order (assumption 75).
pub(super) fn batch(batch: &Batch, cards: &BatchCards) -> AccountUpdaterBatch {
    AccountUpdaterBatch {
        batch_key: batch.key.as_str().into(),
        created_on: batch.created.with_offset(),
        card_key_details: cards.entries.iter().map(entry).collect(),
        ..AccountUpdaterBatch::default()
    }
}

fn entry(entry: &BatchEntry) -> UpdatedCard {
    let old = UpdatedCard {
        old_card_key: entry.old_card_key.as_str().into(),
        response: entry.response.clone().into(),
        ..UpdatedCard::default()
    };
    let Some(new) = &entry.new else { return old };
    UpdatedCard {
        card_key: new.card_key.as_str().into(),
        card_unique_identifier: new.card_unique_identifier.to_string().into(),
        merchant_customer_reference: new.merchant_customer_reference.as_str().into(),
        enabled: if new.enabled { Flag::YES } else { Flag::NO },
        card: card(new),
        ..old
    }
}

fn card(new: &NewToken) -> Card {
    Card {
        card_description: new.card_description.clone(),
        cardholder_name: new.cardholder_name.clone(),
        card_number: new.card_number.as_str().into(),
        card_expiry_month: new.card_expiry_month.clone(),
        card_expiry_year: new.card_expiry_year.clone(),
        card_type: new.card_type.clone(),
        card_scheme: new.card_scheme.clone(),
        card_bank: new.card_bank.clone(),
        ..Card::default()
    }
}
