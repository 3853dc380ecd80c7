//! All processes of the service together admit no more requests of an account in a minute than its limit.

use crate::{service::PER_MINUTE, world::World};

const MINUTE: u64 = 60_000;

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    // A process that is alone counts in memory, and forgets when it crashes.
    if world.service.processes() == 1 {
        return Ok(());
    }
    let within = world.opened.iter().rev().take_while(|time| world.now - **time < MINUTE).count();
    if within > usize::try_from(PER_MINUTE).unwrap_or(usize::MAX) {
        return Err(format!("{within} sessions were opened within a minute, not {PER_MINUTE}"));
    }
    Ok(())
}
