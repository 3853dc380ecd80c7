//! Every Unknown can be resolved: at the end of the world, its lookup agrees with the ledger.

use pg_model::TransactionLookup;
use pg_sandbox::records::PaymentKind;

use crate::{ledger::Ledger, run::Claim, world::World};

pub(crate) fn at_the_end(world: &mut World<'_>) -> Result<(), String> {
    let unknown: Vec<(usize, TransactionLookup)> = world
        .tasks
        .iter()
        .enumerate()
        .filter_map(|(number, task)| match &task.claim {
            Some(Claim::Unknown { reconcile: Some(lookup), .. }) => Some((number, lookup.clone())),
            _ => None,
        })
        .collect();
    // A minute after everything else, so that no rate limit applies.
    let mut now = world.now;
    for (number, lookup) in unknown {
        now += 301_000;
        let task = &world.tasks[number];
        let name = task.job.name.clone();
        let account = world.clients[task.client].right_account().clone();
        let request = account.request(&lookup).map_err(|_| format!("the lookup of {name} is not valid"))?;
        let reply = world.service.serve_at_once(now, request);
        let status = reply.status();
        let found = match account.reply::<TransactionLookup>(reply) {
            Ok(found) => found.transactions,
            Err(error) if world.spoken.says_nothing_found(status, &error) => Vec::new(),
            Err(error) => return Err(format!("lookup of {name}: {error}")),
        };
        let found: Vec<String> = found.iter().map(|found| found.transaction_key.as_str().to_owned()).collect();
        // The check of a 3-D Secure payment is found as well, and is not a payment.
        let is_check = |key: &String| {
            let kind = |ledger: &mut Ledger| ledger.payments.get(key).map(|payment| payment.kind);
            !matches!(world.service.store.ledger(kind), None | Some(PaymentKind::Auth | PaymentKind::PreAuth))
        };
        let found: Vec<String> = found.into_iter().filter(|key| !is_check(key)).collect();
        let held: Vec<String> =
            world.service.store.ledger(|ledger| ledger.charges(&name).map(|payment| payment.key.clone()).collect());
        if found != held {
            return Err(format!("the lookup of {name} finds {found:?}, the ledger holds {held:?}"));
        }
    }
    Ok(())
}
