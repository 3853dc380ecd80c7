//! `client.checkout(…)`.

use std::sync::Arc;

use pg_model::GetToken;
use pg_proto::machine::{
    ResumeError, SavedState,
    checkout::{Checkout, CheckoutError, CheckoutPlan},
};

use super::Drive;
use crate::{Client, HyperTransport, Transport};

/// A payment on the hosted pages in progress. It asks its owner to send the customer to the page. [`Client::checkout`]
/// has an example.
pub type CheckoutDrive<T = HyperTransport> = Drive<Checkout, T>;

impl<T: Transport + Clone + 'static> Client<T> {
    /// Takes a payment on the hosted pages: requests a token, asks you to send the customer to its page, and finds out
    /// whether the token was paid. See [`machine::checkout`](pg_proto::machine::checkout) for its promises.
    ///
    /// The machine is also [saved](Drive::store) before it returns the address, so that no customer can pay without a
    /// record.
    ///
    /// ```no_run
    /// use pg_hyper::{
    ///     Client, DurableFile, DriveStep,
    ///     proto::{
    ///         machine::checkout::{CheckoutOutcome, CheckoutDemand, CheckoutInput},
    ///         model::{GetToken, Url},
    ///     },
    /// };
    /// # async fn the_customer_came_back_with_a_trans_key(_: Url) -> String { String::new() }
    ///
    /// # async fn pay(client: Client, request: GetToken) -> Result<CheckoutOutcome, Box<dyn std::error::Error>> {
    /// let file = DurableFile::new("order-7.json");
    /// let checkout = match file.saved()? {
    ///     // A customer may be paying the token of an earlier run.
    ///     Some(saved) => client.resume_checkout(&saved, Default::default())?,
    ///     None => client.checkout(request, Default::default())?,
    /// };
    /// let mut checkout = checkout.store_in(file.clone());
    /// let outcome = loop {
    ///     match checkout.next().await {
    ///         DriveStep::Ask(CheckoutDemand::Redirect { url, until }) => tokio::select! {
    ///             key = the_customer_came_back_with_a_trans_key(url) => checkout.handle_input(CheckoutInput::Reported(key)),
    ///             // The checkout notices the end of the time itself.
    ///             () = client.sleep_until(until) => {}
    ///         },
    ///         DriveStep::Done(outcome) => break outcome,
    ///     }
    /// };
    /// // … record the outcome in the order, durably …
    /// if !matches!(outcome, CheckoutOutcome::Unknown { .. }) {
    ///     // After an unknown outcome, the state is kept, since its customer may have paid: see look_again_at_checkout.
    ///     file.remove()?;
    /// }
    /// # Ok(outcome)
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the request breaks a rule, or does not say what is to be paid.
    pub fn checkout(&self, request: GetToken, plan: CheckoutPlan) -> Result<CheckoutDrive<T>, CheckoutError> {
        Checkout::new(Arc::clone(self.shared_account()), request, plan).map(|machine| self.drive(machine).eager())
    }

    /// Resumes a checkout from the state that was saved last. A checkout that waits for its customer asks again to send
    /// them to the page.
    ///
    /// Only one drive may work on a machine at a time: see [`Drive::store`].
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a checkout, or was saved for another account.
    pub fn resume_checkout(&self, saved: &SavedState, plan: CheckoutPlan) -> Result<CheckoutDrive<T>, ResumeError> {
        Checkout::resume(saved, Arc::clone(self.shared_account()), plan)
            .map(|machine| self.drive(machine).resumed_from(saved).eager())
    }

    /// Looks again at a checkout that has ended as unknown, from the state that was saved last: it looks up what new
    /// [reports](pg_proto::machine::checkout::CheckoutInput::Reported) name, and repeats the search.
    ///
    /// # Errors
    ///
    /// As [`resume_checkout`](Self::resume_checkout).
    pub fn look_again_at_checkout(
        &self,
        saved: &SavedState,
        plan: CheckoutPlan,
    ) -> Result<CheckoutDrive<T>, ResumeError> {
        Checkout::resume(saved, Arc::clone(self.shared_account()), plan)
            .map(|machine| self.drive(machine.look_again()).resumed_from(saved).eager())
    }
}
