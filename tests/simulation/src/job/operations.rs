//! Operations on a payment: captures, cancellations and refunds of either version, and repeats.

use std::sync::Arc;

use pg_model::{
    ApiRequest, CancelPreauth, CapturePreauth, EnterpriseCancel, EnterpriseCapture, EnterpriseRefund, EnterpriseResult,
    EnterpriseTransactionType, Outcome, Refund, Repeat, Transaction,
};
use pg_proto::{
    Account,
    machine::{
        ResumeError, SavedState,
        retry::{Retry, RetryBounds},
    },
};

use crate::{
    job::{Job, Kind},
    run::{Claim, Once, Run},
};

impl Job {
    pub(crate) fn capture(&self) -> CapturePreauth {
        CapturePreauth::new(self.key.as_str()).transaction_value(self.pence)
    }

    pub(crate) fn cancel(&self) -> CancelPreauth {
        CancelPreauth::new(self.key.as_str()).transaction_value(self.pence)
    }

    pub(crate) fn refund(&self) -> Refund {
        Refund::new(self.key.as_str()).transaction_value(self.pence)
    }

    /// Creates the machine of an operation, or resumes it.
    pub(super) fn operation(
        &self,
        account: Arc<Account>,
        saved: Option<&SavedState>,
    ) -> Result<Box<dyn Run>, ResumeError> {
        let (key, value) = (self.key.as_str(), format!("{}.{:02}", self.pence / 100, self.pence % 100));
        match (self.kind, self.version_5) {
            (Kind::Repeat, _) => {
                once(account, Repeat::new(key, EnterpriseTransactionType::REQUEST_AUTH, value), saved, of_version_5)
            }
            (Kind::Capture, true) => once(account, EnterpriseCapture::new(key, value), saved, of_version_5),
            (Kind::Cancel, true) => once(account, EnterpriseCancel::new(key, value), saved, of_version_5),
            (_, true) => once(account, EnterpriseRefund::new(key, value), saved, of_version_5),
            (Kind::Capture, false) => once(account, self.capture(), saved, of_version_3),
            (Kind::Cancel, false) => once(account, self.cancel(), saved, of_version_3),
            (_, false) => once(account, self.refund(), saved, of_version_3),
        }
    }
}

fn once<M: ApiRequest<Output: Clone> + 'static>(
    account: Arc<Account>,
    request: M,
    saved: Option<&SavedState>,
    claim: fn(M::Output) -> Claim,
) -> Result<Box<dyn Run>, ResumeError> {
    let retry = match saved {
        Some(saved) => Retry::resume(saved, account, request)?,
        None => Retry::new(account, request, RetryBounds::default()).expect("a valid request"),
    };
    Ok(Box::new(Once { retry, claim }))
}

fn of_version_3(outcome: Outcome<Transaction>) -> Claim {
    claim(outcome, |transaction| transaction.transaction_key.as_str().to_owned())
}

fn of_version_5(outcome: Outcome<EnterpriseResult>) -> Claim {
    claim(outcome, |result| result.trans_key.as_str().to_owned())
}

fn claim<T>(outcome: Outcome<T>, key: fn(T) -> String) -> Claim {
    match outcome {
        Outcome::Approved(record) => Claim::Done { brought: key(record) },
        Outcome::Declined(_) => Claim::Declined,
        Outcome::Other(_) => Claim::Unknown { reconcile: None, why: "Other".to_owned() },
    }
}
