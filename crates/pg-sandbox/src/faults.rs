//! The injected faults of future calls, cached for every request.
//!
//! Faults are records, so they and their counts survive a restart, as the clock does: a test that kills
//! the sandbox finds the same faults again. This is the copy that each request reads.

use pg_model::method::MethodInfo;

use crate::{
    records::{Fault, FaultKind, Silence},
    store::{Query, StoreError, Transaction},
};

/// The most faults at a time, used ones included.
pub(crate) const MOST: usize = 256;

/// All faults, oldest first. Each call gets at most one: the oldest one for its method that has calls
/// left. So a list of faults is a script: for example, the first call is late, the second one gets no reply.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    /// The faults of a store.
    pub(crate) fn stored(records: &mut Transaction<'_>) -> Result<Self, StoreError> {
        // Room for all of them, even if an earlier version accepted more.
        Ok(Self(records.find(&Query::oldest(u32::MAX))?))
    }

    /// The faults, the oldest first.
    pub(crate) fn all(&self) -> &[Fault] {
        &self.0
    }

    /// The fault of a call of this method; counted at once.
    pub(crate) fn meet(
        &mut self,
        info: &MethodInfo,
        records: &mut Transaction<'_>,
    ) -> Result<Option<FaultKind>, StoreError> {
        self.meet_first(|fault| fault.meets(info), records)
    }

    /// The bank's failure for a payment on the hosted page; counted at once.
    pub(crate) fn meet_page(&mut self, records: &mut Transaction<'_>) -> Result<Option<Silence>, StoreError> {
        Ok(self.meet_first(Fault::meets_page, records)?.and_then(FaultKind::silence))
    }

    fn meet_first(
        &mut self,
        meets: impl Fn(&Fault) -> bool,
        records: &mut Transaction<'_>,
    ) -> Result<Option<FaultKind>, StoreError> {
        let Some(fault) = self.0.iter_mut().find(|fault| meets(fault)) else { return Ok(None) };
        fault.remaining -= 1;
        records.put(fault)?;
        Ok(Some(fault.kind))
    }

    /// Adds a fault and returns whether there was room; used ones are dropped for it.
    pub(crate) fn add(&mut self, fault: Fault, records: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let spent = self.0.iter().position(|fault| fault.remaining == 0).filter(|_| self.0.len() >= MOST);
        if self.0.len() >= MOST && spent.is_none() {
            return Ok(false);
        }
        records.put(&fault)?;
        if let Some(at) = spent {
            records.remove::<Fault>(&self.0[at].key)?;
            self.0.remove(at);
        }
        self.0.push(fault);
        Ok(true)
    }

    /// Removes one and returns whether it existed.
    pub(crate) fn remove(&mut self, key: &str, records: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let removed = records.remove::<Fault>(key)?;
        self.0.retain(|fault| fault.key != key);
        Ok(removed)
    }

    /// Removes all of them and returns their number.
    pub(crate) fn clear(&mut self, records: &mut Transaction<'_>) -> Result<usize, StoreError> {
        for fault in &self.0 {
            records.remove::<Fault>(&fault.key)?;
        }
        Ok(std::mem::take(&mut self.0).len())
    }
}
