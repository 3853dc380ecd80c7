//! `kill -9` under load.

use std::path::Path;

use pg_support::Dice;

use crate::durability::{
    Sandbox,
    audit::audit,
    command,
    load::{Fuse, checked, spin, under_load, writers},
    piped,
};

/// The default number of kills; `PG_KILL_ROUNDS` sets another.
const ROUNDS: u64 = 8;
/// The default seed of the moments; `PG_KILL_SEED` sets another.
const SEED: u64 = 20;

#[test]
fn nothing_that_was_acknowledged_is_lost() {
    let (rounds, seed) = (setting("PG_KILL_ROUNDS", ROUNDS), setting("PG_KILL_SEED", SEED));
    let mut dice = Dice::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");

    let mut sandbox = Sandbox::start(&store);
    let mut writers = writers(&sandbox, &mut dice);
    let mut wrong = Vec::new();
    for round in 1..=rounds {
        drop(under_load(sandbox, &mut writers, &Fuse::new(&mut dice), Sandbox::kill));
        if dice.between(0, 3) == 0 {
            killed_while_it_starts(&store, &mut dice);
        }
        sandbox = Sandbox::started(command(&store))
            .unwrap_or_else(|ended| panic!("round {round} of seed {seed}: it did not start again: {ended:?}"));
        let lost = checked(&sandbox, &mut writers);
        wrong.extend(lost.into_iter().map(|lost| format!("round {round}: {lost}")));
        for list in ["requests", "tokens", "callbacks", "clock"] {
            sandbox.caller().show(list);
        }
    }
    wrong.extend(audit(&mut sandbox.caller(), &writers));

    let acknowledged: usize = writers.iter().map(|writer| writer.acknowledged.len()).sum();
    let wrongs = wrong.len();
    eprintln!(
        "seed {seed}: {rounds} times killed and started again, {acknowledged} writes acknowledged, {wrongs} wrong"
    );
    assert!(wrong.is_empty(), "seed {seed}:\n{}", wrong.join("\n"));
}

/// A check that cannot fail proves nothing.
#[test]
fn lost_writes_are_detected() {
    let mut dice = Dice::new(SEED);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    let new = Sandbox::start(&store);
    new.signal("-TERM");
    assert_eq!(new.ended().0, Some(0));
    let empty = std::fs::read(&store).unwrap();
    let sandbox = Sandbox::start(&store);
    let mut writers = writers(&sandbox, &mut dice);
    drop(under_load(sandbox, &mut writers, &Fuse::after_replies(50), Sandbox::kill));
    let logs = ["shop.sqlite-redo", "shop.sqlite-wal"].map(|log| folder.path().join(log));
    std::fs::remove_file(&logs[0]).unwrap();
    let refused = command(&store).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("-redo is missing or cut"), "{refused:?}");
    // SQLite removes its own log if there is nothing in it.
    if logs[1].exists() {
        std::fs::remove_file(&logs[1]).unwrap();
    }
    std::fs::write(&store, empty).unwrap();
    let sandbox = Sandbox::start(&store);
    let acknowledged: usize = writers.iter().map(|writer| writer.acknowledged.len()).sum();
    assert!(acknowledged >= 50);
    assert!(audit(&mut sandbox.caller(), &writers).len() >= acknowledged);
    writers.iter_mut().for_each(|writer| writer.unanswered.clear());
    assert_eq!(checked(&sandbox, &mut writers).len(), acknowledged);
}

/// Killed again before, while or after it reads what the last one has left.
fn killed_while_it_starts(store: &Path, dice: &mut Dice) {
    let mut child = piped(&mut command(store)).spawn().unwrap();
    spin(dice.between(0, 1_000_000));
    child.kill().unwrap();
    child.wait().unwrap();
}

pub(crate) fn setting(name: &str, otherwise: u64) -> u64 {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name} is not a number: {value}")),
        Err(_) => otherwise,
    }
}
