//! A blocking client, for programs without async: the same calls and machines.
//!
//! It consists of a [`Client`](crate::Client) and one thread, on which tokio watches sockets and timers. The work
//! itself is done on the calling thread, so no value has to be `'static`, and a store may block.
//!
//! Deadline, pool, TLS, errors, throttle and drivers are those of the async client. [`Client::wait`] waits for anything
//! that the async client can do.
//!
//! Limits: the thread ends with the last clone. Any number of calls within an async task works, but blocks the thread
//! of that task. A transport that yields there (`tokio::task::yield_now`) continues 5 ms later.
//!
//! ```no_run
//! use pg_hyper::{
//!     DurableFile,
//!     blocking::Client,
//!     proto::{
//!         Account, BaseUrl, Credentials,
//!         machine::charge::ChargeOutcome,
//!         model::{AuthSessionKey, Currency, Initiate, Item, Order},
//!     },
//! };
//!
//! let credentials = Credentials::new("api key", "api password", "sha key");
//! let client = Client::new(Account::new(BaseUrl::parse("https://gateway.example")?, credentials))?;
//!
//! let session = client.call(&Initiate::new("https://shop.example/card-error"))?;
//! // … the customer's browser posts the card form of the session …
//! let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
//! let auth = AuthSessionKey::new(session.session_key, order);
//! let file = DurableFile::new("order-7.json");
//! let charging = match file.saved()? {
//!     Some(saved) => client.resume_charge(&saved, Some(auth))?,
//!     None => client.charge(auth)?,
//! };
//! let charged = charging.store_in(file.clone()).run();
//! match &charged {
//!     ChargeOutcome::Approved(paid) => println!("paid: {}", paid.transaction_key),
//!     ChargeOutcome::Unknown { reconcile, .. } => println!("park the order: {reconcile:?}"),
//!     other => println!("not paid: {other:?}"),
//! }
//! // … record the outcome in the order, durably …
//! if !matches!(charged, ChargeOutcome::Unknown { .. }) {
//!     // After an unknown outcome, the state is kept, so that the next run looks the payment up.
//!     file.remove()?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{fmt, io, sync::Arc};

use pg_model::{ApiRequest, Outcome, Transaction};
use pg_proto::{
    Account, Misuse,
    machine::{Machine, ResumeError, SavedState, charge::Charge},
};

use crate::{Error, HyperTransport, InsecureAddress, Transport};

mod background;
mod drive;

pub use drive::Drive;

use background::Background;

/// Calls the service for one account, and waits. Clones share the account, the pool and the thread; any number of
/// threads may call at once.
pub struct Client<T = HyperTransport> {
    inner: crate::Client<T>,
    background: Arc<Background>,
}

/// Why a client cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// An address of the account is neither https nor on this machine.
    #[error(transparent)]
    Insecure(#[from] InsecureAddress),
    /// The system cannot create the thread or its event queue.
    #[error("cannot start the thread that watches connections: {0}")]
    System(#[from] io::Error),
}

impl Client {
    /// Creates a client over [`HyperTransport`] with its default limits.
    ///
    /// # Errors
    ///
    /// [`StartError`] if an address of the account is neither https nor on this machine, or if the system cannot create
    /// a thread.
    pub fn new(account: Account) -> Result<Self, StartError> {
        Ok(Self::over(crate::Client::new(account)?)?)
    }
}

impl<T: Transport> Client<T> {
    /// Wraps an async client, which [a builder](crate::Client::builder) may have configured.
    ///
    /// # Errors
    ///
    /// If the system cannot create a thread.
    pub fn over(client: crate::Client<T>) -> io::Result<Self> {
        Ok(Self { inner: client, background: Arc::new(Background::start()?) })
    }

    /// Returns the async client that does the work.
    #[must_use]
    pub const fn inner(&self) -> &crate::Client<T> {
        &self.inner
    }

    /// Waits for any future of the [async client](Self::inner).
    ///
    /// ```no_run
    /// use pg_hyper::{blocking::Client, proto::{RawRequest, model::Token}};
    ///
    /// # fn find(client: Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let token: Token = client.wait(client.inner().call_raw(&RawRequest::token("lookup").parameter("cardKey", "4F2C-91")))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.background.wait(future)
    }

    /// Checks, signs and sends a request and reads its reply.
    ///
    /// # Errors
    ///
    /// As for [`crate::Client::call`].
    pub fn call<M: ApiRequest>(&self, method: &M) -> Result<M::Output, Error> {
        self.wait(self.inner.call(method))
    }
}

impl<T: Transport + Clone + 'static> Client<T> {
    /// Charges once, whatever the network does; see [`crate::Client::charge`]. Nothing is sent before the charge is
    /// [run](Drive::run).
    ///
    /// # Errors
    ///
    /// [`Misuse`] if the payment breaks a rule, has no `uniqueMerchantReference`, or uses a method that cannot be
    /// looked up.
    pub fn charge<P>(&self, payment: P) -> Result<Drive<Charge<P>, T>, Misuse>
    where
        P: ApiRequest<Output = Outcome<Transaction>>,
    {
        self.inner.charge(payment).map(|charge| self.drive(charge))
    }

    /// Resumes a charge from the state that was saved last; see [`crate::Client::resume_charge`].
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a charge, or `payment` is another payment.
    pub fn resume_charge<P>(&self, saved: &SavedState, payment: Option<P>) -> Result<Drive<Charge<P>, T>, ResumeError>
    where
        P: ApiRequest<Output = Outcome<Transaction>>,
    {
        self.inner.resume_charge(saved, payment).map(|charge| self.drive(charge))
    }

    /// Makes any machine of the [async client](Self::inner) blocking, such as a checkout.
    pub fn drive<M: Machine>(&self, drive: crate::Drive<M, T>) -> Drive<M, T> {
        Drive::new(drive, Arc::clone(&self.background))
    }
}

impl<T: Clone> Clone for Client<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), background: Arc::clone(&self.background) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Client<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("blocking::Client").field(&self.inner).finish()
    }
}
