//! A generation begins, and the process is killed or the power is cut.

use super::*;
use crate::store::seal::{Needs, Since};

fn generation(store: &Sqlite) -> u64 {
    store.ahead.as_ref().unwrap().redo.generation()
}

/// A store whose log has used both regions, and its content.
fn turned(path: &Path) -> (Sqlite, State) {
    let mut store = Sqlite::open(path, &KEY).unwrap();
    let (first, mut held, mut number) = (generation(&store), State::new(), 0);
    while generation(&store) < first + 2 {
        held = group(&mut store, &[(number, 1, 50)], &held);
        store.commit().unwrap();
        number += 1;
    }
    (store, held)
}

/// The content of a store that is killed now, opened with each of these logs.
fn assert_held(path: &Path, logs: impl IntoIterator<Item = Vec<u8>>, held: &State) {
    let (_folder, left) = file();
    copy_logs(path, &left);
    for (number, log) in logs.into_iter().enumerate() {
        assert_eq!(opened_with(&left, &log).unwrap(), *held, "log {number}");
    }
}

/// SQLite has not committed yet, so the store does not ask for the new generation.
#[test]
fn the_header_of_the_next_generation_may_be_there_in_part_or_belong_to_a_commit_that_failed() {
    let (_folder, path) = file();
    let (mut store, held) = turned(&path);
    let redo = || fs::read(file::redo(&path)).unwrap();
    let before = redo();
    store.ahead.as_ref().unwrap().redo.prepare(store.whole).unwrap();
    let after = redo();
    let at = before.iter().zip(&after).position(|(before, after)| before != after).unwrap();
    let header = at / REGION as usize * REGION as usize;
    let torn = |length: usize| [&after[..header + length], &before[header + length..]].concat();
    assert_held(&path, (0..=HEADER).map(torn), &held);

    // The generation continues, and more of its groups are written.
    let held = group(&mut store, &[(1, 1, 3), (7, 0, 0)], &held);
    store.commit().unwrap();
    assert_held(&path, [redo()], &held);

    // Now it is SQLite's turn.
    store.fold(Needs::Generation).unwrap();
    assert_held(&path, [redo()], &held);
    let held = group(&mut store, &[(2, 1, 3)], &held);
    store.commit().unwrap();
    assert_held(&path, [redo()], &held);
}

/// A start that was interrupted after it had replayed the log, before it wrote a header or after it.
#[test]
fn a_log_that_was_replayed_is_not_needed() {
    let (_folder, path) = file();
    let (store, held) = turned(&path);
    let old = fs::read(file::redo(&path)).unwrap();
    drop(store);
    let (_copy, stopped) = file();
    fs::copy(&path, &stopped).unwrap();
    fs::write(file::log(&stopped), []).unwrap();
    for log in [Vec::new(), vec![0; old.len()], old] {
        fs::write(file::redo(&stopped), &log).unwrap();
        assert_held(&stopped, [log], &held);
    }
}

/// It asked for the length of its log alone, and wrote the header of a generation with its first entry.
#[test]
fn a_store_that_an_earlier_version_left_opens() {
    let by_earlier = |store: &mut Sqlite| {
        let since = Since { generation: generation(store), needs: Needs::Length };
        store.seal_whole(since).unwrap();
    };
    let (_folder, path, states) = crashed_after(0, by_earlier, |_| {});
    assert_eq!(opened_with(&path, &[]).unwrap(), states[0]);
    let (_folder, path, states) = crashed_after(9, by_earlier, |_| {});
    assert_eq!(opened_with(&path, &written(&path)).unwrap(), states[9]);
    assert!(opened_with_length(&path, &[], 9).unwrap_err().to_string().contains("is missing or cut"));
}

/// SQLite's last commit may be lost in a power cut, and the changes that it contains may be overwritten after it is on the disk.
#[test]
fn a_commit_of_sqlite_is_on_the_disk_before_its_generation_is_overwritten() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    // A device that cannot be synced.
    store.ahead.as_mut().unwrap().log = Syncer::new(File::open("/dev/null").unwrap());
    let first = generation(&store);
    let (held, refused) = fill(&mut store);
    assert!(matches!(refused, StoreError::Unsynced(_)), "{refused:?}");
    assert_eq!(generation(&store), first + 1, "SQLite has committed once");
    assert_eq!(state(&mut store), held);
}

/// The power cut has lost SQLite's commit, but not the group after it.
#[test]
fn a_damaged_generation_that_the_store_does_not_ask_for_yet_is_refused_if_it_has_acknowledged_groups() {
    let (_folder, path) = file();
    let (mut store, held) = turned(&path);
    let (_copy, left) = file();
    copy_logs(&path, &left);
    store.fold(Needs::Generation).unwrap();
    let held = group(&mut store, &[(1, 1, 3)], &held);
    store.commit().unwrap();
    store.syncer().unwrap().sync().unwrap();
    let mut log = fs::read(file::redo(&path)).unwrap();
    assert_eq!(opened_with(&left, &log).unwrap(), held);
    let header = (generation(&store) + 1) % 2 * REGION;
    log[usize::try_from(header).unwrap()] ^= 1;
    let error = opened_with(&left, &log).unwrap_err().to_string();
    assert!(error.contains("before commits that were acknowledged"), "{error}");
}
