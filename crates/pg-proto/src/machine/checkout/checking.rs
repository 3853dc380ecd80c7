//! Looks up a transaction that a hint named, to learn whether it is the payment.

use std::time::Duration;

use bytes::Bytes;
use pg_model::{ApiRequest as _, EnterpriseTransaction, EnterpriseTransactionLookup, ErrorCode, Remedy};

use super::{Checkout, CheckoutInput, Flight, NEWS, Phase, amount};
use crate::{
    Refused, ReplyError,
    machine::{
        Event, Moment, UnknownReason,
        exchange::{ExchangeResult, sort_event},
    },
};

/// Minimum time between two lookups, since anyone can send hints.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// How a transaction relates to this checkout.
enum Finding {
    Payment,
    /// The transaction has failed, names another token and was only reported or has other money, or names no token and was paid
    /// with other money.
    Nothing,
    /// The transaction belongs to this token, and the dialect lists its status as pending.
    Pending,
    /// The transaction belongs to this token, and is neither paid nor failed. Or the search by the reference of this checkout found
    /// it, and only its token differs, also in its length: the documents do not show how the reply writes the token.
    Unclear,
    /// The reply names no token, so it may belong to this one.
    Unnamed,
}

impl Checkout {
    pub(super) fn check(&mut self) -> Option<http::Request<Bytes>> {
        let key = self.state.news.first()?.clone();
        let request = self.account.request_unchecked(&EnterpriseTransactionLookup::new(key.as_str())).ok()?;
        self.flight = Some(Flight::Check(key));
        Some(request)
    }

    pub(super) fn checked(&mut self, key: String, event: Event<CheckoutInput>, now: Moment, random: u64) {
        if let Event::Reply(reply) = &event {
            self.unreadable = match self
                .account
                .reply_as::<EnterpriseTransaction>(EnterpriseTransactionLookup::INFO.service, reply)
            {
                Err(ReplyError::Unreadable(why)) => Some(why),
                _ => None,
            };
        }
        let again = match sort_event::<EnterpriseTransactionLookup, _>(&self.account, event) {
            ExchangeResult::Answer(transaction) => match self.judge(&transaction) {
                Finding::Payment => return self.paid(key),
                Finding::Nothing => {
                    self.clear(&key);
                    return self.done_with(&key, now);
                }
                Finding::Unclear => {
                    self.doubt(&key);
                    return self.done_with(&key, now);
                }
                Finding::Unnamed => {
                    self.keep(&key);
                    return self.done_with(&key, now);
                }
                Finding::Pending => self.try_again(None, now, random),
            },
            // What an early search finds ends the checkout only with a payment. A report is kept, and its owner told, as without a search.
            ExchangeResult::HeldBack if self.state.early => false,
            ExchangeResult::Shut(refused)
                if is_about_the_account(&refused) && (!self.state.early || self.may_be_made_up()) =>
            {
                return self.not_known(key, UnknownReason::LookupRefused(refused));
            }
            ExchangeResult::HeldBack => return self.not_known(key, UnknownReason::HeldBack),
            ExchangeResult::Refused(refused) | ExchangeResult::Done(refused) | ExchangeResult::Shut(refused)
                if refused.remedy() != Remedy::Retry =>
            {
                if !self.may_be_made_up() {
                    self.doubt(&key);
                }
                return self.done_with(&key, now);
            }
            ExchangeResult::Later(wait) => self.try_again(Some(wait), now, random),
            ExchangeResult::Refused(_)
            | ExchangeResult::Done(_)
            | ExchangeResult::Shut(_)
            | ExchangeResult::NotSent
            | ExchangeResult::InDoubt => self.try_again(None, now, random),
        };
        if !again {
            self.doubt(&key);
            self.done_with(&key, now);
        }
    }

