//! The rate limit per minute holds as the service counts it, for clients whose clock does not jump.

use crate::world::World;

const MINUTE: u64 = 60_000;

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    for (client, times) in world.executed.iter().enumerate() {
        let Some(limit) = world.clients[client].limit.and_then(|limit| usize::try_from(limit).ok()) else { continue };
        if world.clients[client].jumped {
            continue;
        }
        let within = times.iter().rev().take_while(|time| world.now - **time < MINUTE).count();
        if within > limit {
            return Err(format!("client {client} had {within} requests executed within a minute, not {limit}"));
        }
    }
    Ok(())
}
