//! The course of a world: its opening, its events one by one, and the checks after each.

use crate::{
    checks,
    conduct::ClientBehaviour,
    opening,
    scenario::Scenario,
    secrets::Secrets,
    world::{BEGIN, Played, World},
};

/// More events than any world needs.
const MOST_EVENTS: u32 = 20_000;

/// Runs a world to its end, or to its first violation.
pub(crate) fn play(scenario: Scenario, conduct: &dyn ClientBehaviour) -> Played {
    let orders = opening::orders(scenario);
    let mut secrets = Secrets::default();
    opening::hide(&orders, &mut secrets);
    let mut world = World::new(scenario, conduct, secrets);
    opening::place(&mut world, orders);
    opening::plan_troubles(&mut world);
    live(&mut world);
    let World { log, violation, tally, .. } = world;
    Played { scenario, log: log.into_text(), violation, tally }
}

fn live(world: &mut World<'_>) {
    let mut events = 0;
    while world.step() {
        checks::after_each(world);
        world.ended.clear();
        events += 1;
        if events > MOST_EVENTS {
            world.violate("every world ends", format!("{MOST_EVENTS} events are over"));
        }
        if world.violation.is_some() {
            break;
        }
    }
    world.tally.virtual_millis = world.now - BEGIN;
    if world.violation.is_none() {
        world.note(format_args!("the world is over"));
        checks::at_the_end(world);
    }
    if let Some(violation) = world.violation.clone() {
        world.note(format_args!("VIOLATED {violation}"));
    }
}
