//! Plans the events of a world. Each part has its own random numbers, so that leaving one out changes little else.

use std::sync::Arc;

use super::{TROUBLED, World, process::Blow};
use crate::{agenda::Millis, dice::Dice, scenario::Disturbance, world::BEGIN};

/// Starts everything.
pub(super) fn befall(world: &Arc<World>) {
    let mut dice = Dice::new(world.shared.scenario.seed, "fates");
    let credentials = credentials(world, &mut dice);
    for process in &world.processes {
        let mut blows = blows(world, &mut dice);
        if process.seat.account == 0
            && let Some((wrong, right)) = credentials
        {
            blows.push((wrong + dice.below(3_000), Blow::Wrong));
            blows.push((right + dice.below(3_000), Blow::Mended));
        }
        blows.sort_by_key(|(at, _)| *at);
        blows.push((BEGIN + TROUBLED, Blow::Healed));
        tokio::spawn(Arc::clone(process).live(blows));
    }
    failovers(world, &mut dice);
    crashes_of_the_service(world, &mut dice);
}

/// Plans the events of one process.
fn blows(world: &World, dice: &mut Dice) -> Vec<(Millis, Blow)> {
    let scenario = world.shared.scenario;
    let mut all = Vec::new();
    let mut plan = |dice: &mut Dice, kind, per_mille, most, blow: &dyn Fn(&mut Dice) -> Blow| {
        let times = if dice.per_mille(per_mille) { dice.between(1, most) } else { 0 };
        for _ in 0..times {
            let (at, blow) = (BEGIN + 1_000 + dice.below(TROUBLED - 10_000), blow(dice));
            if scenario.has(kind) {
                all.push((at, blow));
            }
        }
    };
    plan(dice, Disturbance::ClientCrashes, 500, 4, &|_| Blow::Kill);
    plan(dice, Disturbance::ClientCrashes, 200, 2, &|_| Blow::Stop);
    plan(dice, Disturbance::Sleepers, 500, 4, &|dice| Blow::Sleep(dice.between(1_000, 100_000)));
    plan(dice, Disturbance::Versions, 400, 1, &|_| Blow::Newer);
    all
}

/// When wrong credentials are deployed for the first account, and when the right ones return.
fn credentials(world: &World, dice: &mut Dice) -> Option<(Millis, Millis)> {
    let (present, from) = (dice.per_mille(400), BEGIN + 5_000 + dice.below(TROUBLED / 2));
    let until = from + dice.between(20_000, 120_000);
    if !present || !world.shared.scenario.has(Disturbance::WrongCredentials) {
        return None;
    }
    let shared = Arc::clone(&world.shared);
    tokio::spawn(async move {
        shared.time.sleep_until(from).await;
        let mut state = shared.state();
        state.notes.refused.clear();
        state.notes.excuses.clear();
    });
    Some((from, until))
}

fn failovers(world: &World, dice: &mut Dice) {
    let times = if dice.per_mille(500) { dice.between(1, 4) } else { 0 };
    let mut all: Vec<(Millis, Millis)> = (0..times)
        .map(|_| (BEGIN + 1_000 + dice.below(TROUBLED - 60_000), dice.pick(&[300, 5_000, 25_000, 50_000])))
        .collect();
    all.sort_unstable();
    if !world.shared.scenario.has(Disturbance::Failovers) {
        return;
    }
    let database = Arc::clone(&world.database);
    tokio::spawn(async move {
        for (at, pause) in all {
            database.shared.time.sleep_until(at).await;
            database.fail_over(pause).await;
        }
    });
}

fn crashes_of_the_service(world: &World, dice: &mut Dice) {
    let times = if dice.per_mille(300) { dice.between(1, 3) } else { 0 };
    let mut all: Vec<(Millis, u32, Millis)> = (0..times)
        .map(|_| {
            let operations = u32::try_from(dice.below(30)).unwrap_or_default();
            (BEGIN + 1_000 + dice.below(TROUBLED - 60_000), operations, dice.between(500, 30_000))
        })
        .collect();
    all.sort_unstable();
    if !world.shared.scenario.has(Disturbance::ServerCrashes) {
        return;
    }
    let shared = Arc::clone(&world.shared);
    tokio::spawn(async move {
        for (at, operations, pause) in all {
            shared.time.sleep_until(at).await;
            shared.note(format_args!("the service will crash"));
            shared.state().service.store.crash_in(operations);
            shared.time.sleep(pause).await;
            let mut state = shared.state();
            if state.service.is_up() {
                state.service.crash();
            }
            state.service.start();
            state.tally.crashes += 1;
        }
    });
}
