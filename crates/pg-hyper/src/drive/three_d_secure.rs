//! `client.three_d_secure(…)`.

use std::sync::Arc;

use pg_proto::{
    Misuse,
    machine::{
        ResumeError, SavedState,
        three_d_secure::{Initiation, ThreeDSecure, ThreeDSecurePlan},
    },
};

use super::Drive;
use crate::{Client, HyperTransport, Transport};

/// A 3-D Secure payment in progress. It asks its owner to send the customer to the challenge.
/// [`Client::three_d_secure`] has an example.
pub type ThreeDSecureDrive<T = HyperTransport> = Drive<ThreeDSecure, T>;

impl<T: Transport + Clone + 'static> Client<T> {
    /// Pays with 3-D Secure: initiates, asks you to send the customer to the challenge, requests its result, and pays
    /// once. See [`machine::three_d_secure`](pg_proto::machine::three_d_secure) for its promises.
    ///
    /// The machine is also [saved](Drive::store) before each demand, so that another process can continue when the
    /// customer returns. Only one drive may work on it at a time: a customer may return twice at once, and two drives
    /// that were resumed from one state may both pay. [`Drive::store_if`] excludes that.
    ///
    /// ```no_run
    /// use pg_hyper::{
    ///     Client, DurableFile, DriveStep,
    ///     proto::{
    ///         machine::three_d_secure::{Initiation, ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome},
    ///         model::Url,
    ///     },
    /// };
    /// # async fn lead_the_customer_to(_: Url) {}
    ///
    /// # async fn pay(client: Client, initiation: Initiation) -> Result<ThreeDSecureOutcome, Box<dyn std::error::Error>> {
    /// let file = DurableFile::new("order-7.json");
    /// let payment = match file.saved()? {
    ///     Some(saved) => client.resume_three_d_secure(&saved)?,
    ///     None => client.three_d_secure(initiation, Default::default())?,
    /// };
    /// let mut payment = payment.store_in(file.clone());
    /// let outcome = loop {
    ///     match payment.next().await {
    ///         DriveStep::Ask(ThreeDSecureDemand::Challenge { url, until }) => {
    ///             // The machine notices the end of the time itself.
    ///             tokio::select! {
    ///                 () = lead_the_customer_to(url) => payment.handle_input(ThreeDSecureInput::Returned),
    ///                 () = client.sleep_until(until) => {}
    ///             }
    ///         }
    ///         DriveStep::Ask(ThreeDSecureDemand::Decide { .. }) => payment.handle_input(ThreeDSecureInput::Stop),
    ///         DriveStep::Done(outcome) => break outcome,
    ///     }
    /// };
    /// // … record the outcome in the order, durably …
    /// if !matches!(outcome, ThreeDSecureOutcome::Unknown { .. }) {
    ///     // After an unknown outcome, the state is kept, so that the next run looks the payment up.
    ///     file.remove()?;
    /// }
    /// # Ok(outcome)
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the initiation breaks a rule or carries no `uniqueMerchantReference`.
    pub fn three_d_secure(
        &self,
        initiation: impl Into<Initiation>,
        plan: ThreeDSecurePlan,
    ) -> Result<ThreeDSecureDrive<T>, Misuse> {
        ThreeDSecure::new(Arc::clone(self.shared_account()), initiation, plan)
            .map(|machine| self.drive(machine).eager())
    }

    /// Resumes a 3-D Secure payment from the state that was saved last. A payment that waits for its customer asks for
    /// the challenge again. If the customer has already returned, [report that](Drive::handle_input) first.
    ///
    /// Only one drive may work on the payment at a time, and it resumes from the state that was saved last. Otherwise two
    /// returns of one customer may pay twice: the handler of the return URL must lock the order, or store the payment
    /// with [`store_if`](Drive::store_if).
    ///
    /// A state of an earlier version has no amount, which an event of the target `pg.drive` reports. Set the amount
    /// with [`compare_amount`](ThreeDSecureDrive::compare_amount).
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a 3-D Secure payment, or was saved for another account.
    pub fn resume_three_d_secure(&self, saved: &SavedState) -> Result<ThreeDSecureDrive<T>, ResumeError> {
        let drive = ThreeDSecure::resume(saved, Arc::clone(self.shared_account()))
            .map(|machine| self.drive(machine).eager())?;
        let drive = drive.resumed_from(saved);
        if drive.machine().amount().is_none() {
            tracing::warn!(
                target: "pg.drive",
                "the saved 3-D Secure payment has no amount, so the amount of its transaction is not compared; set it with compare_amount"
            );
        }
        Ok(drive)
    }
}

impl<T: Transport + Clone + 'static> ThreeDSecureDrive<T> {
    /// Sets the amount, in minor units, of a payment that an earlier version saved without it. A transaction with
    /// another amount then ends as unknown. An amount in the state is kept.
    #[must_use]
    pub fn compare_amount(self, minor_units: u64) -> Self {
        self.change(|machine| machine.compare_amount(minor_units))
    }
}
