//! The parts that all machines that pay share: the expected payment, the lookup that finds it, how it is recognised,
//! and what its status means. The machines differ in what they send, and in how they handle an empty lookup.

use std::time::Duration;

use bytes::Bytes;
use pg_model::{
    Dialect, ErrorCode, Outcome, Remedy, Transaction, TransactionLookup, Transactions, decode, dialect::EmptyLookup,
};

use super::{Event, Failure, exchange::wait};
use crate::{Account, Refused, ReplyError, Unreadable};

mod expected;
mod unknown;
mod unsettled;

pub(super) use expected::{Expected, Money, SharedWith};
pub use unknown::{Reconcile, UnknownReason};
pub(super) use unsettled::{AnsweredKey, Unsettled};

use expected::Found;

/// What a reply or a lookup says about the expected payment.
pub(super) enum Finding {
    Approved(Transaction),
    Declined(Transaction),
    /// There is a payment whose status is pending or unlisted, or a decline that may be that of another copy: look it up.
    Unsettled(Transaction),
    Nothing(Nothing),
    /// The finding is final: a later lookup would not change it.
    Unknown(UnknownReason),
    /// There is no answer: ask again after the time that the service requested.
    Again(Option<Duration>),
    /// The answer cannot be read: ask again.
    Unreadable(Box<Unreadable>),
}

/// An empty lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nothing {
    /// Whether the service listed all payments. Otherwise it answered with a code that may mean an empty list, or
    /// listed a transaction that may be none.
    pub(super) listed: bool,
    /// Whether the dialect says that an empty lookup proves that there is no payment.
    pub(super) proves: bool,
}

/// The answer to a lookup.
pub(super) enum Listed {
    Transactions {
        transactions: Vec<Transaction>,
        /// Whether everything in the reply could be read. Otherwise it may say that there are more.
        complete: bool,
    },
    Nothing(Nothing),
    Unknown(UnknownReason),
    Again(Option<Duration>),
    Unreadable(Box<Unreadable>),
}

impl Listed {
    /// Classifies the result of a lookup. A lookup only reads, so a lost one is harmless.
    pub(super) fn of<I>(account: &Account, event: Event<I>) -> Self {
        match event {
            Event::Reply(reply) => Self::replied(account, reply),
            Event::Failed(Failure::HeldBack) => Self::Unknown(UnknownReason::HeldBack),
            Event::Failed(Failure::Superseded) => Self::Unknown(UnknownReason::Superseded),
            Event::Failed(Failure::NotSent | Failure::MaybeSent) | Event::Begin | Event::Woken | Event::Input(_) => {
                Self::Again(None)
            }
        }
    }

    fn replied(account: &Account, reply: http::Response<Bytes>) -> Self {
        let proves = |form| account.dialect().proves_nothing_there(form);
        let says_nothing = reply.status() == http::StatusCode::NOT_FOUND
            && account.dialect().lookup.nothing == Some(EmptyLookup::NotFound);
        let body = if says_nothing { reply.body().clone() } else { Bytes::new() };
        match account.reply::<TransactionLookup>(reply) {
            Err(ReplyError::Refused(refused)) if says_nothing && is_denial(&refused) => {
                Self::refused(refused, proves(EmptyLookup::Error))
            }
            Err(why) if says_nothing => not_found(why, &body, proves(EmptyLookup::NotFound)),
            Ok(found) if found.transactions.is_empty() => {
                Self::Nothing(Nothing { listed: true, proves: proves(EmptyLookup::EmptyList) })
            }
            Ok(found) => Self::Transactions { complete: found.extra.is_empty(), transactions: found.transactions },
            Err(ReplyError::Unreadable(why)) => Self::Unreadable(why),
            Err(ReplyError::Refused(refused)) => Self::refused(refused, proves(EmptyLookup::Error)),
        }
    }

    /// Handles a refused lookup. The documents do not show the answer of an empty lookup (spec 2 §4.4). It may be an
    /// error that names the reference, or one that the dialect lists.
    fn refused(refused: Refused, proves: bool) -> Self {
        if refused.leaves_it_open() {
            return Self::Again(None);
        }
        if refused.unknown_transaction() {
            return Self::Nothing(Nothing { listed: false, proves });
        }
        if *refused.code() == ErrorCode::INVALID_MERCHANT_REFERENCE {
            return Self::Nothing(Nothing { listed: false, proves: false });
        }
        match refused.remedy() {
            Remedy::Retry => Self::Again(None),
            Remedy::FixCredentials => Self::Unknown(UnknownReason::Credentials(refused)),
            remedy => match wait(remedy) {
                Some(told) => Self::Again(Some(told)),
                None => Self::Unknown(UnknownReason::LookupRefused(refused)),
            },
        }
    }
}

