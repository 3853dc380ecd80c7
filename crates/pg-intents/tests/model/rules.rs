//! What must be true.

use super::world::{Outcome, Row, World};

pub(super) const TWICE: &str = "the payment is made at most once";
pub(super) const CLAIM: &str = "what is told is what the books hold, then and later";
pub(super) const STORED: &str = "what is told is stored";
pub(super) const AGREED: &str = "everyone is told the same, but for what was unknown";
pub(super) const RECORDED: &str = "what was sent is recorded";
pub(super) const ALIVE: &str = "no lease is taken that has not ended";
pub(super) const OWNERLESS: &str = "nothing is left without an owner or an end";

/// In every world.
pub(super) fn broken(world: &World) -> Option<&'static str> {
    if world.paid > 1 {
        return Some(TWICE);
    }
    for told in &world.told {
        let true_for_ever = match told {
            Outcome::Paid => world.paid == 1,
            Outcome::NotSent => world.paid == 0 && world.copies == 0,
            Outcome::Unknown => true,
        };
        if !true_for_ever {
            return Some(CLAIM);
        }
        let stored = world.row.as_ref().and_then(|row| row.outcome);
        if stored != Some(*told) && !(*told == Outcome::Unknown && stored.is_some()) {
            return Some(STORED);
        }
    }
    let settled = |told: &&Outcome| **told != Outcome::Unknown;
    if world.told.iter().filter(settled).count() > 1 {
        return Some(AGREED);
    }
    if world.sent > 0 && !matches!(&world.row, Some(Row { paying: true, .. })) {
        return Some(RECORDED);
    }
    None
}

/// When nothing more can happen.
pub(super) fn broken_at_the_end(world: &World) -> Option<&'static str> {
    match &world.row {
        Some(row) if row.outcome.is_none() && world.someone_is_left() => Some(OWNERLESS),
        _ => None,
    }
}
