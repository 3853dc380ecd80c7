//! Callbacks about payments that were not made, or not for this order: what the shop believes of them.

use super::{FORM, NOTHING_ASKED, Silent, post, reached, within};
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
    wire::{Act, FAILURES},
};

/// Posts the keys of other payments: of a cheaper one, and of another order of the same price. Each is posted with the token and
/// the price of this order, and with its own: a callback that fits its key says nothing about the order that it names.
pub(super) async fn other_payment(stage: &mut Stage, order: &Order) -> Result<Asked, SetupError> {
    let cheaper = paid(stage, "another-order", "0.01", "GBP")?;
    let other = Order::made(stage, &format!("{}-other", order.name)).await?;
    let others = other.pay(stage)?;
    let is_unpaid = is_unpaid(stage, order).await?;
    let (mut findings, mut is_silent, mut has_asked) = (Vec::new(), false, false);
    let mut posts = Vec::new();
    for ((token, key), value, what) in [(cheaper, "0.01", "a payment of 0.01 GBP"), (others, "9.98", OF_ANOTHER_ORDER)]
    {
        posts.push((order.callback(&token, &key), key.clone(), what, ""));
        posts.push((order.callback_of(&token, &key, value), key, what, ", with its token and price"));
    }
    for (body, key, what, how) in posts {
        let before = stage.exchanges().len();
        let seen = reached(post(stage, &format!("the key of {what}{how}"), FORM, body).await)?;
        is_silent |= says_nothing(&seen);
        if page::says_paid(&seen) {
            let is_other = what == OF_ANOTHER_ORDER;
            let meant = if is_other { meant(stage, order, &other, &seen).await? } else { Meant::ThisOrder };
            let why = format!("the callback accepts the key of {what} for an order of 9.98 GBP{how}");
            match meant {
                Meant::ThisOrder => findings.push(fault("callback-trusted", why)),
                Meant::Unclear => findings.push(unclear("the callback")),
                Meant::OtherOrder => {}
            }
        } else if is_unpaid {
            let has_acted = has_acted(stage, &seen, &key, before).await;
            // A late lookup may be that of the post of this key before.
            has_asked |= has_acted && how.is_empty();
            if !page::says_paid(&without_key(stage, order).await?) {
                continue;
            }
            let why = format!("after a callback with the key of {what}{how}, the success page says paid");
            findings.push(fault("callback-trusted", why));
        }
    }
    if findings.is_empty() && is_silent && !shows_belief(stage, order, is_unpaid, has_asked).await? {
        return Ok(Err(unseen(stage, order)));
    }
    Ok(Ok(findings))
}

const OF_ANOTHER_ORDER: &str = "the payment of another order";

/// Whether there is a success page that does not say paid, so that what it says later follows from a callback.
async fn is_unpaid(stage: &Stage, order: &Order) -> Result<bool, SetupError> {
    Ok(stage.troupe.plan.has(Job::CheckoutReturn) && !page::says_paid(&without_key(stage, order).await?))
}

/// Lets the shop act on a callback that was answered like this: it may leave the work to a queue. Returns whether it has looked
/// something up.
async fn has_acted(stage: &Stage, seen: &Seen, key: &str, before: usize) -> bool {
    if seen.status < 400 {
        return stage.settled_since(Job::Callback, key, before).await;
    }
    stage.has_asked_about(key, before)
}

/// Whether an answer of the callback shows nothing of what was believed.
fn says_nothing(seen: &Seen) -> bool {
    seen.status < 400 && page::claim(seen).is_none()
}

/// Whether anything says paid about the order once it is paid, so that silence about a callback says that it was not believed:
/// the answer to the genuine callback, or the success page. It is opened without a key, as after the other callbacks, since
/// with a key it may say what the service says. If those callbacks were ignored, the customer comes back first.
async fn shows_belief(stage: &mut Stage, order: &Order, is_unpaid: bool, has_asked: bool) -> Result<bool, SetupError> {
    let (token, key) = order.pay(stage)?;
    let before = stage.exchanges().len();
    let seen = reached(post(stage, "a payment", FORM, order.callback(&token, &key)).await)?;
    if page::says_paid(&seen) || !is_unpaid {
        return Ok(page::says_paid(&seen));
    }
    if has_asked {
        has_acted(stage, &seen, &key, before).await;
    } else {
        after_payment(stage, &order.name, &key, "after a payment").await?;
    }
    Ok(page::says_paid(&without_key(stage, order).await?))
}

