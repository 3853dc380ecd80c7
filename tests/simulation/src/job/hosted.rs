//! A checkout on the hosted pages as merchants configure it, and its machine.

use std::time::Duration;

use pg_model::{CheckoutItem, Currency, EnterpriseTransactionType, Flag, GetToken};
use pg_proto::machine::{
    Action, Event, Machine, Moment,
    charge::ChargeBounds,
    checkout::{Checkout, CheckoutDemand, CheckoutInput, CheckoutOutcome, CheckoutPlan},
};

use crate::{
    job::Job,
    run::{Claim, OwnerEvent, Run, Step, variant, without_input},
};

/// The page to which customers return after payment.
const THANKS_PAGE: &str = "https://shop.example/thanks";
/// The page to which customers return with the cancel button.
const CANCEL_PAGE: &str = "https://shop.example/cart";
/// The address that the service calls after a payment.
pub(crate) const PAID_PAGE: &str = "https://shop.example/paid";

/// The request for a token: some merchants name no reference, or the same one for many orders.
pub(crate) fn token(job: &Job) -> GetToken {
    let price = format!("{}.{:02}", job.pence / 100, job.pence % 100);
    let kind = if job.reserves() {
        EnterpriseTransactionType::REQUEST_PRE_AUTH
    } else {
        EnterpriseTransactionType::REQUEST_AUTH
    };
    let mut request = GetToken::new()
        .currency(Currency::GBP)
        .item(CheckoutItem::new("Tea", price))
        .trans_type(kind)
        .success_url(format!("{THANKS_PAGE}?order={}", job.name))
        .cancel_url(format!("{CANCEL_PAGE}?order={}", job.name))
        .callback_url(format!("{PAID_PAGE}?order={}", job.name))
        .auto_redirect(if job.pence.is_multiple_of(2) { Flag::YES } else { Flag::NO })
        .three_d_secure(if job.pence.is_multiple_of(7) { Flag::YES } else { Flag::NO });
    request.trans_reference = match job.pence % 8 {
        0 => None,
        1 => Some("everyday".into()),
        _ => Some(job.name.as_str().into()),
    };
    request.token_expiry = job.expires;
    request.token_uses = (payments(job) > 1).then_some(2);
    request
}

/// Returns how many payments its token allows.
pub(crate) const fn payments(job: &Job) -> usize {
    if job.pence.is_multiple_of(11) { 2 } else { 1 }
}

/// Returns the time for customers, if the token does not expire earlier.
pub(crate) fn plan(job: &Job) -> CheckoutPlan {
    let minute = Duration::from_secs(60);
    let wait = match job.pence % 3 {
        0 => 20 * minute,
        1 => 90 * minute,
        _ => 7 * 24 * 60 * minute,
    };
    let ChargeBounds { attempts, lookups, pauses, .. } = job.bounds;
    CheckoutPlan::default().wait(wait).linger(20 * minute).attempts(attempts + lookups / 2).pauses(pauses)
}

impl Run for Checkout {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        next(Machine::step(self, without_input(event), now, random))
    }

    fn told(&mut self, what: &OwnerEvent, now: Moment, random: u64) -> Option<Step> {
        let input = match what {
            OwnerEvent::Paid(key) => CheckoutInput::Reported(key.clone()),
            OwnerEvent::Withdrawn => CheckoutInput::Cancel,
            _ => return None,
        };
        Some(next(Machine::step(self, Event::Input(input), now, random)))
    }

    fn save(&self) -> String {
        Machine::save(self).text().to_owned()
    }

    fn shown(&self) -> String {
        format!("{self:?}")
    }
}

fn next(action: Action<CheckoutDemand, CheckoutOutcome>) -> Step {
    let outcome = match action {
        Action::Send(request) => return Step::Send(request),
        Action::WaitUntil(until) => return Step::WaitUntil(until),
        Action::Ask(CheckoutDemand::Redirect { url, until }) => return Step::Redirect(url.as_str().to_owned(), until),
        Action::Done(outcome) => outcome,
    };
    Step::Ended(match outcome {
        CheckoutOutcome::Paid { trans_key } => Claim::Approved { key: trans_key },
        CheckoutOutcome::Lapsed { .. } => Claim::Lapsed,
        CheckoutOutcome::NotOpened(why) => Claim::NotOpened { why: variant(&why) },
        CheckoutOutcome::Unknown { why, .. } => Claim::Unknown { reconcile: None, why: variant(&why) },
        // The type may grow: classify new variants here.
        other => Claim::Unknown { reconcile: None, why: variant(&other) },
    })
}
