//! `client.charge(…)`.

use std::sync::Arc;

use pg_model::{ApiRequest, Outcome, Transaction};
use pg_proto::{
    Misuse,
    machine::{
        ResumeError, SavedState,
        charge::{Charge, ChargeBounds},
    },
};

use super::Drive;
use crate::{Client, HyperTransport, Transport};

/// A charge in progress: await it, or [run](Drive::run) it.
pub type ChargeDrive<P, T = HyperTransport> = Drive<Charge<P>, T>;

impl<T: Transport + Clone + 'static> Client<T> {
    /// Charges once, whatever the network does. After a request that may have been sent, it looks the payment up. It
    /// sends the payment again only if the lookup found nothing, under the same `uniqueMerchantReference`, which the
    /// service accepts once. See [`machine::charge`](pg_proto::machine::charge) for its promises.
    ///
    /// Nothing is sent before the charge is awaited.
    ///
    /// ```no_run
    /// use pg_hyper::{
    ///     Client,
    ///     proto::{machine::{Reconcile, charge::ChargeOutcome}, model::{AuthSessionKey, Currency, Item, Order, SessionKey}},
    /// };
    /// # fn settle(_: ChargeOutcome) {}
    /// # fn park(_: Reconcile) {}
    ///
    /// # async fn pay(client: Client, session_key: SessionKey) -> Result<(), Box<dyn std::error::Error>> {
    /// let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    /// let auth = AuthSessionKey::new(session_key, order);
    /// match client.charge(auth)?.await {
    ///     ChargeOutcome::Unknown { reconcile, .. } => park(reconcile),
    ///     other => settle(other),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A charge that is stored before each request survives a crash of the process; see
    /// [`resume_charge`](Self::resume_charge):
    ///
    /// ```no_run
    /// use pg_hyper::{Client, DurableFile, proto::{machine::charge::ChargeOutcome, model::AuthCardKey}};
    ///
    /// # async fn pay(client: Client, auth: AuthCardKey) -> Result<ChargeOutcome, Box<dyn std::error::Error>> {
    /// let file = DurableFile::new("order-7.json");
    /// let charging = match file.saved()? {
    ///     Some(saved) => client.resume_charge(&saved, Some(auth))?,
    ///     None => client.charge(auth)?,
    /// };
    /// let outcome = charging.store_in(file.clone()).await;
    /// // … record the outcome in the order, durably …
    /// if !matches!(outcome, ChargeOutcome::Unknown { .. }) {
    ///     // After an unknown outcome, the state is kept, so that the next run looks the payment up.
    ///     file.remove()?;
    /// }
    /// # Ok(outcome)
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the payment breaks a rule, carries no `uniqueMerchantReference`, or uses a method that cannot be looked up.
    pub fn charge<P>(&self, payment: P) -> Result<ChargeDrive<P, T>, Misuse>
    where
        P: ApiRequest<Output = Outcome<Transaction>>,
    {
        Charge::new(Arc::clone(self.shared_account()), payment, ChargeBounds::default())
            .map(|charge| self.drive(charge))
    }

    /// Resumes a charge from the state that was saved last. Pass the `payment` from which it was created, if you still
    /// have it: without the payment, the charge only looks up.
    ///
    /// Only one drive may work on a machine at a time: see [`Drive::store`].
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a charge or was saved for another account, or if `payment` is
    /// another payment.
    pub fn resume_charge<P>(&self, saved: &SavedState, payment: Option<P>) -> Result<ChargeDrive<P, T>, ResumeError>
    where
        P: ApiRequest<Output = Outcome<Transaction>>,
    {
        Charge::resume(saved, Arc::clone(self.shared_account()), payment)
            .map(|charge| self.drive(charge).resumed_from(saved))
    }
}

impl<P: ApiRequest<Output = Outcome<Transaction>>, T: Transport + Clone + 'static> ChargeDrive<P, T> {
    /// Sets the bounds of the charge, instead of [the default](ChargeBounds::default).
    #[must_use]
    pub fn bounds(self, bounds: ChargeBounds) -> Self {
        self.change(|charge| charge.bounds(bounds))
    }
}
