//! What must be true.

use super::{
    AGREED, CLAIM, OWNERLESS, RECORDED, STORED, TWICE,
    world::{Outcome, Row, World},
};

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
