//! With 3-D Secure only an authenticated customer pays, unless the merchant chose to pay without liability shift (spec 2
//! §3.3). The hosted page has no such choice.

use pg_proto::machine::three_d_secure::NoLiabilityShift;
use pg_sandbox::records::{AuthenticationEnd, Payment, PaymentKind, Service};

use crate::{job::Kind, task::Task, world::World};

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    let (fresh, tasks, spoken) = (&world.fresh, &world.tasks, &world.spoken);
    world.service.store.ledger(|ledger| {
        let payments = fresh.iter().filter_map(|key| ledger.payments.get(key));
        for payment in payments.filter(|one| matches!(one.kind, PaymentKind::Auth | PaymentKind::PreAuth)) {
            let end = ledger.authentication_of(&payment.key);
            let task = tasks.iter().find(|task| is_paid_by(task, payment));
            let right = match (task, end) {
                (_, Some(AuthenticationEnd::Authenticated)) => true,
                (Some(task), Some(AuthenticationEnd::NotEnrolled)) => {
                    task.proceeds || task.job.three_d_secure().without_shift == NoLiabilityShift::Proceed
                }
                // The merchant was asked about a status that the client does not know.
                (Some(task), Some(_)) => task.proceeds && !spoken.is_understood(),
                (Some(_), None) => false,
                (None, Some(AuthenticationEnd::NotEnrolled) | None) => true,
                (None, Some(_)) => payment.service != Service::V5 || !payment.approved(),
            };
            if !right {
                let end = end.map_or("missing".to_owned(), |end| format!("{end:?}"));
                return Err(format!("{} was paid, and its authentication is {end}", payment.key));
            }
        }
        Ok(())
    })
}

/// Whether it is the payment of a task with 3-D Secure. Another program may pay something else under its reference.
fn is_paid_by(task: &Task, payment: &Payment) -> bool {
    let (job, reference) = (&task.job, payment.unique_reference.as_ref());
    job.kind == Kind::ThreeDSecure && reference == Some(&job.name) && job.is_paid_by(payment)
}
