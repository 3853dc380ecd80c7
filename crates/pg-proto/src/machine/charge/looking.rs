//! The lookup is being sent: what it finds, and what it means when it finds nothing.

use bytes::Bytes;
use pg_model::{ErrorCode, Method, Outcome, Remedy, SandboxErrorCode, Transaction, TransactionLookup};

use super::{
    Charge, Charged, Doubt, Next, Rest,
    intent::Found,
    state::{Aim, Then},
};
use crate::{Refused, ReplyError, machine::Failure};

impl<M: Method<Output = Outcome<Transaction>>> Charge<M> {
    /// The reply to the lookup.
    pub(super) fn looked_up(&mut self, response: http::Response<Bytes>) -> Next {
        match self.account.reply::<TransactionLookup>(response) {
            Ok(found) => match self.state.intent.among(found.transactions) {
                Found::One(transaction) => self.found(transaction),
                Found::Strange(doubt) => Next::Unknown(doubt),
                Found::Nothing { certain } => self.nothing_found(certain),
            },
            Err(ReplyError::Unreadable(_)) => Next::Rest(Rest::Backoff, Then::Look),
            Err(ReplyError::Refused(refused)) => self.lookup_refused(refused),
        }
    }

    /// There is no reply to the lookup. It only reads, so that it does not matter whether it was executed.
    pub(super) fn not_looked_up(&self, failure: Failure) -> Next {
        match failure {
            Failure::NotSent | Failure::MaybeSent => Next::Rest(Rest::Backoff, Then::Look),
            Failure::HeldBack => Next::Unknown(Doubt::HeldBack),
        }
    }

    /// `certain`: the service listed what there is. Otherwise it answered with a code that may have said so.
    fn nothing_found(&mut self, certain: bool) -> Next {
        self.state.looked |= certain;
        match &self.state.aim {
            Aim::Refuse { refusal, proves: true } if certain => Next::Done(Charged::Refused(refusal.clone().into())),
            Aim::Refuse { refusal, proves: false } => Next::Unknown(Doubt::Refused(refusal.clone().into())),
            Aim::Refuse { .. } | Aim::Settle(_) => Next::Rest(Rest::Backoff, Then::Look),
            Aim::Resend => Next::Resend,
        }
    }

    fn lookup_refused(&mut self, refused: Refused) -> Next {
        if refused.leaves_it_open() {
            return Next::Rest(Rest::Backoff, Then::Look);
        }
        if is_nothing(&refused) {
            return self.nothing_found(false);
        }
        match refused.remedy() {
            Remedy::FixCredentials => Next::Unknown(Doubt::Credentials(refused)),
            remedy @ (Remedy::WaitOneMinute | Remedy::WaitFiveMinutes | Remedy::Retry) => {
                Next::Rest(Rest::of(remedy), Then::Look)
            }
            _ => Next::Unknown(Doubt::LookupRefused(refused)),
        }
    }
}

/// The documents do not show how a lookup says that it found nothing (spec 2 §4.4). An error that names the key or the
/// reference may mean it: enough to send a payment again under its reference, not enough to prove anything.
fn is_nothing(refused: &Refused) -> bool {
    let code = refused.code();
    *code == ErrorCode::INVALID_MERCHANT_REFERENCE || SandboxErrorCode::UNKNOWN_TRANSACTION_KEY == code.as_str()
}
