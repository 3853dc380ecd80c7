//! The client: one account, one transport.

use std::{borrow::Cow, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use pg_model::{
    ApiRequest, Parameters, Record,
    method::{MethodInfo, RetrySafety, ServiceInfo},
};
use pg_proto::{
    Account, Misuse, RawRequest, ReplyError,
    machine::{
        Machine, Moment, ResumeError, SavedState,
        throttle::{StopReason, ThrottleLimits},
    },
};
use tracing::Instrument;

use crate::{
    Clock, Drive, Error, HyperTransport, InsecureAddress, StoreError, Transport,
    drive::{Dice, RequestScheduler, Store},
    insecure,
    observation::Observation,
    reference,
};

/// Calls the service on behalf of one account. Clones share the account and, with [`HyperTransport`], the pool.
///
/// A [call](Self::call) is sent at most once; whether to send it again is for the caller to say. A
/// [charge](Self::charge) finds out by itself whether it may.
#[derive(Clone, Debug)]
pub struct Client<T = HyperTransport> {
    account: Arc<Account>,
    transport: T,
    /// What the machines share that this client and its clones drive.
    scheduler: Arc<RequestScheduler>,
}

impl Client {
    /// A client over [`HyperTransport`] with its usual limits. Needs a tokio runtime once it is called.
    ///
    /// # Errors
    /// When an address of the account is neither https nor on this machine.
    pub fn new(account: Account) -> Result<Self, InsecureAddress> {
        insecure::check_account(&account)?;
        Ok(Self::with_transport(account, HyperTransport::new()))
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
    /// A client over any transport. Addresses are the transport's to judge: [`HyperTransport`] refuses insecure ones here too.
    pub fn with_transport(account: Account, transport: T) -> Self {
        let scheduler = Arc::new(RequestScheduler::new(&account));
        Self { account: Arc::new(account), transport, scheduler }
    }

    /// The clock that its machines go by, instead of the [`SystemClock`](crate::SystemClock). Its throttle goes on apart from
    /// that of clones that were made before.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.scheduler = Arc::new(self.scheduler.clock(Arc::new(clock)));
        self
    }

    /// Draws the random parts of its machines' pauses from this seed instead of from the system, so that a test that fails
    /// fails again in the same way; see [`VirtualClock`](crate::VirtualClock). Its throttle goes on apart from that of clones
    /// that were made before.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.scheduler = Arc::new(self.scheduler.dice(Dice::seeded(seed)));
        self
    }

    /// What the service allows this account, instead of 100 requests a minute and the other
    /// [usual limits](ThrottleLimits::default). Its machines keep to it, together with those of its clones. Calls do not
    /// ask, but a call that is refused for its credentials stops the machines as well. The throttle goes on apart from that
    /// of clones that were made before.
    #[must_use]
    pub fn limits(mut self, limits: ThrottleLimits) -> Self {
        self.scheduler = Arc::new(self.scheduler.limits(limits));
        self
    }

    /// Stores the throttle of its machines and those of its clones: before each request and after it, and before each wait for
    /// the throttle. Without, a program that is started again and again with wrong credentials makes a failed request each
    /// time, and more than five a day lock the address out (spec 1 §5); with it, and with
    /// [`resume_throttle`](Self::resume_throttle), one.
    ///
    /// A later state replaces those before, and one is stored at a time. It holds no credentials, but 16 bits of a salted hash
    /// of them; see [`AccountThrottle`](pg_proto::machine::throttle::AccountThrottle). When it can't be stored, that is an
    /// event of the target `pg.drive`, and holds nothing back.
    ///
    /// One state belongs to one process at a time; another has another.
    ///
    /// ```no_run
    /// use pg_hyper::{Client, DurableFile, proto::Account};
    ///
    /// # async fn start(account: Account) -> Result<Client, Box<dyn std::error::Error>> {
    /// let mut client = Client::new(account)?;
    /// let file = DurableFile::new("throttle.json");
    /// if let Some(saved) = file.saved()? {
    ///     client = client.resume_throttle(&saved)?;
    /// }
    /// let client = client.store_throttle(move |saved| std::future::ready(file.write(saved.text())));
    /// if let Some(stop) = client.stopped() {
    ///     eprintln!("{stop}");
    /// }
    /// # Ok(client)
    /// # }
    /// ```
    #[must_use]
    pub fn store_throttle<F, Stored, E>(mut self, store: F) -> Self
    where
        F: Fn(SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<StoreError>,
    {
        self.scheduler = Arc::new(self.scheduler.store(Store::new(store)));
        self
    }

    /// Goes on with the throttle that was [stored](Self::store_throttle) last. Credentials that were refused stay stopped until
    /// [`resume_sending`](Self::resume_sending); others than those may send.
    ///
    /// # Errors
    /// When that is no throttle's state.
    pub fn resume_throttle(mut self, saved: &SavedState) -> Result<Self, ResumeError> {
        self.scheduler = Arc::new(self.scheduler.resume(saved, &self.account)?);
        Ok(self)
    }

    /// Why its machines may send nothing at present, if that is so. Calls are sent all the same: look here before the first
    /// one of a program that is started again and again.
    #[must_use]
    pub fn stopped(&self) -> Option<StopReason> {
        self.scheduler.stopped()
    }

    /// Somebody has looked at the credentials, and its machines may send again. That is stored with the next request.
    pub fn resume_sending(&self) {
        self.scheduler.resume_sending();
    }

    /// Waits until that time, by the clock that its machines go by.
    pub fn sleep_until(&self, moment: Moment) -> impl Future<Output = ()> + Send + use<T> {
        self.scheduler.sleep_until(moment)
    }

    /// Drives a machine. Those of this crate's own have methods that make them too: [`charge`](Self::charge), for example.
    pub fn drive<M: Machine>(&self, machine: M) -> Drive<M, T>
    where
        T: Clone + 'static,
    {
        Drive::new(self.clone(), machine)
    }

    pub(crate) const fn scheduler(&self) -> &Arc<RequestScheduler> {
        &self.scheduler
    }

    pub(crate) const fn shared_account(&self) -> &Arc<Account> {
        &self.account
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
    pub async fn call<M: ApiRequest>(&self, method: &M) -> Result<M::Output, Error> {
        let observation = Observation::begin(M::INFO.service.name, M::INFO.name);
        let result = self
            .exchange(&observation, M::INFO.service, self.account.request(method), |response| {
                self.account.reply::<M>(response)
            })
            .await
            .map_err(|error| error.settled(M::INFO.retry == RetrySafety::Safe, || reference::of(method)));
        observation.end(&result);
        result
    }

    /// Signs and sends a raw request and reads its reply as a record of your choice.
    ///
    /// # Errors
    /// As [`call`](Self::call). A method that no table knows counts as one that must not be executed twice.
    pub async fn call_raw<R: Record + Default>(&self, raw: &RawRequest) -> Result<R, Error> {
        self.raw_exchange(Cow::Borrowed(raw), |response| self.account.reply_as(&response)).await
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
        let raw = RawRequest::of(info, parameters);
        self.raw_exchange(Cow::Owned(raw), |response| self.account.reply_of(info, &response)).await
    }

    async fn raw_exchange<R>(
        &self,
        raw: Cow<'_, RawRequest>,
        read: impl FnOnce(Response<Bytes>) -> Result<R, ReplyError>,
    ) -> Result<R, Error> {
        let (service, request) = (raw.service(), self.account.request_raw(&raw));
        let may_repeat = raw.info().is_some_and(|info| info.retry == RetrySafety::Safe);
        let reference = raw.parameters().get(reference::NAME).filter(|text| !text.is_empty()).map(str::to_owned);
        let observation = Observation::begin(service.name, raw.method());
        // It may hold a card number, which nobody needs while the reply is awaited.
        drop(raw);
        let result = self
            .exchange(&observation, service, request, read)
            .await
            .map_err(|error| error.settled(may_repeat, || reference));
        observation.end(&result);
        result
    }

    async fn exchange<R>(
        &self,
        observation: &Observation,
        service: &ServiceInfo,
        request: Result<Request<Bytes>, Misuse>,
        read: impl FnOnce(Response<Bytes>) -> Result<R, ReplyError>,
    ) -> Result<R, Error> {
        // Pinned here, so that it is not moved into the span and from there into this future: it is some hundred bytes.
        let sent = pin!(self.transport.send(request?));
        let response = sent.instrument(observation.span()).await?;
        observation.status(response.status());
        let error = match read(response) {
            Ok(read) => return Ok(read),
            Err(error) => Error::from(error),
        };
        self.scheduler.overhear(service, &error).await;
        Err(error)
    }
}
