//! Processes batches when they are due (spec 1 §3.2; A73 and A74).

use std::collections::HashMap;

use pg_model::{CardRetrievalCode, Encoding};

use super::{
    Context,
    answer::{self, NewCard},
    callback::{self, NewCallback},
    shown,
};
use crate::{
    records::{Batch, BatchCards, BatchEntry, CallbackKind, CardToken, HeldCard, NewToken, UpdaterAnswer},
    service::token::detail,
    store::{Query, StoreError, StoredRecord as _},
    timestamp::Timestamp,
    vault::NotOurs,
};

/// The number of batches that are read at a time.
const AT_ONCE: u32 = 16;

/// Processes every due batch as of its due time, so it makes no difference when this function runs.
pub(in crate::service) fn finish_batches(context: &mut Context<'_>) -> Result<(), StoreError> {
    loop {
        let due = context.find_due::<Batch>(AT_ONCE, Batch::DUE, context.now)?;
        if due.is_empty() {
            break;
        }
        for batch in due {
            finish(context, batch)?;
        }
        // Otherwise the next query would find the same batches again, and skip them.
        context.records.keep()?;
    }
    let next = context.find_due::<Batch>(1, Batch::DUE, Timestamp::MAX)?;
    context.schedule.next_batch_is(next.first().map(|batch| batch.due));
    Ok(())
}

fn finish(context: &mut Context<'_>, mut batch: Batch) -> Result<(), StoreError> {
    batch.finished = true;
    let mut cards = context.records.get::<BatchCards>(&batch.key)?;
    match &mut cards {
        Some(cards) => {
            let answers = answers(context)?;
            for entry in &mut cards.entries {
                let token = context.records.get_of::<CardToken>(&batch.merchant, &entry.old_card_key)?;
                match ask(context, token, &answers, batch.due) {
                    Ok((response, new)) => {
                        if let Some(token) = &new {
                            context.records.put(token)?;
                        }
                        *batch.responses.entry(response.clone()).or_default() += 1;
                        entry.response = response;
                        entry.new = new.as_ref().map(|token| Box::new(shown_of(token)));
                    }
                    Err(NotOurs) => batch.spoiled = true,
                }
            }
            context.records.put(&*cards)?;
        }
        None => batch.spoiled = true,
    }
    // The callback says that the batch has finished, also if its cards cannot be read (A72).
    let readable = cards.filter(|_| !batch.spoiled).map(|cards| cards.entries);
    call_back(context, &batch, &readable.unwrap_or_default())?;
    context.records.put(&batch)
}

/// Returns the configured responses of the account updater, by card.
fn answers(context: &mut Context<'_>) -> Result<HashMap<String, String>, StoreError> {
    let told = context.records.find::<UpdaterAnswer>(&Query::oldest(u32::MAX).of(context.own_name()))?;
    Ok(told.into_iter().map(|answer| (answer.key().to_owned(), answer.response)).collect())
}

/// Returns the answer for a token's card, and the new token that comes with the answer. A token that was deleted
/// meanwhile has no card.
fn ask(
    context: &mut Context<'_>,
    token: Option<CardToken>,
    told: &HashMap<String, String>,
    at: Timestamp,
) -> Result<(String, Option<CardToken>), NotOurs> {
    let Some(old) = token else {
        return Ok((CardRetrievalCode::NO_MATCH.as_str().to_owned(), None));
    };
    let number = old.card.number(context.vault, &old.key)?;
    let number = number.expose();
    let response = if told.is_empty() {
        None
    } else {
        told.get(&UpdaterAnswer::key_of(context.vault, context.own_name(), number))
    };
    let response = response.cloned().unwrap_or_else(|| answer::usual(number).as_str().to_owned());
    let expiry = (old.card.expiry_month.as_str(), old.card.expiry_year.as_str());
    let new = answer::new_card(&response, number, expiry, at).map(|card| renewed(context, &old, &card, at));
    Ok((response, new))
}

/// Creates a token with the new card and everything else from the old token. The old token does not change (A59 and
/// A74).
fn renewed(context: &mut Context<'_>, old: &CardToken, card: &NewCard, at: Timestamp) -> CardToken {
    let key = context.keys.card(at);
    let expiry = (card.expiry_month.as_str(), card.expiry_year.as_str());
    CardToken {
        merchant: old.merchant.clone(),
        unique_identifier: context.vault.card_identifier(&old.merchant, &card.number),
        customer_reference: old.customer_reference.clone(),
        // The customer may have withdrawn their consent: a disabled token must not be charged under another key.
        enabled: old.enabled,
        card: HeldCard::seal(context.vault, context.keys.dice(), &key, &card.number, expiry),
        details: old.details.clone(),
        parent: None,
        created: at,
        key,
    }
}

fn shown_of(token: &CardToken) -> NewToken {
    let card = detail::card(token);
    NewToken {
        enabled: token.enabled,
        card_key: token.key.clone(),
        card_unique_identifier: token.unique_identifier,
        merchant_customer_reference: token.customer_reference.clone().unwrap_or_default(),
        card_description: card.card_description,
        cardholder_name: card.cardholder_name,
        card_number: card.card_number.expose().to_owned(),
        card_expiry_month: card.card_expiry_month,
        card_expiry_year: card.card_expiry_year,
        card_type: card.card_type,
        card_scheme: card.card_scheme,
        card_bank: card.card_bank,
    }
}

/// Schedules one callback, in the encoding of the request (spec 1 §6).
fn call_back(context: &mut Context<'_>, batch: &Batch, cards: &[BatchEntry]) -> Result<(), StoreError> {
    let Some(url) = &batch.callback_url else { return Ok(()) };
    let content_type = match batch.encoding() {
        Encoding::Xml => "application/xml; charset=utf-8",
        Encoding::Json => "application/json; charset=utf-8",
    };
    let body = pg_model::encode(&shown(batch, cards), batch.encoding());
    let new = NewCallback {
        merchant: &batch.merchant,
        kind: CallbackKind::AccountUpdater,
        about: &batch.key,
        url,
        content_type,
        body,
    };
    callback::enqueue(context, new, batch.due)
}
