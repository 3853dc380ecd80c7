//! Two orders of the same price: the customer authenticates one, and returns to the other one with its authenticationKey.

use super::{Back, ThreeDSecure, back, customer, first_step, opened};
use crate::{
    adapter::{Claim, End},
    finding::Finding,
    house::SetupError,
    judge::{broken, fault},
    plan::Job,
    stage::Stage,
    wire::{Exchange, On},
};

pub(super) async fn play(stage: &mut Stage, story: &ThreeDSecure) -> Result<Vec<Finding>, SetupError> {
    let mut made = Vec::new();
    for order in [format!("{}-other", stage.order), stage.order.clone()] {
        let line = first_step(stage, &order, story.card)?;
        let started = stage.run(Job::ThreeDSecure, &line).await;
        let Some((key, address)) = opened(&started) else { return Ok(vec![broken(started.trouble())]) };
        made.push((line, key, address));
    }
    let [(_, other, address), (line, ..)] = &made[..] else { return Ok(Vec::new()) };
    customer(stage, address, story.answer)?;
    back(stage, line, other, Back::Once).await;
    Ok(judged(stage, other)?.into_iter().collect())
}

/// The order may be paid only by an authentication of its own.
fn judged(stage: &Stage, other: &str) -> Result<Option<Finding>, SetupError> {
    let Some(ran) = stage.ran().last() else { return Ok(None) };
    let is_of_other = |one: &Exchange| one.is(On::Payment) && one.parameter("authenticationKey") == Some(other);
    let is_unpaid = || -> Result<bool, SetupError> {
        let is_charged = stage.entries()?.iter().any(crate::books::Entry::is_charge);
        Ok(!is_charged || stage.exchanges().iter().any(is_of_other))
    };
    Ok(match (ran.claim, &ran.end) {
        (Some(Claim::Paid), _) if is_unpaid()? => Some(fault(
            "unpaid-but-said-paid",
            "the integration claims paid for an order whose customer returned with the authenticationKey of another order: \
             one authentication pays for two orders",
        )),
        // A page may refuse such a customer in its own way.
        (Some(_), _) | (None, End::Replied(400..500)) => None,
        (None, _) => Some(broken(ran.trouble())),
    })
}
