//! `begin` again stores a new intent, and the payment is sent again.

use pg_intents::IntentStatus::{Ended, Open, Parked, Unknown};

use super::*;

type Rows = fn(&IntentRow) -> bool;

struct Again(FileStore, Mistake);

#[derive(Clone, Copy)]
enum Mistake {
    /// `begin` does not see such rows, as with a partial index or an archive.
    Unseen(Rows),
    KindInKey,
    VersionInKey,
    /// `told` deletes what has ended.
    ToldDeletes,
}

impl IntentStore for Again {
    pass_on! {
        enlist save renew release end rest deliver events claim claim_one find list accounts direct untold shares stop stopped
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        let is_seen = |row: &IntentRow| match self.1 {
            Mistake::Unseen(is) => !is(row),
            Mistake::KindInKey => row.kind == new.kind,
            Mistake::VersionInKey => row.version == new.version,
            Mistake::ToldDeletes => true,
        };
        self.0.change(|data, now| match data.intents.get(&new.key).map(|stored| stored.at(now)).filter(is_seen) {
            Some(row) => Ok((Vec::new(), Begun::Existing(Box::new(row)))),
            None => Ok((vec![Change::Intent(Box::new(Stored::begun(new.clone(), now)))], Begun::New)),
        })
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        self.0.told(key, event).await?;
        let row = self.0.find(key).await?;
        if matches!(self.1, Mistake::ToldDeletes) && row.is_some_and(|row| row.status == Ended && row.told == row.event)
        {
            self.0.log.lock().unwrap().data.intents.remove(key);
        }
        Ok(())
    }
}

#[test]
fn a_second_intent_under_a_reference_is_found() {
    let is = |name: &str, mistake, done: &str| {
        is_found(
            name,
            |store| Again(store, mistake),
            "Stores a new intent with fencing number 1. Changes nothing",
            done,
        );
    };
    let unseen: [(&str, Rows); 11] = [
        ("unowned", |row| row.status == Open && row.owner.is_none()),
        ("expired", |row| row.owner.is_some() && row.is_due()),
        ("claimed", |row| row.owner.is_some() && row.fence == 2),
        ("released", |row| row.status == Open && row.owner.is_none() && row.due > row.created),
        ("resting", |row| row.asks.is_some()),
        ("unknown", |row| row.status == Unknown),
        ("unknown, acknowledged", |row| row.status == Unknown && row.told == 1),
        ("parked", |row| row.status == Parked),
        ("parked by an operator", |row| row.status == Parked && row.outcome.is_none()),
        ("ended", |row| row.status == Ended),
        ("ended, acknowledged", |row| row.status == Ended && row.told == 1),
    ];
    for (name, rows) in unseen {
        is(name, Mistake::Unseen(rows), &format!("began an intent that is {name}, again with the same kind"));
    }
    is("kind in the key", Mistake::KindInKey, "began an intent that is unowned, again with another kind");
    is("version in the key", Mistake::VersionInKey, "began an intent that is unowned, again with another version");
    let deletes = |store| Again(store, Mistake::ToldDeletes);
    is_found("told deletes", deletes, "Acknowledges the outcome with this number", "ended, acknowledged: event, told");
}
