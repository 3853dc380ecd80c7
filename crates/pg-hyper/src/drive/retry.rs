//! `client.retry(…)`.

use std::sync::Arc;

use pg_model::ApiRequest;
use pg_proto::{
    Misuse,
    machine::{
        ResumeError, SavedState,
        retry::{Retry, RetryBounds},
    },
};

use super::Drive;
use crate::{Client, HyperTransport, Transport};

/// A request that is sent again as far as its method allows; await it, or [run](Drive::run) it.
pub type RetryDrive<M, T = HyperTransport> = Drive<Retry<M>, T>;

impl<T: Transport + Clone + 'static> Client<T> {
    /// Sends a request again as far as its method's retry class allows: one that only reads, or may be repeated without
    /// harm, after any failure; every other one only when it certainly never left. See
    /// [`machine::retry`](pg_proto::machine::retry).
    ///
    /// ```no_run
    /// use pg_hyper::{
    ///     Client,
    ///     proto::{machine::retry::{RetryBounds, RetryOutcome}, model::TokenLookup},
    /// };
    ///
    /// # async fn find(client: Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let lookup = TokenLookup::new().merchant_customer_reference("customer-7");
    /// if let RetryOutcome::Answered(found) = client.retry(lookup, RetryBounds::default())?.await {
    ///     println!("{} cards", found.card_key_details.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the request breaks a rule.
    pub fn retry<M: ApiRequest<Output: Clone>>(
        &self,
        request: M,
        bounds: RetryBounds,
    ) -> Result<RetryDrive<M, T>, Misuse> {
        Retry::new(Arc::clone(self.shared_account()), request, bounds).map(|machine| self.drive(machine))
    }

    /// Goes on from what was stored last.
    ///
    /// # Errors
    /// When that is not the state of such a request, or was saved for another account.
    pub fn resume_retry<M: ApiRequest<Output: Clone>>(
        &self,
        saved: &SavedState,
        request: M,
    ) -> Result<RetryDrive<M, T>, ResumeError> {
        Retry::resume(saved, Arc::clone(self.shared_account()), request).map(|machine| self.drive(machine))
    }
}
