//! The client: one account, one transport.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use pg_model::{
    Method, Parameters, Record,
    method::{MethodInfo, Retry},
};
use pg_proto::{Account, Misuse, Raw, ReplyError};
use tracing::Instrument;

use crate::{Error, Hyper, InsecureAddress, Transport, insecure, observation::Observation, reference};

/// Calls the service on behalf of one account. Clones share the account and, with [`Hyper`], the pool.
///
/// A call is sent at most once; whether to send it again is for the caller to say.
#[derive(Clone, Debug)]
pub struct Client<T = Hyper> {
    account: Arc<Account>,
    transport: T,
}

impl Client {
    /// A client over [`Hyper`] with its usual limits. Needs a tokio runtime once it is called.
    ///
    /// # Errors
    /// When an address of the account is neither https nor on this machine.
    pub fn new(account: Account) -> Result<Self, InsecureAddress> {
        insecure::check_account(&account)?;
        Ok(Self::with_transport(account, Hyper::new()))
    }

    /// The time for connecting, sending and receiving together, instead of 60 seconds.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.transport = self.transport.deadline(deadline);
        self
    }

    /// How many bytes a reply's body may have, instead of 16 MiB.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.transport = self.transport.body_limit(bytes);
        self
    }

    /// How many idle connections to keep for each host, and for how long, instead of 32 for 15 seconds.
    #[must_use]
    pub fn pool(mut self, idle_connections: usize, idle_time: Duration) -> Self {
        self.transport = self.transport.pool(idle_connections, idle_time);
        self
    }
}

impl<T: Transport> Client<T> {
    /// A client over any transport. Addresses are the transport's to judge: [`Hyper`] refuses insecure ones here too.
    pub fn with_transport(account: Account, transport: T) -> Self {
        Self { account: Arc::new(account), transport }
    }

    /// The account.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The transport, for requests that are no calls: the card form that a browser posts, for example.
    #[must_use]
    pub const fn transport(&self) -> &T {
        &self.transport
    }

    /// Checks, signs and sends a request and reads its reply.
    ///
    /// # Errors
    /// Sorted by fault, see [`Error`]. A payment of which nobody knows whether it was made is an [`Error::Unknown`]
    /// with the lookup to make next.
    pub async fn call<M: Method>(&self, method: &M) -> Result<M::Output, Error> {
        let observation = Observation::begin(M::INFO.service.name, M::INFO.name);
        let result = self
            .exchange(&observation, self.account.request(method), |response| self.account.reply::<M>(response))
            .await
            .map_err(|error| error.settled(M::INFO.retry == Retry::Safe, || reference::of(method)));
        observation.end(&result);
        result
    }

    /// Signs and sends a raw request and reads its reply as a record of your choice.
    ///
    /// # Errors
    /// As [`call`](Self::call). A method that no table knows counts as one that must not be executed twice.
    pub async fn call_raw<R: Record + Default>(&self, raw: &Raw) -> Result<R, Error> {
        self.raw_exchange(raw, |response| self.account.reply_as(&response)).await
    }

    /// Signs and sends the parameters of a method that is known only at run time, and reads its reply as the record that
    /// the method answers with. Parameters are not checked: [`MethodInfo::check_parameters`] does that.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_by_name(
        &self,
        info: &'static MethodInfo,
        parameters: Parameters,
    ) -> Result<Box<dyn Record>, Error> {
        let raw = Raw::of(info, parameters);
        self.raw_exchange(&raw, |response| self.account.reply_of(info, &response)).await
    }

    async fn raw_exchange<R>(
        &self,
        raw: &Raw,
        read: impl FnOnce(Response<Bytes>) -> Result<R, ReplyError>,
    ) -> Result<R, Error> {
        let may_repeat = raw.info().is_some_and(|info| info.retry == Retry::Safe);
        let reference = || raw.parameters().get(reference::NAME).filter(|text| !text.is_empty()).map(str::to_owned);
        let observation = Observation::begin(raw.service().name, raw.method());
        let result = self
            .exchange(&observation, self.account.request_raw(raw), read)
            .await
            .map_err(|error| error.settled(may_repeat, reference));
        observation.end(&result);
        result
    }

    async fn exchange<R>(
        &self,
        observation: &Observation,
        request: Result<Request<Bytes>, Misuse>,
        read: impl FnOnce(Response<Bytes>) -> Result<R, ReplyError>,
    ) -> Result<R, Error> {
        let response = self.transport.send(request?).instrument(observation.span()).await?;
        observation.status(response.status());
        Ok(read(response)?)
    }
}
