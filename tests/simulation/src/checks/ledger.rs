//! What the ledger of committed payments must show: one payment an intent, amounts that fit, and no loss of what was
//! acknowledged.

use std::collections::BTreeMap;

use pg_sandbox::records::{Payment, PaymentKind};

use crate::{ledger::Ledger, world::World};

/// At most one payment an intent: the ledger holds one authorisation or reservation of a reference, approved or not.
pub(crate) fn one_payment(world: &mut World<'_>) -> Result<(), String> {
    let fresh = &world.fresh;
    world.service.store.ledger(|ledger| {
        let references = fresh.iter().filter_map(|key| ledger.payments.get(key)?.unique_reference.clone());
        for reference in references {
            let keys: Vec<&str> = ledger.charges(&reference).map(|payment| payment.key.as_str()).collect();
            if keys.len() > 1 {
                return Err(format!("{reference} was paid {} times: {}", keys.len(), keys.join(", ")));
            }
        }
        Ok(())
    })
}

/// Captured and cancelled never exceed what was reserved, refunded never exceeds what was paid. Counted from the captures,
/// cancellations and refunds themselves.
pub(crate) fn amounts_fit(world: &mut World<'_>) -> Result<(), String> {
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

/// Acknowledged data is never lost: each transaction, session, batch and checkout token that a reply named, and each
/// committed transaction, is in the store at the end, whatever crashed in between.
pub(crate) fn acknowledged(world: &mut World<'_>) -> Result<(), String> {
    let stored = world.service.store.payments().map_err(|error| error.to_string())?;
    let stored: BTreeMap<_, _> = stored.into_iter().map(|payment| (payment.key.clone(), payment)).collect();
    for (kind, key) in &world.acknowledged {
        if !world.service.store.holds(kind, key).map_err(|error| error.to_string())? {
            return Err(format!("{key} of {} was acknowledged and is lost", kind.table));
        }
    }
    world.service.store.ledger(|ledger| {
        match ledger.payments.iter().find(|(key, payment)| stored.get(*key) != Some(*payment)) {
            Some((key, _)) => Err(format!("{key} was committed and is not there as it was")),
            None if stored.len() == ledger.payments.len() => Ok(()),
            None => Err("the store holds more than was committed".to_owned()),
        }
    })
}
