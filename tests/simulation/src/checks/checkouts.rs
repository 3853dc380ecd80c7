//! The claim of a checkout matches the ledger, at the end of the machine and later; and no token is paid more often
//! than it allows.

use pg_sandbox::records::{Payment, Service};

use crate::{
    job::Kind,
    job::hosted,
    run::Claim,
    task::{Stage, Task},
    world::World,
};

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    world.ended.iter().map(|&task| &world.tasks[task]).try_for_each(|task| check(world, task))
}

pub(crate) fn at_the_end(world: &mut World<'_>) -> Result<(), String> {
    world.tasks.iter().filter(|task| task.stage == Stage::Ended).try_for_each(|task| check(world, task))
}

/// A token is valid for a limited number of approved payments.
pub(crate) fn paid_once(world: &mut World<'_>) -> Result<(), String> {
    let (fresh, tasks) = (&world.fresh, &world.tasks);
    world.service.store.ledger(|ledger| {
        let tokens = fresh.iter().filter_map(|key| ledger.payments.get(key)?.details.get(Payment::TOKEN_ID).cloned());
        for token in tokens {
            let task = tasks.iter().find(|task| task.pages.iter().any(|page| page.ends_with(&token)));
            let Some(task) = task else { return Err(format!("{token} was paid, and no customer was led there")) };
            let (times, most) = (ledger.paid_by_token(&token).count(), hosted::payments(&task.job));
            if times > most {
                return Err(format!("the token of {} was paid {times} times", task.job.name));
            }
        }
        Ok(())
    })
}

fn check(world: &World<'_>, task: &Task) -> Result<(), String> {
    if task.job.kind != Kind::Checkout {
        return Ok(());
    }
    let name = &task.job.name;
    let tokens = task.pages.iter().filter_map(|page| page.rsplit('/').next());
    let paid: Vec<Payment> =
        world.service.store.ledger(|ledger| tokens.flat_map(|token| ledger.paid_by_token(token)).cloned().collect());
    match &task.claim {
        Some(Claim::Approved { key }) => match paid.iter().find(|payment| payment.key == *key) {
            Some(payment) if is_it(payment, task) => Ok(()),
            Some(_) => Err(format!("{name} claims {key}, which is not what was to be paid")),
            None => Err(format!("{name} claims {key}, the ledger holds {} other payments", paid.len())),
        },
        Some(claim @ (Claim::Lapsed | Claim::NotOpened { .. })) => match paid.first() {
            Some(payment) => Err(format!("{name} claims to be {}, and is paid: {}", claim.label(), payment.key)),
            None => Ok(()),
        },
        Some(Claim::Unknown { .. }) => Ok(()),
        other => Err(format!("{name} claims {other:?}, which is not an end of a checkout")),
    }
}

fn is_it(payment: &Payment, task: &Task) -> bool {
    payment.service == Service::V5 && payment.amount == task.job.pence && payment.currency == "GBP"
}
