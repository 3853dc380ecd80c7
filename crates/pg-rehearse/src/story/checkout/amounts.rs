//! Amounts that the service writes with separators: 1,048.00 GBP, and 1.048,00 EUR.

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
        order::{PRICE, after_payment_of, input_of, no_link, pay, token_of},
        page,
    },
};

/// The first one is written without a separator of thousands: a page that is not read as paid then proves nothing.
const ORDERS: [(u64, &str); 3] = [(PRICE, "GBP"), (104_800, "GBP"), (104_800, "EUR")];

/// Pays orders of these prices, and comes back.
pub(super) async fn play(stage: &mut Stage) -> Result<Asked, SetupError> {
    for (price, currency) in ORDERS {
        let order = format!("{}-{price}-{currency}", stage.order);
        let line = input_of(stage, &order, price, currency);
        let ran = stage.run(Job::Checkout, &line).await;
        let Some(token) = token_of(&ran) else {
            let is_refused = !ran.answer.is_empty() || matches!(ran.end, End::Replied(400..));
            // A currency has to be configured on the account (spec 3 §4.1).
            let findings = if currency == "EUR" && is_refused { Vec::new() } else { vec![broken(no_link(&ran))] };
            return Ok(Ok(findings));
        };
        stage.prepared()?;
        let key = pay(&stage.house, &token)?;
        let seen = after_payment_of(stage, &order, price, &key, "after the payment").await?;
        let right = money(price, currency);
        let charges = charges_of(stage)?;
        if let Some(wrong) = charges.iter().find(|entry| entry.amount != price || entry.currency != currency) {
            let why = format!("{} was charged instead of {right}", wrong.money());
            return Ok(Ok(vec![fault("wrong-amount", why)]));
        }
        if !page::says_paid(&seen) {
            let why = format!(
                "the customer has paid {right}, but the success page does not say so, as it does of {}: the value of a lookup has the \
                 separators of its currency, 1,048.00 or 1.048,00",
                money(ORDERS[0].0, ORDERS[0].1)
            );
            let is_first = (price, currency) == ORDERS[0];
            return Ok(Ok(vec![if is_first { not_read(&seen) } else { fault("value-not-read", why) }]));
        }
    }
    Ok(Ok(Vec::new()))
}
