//! Shrinks a failing world: leaves out orders and faults one by one, as long as the same check fails.

use crate::{Scenario, world::Played};

/// Returns the smallest world found that violates the same check, or the given one if it violates none.
pub(crate) fn shrink(failing: Played, play: &dyn Fn(Scenario) -> Played) -> Played {
    let Some(check) = failing.violation.as_ref().map(|violation| violation.check) else { return failing };
    let mut smallest = failing;
    loop {
        let smaller = smallest.scenario.smaller().map(play).find(|played| {
            let same = played.violation.as_ref().is_some_and(|violation| violation.check == check);
            same && played.log.len() <= smallest.log.len()
        });
        match smaller {
            Some(played) => smallest = played,
            None => return smallest,
        }
    }
}