/// Whether a refusal with the HTTP status of an empty lookup is about the account or the whole request: the documents define
/// its code, and not as one about a reference, or the dialect does.
fn is_denial(refused: &Refused) -> bool {
    let of_the_record = matches!(refused.remedy(), Remedy::LookUp | Remedy::FixRequest);
    let documented = refused.is_documented() && *refused.code() != ErrorCode::INVALID_MERCHANT_REFERENCE;
    documented || refused.is_known() && !of_the_record
}

/// Handles HTTP 404 of a service that answers an empty lookup with it. A proxy, or a service that is being deployed, answers
/// 404 too: with a page, with an object of its own, or with nothing. Only an error code or an empty list is the service's.
fn not_found(why: ReplyError, body: &Bytes, proves: bool) -> Listed {
    let is_empty_list = || decode::<Transactions>(body).is_ok_and(|found| found.record == Transactions::default());
    match why {
        ReplyError::Unreadable(_) if body.is_empty() => Listed::Nothing(Nothing { listed: true, proves: false }),
        ReplyError::Unreadable(why) if !is_empty_list() => Listed::Unreadable(why),
        ReplyError::Refused(_) | ReplyError::Unreadable(_) => Listed::Nothing(Nothing { listed: true, proves }),
    }
}

impl Expected {
    /// Classifies the result of the lookup of this payment.
    pub(super) fn looked_up<I>(&self, account: &Account, event: Event<I>) -> Finding {
        let dialect = account.dialect();
        match Listed::of(account, event) {
            Listed::Nothing(nothing) => Finding::Nothing(nothing),
            Listed::Unknown(why) => Finding::Unknown(why),
            Listed::Again(wait) => Finding::Again(wait),
            Listed::Unreadable(why) => Finding::Unreadable(why),
            Listed::Transactions { transactions, complete } => match self.among(transactions, dialect) {
                Found::One(transaction) => {
                    // The rejection of a second copy of the initiation of 3-D Secure, which has the reference too, may be listed.
                    let is_final = self.refuses_a_second_copy(dialect) && dialect.refuses_used_references();
                    self.settle(*transaction, dialect, is_final)
                }
                Found::Strange(why) => Finding::Unknown(why),
                Found::Others => Finding::Again(None),
                Found::Nothing { certain } => {
                    let certain = certain && complete;
                    let proves = certain && dialect.proves_nothing_there(EmptyLookup::EmptyList);
                    Finding::Nothing(Nothing { listed: certain, proves })
                }
            },
        }
    }

    /// Classifies the reply to the payment itself. An empty finding if the reply belongs to another request: a status request,
    /// whose reply has no type and may be delivered again in place of this one (spec 2 §4.3, §4.4), or that of another payment.
    pub(super) fn replied(&self, outcome: Outcome<Transaction>, dialect: &Dialect) -> Finding {
        let transaction = outcome.into_record();
        let is_status = self.shared == SharedWith::Check && transaction.transaction_type.is_empty();
        if is_status || !self.bears_reference(&transaction) {
            return Finding::Nothing(Nothing { listed: false, proves: false });
        }
        self.settle(transaction, dialect, self.refuses_a_second_copy(dialect))
    }

    /// Reads the status of the payment. A decline may be that of another copy of the request than the one that is executed, if
    /// the service may answer and record a used reference in this way (assumption A141); else it `is_final`.
    fn settle(&self, transaction: Transaction, dialect: &Dialect, is_final: bool) -> Finding {
        match self.recognise(Box::new(transaction)) {
            Err(why) => Finding::Unknown(why),
            Ok(transaction) => match Outcome::read(*transaction, dialect) {
                Outcome::Approved(transaction) => Finding::Approved(transaction),
                Outcome::Declined(transaction) if is_final => Finding::Declined(transaction),
                Outcome::Declined(transaction) | Outcome::Other(transaction) => Finding::Unsettled(transaction),
            },
        }
    }

    fn refuses_a_second_copy(&self, dialect: &Dialect) -> bool {
        match self.shared {
            SharedWith::Nothing => dialect.refuses_used_references(),
            SharedWith::Check => dialect.refuses_used_authentications(),
        }
    }
}