/// Returns why the drill proves nothing about a shop whose answers say nothing, nor its page.
fn unseen(stage: &Stage, order: &Order) -> String {
    let silent = "the answers of the callback say nothing";
    if !order.is_known() {
        return order.unknown(silent);
    }
    let remedy = if stage.troupe.plan.has(Job::CheckoutReturn) {
        "the success page, opened without a key, is read the same before a payment and 1.5 seconds after it: let it say what was \
         settled, or print a claim in the answers"
    } else {
        "add the job checkout_return, whose page shows what was settled"
    };
    format!("{silent}, and {remedy}")
}

pub(super) async fn forged_payment(stage: &mut Stage, order: &Order) -> Result<Asked, SetupError> {
    let trusted = |why: String| Ok(Ok(vec![fault("callback-trusted", why)]));
    let is_unpaid = is_unpaid(stage, order).await?;
    let before = stage.exchanges().len();
    let (token, key) = (stage.dice.letters(32), stage.dice.letters(32));
    let forged = order.callback(&token, &key);
    let seen = reached(post(stage, "a payment that never was", FORM, forged).await)?;
    if page::says_paid(&seen) {
        return trusted("a forged callback was trusted: it says paid, but nothing was charged".to_owned());
    }
    let has_asked = has_acted(stage, &seen, &key, before).await;
    if is_unpaid && page::says_paid(&without_key(stage, order).await?) {
        return trusted("after a forged callback the success page says paid, but nothing was charged".to_owned());
    }
    if has_asked {
        let mut is_silent = says_nothing(&seen);
        for (what, how) in FAILURES {
            let again = forged_again(stage, order, is_unpaid, what, how).await?;
            if again == Belief::Shown {
                return trusted(format!("a forged callback is trusted while lookups {what}"));
            }
            is_silent |= again == Belief::Unseen;
        }
        if is_silent && !shows_belief(stage, order, is_unpaid, has_asked).await? {
            return Ok(Err(unseen(stage, order)));
        }
        return Ok(Ok(Vec::new()));
    }
    if !says_nothing(&seen) {
        return Ok(Ok(Vec::new()));
    }
    if !order.is_known() {
        let (token, key) = order.pay(stage)?;
        let before = stage.exchanges().len();
        let seen = reached(post(stage, "a payment", FORM, order.callback(&token, &key)).await)?;
        if page::claim(&seen).is_none() && !stage.asked_about(&key, before).await {
            return Ok(Err(order.unknown(NOTHING_ASKED)));
        }
    }
    let why = format!("a forged callback was accepted without asking the service within {}", within());
    if is_unpaid && order.is_known() && shows_belief(stage, order, is_unpaid, has_asked).await? {
        return Ok(Ok(vec![doubt("not-confirmed", format!("{why}; the success page does not say paid"))]));
    }
    trusted(why)
}

/// Whether a forged callback was believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Belief {
    Shown,
    Denied,
    /// Its answer says nothing.
    Unseen,
}

/// Posts another forged callback while all lookups fail like this.
async fn forged_again(
    stage: &mut Stage,
    order: &Order,
    is_unpaid: bool,
    what: &str,
    how: Act,
) -> Result<Belief, SetupError> {
    let before = stage.exchanges().len();
    let (token, key) = (stage.dice.letters(32), stage.dice.letters(32));
    let forged = order.callback(&token, &key);
    stage.wire().fail_lookups(Some(how));
    let seen = post(stage, &format!("another one, while lookups {what}"), FORM, forged).await;
    let mut is_shown = seen.as_ref().is_ok_and(page::says_paid);
    if !is_shown && is_unpaid {
        match &seen {
            Ok(seen) => has_acted(stage, seen, &key, before).await,
            // A program may settle the order before it fails.
            Err(_) => stage.settled_since(Job::Callback, &key, before).await,
        };
        is_shown = page::says_paid(&without_key(stage, order).await?);
    }
    stage.wire().fail_lookups(None);
    Ok(match is_shown {
        true => Belief::Shown,
        false if seen.as_ref().is_ok_and(says_nothing) => Belief::Unseen,
        false if !is_unpaid && matches!(seen, Err(Silent::Crashed { .. })) => Belief::Unseen,
        false => Belief::Denied,
    })
}
