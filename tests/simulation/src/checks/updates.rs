//! An account update lists every key of its source once, with the answer of the service, and submits no batch twice
//! unless it says so.

use std::collections::{BTreeMap, BTreeSet};

use pg_proto::machine::account_update::{BatchEnd, BatchResult};
use pg_sandbox::records::BatchCards;

use crate::{job::Kind, task::Task, world::World};

pub(crate) fn at_the_end(world: &mut World<'_>) -> Result<(), String> {
    let batches = world.service.store.batches().map_err(|error| error.to_string())?;
    let updates = world.tasks.iter().filter(|task| task.job.kind == Kind::Update);
    updates.into_iter().try_for_each(|task| check(task, &batches).map_err(|what| format!("{}: {what}", task.job.name)))
}

fn check(task: &Task, batches: &[BatchCards]) -> Result<(), String> {
    // After a crash a result may arrive twice, and counts once.
    let results: BTreeMap<u64, &BatchResult> = task.results.iter().map(|result| (result.number, &**result)).collect();
    let mut seen = BTreeSet::new();
    for result in results.values() {
        answered(result, batches)?;
        for key in keys_of(result) {
            if !seen.insert(key) {
                return Err(format!("{key} has two results"));
            }
        }
        submitted_once(task, result, batches)?;
    }
    let wanted: BTreeSet<&str> = task.job.source.iter().map(|key| key.as_str()).collect();
    match wanted.symmetric_difference(&seen).next() {
        Some(key) if wanted.contains(key) => Err(format!("{key} has no result")),
        Some(key) => Err(format!("{key} has a result that was not asked for")),
        None => Ok(()),
    }
}

/// Every key that a result names.
fn keys_of(result: &BatchResult) -> impl Iterator<Item = &str> {
    let answered = result.entries.iter().map(|entry| entry.old_card_key.as_str());
    answered.chain(result.unanswered.iter().map(|key| key.as_str()))
}

/// Compares the result of a finished batch with the service's.
fn answered(result: &BatchResult, batches: &[BatchCards]) -> Result<(), String> {
    if result.how != BatchEnd::Finished {
        return Ok(());
    }
    let key = result.batch_key.as_ref().map_or("", |key| key.as_str());
    let held = batches.iter().find(|batch| batch.key == key).ok_or_else(|| format!("there is no batch {key}"))?;
    for entry in &result.entries {
        let (old, response) = (entry.old_card_key.as_str(), entry.response.as_str());
        if !held.entries.iter().any(|held| held.old_card_key == old && held.response == response) {
            return Err(format!("batch {key} did not answer {response} for {old}"));
        }
    }
    Ok(())
}

/// The service has the keys of a batch once, unless the result says otherwise or the network doubled the submission.
fn submitted_once(task: &Task, result: &BatchResult, batches: &[BatchCards]) -> Result<(), String> {
    if task.doubled || result.submitted_again > 0 {
        return Ok(());
    }
    for key in keys_of(result) {
        let times = batches.iter().filter(|batch| batch.entries.iter().any(|entry| entry.old_card_key == key)).count();
        if times > 1 {
            return Err(format!("{key} was submitted {times} times, and its result does not say so"));
        }
    }
    Ok(())
}
