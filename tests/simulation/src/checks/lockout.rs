//! No client is locked out: more than five wrong credentials of an address within a day lock it out.

use crate::world::World;

const MOST_FAILURES: usize = 5;

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    // No world lasts a day in which clients send anything.
    match world.refused.iter().position(|times| times.len() > MOST_FAILURES) {
        Some(client) => {
            Err(format!("client {client} was refused {} times for its credentials", world.refused[client].len()))
        }
        None => Ok(()),
    }
}
