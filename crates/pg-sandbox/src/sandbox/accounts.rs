//! Selects the clock, faults and schedule for a request: those of an account created at run time, or those that all
//! other accounts share.

use http::Method;
use pg_model::method::AuthScheme;

use super::Sandbox;
use crate::{
    inbound::{Caller, Inbound},
    open_error::OpenError,
    outgoing::Outgoing,
    records::{Authentication, CheckoutToken, Meta, Session},
    route::Route,
    service,
    settings::Settings,
    store::{StoreError, StoredRecord, Transaction},
    timestamp::Timestamp,
};

/// The account whose clock, faults and schedule a request uses.
#[derive(Debug, Default, Clone)]
pub(super) struct Scope {
    /// The id of an account created at run time; `None` for all other accounts together.
    pub(super) account: Option<String>,
    /// The missing account that a call of the control interface names.
    pub(super) missing: Option<String>,
}

impl Sandbox {
    /// Finds the account of a request: by its API key, by the session, token or authentication that it names, or by the
    /// `account` of a call of the control interface or of a page of the inspector.
    pub(super) fn scope(&mut self, real_now: Timestamp, inbound: &Inbound) -> Result<Scope, StoreError> {
        let caller = inbound.journaled.as_ref().map(|journaled| &journaled.caller);
        let account = match (&inbound.route, caller) {
            (Route::Method(..), Some(Caller::Account { id, key })) => {
                // An earlier account of the same name had the same id.
                self.opens(id, real_now)?
                    .filter(|id| self.accounts.get(id).is_some_and(|live| live.account.has_key(key)))
            }
            (Route::Method(info, _), Some(Caller::Session(key))) if info.credentials == AuthScheme::Session => {
                self.owner::<Session>(&key.clone(), real_now)?
            }
            (Route::Pay(path), _) => {
                let token = path.split('/').next().unwrap_or_default().to_owned();
                self.owner::<CheckoutToken>(&token, real_now)?
            }
            (Route::Challenge(key), _) => self.owner::<Authentication>(&key.clone(), real_now)?,
            (Route::Control(_) | Route::Inspector(_), _) => return self.asked(real_now, inbound),
            _ => None,
        };
        Ok(Scope { account, missing: None })
    }

    /// Returns the account that a call of the control interface names.
    fn asked(&mut self, real_now: Timestamp, inbound: &Inbound) -> Result<Scope, StoreError> {
        let Some(name) = service::named_account(&inbound.request) else { return Ok(Scope::default()) };
        let account = self.opens(&self.vault.account_id(&name), real_now)?;
        let missing = account.is_none().then_some(name);
        Ok(Scope { account, missing })
    }

    /// Returns the account that owns a record, if it was created at run time.
    fn owner<T: StoredRecord>(&mut self, key: &str, real_now: Timestamp) -> Result<Option<String>, StoreError> {
        let Some(record) = Transaction::new(&mut *self.store).get::<T>(key)? else { return Ok(None) };
        let name = record.merchant();
        if self.settings.merchants.by_name(name).is_some() {
            return Ok(None);
        }
        self.opens(&self.vault.account_id(name), real_now)
    }

    /// Returns the id if an account with this id exists and has not expired.
    fn opens(&mut self, id: &str, real_now: Timestamp) -> Result<Option<String>, StoreError> {
        let is_open = self.accounts.open(id, real_now, &mut Transaction::new(&mut *self.store))?;
        Ok(is_open.then(|| id.to_owned()))
    }

    /// Returns the time that a request's clock shows.
    pub(super) fn now_of(&self, scope: &Scope, real_now: Timestamp) -> Timestamp {
        let account = scope.account.as_ref().and_then(|id| self.accounts.get(id));
        account.map_or(&self.clock, |live| &live.clock).at(real_now)
    }

    /// Reads the accounts again after a call that may have created or removed an account.
    pub(super) fn note_accounts(&mut self, inbound: &Inbound) {
        let (Route::Control(path) | Route::Inspector(path)) = &inbound.route else { return };
        if path.split('/').next() == Some("accounts") && inbound.request.method() != Method::GET {
            self.accounts.look_again();
        }
    }

    /// Reserves the names of configured accounts, so that no process creates an account of such a name at run time: the
    /// records of the two would be mixed, and removed with one of them.
    pub(super) fn reserve_names(&mut self) -> Result<(), OpenError> {
        if self.settings.merchants.added().next().is_none()
            || unreserved(&self.settings, &mut Transaction::new(&mut *self.store))?.is_empty()
        {
            return Ok(());
        }
        self.store.begin()?;
        let mut records = Transaction::new(&mut *self.store);
        let new = unreserved(&self.settings, &mut records)?;
        let names = [service::accounts::reserved(&mut records)?, new].concat();
        records.put(&Meta::reserved(&names))?;
        records.keep()?;
        self.store.commit()?;
        Ok(self.sync()?)
    }

    /// Reads the list of accounts at the start.
    pub(super) fn know_accounts(&mut self) -> Result<(), StoreError> {
        let listed = service::accounts::listed(&mut Transaction::new(&mut *self.store))?;
        if !listed.is_empty() {
            self.accounts.look_again();
        }
        Ok(())
    }

    /// Removes expired accounts, and adds the due callbacks of the others. Those that were added before an error are to
    /// be sent too.
    pub(super) fn due_at_accounts(&mut self, real_now: Timestamp, all: &mut Vec<Outgoing>) -> Result<(), StoreError> {
        if self.accounts.must_look(real_now) {
            let (listed, tasks) = self.alone(real_now, |context| {
                let listed = service::accounts::remove_expired(context)?;
                let tasks = if listed.is_empty() { Vec::new() } else { service::accounts::tasks(context)? };
                Ok((listed, tasks))
            })?;
            self.accounts.listed(&listed, tasks);
        }
        for id in self.accounts.take_with_work(real_now) {
            // A store that answers slowly is not away; the first error ends the round.
            self.store.begin_patience(true);
            let Some(outgoing) = self.alone_at(&id, real_now, super::callbacks::hand_out)? else { continue };
            let claimed_until = self.claimed_until(real_now);
            if let Some(live) = self.accounts.get_mut(&id) {
                outgoing.iter().for_each(|one| live.schedule.depart(&one.id, claimed_until));
            }
            all.extend(outgoing);
        }
        Ok(())
    }

    /// Returns the id if the account exists, in a transaction that has begun.
    pub(super) fn opens_for_task(&mut self, id: &str, real_now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.opens(id, real_now)?.is_some())
    }

    /// Returns the clock of the store.
    pub(super) fn meta<T: serde::de::DeserializeOwned + Default>(&mut self, key: &str) -> Result<T, StoreError> {
        let stored = Transaction::new(&mut *self.store).get::<Meta>(key)?;
        stored.map_or(Ok(T::default()), |meta| meta.read())
    }
}

/// Returns the names of configured accounts that are not reserved yet.
///
/// # Errors
/// If an account that was created at run time has such a name. An earlier version may have created it under a reserved one.
fn unreserved(settings: &Settings, records: &mut Transaction<'_>) -> Result<Vec<String>, OpenError> {
    let created = service::accounts::listed(records)?;
    if let Some(name) = settings.merchants.added().find(|name| created.iter().any(|entry| entry.name == *name)) {
        return Err(OpenError::NameTaken(name.to_owned()));
    }
    let reserved = service::accounts::reserved(records)?;
    let new = settings.merchants.added().filter(|name| !reserved.iter().any(|known| known == name));
    Ok(new.map(str::to_owned).collect())
}
