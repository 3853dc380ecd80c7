//! Why a fleet returned no outcome, or does not start.

use pg_hyper::proto::{Misuse, first_five, machine::ResumeError};

use crate::StoreError;

/// Why a fleet returned no outcome.
///
/// ```no_run
/// use pg_hyper::proto::model::AuthCardKey;
/// use pg_intents::{Fleet, FleetError, SqliteStore};
///
/// async fn pay(fleet: &Fleet<SqliteStore>, payment: AuthCardKey) {
///     match fleet.charge(payment).await {
///         Ok(outcome) => println!("{outcome:?}"),
///         // Another payment of this order was begun earlier, and may have been made. Another reference would pay the
///         // order twice, unless that payment has ended without a charge.
///         Err(FleetError::OtherPayment { reference, .. }) => match fleet.outcome(&reference).await {
///             Ok(earlier) => println!("the earlier payment: {earlier:?}"),
///             Err(error) => eprintln!("the earlier payment has no outcome yet: {error}"),
///         },
///         // This call sent nothing, and the order needs a correction.
///         Err(error @ FleetError::Misuse(_)) => eprintln!("not paid by this call: {error}"),
///         // The payment may be in progress: keep the order open, and call `charge` again under the same reference.
///         Err(error) => eprintln!("no outcome yet: {error}"),
///     }
/// }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The payment breaks a rule, carries no `uniqueMerchantReference`, or is of a method that cannot be looked up. This call has sent
    /// and stored nothing. An earlier call under the same reference may have, for example in a version with other rules:
    /// [`Fleet::outcome`](crate::Fleet::outcome) tells.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The checkout request is unsuitable, for example because it states no amount. Nothing was sent and nothing was
    /// stored.
    #[error("{0}")]
    Checkout(String),
    /// No payment was begun under this reference.
    #[error("{reference}: no payment was begun under this reference")]
    NotWaiting {
        /// The reference.
        reference: String,
    },
    /// Another payment was begun under this reference: it differs in its kind or in any parameter that is not secret. This call has
    /// sent nothing. The payment that was begun may have been made: ask [`Fleet::outcome`](crate::Fleet::outcome), and pay the order
    /// under another reference only if that payment has ended without a charge.
    #[error(
        "{reference}: another payment was begun under this uniqueMerchantReference ({found}), and may have been made: ask for its \
         outcome, and use another reference only if it was not paid; this call has sent nothing"
    )]
    OtherPayment {
        /// The reference.
        reference: String,
        /// The payment that was begun under it.
        found: String,
    },
    /// The store did not respond within the caller's patience, and this call has sent no payment without it. Another call under the
    /// same reference may have, or the payment was stored: then the fleet continues it when the store is back. Charge again under the
    /// same reference to learn its outcome.
    #[error("this call has sent nothing, since the store of intents failed; ask again under the same reference: {0}")]
    Store(#[from] StoreError),
    /// The store did not respond within the caller's patience, and the payment had been begun: a request may have been sent, and the
    /// customer may have paid. The fleet looks the payment up when the store is back. Charge again under the same reference to learn
    /// its outcome, and never under another one.
    #[error(
        "{reference}: a request may have been sent, and its outcome is not known yet, since the store of intents failed; ask \
         again under the same reference: {error}"
    )]
    MaybeSent {
        /// The reference.
        reference: String,
        /// The error of the store.
        error: StoreError,
    },
    /// The payment has not ended within the plan's patience. Another worker or call has it, or it goes on in this process without this
    /// call: ask again under the same reference to keep waiting; the outbox also delivers the outcome. Or a call that was to begin it was not
    /// permitted a request in that time, and sends nothing any more: then [`Fleet::outcome`](crate::Fleet::outcome) finds none, and the
    /// same call again begins it.
    #[error("{reference}: the payment has not ended yet; ask again under the same reference")]
    Pending {
        /// The reference.
        reference: String,
    },
    /// An operator has parked the payment before it had an outcome. (A payment on which workers failed too often is
    /// unknown.)
    #[error("{reference}: the payment is parked: its row has the history, and Directive::Reconcile continues it")]
    Parked {
        /// The reference.
        reference: String,
    },
    /// The stored payment cannot be resumed with this client.
    #[error("{reference}: {why}")]
    Resume {
        /// The reference.
        reference: String,
        /// Why.
        why: ResumeError,
    },
    /// The service has refused the credentials of this process or of another process of the fleet. Nothing is sent, so
    /// that the address is not locked out, until [`Fleet::resume_sending`](crate::Fleet::resume_sending).
    #[error(
        "nothing is sent for this account by any worker: {0}; correct the credentials, restart this process if they are its own, then resume sending"
    )]
    Stopped(String),
    /// Too many requests of this process had no readable reply before the service ever accepted its credentials. This process sends
    /// nothing, so that the address is not locked out, until these requests are a day old or until
    /// [`Fleet::resume_sending`](crate::Fleet::resume_sending) in this process. Other workers continue.
    #[error("nothing is sent for this account by this process: {0}")]
    Unanswered(String),
    /// The account has no payment in the store, and since this fleet has started, payments of an account were stored that the plan does
    /// not mention: a server may have another name or base URL for this account. Nothing was sent and nothing was stored.
    #[error(transparent)]
    OtherAccounts(FleetStartError),
    /// The fleet is shutting down. The payment was not begun, or its lease was handed over.
    #[error("{reference}: this worker is shutting down; ask again under the same reference")]
    ShuttingDown {
        /// The reference.
        reference: String,
    },
}

