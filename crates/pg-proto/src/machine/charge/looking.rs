//! The lookup is being sent: what it finds, and what it means when it finds nothing.

use bytes::Bytes;
use pg_model::{ApiRequest, ErrorCode, Outcome, Remedy, Transaction, TransactionLookup, dialect::EmptyLookup};

use super::{
    Charge, ChargeOutcome, Rest, Transition, UnknownReason,
    intent::Found,
    state::{Aim, Then},
};
use crate::{
    Refused, ReplyError,
    machine::{Failure, exchange::says_not_found},
};

impl<M: ApiRequest<Output = Outcome<Transaction>>> Charge<M> {
    /// The reply to the lookup.
    pub(super) fn looked_up(&mut self, response: http::Response<Bytes>) -> Transition {
        if says_not_found(&self.account, &response) {
            return self.nothing_found(true, self.proves(EmptyLookup::NotFound));
        }
        match self.account.reply::<TransactionLookup>(response) {
            Ok(found) => match self.state.intent.among(found.transactions) {
                Found::One(transaction) => self.found(transaction),
                Found::Strange(doubt) => Transition::Unknown(doubt),
                Found::Nothing { certain } => {
                    self.nothing_found(certain, certain && self.proves(EmptyLookup::EmptyList))
                }
            },
            Err(ReplyError::Unreadable(_)) => Transition::Rest(Rest::Backoff, Then::Look),
            Err(ReplyError::Refused(refused)) => self.lookup_refused(refused),
        }
    }

    /// Whether nothing found in this form proves that there is no payment.
    fn proves(&self, form: EmptyLookup) -> bool {
        self.account.dialect().proves_nothing_there(form)
    }

    /// There is no reply to the lookup. It only reads, so that it does not matter whether it was executed.
    pub(super) fn not_looked_up(&self, failure: Failure) -> Transition {
        match failure {
            Failure::NotSent | Failure::MaybeSent => Transition::Rest(Rest::Backoff, Then::Look),
            Failure::HeldBack => Transition::Unknown(UnknownReason::HeldBack),
        }
    }

    /// `listed`: the service listed what there is. Otherwise it answered with a code that may have said so. `proves_it`: the
    /// dialect says that there is no payment then.
    fn nothing_found(&mut self, listed: bool, proves_it: bool) -> Transition {
        self.state.looked |= listed || proves_it;
        let dialect = self.account.dialect();
        match &self.state.aim {
            Aim::Refuse { refusal, proves: true } if proves_it => {
                Transition::Done(ChargeOutcome::Refused(refusal.refused(dialect)))
            }
            // No later lookup would prove more.
            Aim::Refuse { refusal, proves } if !proves || !dialect.lookup.immediate => {
                Transition::Unknown(UnknownReason::Refused(refusal.refused(dialect)))
            }
            Aim::Refuse { .. } | Aim::Settle(_) => Transition::Rest(Rest::Backoff, Then::Look),
            Aim::Resend => Transition::Resend,
        }
    }

    fn lookup_refused(&mut self, refused: Refused) -> Transition {
        if refused.leaves_it_open() {
            return Transition::Rest(Rest::Backoff, Then::Look);
        }
        if is_nothing(&refused) {
            return self.nothing_found(false, refused.unknown_transaction() && self.proves(EmptyLookup::Error));
        }
        match refused.remedy() {
            Remedy::FixCredentials => Transition::Unknown(UnknownReason::Credentials(refused)),
            remedy @ (Remedy::WaitOneMinute | Remedy::WaitFiveMinutes | Remedy::Retry) => {
                Transition::Rest(Rest::of(remedy), Then::Look)
            }
            _ => Transition::Unknown(UnknownReason::LookupRefused(refused)),
        }
    }
}

/// The documents do not show how a lookup says that it found nothing (spec 2 §4.4). An error that names the reference may mean
/// it, and one of which the dialect says that it does: enough to send a payment again under its reference.
fn is_nothing(refused: &Refused) -> bool {
    *refused.code() == ErrorCode::INVALID_MERCHANT_REFERENCE || refused.unknown_transaction()
}
