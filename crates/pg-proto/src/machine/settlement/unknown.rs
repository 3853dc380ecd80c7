//! Unknown outcomes of payments: the reason, and the lookup to make later.

use std::fmt::{self, Display, Formatter};

use pg_model::{EnterpriseTransactionLookup, Transaction, TransactionKey, TransactionLookup};

use crate::{
    Refused, Unreadable,
    error::{first_five, identifier},
};

/// The lookup to make later if the outcome of a payment is unknown. Repeat it until it finds something. An empty result
/// proves nothing as long as a request may still arrive.
///
/// ```
/// use pg_proto::machine::Reconcile;
///
/// let later = Reconcile::by_unique_reference(Some("order-7"));
/// assert_eq!(later.to_string(), "look it up next (transaction/lookup uniqueMerchantReference=order-7)");
/// // `transaction` and `enterprise` return the request to send.
/// assert!(later.transaction().is_some());
/// assert_eq!(Reconcile::by_unique_reference(None), Reconcile::AskOperator);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reconcile {
    /// Version 3: look up by the reference.
    Transaction(TransactionLookup),
    /// Version 5: look up by the key of the transaction.
    Enterprise(EnterpriseTransactionLookup),
    /// There is no reference to look up by: ask the operator of the service.
    AskOperator,
}

impl Reconcile {
    /// Looks up by the `uniqueMerchantReference` of a payment. Without one, ask the operator.
    #[must_use]
    pub fn by_unique_reference(reference: Option<&str>) -> Self {
        match reference.filter(|reference| !reference.is_empty()) {
            Some(reference) => Self::Transaction(TransactionLookup::new().unique_merchant_reference(reference)),
            None => Self::AskOperator,
        }
    }

    /// Returns the lookup, if it is one of version 3.
    #[must_use]
    pub const fn transaction(&self) -> Option<&TransactionLookup> {
        if let Self::Transaction(lookup) = self { Some(lookup) } else { None }
    }

    /// Returns the lookup, if it is one of version 5.
    #[must_use]
    pub const fn enterprise(&self) -> Option<&EnterpriseTransactionLookup> {
        if let Self::Enterprise(lookup) = self { Some(lookup) } else { None }
    }
}

impl From<TransactionLookup> for Reconcile {
    fn from(lookup: TransactionLookup) -> Self {
        Self::Transaction(lookup)
    }
}

/// One line that says what to do next. A reference that has a likely card number is masked, and the line says so.
impl Display for Reconcile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (method, name, value) = match self {
            Self::Enterprise(lookup) => ("enterprise/transaction_lookup", "trans_key", Some(lookup.trans_key.as_str())),
            Self::Transaction(lookup) => match (&lookup.unique_merchant_reference, &lookup.merchant_reference) {
                (Some(unique), _) => ("transaction/lookup", "uniqueMerchantReference", Some(unique.as_str())),
                (None, Some(reference)) => ("transaction/lookup", "merchantReference", Some(reference.as_str())),
                (None, None) => ("transaction/lookup", "", None),
            },
            Self::AskOperator => return f.write_str("there is no reference to look it up by, ask the operator"),
        };
        match value {
            Some(value) => write!(f, "look it up next ({method} {name}={})", identifier(value)),
            None => write!(f, "look it up next ({method})"),
        }
    }
}

