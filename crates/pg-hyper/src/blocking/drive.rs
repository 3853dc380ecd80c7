//! A machine in the hands of a client, for a thread that waits.

use std::{fmt, future::ready, sync::Arc};

use pg_model::{ApiRequest, Outcome, Transaction};
use pg_proto::machine::{
    Machine, Never, SavedState,
    charge::{Charge, ChargeBounds},
};

use super::Background;
use crate::{DriveError, DriveStep, DurableFile, HyperTransport, StoreError, Transport};

/// A machine driven by a client; the calling thread waits. See [`crate::Drive`].
pub struct Drive<M: Machine, T = HyperTransport> {
    inner: crate::Drive<M, T>,
    background: Arc<Background>,
}

impl<M, T> Drive<M, T>
where
    M: Machine,
    T: Transport + Clone + 'static,
{
    pub(super) fn new(inner: crate::Drive<M, T>, background: Arc<Background>) -> Self {
        Self { inner, background }
    }

    /// Stores the machine before each request and each wait, durably: the request leaves only when `store` has returned.
    /// When it fails, nothing is sent; see [`crate::Drive::store`].
    #[must_use]
    pub fn store<E: Into<StoreError>>(
        self,
        store: impl Fn(SavedState) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        Self { inner: self.inner.store(move |saved| ready(store(saved).map_err(Into::into))), ..self }
    }

    /// Stores the machine in this file; see [`crate::Drive::store_in`].
    #[must_use]
    pub fn store_in(self, file: DurableFile) -> Self {
        Self { inner: self.inner.store_in(file), ..self }
    }

    /// What would be stored now.
    #[must_use]
    pub fn saved(&self) -> SavedState {
        self.inner.saved()
    }

    /// The machine, to look at.
    pub const fn machine(&self) -> &M {
        self.inner.machine()
    }

    /// What went wrong last, for people; see [`crate::Drive::error`].
    #[must_use]
    pub const fn error(&self) -> Option<&DriveError> {
        self.inner.error()
    }

    /// Tells the machine what its owner knows.
    pub fn handle_input(&mut self, input: M::Input) {
        self.inner.handle_input(input);
    }

    /// Goes on until the machine asks something or is over. It waits for nothing else meanwhile; to hear of a return or
    /// a callback at the same time takes the async client.
    pub fn advance(&mut self) -> DriveStep<M::Demand, M::Outcome> {
        self.background.wait(self.inner.next())
    }
}

impl<M, T> Drive<M, T>
where
    M: Machine<Demand = Never>,
    T: Transport + Clone + 'static,
{
    /// Goes on to the end.
    pub fn run(&mut self) -> M::Outcome {
        self.background.wait(self.inner.run())
    }
}

impl<P: ApiRequest<Output = Outcome<Transaction>>, T: Transport + Clone + 'static> Drive<Charge<P>, T> {
    /// How far it goes before it ends as unknown, instead of [the usual](ChargeBounds::default).
    #[must_use]
    pub fn bounds(self, bounds: ChargeBounds) -> Self {
        Self { inner: self.inner.bounds(bounds), ..self }
    }
}

impl<M: Machine + fmt::Debug, T> fmt::Debug for Drive<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("blocking::Drive").field(&self.inner).finish()
    }
}