impl From<FleetStartError> for FleetError {
    fn from(error: FleetStartError) -> Self {
        match error {
            FleetStartError::Store(error) => Self::Store(error),
            error => Self::OtherAccounts(error),
        }
    }
}

impl FleetError {
    /// `begun`: the row of the payment exists.
    pub(crate) fn of_store(error: StoreError, reference: &str, begun: bool) -> Self {
        if begun { Self::MaybeSent { reference: reference.to_owned(), error } } else { Self::Store(error) }
    }
}

/// The reason why a fleet does not start, or does not begin the first payment of an account. Nothing was sent and nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetStartError {
    /// The account has no name. Its payments would be stored under its API key, and not be found when the key is replaced.
    #[error(
        "a fleet needs an account with a name: set one with Account::identity and keep it, also when the API key is replaced"
    )]
    Unnamed,
    /// The store has payments of other accounts, and any of them may be this account before its name, API key or base URL was changed,
    /// or as another server writes it: then orders that were paid would be paid again.
    #[error(
        "the store of intents has payments of {}, and this fleet would find only those of {account:?}: if an account in that list \
         is this one before a change of its name, API key or base URL, set FleetPlan::stored_as, or its orders will be paid again; \
         if a server has a wrong name or base URL, correct it; if it is another account, set FleetPlan::apart_from",
        first_five(found.iter().map(|account| format!("{account:?}")))
    )]
    OtherAccounts {
        /// The account under which this fleet would find its payments.
        account: String,
        /// The accounts in the store that the plan does not mention.
        found: Vec<String>,
    },
    /// [`FleetPlan::stored_as`](crate::FleetPlan::stored_as) was set for another account than that of the client, for example since two accounts share one plan.
    #[error(
        "FleetPlan::stored_as was set for the account {planned:?}, and the account of this client is {account:?}: give each account \
         a plan of its own"
    )]
    OtherPlan {
        /// The account of the client ([`Account::bound_identity`](pg_hyper::proto::Account::bound_identity)).
        account: String,
        /// The account in the plan.
        planned: String,
    },
    /// Other processes with this store have another [`FleetPlan::per_minute`](crate::FleetPlan::per_minute).
    #[error(
        "other processes with this store limit the account to another number of requests per minute than {per_minute}: set the number \
         that they have (FleetPlan::per_minute, --per-minute), or wait a minute after their end, or if a clock was set back since, as \
         long as it was ahead"
    )]
    OtherLimit {
        /// The number in the plan.
        per_minute: u32,
    },
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_a_few_accounts_in_one_line() {
        let found = (1..=7).map(|number| format!("shop-{number}\n at https://gateway.example")).collect();
        let error = FleetStartError::OtherAccounts { account: "shop at https://gateway.example".to_owned(), found };
        let error = error.to_string();
        assert!(error.contains(r#""shop-5\n at https://gateway.example" and 2 more, "#), "{error}");
        assert!(!error.contains("shop-6") && !error.contains('\n'), "{error}");
    }
}
