//! `token/requestAccountUpdater` (spec 1 §4.8).

use std::collections::HashSet;

use pg_model::{BatchRequested, CardKey, Encoding, ErrorCode, RequestAccountUpdater, ResultCode};

use super::{Context, Merchant, Refusal, callback};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed,
    records::{BATCH_TIME, Batch, BatchCards, BatchEntry, CallbackKind, CardToken},
    service::method::{Permission, Serve},
};

impl Serve for RequestAccountUpdater {
    const PERMISSION: Permission = Permission::AccountUpdater;

    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<BatchRequested, Refusal> {
        let held = merchant.account_updater_key.as_ref();
        if !held.is_some_and(|held| held.matches(self.account_updater_key.expose())) {
            return Err(Refusal::from(ErrorCode::INVALID_ACCOUNT_UPDATER_KEY).assuming(assumed::ORDER_OF_106_AND_180));
        }
        let entries = entries(context, merchant, &self.card_keys)?;
        let url = self.callback_url.filter(|url| !url.is_empty());
        if let Some(url) = &url {
            callback::check(context, CallbackKind::AccountUpdater, url.as_str())?;
            context
                .basis
                .assume_all([assumed::THE_ACCOUNT_UPDATER_CALLBACK, assumed::WHICH_CALLBACK_ADDRESSES_ARE_ACCEPTED]);
        }
        let key = context.keys.record(context.now);
        let batch = Batch {
            merchant: merchant.name.clone(),
            created: context.now,
            due: context.now.plus(BATCH_TIME),
            finished: false,
            spoiled: false,
            callback_url: url.map(|url| url.as_str().to_owned()),
            in_json: context.encoding == Encoding::Json,
            cards: entries.len(),
            responses: Default::default(),
            own_clock: context.account.is_some(),
            key: key.clone(),
        };
        context.schedule.note_batch(batch.due);
        context.records.put(&batch)?;
        context.records.put(&BatchCards { key: key.clone(), merchant: merchant.name.clone(), entries })?;
        context.basis.assume_all([
            assumed::ACCOUNT_UPDATER_REQUESTS_THAT_ARE_REFUSED,
            assumed::WHEN_AND_HOW_A_BATCH_IS_PROCESSED,
        ]);
        Ok(BatchRequested::default().with(|record| {
            record.result = ResultCode::OK;
            record.batch_key = key.into();
        }))
    }

    /// Refuses a request with duplicated cards (spec 1 §4.8), the only failure that the documents name for `ERROR`.
    fn told_in_reply(
        refusal: Refusal,
        context: &mut Context<'_>,
        merchant: &Merchant,
    ) -> Result<BatchRequested, Refusal> {
        if refusal.code() != SandboxErrorCode::DUPLICATE_CARD_KEYS.as_str() || merchant.duplicates_as_error {
            return Err(refusal);
        }
        context.basis.assume(assumed::ACCOUNT_UPDATER_REQUESTS_THAT_ARE_REFUSED);
        context.warn("no batch was created: a card key occurs twice, or two card keys hold the same card");
        Ok(BatchRequested::default().with(|record| {
            record.result = ResultCode::ERROR;
        }))
    }
}

/// Returns one entry for each card key. Every key must have a token, and no two keys the same card (A70).
fn entries(context: &mut Context<'_>, merchant: &Merchant, keys: &[CardKey]) -> Result<Vec<BatchEntry>, Refusal> {
    let keys: Vec<&str> = keys.iter().map(|key| key.as_str().trim_matches(' ')).collect();
    if keys.iter().any(|key| key.is_empty() || key.contains(char::is_control)) {
        return Err(Refusal::from(SandboxErrorCode::INVALID_PARAMETER)
            .about("cardKey")
            .assuming(assumed::ACCOUNT_UPDATER_REQUESTS_THAT_ARE_REFUSED));
    }
    let mut seen = HashSet::with_capacity(keys.len());
    if !keys.iter().all(|key| seen.insert(*key)) {
        return Err(SandboxErrorCode::DUPLICATE_CARD_KEYS.into());
    }
    let mut cards = HashSet::with_capacity(keys.len());
    let mut twice = false;
    let mut entries = Vec::with_capacity(keys.len());
    for (at, key) in keys.into_iter().enumerate() {
        let token = context.records.get_of::<CardToken>(&merchant.name, key)?.ok_or_else(|| {
            let refusal = Refusal::from(SandboxErrorCode::UNKNOWN_CARD_KEY).about(&(at + 1).to_string());
            refusal
                .assuming(assumed::KEYS_OF_OTHER_ACCOUNTS)
                .assuming(assumed::ACCOUNT_UPDATER_REQUESTS_THAT_ARE_REFUSED)
        })?;
        twice |= !cards.insert(token.unique_identifier);
        entries.push(BatchEntry { old_card_key: token.key, response: String::new(), new: None });
    }
    if twice { Err(SandboxErrorCode::DUPLICATE_CARD_KEYS.into()) } else { Ok(entries) }
}
