//! A disabled or deleted card does not pay, nor does a session later than half an hour after it was opened (spec 1
//! §3.1, spec 2 §3.1).

use std::time::Duration;

use pg_sandbox::records::{Payment, PaymentKind};

use crate::{job::Kind, ledger::Ledger, world::World};

const LIFETIME: Duration = Duration::from_secs(30 * 60);

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    let (fresh, tasks) = (&world.fresh, &world.tasks);
    world.service.store.ledger(|ledger| {
        for payment in fresh.iter().filter_map(|key| ledger.payments.get(key)).filter(|payment| asks_the_bank(payment))
        {
            let is_its = |name: &String| payment.unique_reference.as_ref() == Some(name);
            let Some(task) = tasks.iter().find(|task| is_its(&task.job.name)) else { continue };
            match task.job.kind {
                // Another program paid under the same reference.
                _ if is_charge(payment) && !task.job.is_paid_by(payment) => {}
                Kind::Session => session(ledger, payment, &task.job.key)?,
                _ if ledger.without_card.contains(&payment.key) => {
                    return Err(format!("{} was paid with a card that is disabled or deleted", task.job.name));
                }
                _ => {}
            }
        }
        Ok(())
    })
}

fn is_charge(payment: &Payment) -> bool {
    matches!(payment.kind, PaymentKind::Auth | PaymentKind::PreAuth)
}

/// Follow-ups of a payment need no card.
fn asks_the_bank(payment: &Payment) -> bool {
    payment.parent.is_none()
}

fn session(ledger: &Ledger, payment: &Payment, key: &str) -> Result<(), String> {
    let name = payment.unique_reference.as_deref().unwrap_or_default();
    match ledger.sessions.get(key) {
        None => Err(format!("{name} was paid with a session that was not opened")),
        Some(opened) if payment.created >= opened.plus(LIFETIME) => {
            Err(format!("{name} was paid with a session that was opened at {opened}, at {}", payment.created))
        }
        Some(_) => Ok(()),
    }
}
