//! A machine driven by a client, for a thread that waits.

use std::{fmt, future::ready, sync::Arc};

use pg_model::{ApiRequest, Outcome, Transaction};
use pg_proto::machine::{
    Machine, Never, SavedState,
    charge::{Charge, ChargeBounds},
};

use super::Background;
use crate::{DriveError, DriveStep, DurableFile, HyperTransport, StoreError, Transport};

/// A machine driven by a client; the calling thread waits. See [`crate::Drive`].
///
/// ```no_run
/// use pg_hyper::{DurableFile, blocking::Client, proto::{machine::charge::ChargeOutcome, model::Auth}};
///
/// fn pay(client: &Client, payment: Auth) -> Result<bool, Box<dyn std::error::Error>> {
///     let file = DurableFile::new("order-7.json");
///     let charging = match file.saved()? {
///         Some(saved) => client.resume_charge(&saved, Some(payment))?,
///         None => client.charge(payment)?,
///     };
///     let outcome = charging.store_in(file.clone()).run();
///     println!("{outcome}");
///     // … record the outcome in the order, durably …
///     if !matches!(outcome, ChargeOutcome::Unknown { .. }) {
///         // After an unknown outcome, the state is kept, so that the next run looks the payment up.
///         file.remove()?;
///     }
///     Ok(matches!(outcome, ChargeOutcome::Approved(_)))
/// }
/// ```
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

    /// Saves the machine durably before each request and each wait: the request is sent only after `store` has
    /// returned. If it fails, nothing is sent; see [`crate::Drive::store`].
    #[must_use]
    pub fn store<E: Into<StoreError>>(
        self,
        store: impl Fn(SavedState) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        Self { inner: self.inner.store(move |saved| ready(store(saved).map_err(Into::into))), ..self }
    }

    /// Saves the machine only if the stored state is the one that this drive knows; `store` returns whether it is. See
    /// [`crate::Drive::store_if`].
    #[must_use]
    pub fn store_if<E: Into<StoreError>>(
        self,
        store: impl Fn(Option<SavedState>, SavedState) -> Result<bool, E> + Send + Sync + 'static,
    ) -> Self {
        let store = move |previous, saved| ready(store(previous, saved).map_err(Into::into));
        Self { inner: self.inner.store_if(store), ..self }
    }

    /// Saves the machine in this file; see [`crate::Drive::store_in`].
    #[must_use]
    pub fn store_in(self, file: DurableFile) -> Self {
        Self { inner: self.inner.store_in(file), ..self }
    }

    /// Returns the state that would be saved now.
    #[must_use]
    pub fn saved(&self) -> SavedState {
        self.inner.saved()
    }

    /// Returns the machine.
    pub const fn machine(&self) -> &M {
        self.inner.machine()
    }

    /// Returns the last error, for people; see [`crate::Drive::error`].
    #[must_use]
    pub const fn error(&self) -> Option<&DriveError> {
        self.inner.error()
    }

    /// Gives the machine an input from its owner.
    pub fn handle_input(&mut self, input: M::Input) {
        self.inner.handle_input(input);
    }

    /// Runs until the machine has a demand or ends. To wait for a customer's return or a callback at the same time, use
    /// the async client.
    pub fn advance(&mut self) -> DriveStep<M::Demand, M::Outcome> {
        self.background.wait(self.inner.next())
    }
}

impl<M, T> Drive<M, T>
where
    M: Machine<Demand = Never>,
    T: Transport + Clone + 'static,
{
    /// Runs to the end.
    pub fn run(&mut self) -> M::Outcome {
        self.background.wait(self.inner.run())
    }
}

impl<P: ApiRequest<Output = Outcome<Transaction>>, T: Transport + Clone + 'static> Drive<Charge<P>, T> {
    /// Sets the bounds of the charge, instead of [the default](ChargeBounds::default).
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
