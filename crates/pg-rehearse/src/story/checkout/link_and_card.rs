//! One order that can be paid by a link and by card: a customer has both open, or tries the other one after an unknown outcome.

use super::charges_of;
use crate::{
    adapter::Claim,
    finding::{Finding, Lane},
    house::SetupError,
    judge::fault,
    plan::Job,
    stage::Stage,
    story::{
        charge::{UNKNOWN, in_another_tab},
        order::{input, pay, token_of},
    },
};

pub(super) async fn play(stage: &mut Stage) -> Result<Vec<Finding>, SetupError> {
    Ok(match link_first(stage).await? {
        None => after_unknown(stage).await?,
        found => found,
    }
    .into_iter()
    .collect())
}

/// The customer has the link open, pays by card in another tab, and then by the link, and by another one if the shop gives it.
async fn link_first(stage: &mut Stage) -> Result<Option<Finding>, SetupError> {
    let name = format!("{}-by-card", stage.order);
    let Some(card) = in_another_tab(stage, &name)? else { return Ok(None) };
    let line = input(stage, &name, "GBP");
    let Some(token) = token_of(&stage.run(Job::Checkout, &line).await) else { return Ok(None) };
    let by_card = stage.run(Job::Charge, &card).await;
    drop(pay(&stage.house, &token));
    if by_card.claim == Some(Claim::Paid) {
        let again = token_of(&stage.run(Job::Checkout, &line).await);
        if let Some(again) = again.filter(|again| *again != token) {
            drop(pay(&stage.house, &again));
        }
    }
    let why = "the customer has the link of an order open, pays the order by card in another tab, and then by a link";
    twice(stage, why)
}

/// The customer pays by card, the outcome is unknown, and the customer asks for a link when nothing goes wrong.
async fn after_unknown(stage: &mut Stage) -> Result<Option<Finding>, SetupError> {
    let name = format!("{}-unknown", stage.order);
    let Some(card) = in_another_tab(stage, &name)? else { return Ok(None) };
    stage.wire().set_faults(UNKNOWN);
    stage.run(Job::Charge, &card).await;
    stage.wire().set_faults(&[]);
    stage.wire().note(Lane::Integration, Lane::Integration, "the customer asks for a link, and nothing goes wrong");
    let line = input(stage, &name, "GBP");
    if let Some(token) = token_of(&stage.run(Job::Checkout, &line).await) {
        drop(pay(&stage.house, &token));
    }
    twice(stage, "the customer pays by card with an unknown outcome, asks for a link of the same order, and pays by it")
}

fn twice(stage: &Stage, what: &str) -> Result<Option<Finding>, SetupError> {
    let is_twice = charges_of(stage)?.len() > 1;
    let advice = "before you charge a card, cancel the link (canceltoken) and search for its payment; give no link while a charge may \
                  have been made. If no order of yours can be paid in both ways, rehearse them in two plans";
    Ok(is_twice.then(|| fault("charged-twice", format!("{what}, and is charged twice: {advice}"))))
}