    /// Keeps a transaction as a candidate, which is looked up again before the end. Earlier ones stay candidates, up to a limit: those
    /// whose replies name no token are dropped first, since anyone can report them.
    fn doubt(&mut self, key: &str) {
        let state = &mut self.state;
        state.unclear_before.retain(|before| before != key);
        let Some(before) = state.unclear.replace(key.to_owned()).filter(|before| before != key) else { return };
        if state.unclear_before.len() >= NEWS {
            state.unclear_before.remove(0);
        }
        state.unclear_before.push(before);
    }

    /// Keeps a transaction as a candidate after those that are known to be of this token.
    fn keep(&mut self, key: &str) {
        let state = &mut self.state;
        if state.unclear.is_none() {
            state.unclear = Some(key.to_owned());
        } else if state.unclear.as_deref() != Some(key)
            && state.unclear_before.iter().all(|before| before != key)
            && state.unclear_before.len() < NEWS
        {
            state.unclear_before.insert(0, key.to_owned());
        }
    }

    /// Forgets a candidate that has failed meanwhile.
    fn clear(&mut self, key: &str) {
        let state = &mut self.state;
        state.unclear_before.retain(|before| before != key);
        if state.unclear.take_if(|candidate| candidate == key).is_some() {
            state.unclear = state.unclear_before.pop();
        }
    }

    /// Judges the status of a transaction. Only `Success` is documented; the dialect lists the words for a decline and
    /// for a pending payment (assumption A125).
    fn judge(&self, transaction: &EnterpriseTransaction) -> Finding {
        let (state, statuses) = (&self.state, &self.account.dialect().checkout);
        if statuses.failed.contains(&transaction.status) {
            return Finding::Nothing;
        }
        let value = amount::minor(&transaction.value, &state.currency);
        if transaction.token.is_empty() {
            // Anyone can report a foreign payment. Before a payment, and of a reservation, the value says nothing.
            let paid = value.filter(|paid| *paid > 0 && !state.reserves);
            let foreign = state.money().differs_from(transaction.currency.as_str(), paid).is_some();
            return if foreign && self.may_be_made_up() { Finding::Nothing } else { Finding::Unnamed };
        }
        let is_other = !transaction.token.as_str().eq_ignore_ascii_case(&state.token);
        if statuses.pending.contains(&transaction.status) && !is_other {
            return Finding::Pending;
        }
        let fits = if state.reserves {
            // The value is what was paid: nothing yet, or what was captured since (spec 3 §4.8, assumption A125).
            state.money().differs_from(transaction.currency.as_str(), None).is_none()
        } else {
            // Unlike a list, this reply always contains both.
            let named = !transaction.currency.is_empty() && value.is_some();
            named && state.money().differs_from(transaction.currency.as_str(), value).is_none()
        };
        if is_other {
            let in_another_form = transaction.token.as_str().len() != state.token.len();
            return if in_another_form && fits && !self.may_be_made_up() { Finding::Unclear } else { Finding::Nothing };
        }
        let paid = transaction.status == "Success" || statuses.paid.contains(&transaction.status);
        if fits && paid { Finding::Payment } else { Finding::Unclear }
    }

    /// Whether the key may be made up, or that of a foreign payment: hints can be forged, and the documents list no code
    /// for a transaction that does not exist. A transaction that a search found does exist, and may be the payment.
    fn may_be_made_up(&self) -> bool {
        self.state.phase != Phase::Concluding
    }

    fn done_with(&mut self, key: &str, now: Moment) {
        self.state.news.retain(|news| news != key);
        self.state.attempts.begin_anew();
        self.state.attempts.hold_back(BETWEEN_LOOKS, now);
    }

    fn not_known(&mut self, key: String, why: UnknownReason) {
        let outcome = self.unknown(Some(key), why);
        self.end(outcome);
    }
}

/// Whether the service would refuse the lookup of every key: invalid credentials, or a missing permission. Another refusal
/// may concern this key alone, for example one of another merchant.
fn is_about_the_account(refused: &Refused) -> bool {
    let forbids = refused.is_known() && *refused.code() == ErrorCode::PERMISSION_DENIED;
    forbids || refused.remedy() == Remedy::FixCredentials
}
