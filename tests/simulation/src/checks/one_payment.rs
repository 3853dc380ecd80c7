//! At most one payment an intent: the ledger holds one authorisation or reservation of a reference, approved or not.

use crate::world::World;

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
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
