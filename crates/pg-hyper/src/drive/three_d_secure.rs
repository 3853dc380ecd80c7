//! `client.three_d_secure(…)`.

use pg_proto::{
    Misuse,
    machine::{
        ResumeError, SavedState,
        three_d_secure::{Initiation, ThreeDSecure, ThreeDSecurePlan},
    },
};

use super::Drive;
use crate::{Client, HyperTransport, Transport};

/// A 3-D Secure payment on its way; it asks its owner to lead the customer to the challenge.
pub type ThreeDSecureDrive<T = HyperTransport> = Drive<ThreeDSecure, T>;

impl<T: Transport + Clone + 'static> Client<T> {
    /// Pays with 3-D Secure: initiates, has the customer led to the challenge, asks how it went, and pays once. See
    /// [`machine::three_d_secure`](pg_proto::machine::three_d_secure) for what exactly it promises.
    ///
    /// It is [stored](Drive::store) before it asks, too, so that another process can go on when the customer comes back.
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
    /// let mut payment = client
    ///     .three_d_secure(initiation, Default::default())?
    ///     .store_in(DurableFile::new("order-7.json"));
    /// let outcome = loop {
    ///     match payment.next().await {
    ///         DriveStep::Ask(ThreeDSecureDemand::Challenge { url, until }) => {
    ///             // Past `until` there is nothing to be told: it sees that itself.
    ///             tokio::select! {
    ///                 () = lead_the_customer_to(url) => payment.handle_input(ThreeDSecureInput::Returned),
    ///                 () = client.sleep_until(until) => {}
    ///             }
    ///         }
    ///         DriveStep::Ask(ThreeDSecureDemand::Decide { .. }) => payment.handle_input(ThreeDSecureInput::Stop),
    ///         DriveStep::Done(outcome) => break outcome,
    ///     }
    /// };
    /// # Ok(outcome)
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the initiation breaks a rule or carries no `uniqueMerchantReference`.
    pub fn three_d_secure(
        &self,
        initiation: impl Into<Initiation>,
        plan: ThreeDSecurePlan,
    ) -> Result<ThreeDSecureDrive<T>, Misuse> {
        ThreeDSecure::new(self.account().clone(), initiation, plan).map(|machine| self.drive(machine).eager())
    }

    /// Goes on with a 3-D Secure payment from what was stored last. One that waits for its customer asks for the challenge
    /// again; when the customer is back already, [tell](Drive::handle_input) it so before.
    ///
    /// # Errors
    /// When that is no 3-D Secure payment's state, or was saved for another account.
    pub fn resume_three_d_secure(&self, saved: &SavedState) -> Result<ThreeDSecureDrive<T>, ResumeError> {
        ThreeDSecure::resume(saved, self.account().clone()).map(|machine| self.drive(machine).eager())
    }
}
