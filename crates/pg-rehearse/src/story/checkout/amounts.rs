//! Amounts that the service writes with separators: 1,048.59 GBP, 1.048,59 EUR and 1,048.003 BHD.

use super::{charges_of, not_read};
use crate::{
    adapter::End,
    books::money,
    house::SetupError,
    judge::{broken, fault},
    plan::Job,
    stage::Stage,
    story::{
        Asked,
        order::{after_lookup, after_payment_of, input_of, no_link, pay, token_of},
        page,
    },
};

/// The first one survives every mistake: a page that is not read as paid then proves nothing. No other survives a truncation in floating
/// point, of 32 bits (9.98) or of 64, nor the last one two decimals.
const ORDERS: [(u64, &str); 6] =
    [(1_000, "GBP"), (998, "GBP"), (1_012, "GBP"), (104_859, "GBP"), (104_859, "EUR"), (1_048_003, "BHD")];

/// Pays orders of these prices, and comes back.
pub(super) async fn play(stage: &mut Stage) -> Result<Asked, SetupError> {
    for (price, currency) in ORDERS {
        let is_first = (price, currency) == ORDERS[0];
        let order = format!("{}-{price}-{currency}", stage.order);
        let line = input_of(stage, &order, price, currency);
        let ran = stage.run(Job::Checkout, &line).await;
        let Some(token) = token_of(&ran) else {
            let is_refused = !ran.answer.is_empty() || matches!(ran.end, End::Replied(400..));
            match currency {
                _ if is_first || !is_refused => return Ok(Ok(vec![broken(no_link(&ran))])),
                // A shop may have a highest amount.
                "GBP" => {
                    return Ok(Err(format!(
                        "the shop refuses an order of {}: {}",
                        money(price, currency),
                        no_link(&ran)
                    )));
                }
                // A currency has to be configured on the account (spec 3 §4.1).
                _ => continue,
            }
        };
        stage.prepared()?;
        let key = pay(&stage.house, &token)?;
        let before = stage.exchanges().len();
        let seen = after_payment_of(stage, &order, price, &key, "after the payment").await?;
        let right = money(price, currency);
        let charges = charges_of(stage)?;
        if let Some(wrong) = charges.iter().find(|entry| entry.amount != price || entry.currency != currency) {
            let why = format!("{} was charged instead of {right}", wrong.money());
            return Ok(Ok(vec![fault("wrong-amount", why)]));
        }
        if page::says_paid(&seen) {
            continue;
        }
        let after_lookup = after_lookup(stage, &order, price, &key, before).await?;
        if !after_lookup.as_ref().is_some_and(page::says_paid) {
            let why = format!(
                "the customer has paid {right}, but the success page does not say so after a lookup has shown the payment, as it does of {}: compare whole numbers; \
                 the value of a lookup has the separators of its currency, 1,048.59 or 1.048,59",
                money(ORDERS[0].0, ORDERS[0].1)
            );
            let is_unread = is_first || after_lookup.is_none();
            return Ok(Ok(vec![if is_unread { not_read(&seen) } else { fault("value-not-read", why) }]));
        }
    }
    Ok(Ok(Vec::new()))
}
