//! How a charge ends.

use pg_model::{Transaction, TransactionKey, TransactionLookup};

use crate::Refused;

/// How a charge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum ChargeOutcome {
    /// Paid, or reserved: once.
    Approved(Transaction),
    /// The bank said no. Nothing was charged, and the reference is used up.
    Declined(Transaction),
    /// The service refused it and nothing was charged. [`Refused::scope`] says how long that holds: for a reason that
    /// may pass, until it has passed and only if something on the way sends the request a second time.
    ///
    /// Where [`Refused::spends_reference`] is true, the reference is used up: a corrected payment takes a new one. That is
    /// safe here, since nothing was and nothing will be charged under the old one; it is not after [`Unknown`](Self::Unknown).
    Refused(Refused),
    /// Nothing left this side: nothing was charged and nothing ever will be.
    NotSent,
    /// Nobody knows. Make this lookup later, until it finds something; nothing found is no proof, as long as a request may
    /// still be on its way.
    Unknown {
        /// The lookup that tells, once there is something to tell.
        reconcile: TransactionLookup,
        /// Why it is not known.
        why: UnknownReason,
    },
}

/// Why it is not known what became of a charge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownReason {
    /// A request may have arrived, and lookups found nothing until now.
    #[error("no transaction was found, and a request may still be on its way")]
    NothingFound,
    /// A request may have arrived, and no lookup was answered since.
    #[error("a request may have arrived, and no lookup was answered since")]
    NotLookedUp,
    /// The bank did not answer (119), and there is no transaction.
    #[error("the bank did not answer, and no transaction was found: {0}")]
    NoResponse(Refused),
    /// The reference is used up, and there is no transaction: whatever used it up did not leave one.
    #[error("the reference is used up, and no transaction was found: {0}")]
    ReferenceUsed(Refused),
    /// There is a transaction, with a status that neither the documents nor the dialect know.
    #[error(
        "the status of the transaction is not known: {} {}; if it means a decline, a [[declined]] with this code in the dialect \
         says so",
        .0.transaction_status_code,
        .0.transaction_status
    )]
    UnknownStatus(Box<Transaction>),
    /// There is a transaction under this reference that is not this payment: two payments share the reference.
    #[error("the transaction of this reference is another payment: its {1} differs")]
    OtherPayment(Box<Transaction>, &'static str),
    /// There are several transactions under a reference that is good for one.
    #[error("{} transactions have this reference", .0.len())]
    Several(Vec<TransactionKey>),
    /// The credentials were refused, while a request may have been executed.
    #[error("the credentials were refused while a request may have been executed: {0}")]
    Credentials(Refused),
    /// Nothing may be sent until somebody has put the credentials right, while a request may have been executed.
    #[error("nothing may be sent at present, and a request may have been executed")]
    HeldBack,
    /// The service refused the payment, and a copy of it may have been executed, or may still be. Where every request was
    /// answered, `[lookup]` of the dialect would settle it: what a lookup that finds nothing looks like, and whether lookups see
    /// every payment at once; or `scope` of an `[[error]]` with the code.
    #[error("refused, and it is not proven that no copy of the request was or will be executed: {0}")]
    Refused(Refused),
    /// The service refuses to look it up.
    #[error("the lookup was refused: {0}")]
    LookupRefused(Refused),
    /// The account can't make this request any more.
    #[error("the account can't make the request")]
    NoRequest,
}
