//! Two links of one order: a customer goes back to the shop and orders again, before paying and after it, or clicks twice at once.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{charges_of, link_and_card, not_read};
use crate::{
    finding::Finding,
    house::SetupError,
    judge::{are_warnings, fault},
    plan::Job,
    stage::Stage,
    story::{
        Asked,
        order::{Order, PRICE, after_lookup, after_payment, input, pay, token_of},
        page,
    },
};

pub(super) async fn play(stage: &mut Stage, line: &Value, first: &str) -> Result<Asked, SetupError> {
    let mut findings = one_after_the_other(stage, line, first).await?;
    if are_warnings(&findings) {
        findings.extend(at_once(stage).await?);
    }
    if are_warnings(&findings) {
        findings.extend(link_and_card::play(stage).await?);
    }
    Ok(Ok(findings))
}

/// Asks for another link, and pays by each link that can be paid.
async fn one_after_the_other(stage: &mut Stage, line: &Value, first: &str) -> Result<Vec<Finding>, SetupError> {
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
        return Ok(vec![fault("charged-twice", why)]);
    }
    let Some(key) = keys.first().filter(|_| charges == 1) else {
        let why = "the customer asks for a link twice, and no link can be paid";
        return Ok(vec![fault("order-cannot-be-paid", why)]);
    };
    if !stage.troupe.plan.has(Job::CheckoutReturn) {
        return Ok(Vec::new());
    }
    let before = stage.exchanges().len();
    let seen = after_payment(stage, &stage.order, key, "after the payment").await?;
    if page::says_paid(&seen) {
        return when_paid(stage, line).await;
    }
    let Some(again) = after_lookup(stage, &stage.order, PRICE, key, before).await? else {
        return Ok(vec![not_read(&seen)]);
    };
    if page::says_paid(&again) {
        return when_paid(stage, line).await;
    }
    // Whether it is the second link or this page that is not read as paid.
    let name = format!("{}-other", stage.order);
    let other = Order::made(stage, &name).await?;
    let (_, key) = other.pay(stage)?;
    let of_other = after_payment(stage, &name, &key, "after a payment of another order").await?;
    let why = "the customer asks for a link twice and pays by one of them, but the success page does not say paid after \
               a lookup has shown the payment, as it does of an order with one link";
    Ok(vec![if page::says_paid(&of_other) { fault("payment-not-found", why) } else { not_read(&seen) }])
}

/// Asks for a link once more when the success page has said paid. A shop may say so, refuse, or give a link that cannot be paid.
async fn when_paid(stage: &mut Stage, line: &Value) -> Result<Vec<Finding>, SetupError> {
    let ran = stage.run(Job::Checkout, line).await;
    if let Some(token) = token_of(&ran) {
        drop(pay(&stage.house, &token));
    }
    let why = "the success page says paid, but the customer who orders again gets a link that can be paid too: claim paid instead";
    Ok(if charges_of(stage)?.len() > 1 { vec![fault("charged-twice", why)] } else { Vec::new() })
}

/// Asks for a link of another order twice at once, and pays by each link that can be paid.
async fn at_once(stage: &mut Stage) -> Result<Vec<Finding>, SetupError> {
    stage.prepared()?;
    let line = input(stage, &format!("{}-at-once", stage.order), "GBP");
    let before = stage.ran().len();
    stage.run_together(Job::Checkout, [&line; 2]).await;
    // Both clicks may get one link.
    let tokens: BTreeSet<_> = stage.ran()[before..].iter().filter_map(token_of).collect();
    for token in tokens {
        drop(pay(&stage.house, &token));
    }
    Ok(match charges_of(stage)?.len() {
        0 => {
            vec![fault("order-cannot-be-paid", "the customer clicks twice at once, and gets no link that can be paid")]
        }
        1 => Vec::new(),
        _ => {
            let why = "the customer clicks twice at once, and both links can be paid: let one request of an order make its link, and \
                       the others wait for that link";
            vec![fault("charged-twice", why)]
        }
    })
}
