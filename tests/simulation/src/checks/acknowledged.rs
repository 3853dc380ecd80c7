//! Acknowledged data is never lost: each transaction, session, batch and checkout token that a reply named, and each
//! committed transaction, is in the store at the end, whatever crashed in between.

use std::collections::BTreeMap;

use crate::world::World;

pub(crate) fn at_the_end(world: &mut World<'_>) -> Result<(), String> {
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
