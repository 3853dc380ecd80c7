//! Captured and cancelled never exceed what was reserved, refunded never exceeds what was paid. Counted from the captures,
//! cancellations and refunds themselves.

use pg_sandbox::records::{Payment, PaymentKind};

use crate::{ledger::Ledger, world::World};

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    let fresh = &world.fresh;
    world.service.store.ledger(|ledger| {
        let touched = fresh.iter().filter_map(|key| {
            let payment = ledger.payments.get(key)?;
            ledger.payments.get(payment.parent.as_ref().unwrap_or(key))
        });
        touched.into_iter().try_for_each(|payment| fits(ledger, payment))
    })
}

fn fits(ledger: &Ledger, payment: &Payment) -> Result<(), String> {
    let sum = |kind| ledger.sum(&payment.key, kind);
    let (taken, what) = match payment.kind {
        PaymentKind::PreAuth => (sum(PaymentKind::Capture) + sum(PaymentKind::CancelPreAuth), "captured and cancelled"),
        PaymentKind::Auth | PaymentKind::Capture => (sum(PaymentKind::Refund), "refunded"),
        _ => return Ok(()),
    };
    if taken > payment.amount {
        return Err(format!("{taken} of {} was {what} of {}", payment.amount, payment.key));
    }
    Ok(())
}
