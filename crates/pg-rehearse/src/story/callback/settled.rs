//! Callbacks that a shop has acknowledged: whether it marks the order as paid, also if the first lookup fails.

use std::time::Duration;

use super::{FORM, post};
use crate::{
    clock::{self, Clock},
    finding::Finding,
    house::SetupError,
    judge::doubt,
    plan::{Job, Means},
    shop::Seen,
    stage::{CONFIRMED_WITHIN, Stage},
    story::{
        order::{Order, without_key},
        page,
    },
    wire::FAILURES,
};

/// How long a shop may take to repeat a lookup that has failed.
const AGAIN_WITHIN: Duration = Duration::from_secs(5);

/// Checks that an order of the shop is marked as paid after its callback, which was answered like this and looked up, and that
/// a failed lookup is repeated.
pub(super) async fn check(stage: &mut Stage, order: &Order, seen: &Seen) -> Result<Option<Finding>, SetupError> {
    if !order.is_known() {
        return Ok(None);
    }
    if page::claim(seen).is_none() && !is_marked(stage, order).await? {
        let why = "the callback was accepted and its payment looked up, but the success page, opened without a key, does not say \
                   paid: if the order is not marked as paid, it is lost when the customer does not come back";
        return Ok(Some(doubt("not-marked", why)));
    }
    let (what, failure) = FAILURES[0];
    let other = Order::made(stage, &format!("{}-later", order.name)).await?;
    let (token, key) = other.pay(stage)?;
    let genuine = other.callback(&token, &key);
    let before = stage.exchanges().len();
    stage.wire().fail_lookups(Some(failure));
    let seen = post(stage, &format!("a payment, while lookups {what}"), FORM, genuine.clone()).await;
    stage.asked_about(&key, before).await;
    stage.wire().fail_lookups(None);
    let before = stage.exchanges().len();
    if seen.is_ok_and(|seen| seen.status < 300) {
        let clock = Clock::start();
        let is_command = matches!(stage.troupe.plan.jobs.get(&Job::Callback), Some(Means::Command(_)));
        while !stage.has_asked_about(&key, before) && !is_command && clock.elapsed() < AGAIN_WITHIN {
            clock::pause(Duration::from_millis(50)).await;
        }
    } else {
        // The service repeats it (A121).
        drop(post(stage, "the same again", FORM, genuine).await);
        stage.asked_about(&key, before).await;
    }
    let why = format!(
        "the lookup of a callback failed, and was not repeated within {} seconds: answer with HTTP 503, so that the service repeats \
         the callback, or ask again yourself",
        AGAIN_WITHIN.as_secs()
    );
    Ok((!stage.has_asked_about(&key, before)).then(|| doubt("lookup-not-repeated", why)))
}

/// Whether the success page of the order says paid, now or shortly. Without that page nothing is seen.
async fn is_marked(stage: &Stage, order: &Order) -> Result<bool, SetupError> {
    if !stage.troupe.plan.has(Job::CheckoutReturn) {
        return Ok(true);
    }
    let clock = Clock::start();
    loop {
        if page::says_paid(&without_key(stage, order).await?) {
            return Ok(true);
        }
        if clock.elapsed() > CONFIRMED_WITHIN {
            return Ok(false);
        }
        clock::pause(CONFIRMED_WITHIN / 5).await;
    }
}
