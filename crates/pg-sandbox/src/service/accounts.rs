//! Creates and removes accounts at run time (A335).

use super::{Context, cv2};
use crate::{
    merchants::Merchant,
    records::{
        Account, AccountEntry, Authentication, Batch, BatchCards, Callback, CallbackBody, CardToken, CheckoutToken,
        CheckoutVisit, Credentials, FailedAttempts, Meta, Payment, Session, TextMessage, UniqueReference,
        UpdaterAnswer,
    },
    store::{Query, StoreError, StoredRecord, Transaction},
    timestamp::Timestamp,
};

/// The maximum number of accounts.
pub(crate) const MOST: usize = 1_000;
/// The maximum number of expired accounts that are removed at a time.
const AT_ONCE: usize = 8;
/// The number of records that are removed at a time.
const CHUNK: u32 = 500;
/// The number of random letters and digits in a name that the sandbox chooses.
const NAME_DIGITS: usize = 12;
/// The number of letters and digits of a credential.
const CREDENTIAL: usize = 2 * Account::ID;

/// Returns all accounts, the oldest first. An expired account may still be listed.
pub(crate) fn listed(records: &mut Transaction<'_>) -> Result<Vec<AccountEntry>, StoreError> {
    records.get::<Meta>(Meta::ACCOUNTS)?.map_or(Ok(Vec::new()), |meta| meta.read())
}

/// Returns an account of the list, unless it has expired.
pub(crate) fn find(context: &mut Context<'_>, name: &str) -> Result<Option<Account>, StoreError> {
    let id = context.vault.account_id(name);
    let stored = context.records.get::<Meta>(&Meta::account_key(&id))?;
    let account: Option<Account> = stored.map(|meta| meta.read()).transpose()?;
    Ok(account.filter(|account| !account.expired(context.real_now)))
}

/// Creates an account whose name is free.
pub(crate) fn create(
    context: &mut Context<'_>,
    name: Option<String>,
    model: &Merchant,
    expires: Option<Timestamp>,
) -> Result<Account, StoreError> {
    let name = name.unwrap_or_else(|| format!("ci-{}", context.keys.letters_and_digits(NAME_DIGITS)));
    let id = context.vault.account_id(&name);
    // An expired account of the same name may not have been removed yet.
    remove(context, &name)?;
    let mut random = |length| context.keys.letters_and_digits(length);
    let credentials = Credentials {
        api_key: format!("{id}{}", random(Account::ID)),
        api_password: random(CREDENTIAL),
        sha_key: random(CREDENTIAL),
        account_updater_key: random(CREDENTIAL),
        enterprise_api_key: format!("{id}{}", random(Account::ID)),
        enterprise_api_password: random(CREDENTIAL),
    };
    let mut account = Account::like(model, id, name, credentials, context.real_now);
    account.expires = expires;
    let mut all = listed(&mut context.records)?;
    all.push(AccountEntry { id: account.id.clone(), name: account.name.clone(), expires });
    context.records.put(&Meta::accounts(&all))?;
    context.records.put(&Meta::account(&account))?;
    Ok(account)
}

/// Removes an account with all its records. Returns whether it existed.
pub(crate) fn remove(context: &mut Context<'_>, name: &str) -> Result<bool, StoreError> {
    let mut all = listed(&mut context.records)?;
    let before = all.len();
    all.retain(|entry| entry.name != name);
    if all.len() == before {
        return Ok(false);
    }
    context.records.put(&Meta::accounts(&all))?;
    for session in context.records.find::<Session>(&Query::oldest(u32::MAX).of(name))? {
        cv2::take(context, &session.key)?;
    }
    context.throttle.forget(name);
    let records = &mut context.records;
    all_of::<Authentication>(records, name)?;
    all_of::<Batch>(records, name)?;
    all_of::<BatchCards>(records, name)?;
    all_of::<Callback>(records, name)?;
    all_of::<CallbackBody>(records, name)?;
    all_of::<CardToken>(records, name)?;
    all_of::<CheckoutToken>(records, name)?;
    all_of::<CheckoutVisit>(records, name)?;
    all_of::<FailedAttempts>(records, name)?;
    all_of::<Meta>(records, name)?;
    all_of::<Payment>(records, name)?;
    all_of::<Session>(records, name)?;
    all_of::<TextMessage>(records, name)?;
    all_of::<UniqueReference>(records, name)?;
    all_of::<UpdaterAnswer>(records, name)?;
    context.journal.leave(name);
    Ok(true)
}

fn all_of<T: StoredRecord>(records: &mut Transaction<'_>, name: &str) -> Result<(), StoreError> {
    loop {
        let found = records.find::<T>(&Query::oldest(CHUNK).of(name))?;
        if found.is_empty() {
            return Ok(());
        }
        for record in &found {
            records.remove::<T>(record.key())?;
        }
        // These records are removed from the engine before the next ones are queried.
        records.keep()?;
    }
}

/// Removes expired accounts, and returns the others.
pub(crate) fn remove_expired(context: &mut Context<'_>) -> Result<Vec<AccountEntry>, StoreError> {
    let over = |entry: &&AccountEntry| entry.expires.is_some_and(|expires| expires <= context.real_now);
    let all = listed(&mut context.records)?;
    let names: Vec<String> = all.iter().filter(over).take(AT_ONCE).map(|entry| entry.name.clone()).collect();
    if names.is_empty() {
        return Ok(all);
    }
    for name in names {
        remove(context, &name)?;
    }
    listed(&mut context.records)
}
