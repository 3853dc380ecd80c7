//! The application that reads the outcomes of an account from the outbox. It sometimes dies before it acknowledges one.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use pg_intents::IntentStore as _;

use super::{World, checks, seat::Seat};
use crate::{dice::Dice, scenario::Disturbance};

/// The number of its seat, behind those of all processes.
const SEAT: usize = 100;

pub(super) async fn listen(world: Arc<World>, account: usize) {
    let shared = &world.shared;
    let mut dice = Dice::new(shared.scenario.seed, "application");
    let seat = Seat::new(SEAT + account, account, &shared.time, &mut dice, false);
    let connection = world.database.connect(&seat, true);
    let mut heard: BTreeMap<String, i32> = BTreeMap::new();
    loop {
        shared.time.sleep(15_000).await;
        let Ok(untold) = connection.untold(&shared.accounts[account], 5, Duration::from_secs(40)).await else {
            continue;
        };
        for row in untold {
            let name = &row.key.reference;
            let last = heard.entry(name.clone()).or_default();
            if row.event < *last || row.outcome.is_none() {
                shared.violated(checks::OUTBOX, format!("outcome {} of {name} is told after {last}", row.event));
            }
            *last = row.event;
            if shared.fault(Disturbance::ClientCrashes, 200) {
                shared.note(format_args!("the application dies before it acknowledges {name}"));
            } else if connection.told(&row.key, row.event).await.is_ok() {
                shared.note(format_args!("outcome {} of {name} is heard: {}", row.event, row.status.name()));
            }
        }
    }
}
