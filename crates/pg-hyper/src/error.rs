//! Why a call has no result, sorted by fault. `Display` is one line that says what to do.

use std::fmt;

use pg_model::{Remedy, TransactionLookup, mask};
use pg_proto::{Misuse, Refused, ReplyError, Unreadable};

use crate::{TransportError, TransportErrorKind};

/// Why a call has no result.
///
/// Everything but [`Unknown`](Self::Unknown) leaves no doubt about a payment: it was not made. A method that only reads,
/// or may be sent twice without harm, never ends as `Unknown`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is invalid: nothing was sent.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The service answered with an error code.
    #[error(transparent)]
    Refused(Refused),
    /// A reply came and can't be read.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
    /// No reply came.
    #[error(transparent)]
    Transport(TransportError),
    /// Nobody knows whether it was executed, and sending it again could execute it twice.
    #[error("outcome unknown, {next}: {cause}", next = ReconcileHint(.reconcile.as_ref()))]
    Unknown {
        /// The call to make next: it finds the payment, if there is one. `None` when the request carried no
        /// `uniqueMerchantReference`, without which no lookup finds out for certain; then the operator has to be asked.
        reconcile: Option<TransactionLookup>,
        /// Why it is unknown: no reply, an unreadable one, or an error code after which anything is possible, such as that of a
        /// reference that was used before.
        #[source]
        cause: Box<Error>,
    },
}

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Misuse(_) | Self::Transport(TransportError::NotSent(TransportErrorKind::Insecure(_))) => {
                Remedy::FixRequest
            }
            Self::Refused(refused) => refused.remedy(),
            Self::Unreadable(_) | Self::Transport(_) => Remedy::Retry,
            Self::Unknown { reconcile: Some(_), .. } => Remedy::LookUp,
            Self::Unknown { reconcile: None, .. } => Remedy::AskOperator,
        }
    }

    /// Whether it may have been executed all the same.
    #[must_use]
    pub fn may_be_executed(&self) -> bool {
        match self {
            Self::Misuse(_) => false,
            Self::Refused(refused) => refused.may_be_executed(),
            Self::Transport(error) => error.may_be_executed(),
            Self::Unreadable(_) | Self::Unknown { .. } => true,
        }
    }

    /// This error, or [`Unknown`](Self::Unknown) where it leaves open whether something was executed that must not be
    /// executed twice. That includes a payment whose reference was used before, and one that is refused with a code that no
    /// table knows, which may say the same.
    pub(crate) fn settled(self, may_repeat: bool, reference: impl FnOnce() -> Option<String>) -> Self {
        if may_repeat || !(self.may_be_executed() || self.remedy() == Remedy::LookUp) {
            return self;
        }
        let reference = reference();
        if reference.is_none() && !self.may_be_executed() {
            return self;
        }
        let reconcile = reference.map(|reference| TransactionLookup::new().unique_merchant_reference(reference));
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

/// What to do next when the outcome is unknown.
struct ReconcileHint<'a>(Option<&'a TransactionLookup>);

impl fmt::Display for ReconcileHint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.and_then(|lookup| lookup.unique_merchant_reference.as_ref()) {
            Some(reference) => {
                let reference = mask::text(reference.as_str());
                write!(f, "look it up next (transaction/lookup uniqueMerchantReference={reference})")
            }
            None => f.write_str("it had no uniqueMerchantReference to look it up by, ask the operator"),
        }
    }
}
