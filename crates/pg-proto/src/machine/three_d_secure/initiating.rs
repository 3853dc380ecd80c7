//! The first step. It charges nothing, and reserves the reference for the payment that follows.

use pg_model::{
    ErrorCode, InitiateThreeDSecureCardKey, StatusCode, ThreeDSecureInitiation, TransactionType, method::RetrySafety,
};

use super::{
    Initiation, NotSentReason, Phase, ThreeDSecure, ThreeDSecureAction, ThreeDSecureInput, ThreeDSecureOutcome,
};
use crate::{
    Refused,
    machine::{
        Action, Event, Moment,
        exchange::{ExchangeResult, sort_event},
    },
};

impl ThreeDSecure {
    pub(super) fn initiate(&mut self) -> ThreeDSecureAction {
        let request = match &self.initiation {
            Some(Initiation::SessionKey(request)) => self.account.request_unchecked(request),
            Some(Initiation::CardKey(request)) => self.account.request_unchecked(request),
            // The machine was resumed: the initiation may have been sent, and cannot be repeated.
            None => return self.unclear(),
        };
        match request {
            Ok(request) => self.send(request),
            Err(_) => self.unclear(),
        }
    }

    pub(super) fn initiated(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        let attempts = self.state.plan.attempts;
        let unreachable =
            |again: bool| if again { None } else { Some(ThreeDSecureOutcome::NotSent(NotSentReason::Unreachable)) };
        let end = match sort_event::<InitiateThreeDSecureCardKey, _>(&self.account, event) {
            // Both initiations have the same reply.
            ExchangeResult::Answer(record) => self.take(record, now),
            ExchangeResult::Done(refused) => {
                self.paid_before(refused);
                None
            }
            ExchangeResult::Refused(refused) | ExchangeResult::Shut(refused) => self.not_begun(refused),
            ExchangeResult::Later(wait) => unreachable(self.try_again(Some(wait), attempts, now, random)),
            ExchangeResult::NotSent => unreachable(self.try_again(None, attempts, now, random)),
            ExchangeResult::HeldBack => Some(ThreeDSecureOutcome::NotSent(NotSentReason::HeldBack)),
            // A repeated initiation could conflict with the first one, whose key would be lost: its retry class is
            // `never`.
            ExchangeResult::InDoubt => Some(ThreeDSecureOutcome::NotSent(NotSentReason::InitiationUnclear)),
        };
        if let Some(outcome) = end {
            self.end(outcome);
        }
    }

    fn take(&mut self, record: ThreeDSecureInitiation, now: Moment) -> Option<ThreeDSecureOutcome> {
        let initiated = record.transaction_status_code == StatusCode::THREE_D_SECURE_SUCCESS
            && !record.authentication_key.is_empty()
            && !record.authentication_url.is_empty();
        if !initiated {
            let (code, dialect) = (&record.transaction_status_code, self.account.dialect());
            // The service may answer a used reference like a declined payment.
            let may_be_used = dialect.is_declined(code) && !dialect.refuses_used_references();
            // The reply of a payment (spec 2 §2.3), although an initiation charges nothing.
            let kind = record.transaction_type.as_str();
            let is_payment = [TransactionType::AUTH, TransactionType::PRE_AUTH]
                .iter()
                .any(|payment| payment.as_str().eq_ignore_ascii_case(kind));
            if is_payment || may_be_used || *code == StatusCode::APPROVED {
                (self.initiation, self.state.exposed) = (None, true);
                self.doubt();
                return None;
            }
            return Some(ThreeDSecureOutcome::NotInitiated(record));
        }
        self.initiation = None;
        self.state.authentication_key = record.authentication_key.to_string();
        self.state.authentication_url = record.authentication_url.to_string();
        self.state.until = now.after(self.state.plan.challenge);
        self.enter(Phase::Challenged);
        None
    }

    /// Handles the refusal of a step before the payment. This machine has charged nothing. A forgotten machine may have paid
    /// under the reference, and that payment may be the reason: an unlisted code may mean a used reference, and a session may
    /// have ended with its payment (spec 2 §3.1). Starting again with another reference could then pay twice, so the payment
    /// is looked up first, unless its existence cannot be the reason.
    pub(super) fn not_begun(&mut self, refused: Refused) -> Option<ThreeDSecureOutcome> {
        // A request that lost its body on the way (101) was refused for that alone.
        let empty = refused.is_documented() && *refused.code() == ErrorCode::NO_DATA_SENT;
        if empty || refused.refuses_every_copy(RetrySafety::LookupFirst) {
            return Some(ThreeDSecureOutcome::Refused(refused));
        }
        if refused.is_known() {
            (self.initiation, self.refusal) = (None, Some(refused));
            self.state.exposed = true;
            self.enter(Phase::LookingUp);
        } else {
            self.paid_before(refused);
        }
        None
    }

    /// Handles a reference or an authentication that was used before, perhaps by a payment of a forgotten machine. Starting
    /// again with another reference could pay twice, so only lookups follow.
    pub(super) fn paid_before(&mut self, refused: Refused) {
        (self.initiation, self.refusal) = (None, Some(refused));
        self.state.exposed = true;
        self.doubt();
    }

    fn unclear(&mut self) -> ThreeDSecureAction {
        let outcome = ThreeDSecureOutcome::NotSent(NotSentReason::InitiationUnclear);
        self.end(outcome.clone());
        Action::Done(outcome)
    }
}
