//! The claim of a machine matches the ledger: when the machine makes it, and after every late copy has arrived.

use crate::{
    job::Kind,
    run::Claim,
    task::{Stage, Task},
    world::World,
};

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    world.ended.iter().map(|&task| &world.tasks[task]).try_for_each(|task| check(world, task))
}

pub(crate) fn at_the_end(world: &mut World<'_>) -> Result<(), String> {
    for task in world.tasks.iter().filter(|task| task.job.kind.pays()) {
        match (&task.stage, &task.claim) {
            // A refusal for a temporary reason assumes that the network sends nothing twice.
            (Stage::Ended, Some(Claim::Refused { for_good: false })) if task.doubled => {}
            (Stage::Ended, Some(_)) => check(world, task)?,
            (Stage::Abandoned, _) if paid(world, task).is_some() => {
                return Err(format!("{} was abandoned and is paid", task.job.name));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check(world: &World<'_>, task: &Task) -> Result<(), String> {
    // The payments of a checkout are found by its token. They and operations have checks of their own.
    if task.job.kind == Kind::Checkout || task.job.kind.operates() {
        return Ok(());
    }
    let name = &task.job.name;
    let paid = paid(world, task);
    match (&task.claim, paid) {
        (Some(Claim::Approved { key }), Some(paid)) if *key == paid => Ok(()),
        (Some(Claim::Approved { key }), Some(paid)) => Err(format!("{name} claims {key}, the ledger holds {paid}")),
        (Some(Claim::Approved { key }), None) => Err(format!("{name} claims {key}, the ledger holds nothing")),
        (Some(Claim::Declined), None) => {
            let declined =
                world.service.store.ledger(|ledger| ledger.charges(name).any(|payment| task.job.is_paid_by(payment)));
            if declined { Ok(()) } else { Err(format!("{name} claims a decline, the ledger holds nothing")) }
        }
        (Some(Claim::Unknown { reconcile, .. }), _) if task.job.kind.pays() => {
            let names = reconcile.as_ref().and_then(|lookup| lookup.unique_merchant_reference.as_ref());
            if names.is_some_and(|reference| reference.as_str() == name) {
                Ok(())
            } else {
                Err(format!("{name} is unknown and names no lookup"))
            }
        }
        (Some(Claim::Declined | Claim::Refused { .. } | Claim::NotSent), Some(paid)) => {
            let word = task.claim.as_ref().map_or("", Claim::label);
            Err(format!("{name} claims to be {word}, and is paid: {paid}"))
        }
        _ => Ok(()),
    }
}

/// Returns the key of the approved payment of a task.
fn paid(world: &World<'_>, task: &Task) -> Option<String> {
    if !task.job.kind.pays() {
        return None;
    }
    world.service.store.ledger(|ledger| {
        let paid = ledger.paid(&task.job.name).filter(|payment| task.job.is_paid_by(payment));
        paid.map(|payment| payment.key.clone())
    })
}
