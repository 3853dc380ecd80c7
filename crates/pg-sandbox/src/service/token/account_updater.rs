//! The account updater (spec 1 §2.2 to §2.4, §4.8, §4.9): batches are requested, processed two minutes later on the
//! sandbox's clock, and retrieved.

use pg_model::{AccountUpdaterBatch, Card, Flag, UpdatedCard};

use super::{super::callback, Context, Merchant, Refusal};
use crate::records::{Batch, BatchEntry, NewToken};

mod answer;
mod finish;
mod request;
mod retrieve;

pub(in crate::service) use finish::finish_batches;

/// A finished batch for retrieval and for its callback (spec 1 §2.2): every submitted card in its order (A75).
fn shown(batch: &Batch, cards: &[BatchEntry]) -> AccountUpdaterBatch {
    AccountUpdaterBatch::default().with(|record| {
        record.batch_key = batch.key.as_str().into();
        record.created_on = batch.created.with_offset();
        record.card_key_details = cards.iter().map(entry).collect();
    })
}

fn entry(entry: &BatchEntry) -> UpdatedCard {
    let old = UpdatedCard::default().with(|record| {
        record.old_card_key = entry.old_card_key.as_str().into();
        record.response = entry.response.clone().into();
    });
    let Some(new) = &entry.new else { return old };
    old.with(|record| {
        record.card_key = new.card_key.as_str().into();
        record.card_unique_identifier = new.card_unique_identifier.to_string().into();
        record.merchant_customer_reference = new.merchant_customer_reference.as_str().into();
        record.enabled = if new.enabled { Flag::YES } else { Flag::NO };
        record.card = card(new);
    })
}

fn card(new: &NewToken) -> Card {
    Card::default().with(|record| {
        record.card_description = new.card_description.clone();
        record.cardholder_name = new.cardholder_name.clone();
        record.card_number = new.card_number.as_str().into();
        record.card_expiry_month = new.card_expiry_month.clone();
        record.card_expiry_year = new.card_expiry_year.clone();
        record.card_type = new.card_type.clone();
        record.card_scheme = new.card_scheme.clone();
        record.card_bank = new.card_bank.clone();
    })
}
