//! Limits of requests and of failures: of the service's processes together, of each client, and of each address.

use crate::{service::PER_MINUTE, world::World};

const MINUTE: u64 = 60_000;
/// More wrong credentials of an address within a day lock it out.
const MOST_FAILURES: usize = 5;

/// All processes of the service together admit no more requests of an account in a minute than its limit.
pub(crate) fn of_all_processes(world: &mut World<'_>) -> Result<(), String> {
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

/// No client is locked out.
pub(crate) fn of_failures(world: &mut World<'_>) -> Result<(), String> {
    // No world lasts a day in which clients send anything.
    match world.refused.iter().position(|times| times.len() > MOST_FAILURES) {
        Some(client) => {
            Err(format!("client {client} was refused {} times for its credentials", world.refused[client].len()))
        }
        None => Ok(()),
    }
}

/// The rate limit per minute holds as the service counts it, for clients whose clock does not jump.
pub(crate) fn of_clients(world: &mut World<'_>) -> Result<(), String> {
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
