//! The injected faults of future calls, cached for every request.
//!
//! Faults are stored, so they and their counts survive a restart, as the clock does: a test that kills
//! the sandbox finds the same faults again. This is the copy that each request reads.

use pg_model::method::MethodInfo;

use crate::{
    records::{Account, Fault, FaultKind, Meta, Silence},
    store::{Query, StoreError, Transaction},
};

/// The maximum number of faults at a time, including used ones.
pub(crate) const MOST: usize = 256;

/// All faults of the sandbox, or of an account created at run time, oldest first. Each call gets at most one fault: the
/// oldest fault for its method that has calls left. So a list of faults is a script. For example, the first call is
/// late, and the second gets no reply.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    all: Vec<Fault>,
    /// The account to which these faults belong.
    account: Option<Account>,
}

impl Faults {
    /// Returns the faults of a store.
    pub(crate) fn stored(records: &mut Transaction<'_>) -> Result<Self, StoreError> {
        // Room for all of them, even if an earlier version accepted more.
        Ok(Self { all: records.find(&Query::oldest(u32::MAX))?, account: None })
    }

    /// Returns the faults of an account created at run time.
    pub(crate) fn stored_of(account: &Account, records: &mut Transaction<'_>) -> Result<Self, StoreError> {
        let stored = records.get::<Meta>(&Meta::account_faults_key(&account.id))?;
        let all = stored.map_or(Ok(Vec::new()), |meta| meta.read())?;
        Ok(Self { all, account: Some(account.clone()) })
    }

    /// Returns the faults, the oldest first.
    pub(crate) fn all(&self) -> &[Fault] {
        &self.all
    }

    /// Returns the fault of a call of this method, and counts the call.
    pub(crate) fn meet(
        &mut self,
        info: &MethodInfo,
        records: &mut Transaction<'_>,
    ) -> Result<Option<FaultKind>, StoreError> {
        self.meet_first(|fault| fault.meets(info), records)
    }

    /// Returns the bank's failure for a payment on the hosted page, and counts the payment.
    pub(crate) fn meet_page(&mut self, records: &mut Transaction<'_>) -> Result<Option<Silence>, StoreError> {
        Ok(self.meet_first(Fault::meets_page, records)?.and_then(FaultKind::silence))
    }

    fn meet_first(
        &mut self,
        meets: impl Fn(&Fault) -> bool,
        records: &mut Transaction<'_>,
    ) -> Result<Option<FaultKind>, StoreError> {
        let Some(at) = self.all.iter().position(meets) else { return Ok(None) };
        self.all[at].remaining -= 1;
        self.put(at, records)?;
        Ok(Some(self.all[at].kind))
    }

    /// Adds a fault, and returns whether there was room. Used faults are dropped to make room.
    pub(crate) fn add(&mut self, fault: Fault, records: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let spent = self.all.iter().position(|fault| fault.remaining == 0).filter(|_| self.all.len() >= MOST);
        if self.all.len() >= MOST && spent.is_none() {
            return Ok(false);
        }
        if let Some(at) = spent {
            let spent = self.all.remove(at);
            self.drop_stored(&spent.key, records)?;
        }
        self.all.push(fault);
        self.put(self.all.len() - 1, records)?;
        Ok(true)
    }

    /// Removes a fault, and returns whether it existed.
    pub(crate) fn remove(&mut self, key: &str, records: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let before = self.all.len();
        self.all.retain(|fault| fault.key != key);
        self.drop_stored(key, records)?;
        Ok(self.all.len() < before)
    }

    /// Removes all faults, and returns their number.
    pub(crate) fn clear(&mut self, records: &mut Transaction<'_>) -> Result<usize, StoreError> {
        let all = std::mem::take(&mut self.all);
        for fault in &all {
            self.drop_stored(&fault.key, records)?;
        }
        Ok(all.len())
    }

    /// Writes the fault at a place.
    fn put(&self, at: usize, records: &mut Transaction<'_>) -> Result<(), StoreError> {
        match &self.account {
            None => records.put(&self.all[at]),
            Some(account) => records.put(&Meta::account_faults(account, &self.all)),
        }
    }

    /// Removes a fault that is no longer in the list from the store.
    fn drop_stored(&self, key: &str, records: &mut Transaction<'_>) -> Result<(), StoreError> {
        match &self.account {
            None => records.remove::<Fault>(key).map(drop),
            Some(account) => records.put(&Meta::account_faults(account, &self.all)),
        }
    }
}
