//! Every machine ends, and sends a payment at most as often as its bounds allow.

use crate::{
    task::{Stage, Task},
    world::World,
};

/// More steps than any machine needs, crashes included.
const MOST_STEPS: u32 = 400;

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    world.ended.iter().map(|&task| &world.tasks[task]).try_for_each(within)
}

fn within(task: &Task) -> Result<(), String> {
    let (name, sent, most) = (&task.job.name, task.payments_sent, task.job.bounds.attempts);
    if task.job.kind.pays() && sent > most {
        return Err(format!("{name} was sent {sent} times, and may be {most} times"));
    }
    if task.steps > MOST_STEPS {
        return Err(format!("{name} took {} steps", task.steps));
    }
    Ok(())
}

pub(crate) fn at_the_end(world: &mut World<'_>) -> Result<(), String> {
    match world.tasks.iter().find(|task| !matches!(task.stage, Stage::Ended | Stage::Abandoned)) {
        Some(task) => Err(format!("{} has not ended: {:?}", task.job.name, task.stage)),
        None => Ok(()),
    }
}
