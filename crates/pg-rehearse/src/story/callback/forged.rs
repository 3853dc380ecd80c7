//! Callbacks about payments that were not made, or not for this order: what the shop believes of them.

use super::{FORM, NOTHING_ASKED, paid_callback, post, reached, within};
use crate::{
    house::SetupError,
    judge::{doubt, fault},
    plan::Job,
    shop::Seen,
    stage::Stage,
    story::{
        Asked,
        order::{Meant, Order, after_payment, meant, paid, unclear, without_key},
        page,
    },
    wire::On,
};

/// Posts the keys of other payments: of a cheaper one, and of another order of the same price.
pub(super) async fn other_payment(stage: &mut Stage, order: &Order) -> Result<Asked, SetupError> {
    let cheaper = paid(stage, "another-order", "0.01", "GBP")?;
    let other = Order::made(stage, &format!("{}-other", order.name)).await?;
    let others = other.pay(stage)?;
    let is_unpaid = is_unpaid(stage, order).await?;
    // Whether any answer shows nothing of what was believed.
    let (mut findings, mut is_silent) = (Vec::new(), false);
    for ((token, key), what) in [(cheaper, "a payment of 0.01 GBP"), (others, OF_ANOTHER_ORDER)] {
        let before = stage.exchanges().len();
        let body = order.callback(&token, &key);
        let seen = reached(post(stage, &format!("the key of {what}"), FORM, body).await)?;
        is_silent |= seen.status < 400 && page::claim(&seen).is_none();
        if page::says_paid(&seen) {
            let is_other = what == OF_ANOTHER_ORDER;
            let meant = if is_other { meant(stage, order, &other, &seen).await? } else { Meant::ThisOrder };
            let why = format!("the callback accepts the key of {what} for an order of 9.98 GBP");
            match meant {
                Meant::ThisOrder => findings.push(fault("callback-trusted", why)),
                Meant::Unclear => findings.push(unclear("the callback")),
                Meant::OtherOrder => {}
            }
        } else if is_unpaid {
            has_acted(stage, &seen, before).await;
            if !page::says_paid(&without_key(stage, order).await?) {
                continue;
            }
            let why = format!("after a callback with the key of {what}, the success page says paid");
            findings.push(fault("callback-trusted", why));
        }
    }
    if !findings.is_empty() || !is_silent || !order.is_known() || is_read(stage, order).await? {
        return Ok(Ok(findings));
    }
    let remedy = if stage.troupe.plan.has(Job::CheckoutReturn) {
        "the success page says nothing that is read as paid, even after a payment: print a claim"
    } else {
        "add the job checkout_return, whose page shows what was believed"
    };
    Ok(Err(format!("the answers of the callback say nothing, and {remedy}")))
}

const OF_ANOTHER_ORDER: &str = "the payment of another order";

/// Whether there is a success page that does not say paid, so that what it says later follows from a callback.
async fn is_unpaid(stage: &Stage, order: &Order) -> Result<bool, SetupError> {
    Ok(stage.troupe.plan.has(Job::CheckoutReturn) && !page::says_paid(&without_key(stage, order).await?))
}

/// Lets the shop act on a callback that was answered like this: it may leave the work to a queue. Returns whether it has looked
/// something up.
async fn has_acted(stage: &Stage, seen: &Seen, before: usize) -> bool {
    if seen.status < 400 {
        return stage.settled_since(Job::Callback, before).await;
    }
    stage.exchanges().iter().skip(before).any(|one| one.is(On::Lookup))
}

/// Whether the success page is read as paid after a payment, so that another page of it says something.
async fn is_read(stage: &mut Stage, order: &Order) -> Result<bool, SetupError> {
    if !stage.troupe.plan.has(Job::CheckoutReturn) {
        return Ok(false);
    }
    let (_, key) = order.pay(stage)?;
    Ok(page::says_paid(&after_payment(stage, &order.name, &key, "after a payment").await?))
}

pub(super) async fn forged_payment(stage: &mut Stage, order: &Order) -> Result<Asked, SetupError> {
    let trusted = |why: String| Ok(Ok(vec![fault("callback-trusted", why)]));
    let is_unpaid = is_unpaid(stage, order).await?;
    let before = stage.exchanges().len();
    let forged = order.callback(&stage.dice.letters(32), &stage.dice.letters(32));
    let seen = reached(post(stage, "a payment that never was", FORM, forged).await)?;
    if page::says_paid(&seen) {
        return trusted("a forged callback was trusted: it says paid, but nothing was charged".to_owned());
    }
    let has_asked = has_acted(stage, &seen, before).await;
    if is_unpaid && page::says_paid(&without_key(stage, order).await?) {
        return trusted("after a forged callback the success page says paid, but nothing was charged".to_owned());
    }
    if has_asked {
        return if forged_again(stage, order, is_unpaid).await? {
            trusted("a forged callback was trusted when the lookup of its payment failed".to_owned())
        } else {
            Ok(Ok(Vec::new()))
        };
    }
    if seen.status >= 400 || page::claim(&seen).is_some() {
        return Ok(Ok(Vec::new()));
    }
    if !order.is_known() {
        let genuine = paid_callback(stage, order)?;
        let before = stage.exchanges().len();
        let seen = reached(post(stage, "a payment", FORM, genuine).await)?;
        if page::claim(&seen).is_none() && !stage.asked_since(before).await {
            return Ok(Err(order.unknown(NOTHING_ASKED)));
        }
    }
    let why = format!("a forged callback was accepted without asking the service within {}", within());
    // The page would say paid if the callback had been believed. Without such a page it is unknown.
    if is_unpaid && order.is_known() && is_read(stage, order).await? {
        return Ok(Ok(vec![doubt("not-confirmed", format!("{why}; the success page does not say paid"))]));
    }
    trusted(why)
}

/// Posts another forged callback while all lookups fail. Returns whether it is trusted.
async fn forged_again(stage: &mut Stage, order: &Order, is_unpaid: bool) -> Result<bool, SetupError> {
    let before = stage.exchanges().len();
    let forged = order.callback(&stage.dice.letters(32), &stage.dice.letters(32));
    stage.wire().fail_lookups(true);
    let seen = post(stage, "another one, while lookups fail", FORM, forged).await;
    let is_trusted = match seen {
        Ok(seen) if page::says_paid(&seen) => true,
        Ok(seen) if is_unpaid => {
            has_acted(stage, &seen, before).await;
            page::says_paid(&without_key(stage, order).await?)
        }
        _ => false,
    };
    stage.wire().fail_lookups(false);
    Ok(is_trusted)
}
