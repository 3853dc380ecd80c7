//! The process is killed at each write: a part of a record is in the file, or a whole one that was not acknowledged.

use std::{fs, sync::Arc};

use pg_intents::{IntentStatus, PaymentOutcome};

use super::{mistakes::unsynced, *};
use crate::world::{World, by_key, submitted};

const HOUR: Duration = Duration::from_secs(3600);

/// Returns all that callers can see of the store.
async fn seen(store: &FileStore) -> Vec<(IntentRow, Vec<(i32, String)>)> {
    let mut seen = Vec::new();
    for row in store.list(IntentFilter { most: u32::MAX, ..Default::default() }).await.unwrap() {
        let events = store.events(&row.key, 0).await.unwrap();
        seen.push((row, events));
    }
    seen.sort_by(|(one, _), (other, _)| one.key.cmp(&other.key));
    seen
}

fn end(status: IntentStatus, outcome: &str) -> IntentEnd {
    let (state, outcome) = ("last".to_owned(), outcome.to_owned());
    IntentEnd { status, state, outcome, wake: Some(Duration::ZERO), heard: 0, quiet: Duration::ZERO }
}

/// Makes change after change, and returns after each the length of the file and what is seen.
async fn life(store: &FileStore, path: &Path) -> Vec<(usize, Vec<(IntentRow, Vec<(i32, String)>)>)> {
    let kinds = [IntentKind { name: "charge authCardKey".to_owned(), version: 1 }];
    let (one, two) = (submitted("shop", "order-1"), submitted("shop", "order-2"));
    let key = one.key.clone();
    let mut steps = Vec::new();
    for step in 0..8 {
        let hold = store.find(&key).await.unwrap().and_then(|row| row.hold());
        match (step, &hold) {
            (0, _) => drop(store.begin(one.clone()).await.unwrap()),
            (1, _) => drop(store.begin(two.clone()).await.unwrap()),
            (2, _) => assert_eq!(store.claim("shop", "w1", 9, HOUR, &kinds).await.unwrap().len(), 2),
            (3, Some(hold)) => store.save(hold, "saved €", HOUR).await.unwrap(),
            (4, _) => assert!(store.deliver(&key, "event").await.unwrap()),
            (5, Some(hold)) => store.end(hold, end(IntentStatus::Unknown, "unknown")).await.unwrap(),
            (6, _) => drop(store.claim_one(&key, "w2", HOUR, &kinds).await.unwrap()),
            (_, Some(hold)) => store.end(hold, end(IntentStatus::Ended, "paid")).await.unwrap(),
            (_, None) => panic!("step {step} has no lease"),
        }
        steps.push((fs::read(path).unwrap().len(), seen(store).await));
    }
    steps
}

#[tokio::test]
async fn after_a_kill_at_any_write_there_is_each_acknowledged_change_and_no_part_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let (path, cut) = (folder.path().join("intents"), folder.path().join("cut"));
    let steps = life(&unsynced(&path, || 1_700_000_000_000), &path).await;
    let whole = fs::read(&path).unwrap();
    let (mut before, mut expected) = (0, Vec::new());
    for (end, after) in steps {
        for at in (before..end).step_by(37).chain([end - 1, end]) {
            fs::write(&cut, &whole[..at]).unwrap();
            let store = unsynced(&cut, || 1_700_000_000_000);
            let expected = if at == end { &after } else { &expected };
            assert_eq!(seen(&store).await, *expected, "killed after {at} bytes");
            // The next record follows the last whole one.
            assert_eq!(store.begin(submitted("shop", "next")).await, Ok(Begun::New));
            let reopened = unsynced(&cut, || 1_700_000_000_000);
            assert_eq!(seen(&reopened).await.len(), expected.len() + 1, "killed after {at} bytes");
        }
        (before, expected) = (end, after);
    }
    // A record in the middle that cannot be read was acknowledged.
    let mut altered = whole.clone();
    altered[30] ^= 1;
    fs::write(&cut, altered).unwrap();
    let opened = FileStore::open(&cut, || 1_700_000_000_000).err();
    assert_eq!(opened, Some(StoreError::Unreadable("the record at byte 0".to_owned())));
}

/// A later version of the program, which runs on the same machine during an update, may append what this one cannot read.
#[tokio::test]
async fn a_whole_record_of_a_later_version_is_refused_and_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("intents");
    let store = unsynced(&path, || 1_700_000_000_000);
    store.begin(submitted("shop", "order-1")).await.unwrap();
    let end = fs::read(&path).unwrap().len();
    let json = r#"[{"Later":1}]"#;
    let record = format!("{:016x} {json}\n", checksum(json.as_bytes()));
    fs::write(&path, [fs::read(&path).unwrap(), record.clone().into_bytes()].concat()).unwrap();
    let refused = StoreError::Unreadable(format!("the record at byte {end}"));
    assert_eq!(store.begin(submitted("shop", "order-2")).await, Err(refused.clone()));
    assert_eq!(FileStore::open(&path, || 1_700_000_000_000).err(), Some(refused));
    assert_eq!(fs::read(&path).unwrap().len(), end + record.len());
}

#[tokio::test]
async fn two_fleets_with_one_file_make_one_payment() {
    let (world, wire, key) = World::with_card().await;
    let folder = tempfile::tempdir().unwrap();
    let open = || Arc::new(FileStore::open(&folder.path().join("intents"), || 1_700_000_000_000).unwrap());
    let (one, two) = (world.worker_over("one", &open(), &wire).await, world.worker_over("two", &open(), &wire).await);
    let paid = one.charge(by_key(&key, "order-1")).await.unwrap();
    assert!(matches!(paid, PaymentOutcome::Approved(_)), "{paid:?}");
    assert_eq!(two.charge(by_key(&key, "order-1")).await.unwrap(), paid);
    assert_eq!(world.ledger("order-1").await.len(), 1);
}

#[test]
fn a_file_named_without_its_folder_is_in_the_present_one() {
    let folders = ["intents", "data/intents", "/intents"].map(|path| folder_of(Path::new(path)));
    assert_eq!(folders, [".", "data", "/"].map(Path::new));
}
