//! The client of one account over one transport.

mod builder;

use std::{borrow::Cow, pin::pin, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use pg_model::{
    ApiRequest, FromReply as _, ParameterSink, Parameters, Record, TransactionKey,
    field::Field,
    method::{MethodInfo, ServiceInfo},
};
use pg_proto::{
    Account, Misuse, RawRequest, ReplyError,
    machine::{
        Moment,
        retry::{Repeated, described, differs},
        throttle::{CredentialCheck, StopReason},
    },
};
use tracing::Instrument;

use crate::{
    DriveError, Error, HyperTransport, InsecureAddress, SharedLimit, Transport, TransportError,
    observation::Observation,
    scheduler::{Admission, CredentialSet, RequestScheduler},
    shared_limit::{RequestEnd, SharedPass},
};

pub use self::builder::ClientBuilder;

/// The parameter under which a payment can be looked up, the same in every method that has it (spec 2 §4.3).
const REFERENCE: &str = "uniqueMerchantReference";

/// The field in which a reply to another request differs, and the key of the transaction that it describes.
type OtherReply = (&'static str, TransactionKey);

/// Calls the service for one account. Clones share the account and, with [`HyperTransport`], the pool.
///
/// A [call](Self::call) is sent at most once, and the caller decides whether to send it again. A [charge](Self::charge)
/// decides this itself.
///
/// Calls and machines of a client and its clones share one throttle: at most 100 requests a minute and 5 at a time,
/// unless the [builder](ClientBuilder::limits) sets other limits, and none after the service has refused the
/// credentials.
///
/// ```no_run
/// use pg_hyper::{Client, proto::{Account, model::TokenLookup}};
///
/// # async fn find(account: Account) -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(account)?;
/// let found = client.call(&TokenLookup::new().card_key("4F2C-91")).await?;
/// println!("{} cards", found.card_key_details.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client<T = HyperTransport> {
    account: Arc<Account>,
    transport: T,
    /// Shared by all machines and calls of this client and its clones.
    scheduler: Arc<RequestScheduler>,
    limit: Option<Arc<dyn SharedLimit>>,
}

impl Client {
    /// Creates a client over [`HyperTransport`] with its default limits. Calls need a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`InsecureAddress`] if an address of the account is neither https nor on this machine.
    pub fn new(account: Account) -> Result<Self, InsecureAddress> {
        Ok(Self::builder(account)?.build())
    }

    /// Returns a builder for clock, limits, throttle, pool and deadline; finish with [`build`](ClientBuilder::build).
    ///
    /// # Errors
    ///
    /// [`InsecureAddress`] if an address of the account is neither https nor on this machine.
    pub fn builder(account: Account) -> Result<ClientBuilder, InsecureAddress> {
        ClientBuilder::new(account)
    }
}

impl<T: Transport> Client<T> {
    /// Creates a client over any transport. A request to an address that is neither https nor on this machine fails as
    /// [not sent](crate::TransportErrorKind::Insecure): no transport gets it.
    pub fn with_transport(account: Account, transport: T) -> Self {
        ClientBuilder::with_transport(account, transport).build()
    }

    /// Passes a request to the transport, unless its address would show its card and its credentials to others.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        InsecureAddress::check(request.uri())?;
        self.transport.send(request).await
    }

    pub(crate) fn of(account: Account, transport: T, scheduler: RequestScheduler) -> Self {
        Self { account: Arc::new(account), transport, scheduler: Arc::new(scheduler), limit: None }
    }

    /// Returns a client whose requests also need the permission of a limit that other processes share. The new client
    /// shares everything else with this client.
    #[must_use]
    pub fn with_shared_limit(&self, limit: Arc<dyn SharedLimit>) -> Self
    where
        T: Clone,
    {
        Self { limit: Some(limit), ..self.clone() }
    }

    /// Waits until a machine may send a request.
    pub(crate) async fn admit(&self, service: &ServiceInfo) -> Result<(Admission, SharedPass), DriveError> {
        match &self.limit {
            Some(limit) => self.scheduler.admit_shared(&**limit, service).await,
            None => {
                let admitted = self.scheduler.admit(CredentialSet::of(service)).await;
                Ok((admitted.map_err(DriveError::Stopped)?, SharedPass::NONE))
            }
        }
    }

    /// Returns what a reply means for other processes.
    pub(crate) fn request_end(&self, check: CredentialCheck) -> RequestEnd {
        match check {
            CredentialCheck::Accepted => RequestEnd::Accepted,
            CredentialCheck::Refused => {
                let refused = self.stopped().filter(|stop| matches!(stop, StopReason::Credentials(_)));
                let stop = refused.unwrap_or_else(|| StopReason::Credentials(String::new()));
                RequestEnd::Refused(stop.to_string())
            }
            CredentialCheck::Unknown => RequestEnd::Answered,
        }
    }

    /// Returns why calls and machines send nothing at present, if they are stopped.
    #[must_use]
    pub fn stopped(&self) -> Option<StopReason> {
        self.scheduler.stopped()
    }

    /// Permits machines and calls to send again, after the [reason](Self::stopped) was checked: the credentials, or for
    /// [`StopReason::Unanswered`] the address and the service. The permission is saved with the
    /// next request.
    pub fn resume_sending(&self) {
        self.scheduler.resume_sending();
    }

    /// Returns the time on the client's clock, by which the machines' deadlines go.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.scheduler.now()
    }

    /// Waits until this time on the client's clock. If the clock is set back meanwhile, the wait may end early: a machine
    /// then continues to wait when its drive is called again.
    pub fn sleep_until(&self, moment: Moment) -> impl Future<Output = ()> + Send + use<T> {
        self.scheduler.sleep_until(moment)
    }

    pub(crate) const fn scheduler(&self) -> &Arc<RequestScheduler> {
        &self.scheduler
    }

    pub(crate) const fn shared_account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Returns the account.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the transport, for requests that are not calls, such as the card form that a browser posts.
    #[must_use]
    pub const fn transport(&self) -> &T {
        &self.transport
    }

    /// Checks, signs and sends a request and reads its reply. If the rate limit is reached, waits before sending, at
    /// most for [`ClientBuilder::longest_wait`].
    ///
    /// A reply says nothing about other copies of the request that the network may have made: a decline may answer the second copy
    /// of an approved payment (assumption A141). [`charge`](Self::charge) looks such a payment up.
    ///
    /// # Errors
    ///
    /// [`Error`], sorted by cause. If it is unknown whether a payment was made, it is [`Error::Unknown`] with the
    /// lookup to make next.
    pub async fn call<M: ApiRequest>(&self, method: &M) -> Result<M::Output, Error> {
        let observation = Observation::begin(M::INFO.service.name, M::INFO.name);
        let result = self
            .exchange(&observation, M::INFO.service, self.account.request(method), |response| {
                let reply = self.account.reply_as::<M::Reply>(M::INFO.service, response)?;
                let differs = differs(method, &reply).map(|field| (field, described(&reply)));
                Ok((M::Output::from_reply(reply, self.account.dialect()), differs))
            })
            .await
            .map_err(|error| error.settled(Some(M::INFO), || reference_of(method)));
        observation.end(&result);
        result
    }

    /// Signs and sends a raw request and reads its reply as a record of your choice.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call). An unknown method counts as one that must not be executed twice.
    pub async fn call_raw<R: Record + Default>(&self, raw: &RawRequest) -> Result<R, Error> {
        let read = |response: &_| Ok((self.account.reply_as(raw.service(), response)?, None));
        self.raw_exchange(Cow::Borrowed(raw), read).await
    }

    /// Signs and sends the parameters of a method that is known only at run time, and reads its reply as the record of
    /// that method. Parameters are not checked: use [`MethodInfo::check_parameters`].
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    pub async fn call_by_name(
        &self,
        info: &'static MethodInfo,
        parameters: Parameters,
    ) -> Result<Box<dyn Record>, Error> {
        let stated = Repeated::of_parameters(info, &parameters);
        let raw = RawRequest::of(info, parameters);
        let read = |response: &_| {
            let reply = self.account.reply_of(info, response)?;
            let differs = stated.differs(&*reply).map(|field| (field, described(&*reply)));
            Ok((reply, differs))
        };
        self.raw_exchange(Cow::Owned(raw), read).await
    }

    async fn raw_exchange<R>(
        &self,
        raw: Cow<'_, RawRequest>,
        read: impl FnOnce(&Response<Bytes>) -> Result<(R, Option<OtherReply>), ReplyError>,
    ) -> Result<R, Error> {
        let (service, request) = (raw.service(), self.account.request_raw(&raw));
        let info = raw.info();
        let reference = raw.parameters().get(REFERENCE).filter(|text| !text.is_empty()).map(str::to_owned);
        let observation = Observation::begin(service.name, raw.method());
        // The request may contain a card number, which is not needed during the wait for the reply.
        drop(raw);
        let result = self
            .exchange(&observation, service, request, read)
            .await
            .map_err(|error| error.settled(info, || reference));
        observation.end(&result);
        result
    }

    /// Sends a request. Reading its reply also tells whether it is to another request.
    async fn exchange<R>(
        &self,
        observation: &Observation,
        service: &ServiceInfo,
        request: Result<Request<Bytes>, Misuse>,
        read: impl FnOnce(&Response<Bytes>) -> Result<(R, Option<OtherReply>), ReplyError>,
    ) -> Result<R, Error> {
        // Pinned here, so that the future's several hundred bytes are not moved into the span and from there into this
        // future.
        let request = request?;
        let (admission, pass) = match &self.limit {
            None => (self.scheduler.admit_call(service).await?, SharedPass::NONE),
            Some(limit) => Box::pin(self.scheduler.admit_shared_call(&**limit, service)).await?,
        };
        let sending = observation.send(&request);
        let sent = pin!(self.send(request));
        let sent = pass.during(sent.instrument(sending.span())).await;
        sending.end(&sent);
        let (result, end) = match sent {
            Ok(response) => {
                let reply = read(&response);
                let check = admission.answered_with(response.body(), &reply);
                let result = match reply {
                    Ok((reply, None)) => Ok(reply),
                    Ok((_, Some((field, key)))) => Err(Error::OtherReply(field, key)),
                    Err(error) => Err(Error::from(error)),
                };
                (result, self.request_end(check))
            }
            Err(error @ TransportError::NotSent(_)) => {
                admission.unsent();
                (Err(Error::from(error)), RequestEnd::NotSent)
            }
            Err(error) => {
                drop(admission);
                (Err(Error::from(error)), RequestEnd::Lost)
            }
        };
        if self.limit.is_some() {
            Box::pin(pass.landed(end)).await;
        }
        if self.scheduler.stores() {
            Box::pin(self.scheduler.keep()).await;
        }
        result
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Client<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("account", &self.account)
            .field("transport", &self.transport)
            .field("scheduler", &self.scheduler)
            .finish_non_exhaustive()
    }
}

/// Returns the `uniqueMerchantReference` of a request. Nothing else is copied.
fn reference_of<M: ApiRequest>(method: &M) -> Option<String> {
    let mut found = Found(None);
    method.visit(&mut found);
    found.0
}

struct Found(Option<String>);

impl ParameterSink for Found {
    fn credentials(&mut self) {}

    fn parameter(&mut self, _: &'static Field, name: &str, value: &str) {
        if name == REFERENCE && !value.is_empty() {
            self.0 = Some(value.to_owned());
        }
    }

    fn list(&mut self, _: &'static Field, _: &str, _: &mut dyn Iterator<Item = &str>) {}
}
