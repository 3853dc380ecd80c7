//! Creates and removes accounts at run time (A335).

use std::collections::BTreeMap;

use super::{Context, cv2};
use crate::{
    merchants::Merchant,
    records::{
        Account, AccountEntry, Authentication, Batch, BatchCards, Callback, CallbackBody, CardToken, CheckoutToken,
        CheckoutVisit, Credentials, FailedAttempts, LAST_DUE, Meta, Payment, Session, TextMessage, UniqueReference,
        UpdaterAnswer, before_due, due_by, is_on_own_clock,
    },
    schedule::IN_FLIGHT,
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

/// Returns the names that belong to configured accounts, of any process and of earlier starts: the name owns the records.
pub(crate) fn reserved(records: &mut Transaction<'_>) -> Result<Vec<String>, StoreError> {
    records.get::<Meta>(Meta::RESERVED)?.map_or(Ok(Vec::new()), |meta| meta.read())
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

/// Returns the ids of accounts that have a task, with the real time of the next one. Accounts without one cost nothing: their
/// number does not matter.
pub(crate) fn tasks(context: &mut Context<'_>) -> Result<Vec<(String, Timestamp)>, StoreError> {
    let mut next: BTreeMap<String, Timestamp> = BTreeMap::new();
    next_of::<Batch>(context, Batch::DUE, &mut next, 1, |found, _| found.first().map(|batch| batch.due))?;
    next_of::<Session>(context, Session::CARD_UNTIL, &mut next, 1, |found, _| found.first().map(|one| one.expires))?;
    let most = u32::try_from(IN_FLIGHT + 1).unwrap_or(u32::MAX);
    next_of::<Callback>(context, Callback::DUE, &mut next, most, |found, real_now| {
        let waiting = found.iter().find(|callback| !callback.is_claimed(real_now));
        // If there may be more, the account itself is asked.
        waiting.or_else(|| found.first().filter(|_| found.len() > IN_FLIGHT)).map(|callback| callback.due)
    })?;
    let mut tasks = Vec::with_capacity(next.len());
    for (name, due) in next {
        let Some(account) = find(context, &name)? else { continue };
        tasks.extend(account.clock.real_at(due).map(|due| (account.id, due)));
    }
    Ok(tasks)
}

/// Notes the next task of one kind of each account that has one. Reads the first records of these accounts, from the last
/// account by name to the first.
fn next_of<T: StoredRecord>(
    context: &mut Context<'_>,
    column: &'static str,
    next: &mut BTreeMap<String, Timestamp>,
    most: u32,
    first: impl Fn(&[T], Timestamp) -> Option<Timestamp>,
) -> Result<(), StoreError> {
    let mut up_to = LAST_DUE.to_owned();
    loop {
        let last = context.records.find::<T>(&Query::newest(1).at_most(column, &up_to))?;
        let Some(name) = last.first().filter(|record| is_on_own_clock(*record)).map(StoredRecord::merchant) else {
            return Ok(());
        };
        let found =
            context.records.find::<T>(&Query::oldest(most).of(name).at_most(column, &due_by(name, Timestamp::MAX)))?;
        if let Some(due) = first(&found, context.real_now) {
            let known = next.entry(name.to_owned()).or_insert(due);
            *known = due.min(*known);
        }
        up_to = before_due(name);
    }
}
