//! Two orders of the same price: the customer authenticates one, and returns to the other one with its authenticationKey.

use serde_json::Value;

use super::{Back, ThreeDSecure, back, customer, first_step, opened};
use crate::{
    adapter::{Claim, End},
    finding::Finding,
    house::SetupError,
    judge::{broken, fault},
    plan::Job,
    stage::Stage,
    story::order::unclear,
    wire::{Exchange, On},
};

pub(super) async fn play(stage: &mut Stage, story: &ThreeDSecure) -> Result<Vec<Finding>, SetupError> {
    let mut made = Vec::new();
    for order in [format!("{}-other", stage.order), stage.order.clone()] {
        let line = first_step(stage, &order, story)?;
        let started = stage.run(Job::ThreeDSecure, &line).await;
        let Some((key, address)) = opened(&started) else { return Ok(vec![broken(started.trouble())]) };
        made.push((line, key, address));
    }
    let [(_, other, address), (line, own, _)] = &made[..] else { return Ok(Vec::new()) };
    customer(stage, address, story.answer)?;
    back(stage, line, other, Back::Once).await;
    let Some(ran) = stage.ran().last() else { return Ok(Vec::new()) };
    Ok(match (ran.claim, &ran.end) {
        (Some(Claim::Paid), _) => said_paid(stage, line, own, other).await?.into_iter().collect(),
        // A page may refuse such a customer in its own way.
        (Some(_), _) | (None, End::Replied(400..500)) => Vec::new(),
        (None, _) => vec![broken(ran.trouble())],
    })
}

/// The order may be paid only by an authentication of its own. A shop that finds the order by the authenticationKey may have paid
/// the other order and mean that one: then it does not say paid for the key of this order, with which nothing was authenticated.
async fn said_paid(stage: &mut Stage, line: &Value, own: &str, other: &str) -> Result<Option<Finding>, SetupError> {
    let is_of_other = |one: &Exchange| one.is(On::Payment) && one.parameter("authenticationKey") == Some(other);
    let is_charged = stage.entries()?.iter().any(crate::books::Entry::is_charge);
    if is_charged && !stage.exchanges().iter().any(is_of_other) {
        return Ok(None);
    }
    if is_charged {
        back(stage, line, own, Back::Once).await;
        if stage.ran().last().is_none_or(|ran| ran.claim != Some(Claim::Paid)) {
            return Ok(Some(unclear("the integration")));
        }
    }
    Ok(Some(fault(
        "unpaid-but-said-paid",
        "the integration claims paid for an order whose customer returned with the authenticationKey of another order: \
         one authentication pays for two orders",
    )))
}
