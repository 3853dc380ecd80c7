//! Two links of one order: a customer goes back to the shop, and orders again before paying.

use serde_json::Value;

use super::{charges_of, not_read};
use crate::{
    house::SetupError,
    judge::fault,
    plan::Job,
    stage::Stage,
    story::{
        Asked,
        order::{Order, PRICE, after_lookup, after_payment, pay, token_of},
        page,
    },
};

/// Asks for another link, and pays by each link that can be paid.
pub(super) async fn play(stage: &mut Stage, line: &Value, first: &str) -> Result<Asked, SetupError> {
    let again = stage.run(Job::Checkout, line).await;
    // A shop may refuse a second link.
    let second = token_of(&again).filter(|token| token != first);
    let keys: Vec<String> = [Some(first), second.as_deref()]
        .into_iter()
        .flatten()
        .filter_map(|token| pay(&stage.house, token).ok())
        .collect();
    let charges = charges_of(stage)?.len();
    if charges > 1 {
        let why =
            "the customer asks for a link twice, and both links can be paid: cancel the first one, or give it again";
        return Ok(Ok(vec![fault("charged-twice", why)]));
    }
    let Some(key) = keys.first().filter(|_| charges == 1) else {
        let why = "the customer asks for a link twice, and no link can be paid";
        return Ok(Ok(vec![fault("order-cannot-be-paid", why)]));
    };
    if !stage.troupe.plan.has(Job::CheckoutReturn) {
        return Ok(Ok(Vec::new()));
    }
    let before = stage.exchanges().len();
    let seen = after_payment(stage, &stage.order, key, "after the payment").await?;
    if page::says_paid(&seen) {
        return Ok(Ok(Vec::new()));
    }
    let Some(again) = after_lookup(stage, &stage.order, PRICE, key, before).await? else {
        return Ok(Ok(vec![not_read(&seen)]));
    };
    if page::says_paid(&again) {
        return Ok(Ok(Vec::new()));
    }
    // Whether it is the second link or this page that is not read as paid.
    let name = format!("{}-other", stage.order);
    let other = Order::made(stage, &name).await?;
    let (_, key) = other.pay(stage)?;
    let of_other = after_payment(stage, &name, &key, "after a payment of another order").await?;
    let why = "the customer asks for a link twice and pays by one of them, but the success page does not say paid after \
               a lookup has shown the payment, as it does of an order with one link";
    Ok(Ok(vec![if page::says_paid(&of_other) { fault("payment-not-found", why) } else { not_read(&seen) }]))
}
