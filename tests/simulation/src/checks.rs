//! The conditions that must hold after every step and at the end of a world.

use crate::world::World;

mod authenticated;
mod checkouts;
mod claims;
mod ends;
mod follow_ups;
mod ledger;
mod limits;
mod reconciled;
mod secrets;
mod updates;
mod valid;

/// A check, and its name.
type Check = (&'static str, fn(&mut World<'_>) -> Result<(), String>);

const AFTER_EACH: [Check; 12] = [
    ("one payment an intent", ledger::one_payment),
    ("only what is valid pays", valid::after_each),
    ("only an authenticated customer pays", authenticated::after_each),
    ("amounts fit", ledger::amounts_fit),
    ("claims are true", claims::after_each),
    ("a token is paid as often as it may be", checkouts::paid_once),
    ("checkouts are what they claim", checkouts::after_each),
    ("no client is locked out", limits::of_failures),
    ("the throttle holds", limits::of_clients),
    ("all processes have one limit", limits::of_all_processes),
    ("machines keep their bounds", ends::after_each),
    ("secrets stay secret", secrets::after_each),
];

const AT_THE_END: [Check; 8] = [
    ("claims stay true", claims::at_the_end),
    ("checkouts stay what they claim", checkouts::at_the_end),
    ("what is acknowledged stays", ledger::acknowledged),
    ("every machine ends", ends::at_the_end),
    ("unknowns can be reconciled", reconciled::at_the_end),
    ("follow-ups are what they claim", follow_ups::at_the_end),
    ("updates are what the service answered", updates::at_the_end),
    ("secrets stay secret", secrets::at_the_end),
];

pub(crate) fn after_each(world: &mut World<'_>) {
    hold(world, &AFTER_EACH);
}

pub(crate) fn at_the_end(world: &mut World<'_>) {
    hold(world, &AT_THE_END);
}

fn hold(world: &mut World<'_>, checks: &[Check]) {
    for (name, check) in checks {
        if let Err(what) = check(world) {
            world.violate(name, what);
        }
    }
}
