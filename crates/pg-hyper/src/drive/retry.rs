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

/// A retried request in progress: await it, or [run](Drive::run) it.
pub type RetryDrive<M, T = HyperTransport> = Drive<Retry<M>, T>;

impl<T: Transport + Clone + 'static> Client<T> {
    /// Sends a request again if the retry class of its method allows that. A method that only reads, or that can be
    /// repeated without harm, is sent again after any failure. A request of any other method is sent again only if it
    /// certainly never left. See [`machine::retry`](pg_proto::machine::retry).
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
    /// If the request breaks a rule.
    pub fn retry<M: ApiRequest<Output: Clone>>(
        &self,
        request: M,
        bounds: RetryBounds,
    ) -> Result<RetryDrive<M, T>, Misuse> {
        Retry::new(Arc::clone(self.shared_account()), request, bounds).map(|machine| self.drive(machine))
    }

    /// Resumes a request from the state that was saved last.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of such a request, or was saved for another account.
    pub fn resume_retry<M: ApiRequest<Output: Clone>>(
        &self,
        saved: &SavedState,
        request: M,
    ) -> Result<RetryDrive<M, T>, ResumeError> {
        Retry::resume(saved, Arc::clone(self.shared_account()), request)
            .map(|machine| self.drive(machine).resumed_from(saved))
    }
}