/// Why the outcome of a payment is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownReason {
    /// A request may have arrived, and lookups have found nothing so far.
    #[error("no transaction was found, and a request may still be in transit")]
    NothingFound,
    /// A request may have arrived, and no lookup was answered afterwards.
    #[error("a request may have arrived, and no lookup was answered since")]
    NotLookedUp,
    /// A request may have arrived, and the last answer to a lookup cannot be read. The service answers in a form that
    /// the documents do not show: report it to the operator.
    #[error("a request may have arrived, and the answer to the lookup is an {0:#}")]
    LookupUnreadable(Box<Unreadable>),
    /// A request may have arrived, and there is no reply.
    #[error("the request may have arrived, and there is no reply")]
    NoReply,
    /// The reply describes another transaction than the request: it answers another request. Names the field that differs, and
    /// the transaction; its key is empty if the reply has none.
    #[error("the reply{} belongs to another request, its {} differs; the request may have been executed", named(.1), .0)]
    OtherReply(&'static str, TransactionKey),
    /// The reply to a capture, cancellation or refund has this status of failure, or the reply to a payment with a reference that of
    /// a decline. The network may have delivered the request twice: then the reply may be to the second copy, which failed because
    /// the first one was executed. Also names the transaction of the reply; its key is empty if the reply has none.
    #[error("the reply{} says that it failed (status {}), but a copy of the request may have been executed", named(.1), .0)]
    Failed(String, TransactionKey),
    /// The reply cannot be read.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
    /// The bank did not answer (119), and there is no transaction.
    #[error("the bank did not answer, and no transaction was found: {0}")]
    NoResponse(Refused),
    /// The reference is used up, and there is no transaction under it.
    #[error("the reference is used up, and no transaction was found: {0}")]
    ReferenceUsed(Refused),
    /// There is a transaction, with a status that neither the documents nor the dialect list.
    #[error(
        "unknown transaction status {} {}{}; if it means declined or pending, add a [[declined]] or [[pending]] entry with this code \
         to the dialect",
        .0.transaction_status_code,
        .0.transaction_status,
        named(&.0.transaction_key)
    )]
    UnknownStatus(Box<Transaction>),
    /// There is a transaction, and the dialect lists its status as pending.
    #[error(
        "the payment is pending: {} {}{}",
        .0.transaction_status_code,
        .0.transaction_status,
        named(&.0.transaction_key)
    )]
    Pending(Box<Transaction>),
    /// The reply or a lookup says that the payment was declined, but lookups did not list it, or with another key than the reply, or a
    /// request has no answer. The dialect does not name the error of a used reference or authentication, so this may be the rejection of a second copy of the
    /// request, whose first copy was approved, or may still be.
    #[error(
        "declined ({} {}{}), but this may be the answer to a second copy of the request, whose first copy may have been executed; if the service \
         refuses used references with an error, add its [[error]] entry with situations = [\"duplicate-unique-reference\"] to the dialect, \
         for a 3-D Secure payment also [\"authentication-already-used\"]",
        .0.transaction_status_code,
        .0.transaction_status,
        named(&.0.transaction_key)
    )]
    DeclineUnconfirmed(Box<Transaction>),
    /// A transaction under this reference is another payment: two payments share the reference.
    #[error("the transaction of this reference{} is another payment: its {} differs", named(&.0.transaction_key), .1)]
    OtherPayment(Box<Transaction>, &'static str),
    /// The payment was made, and the service lists this refund or cancellation of it, which may have returned the money.
    #[error("the payment was made, and a {} of it is listed ({}): find out whether the money went back", .0.transaction_type, .0.transaction_key)]
    Reversed(Box<Transaction>),
    /// Several transactions share a reference that is valid for one.
    #[error("{} transactions have this reference: {}", .0.len(), first_five(.0.iter().map(|key| identifier(key.as_str()))))]
    Several(Vec<TransactionKey>),
    /// The credentials were refused. An earlier request, or another copy of this one, may have been executed before the
    /// credentials became invalid. Correct them, then look the payment up.
    #[error("an earlier request or another copy of this one may have been executed, although the credentials were {0}")]
    Credentials(Refused),
    /// Nothing may be sent until the credentials are corrected, while a request may have been executed.
    #[error("nothing may be sent at present, and a request may have been executed")]
    HeldBack,
    /// Another machine, or one of an earlier run, works on the payment, and may have sent any request. This machine stopped
    /// because the stored state is not its own. The outcome of the payment is that of the other machine: resume the stored
    /// state.
    #[error("another machine has stored its state of this payment, and may have paid; resume the stored state")]
    Superseded,
    /// The service refused the request, but another copy of it may have been executed, or may be executed later. Find that
    /// out before you correct the request and send it again. If every request was answered, the dialect can resolve this:
    /// `[lookup]` says what an empty lookup looks like, whether lookups show every payment at once, and whether they find a
    /// 3-D Secure payment by the reference of its initiation; the `scope` of an `[[error]]` classifies the code.
    #[error("a copy of the request may have been executed or may still be, although one was {0:#}")]
    Refused(Refused),
    /// The service failed while it executed the request, the bank did not answer, or the code says that it was executed
    /// before.
    #[error("the request may have been executed: {0}")]
    MayBeExecuted(Refused),
    /// The service refuses the lookup.
    #[error("the lookup was refused: {}", lookup_refused(.0))]
    LookupRefused(Refused),
    /// The account can no longer make this request.
    #[error("the account cannot make the request")]
    NoRequest,
    /// No report named a payment that a lookup confirmed, and the search for one failed or proves nothing. Keep the order open: a
    /// callback may still arrive, and the operator knows whether the token was paid. If the operator confirms that lookups
    /// find payments on the hosted page, set `found_by_reference` in `[checkout]` of the dialect, beside `[lookup]`.
    #[error("no lookup of a reported transaction found the payment, and a search could not prove that there is none")]
    NotReported,
    /// A transaction of this checkout is neither paid nor failed: refunded, with another amount, or with an unlisted
    /// status. Or it could not be looked up.
    #[error("a transaction that may be the payment is neither paid nor failed, or could not be looked up")]
    Unclear,
    /// The token of the checkout may still be paid: the service has not confirmed that it is closed. It could not be cancelled,
    /// or the dialect does not say that cancelling it closes a page that is open already (`cancel_closes_open_pages` in
    /// `[checkout]`).
    #[error("the token may still be paid: it was not cancelled, or a page that was opened before may still be open")]
    StillOpen,
}

