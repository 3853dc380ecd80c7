//! A capture, a cancellation, a refund or a repeat matches the claim of its machine, and was executed once unless the network
//! doubled it. A refusal or a decline is one of every copy.

use pg_sandbox::records::PaymentKind;

use crate::{job::Kind, run::Claim, task::Task, world::World};

pub(crate) fn at_the_end(world: &mut World<'_>) -> Result<(), String> {
    world.tasks.iter().filter(|task| task.job.kind.operates()).try_for_each(|task| check(world, task))
}

fn check(world: &World<'_>, task: &Task) -> Result<(), String> {
    let kind = match task.job.kind {
        Kind::Capture => PaymentKind::Capture,
        Kind::Cancel => PaymentKind::CancelPreAuth,
        Kind::Repeat => PaymentKind::Auth,
        _ => PaymentKind::Refund,
    };
    let name = &task.job.name;
    let done: Vec<String> = world.service.store.ledger(|ledger| {
        let children = ledger.children(&task.job.key);
        let done = children.filter(|child| child.kind == kind && child.amount == task.job.pence && child.approved());
        done.map(|child| child.key.clone()).collect()
    });
    if done.len() > 1 && !task.doubled {
        return Err(format!("{name} was done {} times", done.len()));
    }
    match &task.claim {
        Some(Claim::Done { brought }) if !done.contains(brought) => {
            Err(format!("{name} claims {brought}, the ledger does not hold it"))
        }
        Some(Claim::NotSent) if !done.is_empty() => Err(format!("{name} claims that nothing left, and was done")),
        Some(Claim::Refused { .. }) if !done.is_empty() => Err(format!("{name} claims to be refused, and was done")),
        // A decline of a repeat may answer one copy while the bank has approved the other one.
        Some(Claim::Declined) if task.job.kind == Kind::Repeat && task.doubled => Ok(()),
        Some(Claim::Declined) if !done.is_empty() => Err(format!("{name} claims to be declined, and was done")),
        _ => Ok(()),
    }
}
