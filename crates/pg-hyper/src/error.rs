//! Why a call has no result, sorted by cause. `Display` is one line that says what to do.

use std::time::Duration;

use pg_model::{
    Remedy, TransactionKey,
    method::{MethodInfo, RetrySafety},
};
use pg_proto::{
    Misuse, Refused, ReplyError, Unreadable,
    machine::{Reconcile, UnknownReason, throttle::StopReason},
};

use crate::{LimitError, TransportError, TransportErrorKind};

/// The throttle stops for this long after 121: a minute and a second.
const ONE_MINUTE: Duration = Duration::from_secs(61);

/// Why a call has no result.
///
/// Every variant except [`Unknown`](Self::Unknown) means that a payment was not made. A method that only reads, or that
/// can be repeated without harm, never ends as `Unknown`. [`remedy`](Self::remedy) says what to do; the message of
/// `Display` says it in one line.
///
/// A payment is safer as [`Client::charge`](crate::Client::charge), which makes the lookups itself. With a single call,
/// handle `Unknown` like this:
///
/// ```no_run
/// use pg_hyper::{Client, Error, proto::model::{Auth, Outcome}};
///
/// async fn pay(client: &Client, payment: &Auth) {
///     match client.call(payment).await {
///         Ok(Outcome::Approved(paid)) => println!("paid, transaction {}", paid.transaction_key),
///         Ok(Outcome::Declined(not)) => println!("not paid: {}", not.transaction_status),
///         // Neither paid nor unpaid: keep the order open, and look it up or ask the operator.
///         Ok(Outcome::Other(open)) => println!("outcome unknown: {}", open.transaction_status),
///         // The payment may exist: keep the order open, and make this lookup later.
///         Err(Error::Unknown { reconcile, .. }) => println!("outcome unknown: {reconcile:?}"),
///         // Nothing was charged. The error's text says what to do before the next attempt.
///         Err(error) => println!("not paid: {error}"),
///     }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is invalid. Nothing was sent.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The service refused the account's credentials earlier, or too many requests had no readable reply before it ever
    /// accepted them. Nothing was sent. More than five failed requests a day lock the address out (spec 1 §5).
    #[error("not sent: {0}{after}", after = after_stop(.0))]
    Stopped(StopReason),
    /// The rate limit would delay the request for longer than a call [waits](crate::ClientBuilder::longest_wait).
    /// Nothing was sent.
    #[error("not sent: the account's rate limit is reached; call again in {} s", wait.as_secs() + 1)]
    Throttled {
        /// When to call again.
        wait: Duration,
    },
    /// The [limit that all processes share](crate::SharedLimit) did not permit the request. Nothing was sent.
    #[error("not sent: {0}")]
    Limit(LimitError),
    /// The service answered with an error code.
    #[error(transparent)]
    Refused(Refused),
    /// The reply cannot be read.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
    /// The reply is to another request: this field differs. A proxy or a pool of connections may confuse replies. Also names
    /// the transaction of the reply; its key is empty if the reply has none.
    #[error("{}", other_reply(.0, .1))]
    OtherReply(&'static str, TransactionKey),
    /// There is no reply.
    #[error(transparent)]
    Transport(TransportError),
    /// Whether the request was executed is unknown, and sending it again could execute it twice.
    #[error("outcome unknown, {reconcile}: {cause:#}")]
    Unknown {
        /// The lookup to make next, which finds the payment if there is one. [`Reconcile::AskOperator`] if the request
        /// has no `uniqueMerchantReference`: then no lookup is conclusive.
        reconcile: Reconcile,
        /// Why it is unknown: no reply, an unreadable one, or an error code that does not exclude that another copy of the request
        /// was executed, such as that of a reference that was used before. The network may deliver a request twice.
        #[source]
        cause: Box<Error>,
    },
}

fn other_reply(field: &&'static str, key: &TransactionKey) -> UnknownReason {
    UnknownReason::OtherReply(field, key.clone())
}

/// Returns what to do about a stop, unless its own text says it.
const fn after_stop(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::Credentials(_) => {
            "; correct the credentials, then call `resume_sending` or create a client with the new ones"
        }
        _ => "",
    }
}

impl Error {
    /// Returns what to do about the error.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Misuse(_) | Self::Transport(TransportError::NotSent(TransportErrorKind::Insecure(_))) => {
                Remedy::FixRequest
            }
            Self::Stopped(StopReason::Credentials(_)) | Self::Limit(LimitError::Stopped(_)) => Remedy::FixCredentials,
            Self::Stopped(_) | Self::Limit(_) => Remedy::Retry,
            Self::Throttled { wait } if *wait <= ONE_MINUTE => Remedy::WaitOneMinute,
            // At least five minutes if the service said so. After five failures the wait is a day, and waiting five
            // minutes does no harm.
            Self::Throttled { .. } => Remedy::WaitFiveMinutes,
            Self::Refused(refused) => refused.remedy(),
            Self::Unreadable(_) | Self::OtherReply(..) | Self::Transport(_) => Remedy::Retry,
            Self::Unknown { reconcile: Reconcile::AskOperator, .. } => Remedy::AskOperator,
            Self::Unknown { .. } => Remedy::LookUp,
        }
    }

    /// Whether the request may have been executed anyway.
    #[must_use]
    pub fn may_be_executed(&self) -> bool {
        match self {
            Self::Misuse(_) | Self::Stopped(_) | Self::Throttled { .. } | Self::Limit(_) => false,
            Self::Refused(refused) => refused.may_be_executed(),
            Self::Transport(error) => error.may_be_executed(),
            Self::Unreadable(_) | Self::OtherReply(..) | Self::Unknown { .. } => true,
        }
    }

    /// Returns this error, or [`Unknown`](Self::Unknown) if something that must not be executed twice may have been
    /// executed: by this request, by an earlier one, or, if it moves money, by a copy that the network has delivered too. An
    /// unlisted error code may mean that.
    pub(crate) fn settled(self, method: Option<&MethodInfo>, reference: impl FnOnce() -> Option<String>) -> Self {
        let retry = method.map_or(RetrySafety::Never, |method| method.retry);
        let moves_money = method.is_none_or(|method| ["transaction", "enterprise"].contains(&method.service.name));
        let is_open = match &self {
            Self::Refused(refused) if moves_money => !refused.refuses_every_copy(retry),
            Self::Refused(refused) => refused.may_be_executed() || !refused.is_known(),
            other => other.may_be_executed(),
        };
        if retry == RetrySafety::Safe || !is_open {
            return self;
        }
        let reconcile = Reconcile::by_unique_reference(reference().as_deref());
        Self::Unknown { reconcile, cause: Box::new(self) }
    }
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        Self::Transport(error)
    }
}

impl From<ReplyError> for Error {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::Refused(refused) => Self::Refused(refused),
            ReplyError::Unreadable(unreadable) => Self::Unreadable(unreadable),
        }
    }
}