/// Returns the key of a transaction in parentheses, by which the operator of the service can find it; nothing without a key.
fn named(key: &TransactionKey) -> String {
    if key.is_empty() { String::new() } else { format!(" (transaction {})", identifier(key.as_str())) }
}

/// The remedy for an unlisted code is a lookup, which does not help after a lookup.
fn lookup_refused(refused: &Refused) -> String {
    if refused.is_known() {
        return refused.to_string();
    }
    format!(
        "{refused:#}, with situations = [\"unknown-transaction-key\"] if it means that there is no such transaction"
    )
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use pg_model::{ApiRequest as _, Dialect, ServiceError};

    use super::*;

    #[test]
    fn a_reference_is_shown_as_it_is_unless_it_has_a_likely_card_number() {
        // Many digits in a row, another check digit, and a first digit of no card.
        for reference in ["order-7", "202611229998", "20261122999999993", "4111111111111112", "9a123456789012345bcdef"]
        {
            let line = Reconcile::by_unique_reference(Some(reference)).to_string();
            assert_eq!(line, format!("look it up next (transaction/lookup uniqueMerchantReference={reference})"));
        }
        for (reference, shown) in [
            ("4111111111111111", "411111******1111"),
            ("o-4111 1111 1111 1111", "o-4111 11** **** 1111"),
            ("20264111111111111111", "202641**********1111"),
        ] {
            let line = Reconcile::by_unique_reference(Some(reference)).to_string();
            let note = "(masked: it looks like a card number)";
            assert_eq!(line, format!("look it up next (transaction/lookup uniqueMerchantReference={shown} {note})"));
        }
    }

    #[test]
    fn a_transaction_that_leaves_the_outcome_open_is_named() {
        let with = |key: &str| {
            let transaction = Transaction::default().with(|record| {
                record.transaction_status_code = "620".into();
                record.transaction_status = "Received".to_owned();
                record.transaction_key = key.into();
            });
            Box::new(transaction)
        };
        for (key, shown) in [("k-1", " (transaction k-1)"), ("", "")] {
            assert_eq!(
                UnknownReason::Pending(with(key)).to_string(),
                format!("the payment is pending: 620 Received{shown}")
            );
            let unknown = UnknownReason::UnknownStatus(with(key)).to_string();
            let unknown_status = format!("unknown transaction status 620 Received{shown}; if it means");
            assert!(unknown.starts_with(&unknown_status), "{unknown}");
            assert_eq!(
                UnknownReason::OtherPayment(with(key), "amount").to_string(),
                format!("the transaction of this reference{shown} is another payment: its amount differs")
            );
        }
        let several = UnknownReason::Several(vec!["k-1".into(), "4111111111111111".into()]).to_string();
        assert_eq!(
            several,
            "2 transactions have this reference: k-1, 411111******1111 (masked: it looks like a card number)"
        );
        let many = (1..=10_000).map(|number| format!("k-{number}").into()).collect();
        assert_eq!(
            UnknownReason::Several(many).to_string(),
            "10000 transactions have this reference: k-1, k-2, k-3, k-4, k-5 and 9995 more"
        );
    }

    #[test]
    fn an_unlisted_code_of_a_lookup_comes_with_the_entry_that_explains_it() {
        let error = ServiceError::default().with(|error| error.error_code = "943".into());
        let refused =
            Refused::new(TransactionLookup::INFO.service, StatusCode::BAD_REQUEST, error, &Dialect::documented());
        assert_eq!(
            UnknownReason::LookupRefused(refused).to_string(),
            "the lookup was refused: refused: 943 no message (HTTP 400); the code is neither in the documents nor in the dialect, \
             add an [[error]] entry with code \"943\" to the dialect, with situations = [\"unknown-transaction-key\"] if it means \
             that there is no such transaction"
        );
    }
}
