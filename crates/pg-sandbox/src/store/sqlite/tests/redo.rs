//! The redo log keeps its content whenever the process or the machine stops.

use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, Mac as _};
use http::Method;
use sha2::Sha256;

use super::*;
use crate::{
    ResponseDelivery, Sandbox, Settings, Timestamp,
    store::sqlite::redo::{HEADER, REGION},
    vault::{derived, keyed},
};

mod behind;
mod generations;
mod other_logs;
mod receipts;

/// The content of a store.
type State = BTreeMap<String, Note>;

fn state(store: &mut Sqlite) -> State {
    let found = Transaction::new(store).find::<Note>(&Query::newest(1_000)).unwrap();
    found.into_iter().map(|note| (note.key.clone(), note)).collect()
}

/// The content, read key by key.
fn state_by_key(store: &mut Sqlite) -> State {
    let mut found = State::new();
    for key in (0..20).map(|key| format!("k{key}")) {
        let note = Transaction::new(store).get::<Note>(&key).unwrap();
        assert_eq!(store.holds(Note::KIND, &key).unwrap(), note.is_some());
        found.extend(note.map(|note| (key, note)));
    }
    found
}

/// Executes the encoded operations in one group, and returns the expected content if the group is kept.
fn group(store: &mut Sqlite, told: &[(u8, u8, u8)], before: &State) -> State {
    let mut after = before.clone();
    store.begin().unwrap();
    for &(key, what, value) in told {
        // Some entries are as long as a region, and most are short.
        let reference = "r".repeat(if what == 7 { 20_000 } else { usize::from(value) * 8 });
        let note = note(&format!("k{}", key % 20), "main", &reference);
        let mut records = Transaction::new(store);
        if what % 4 == 0 {
            records.remove::<Note>(&note.key).unwrap();
            after.remove(&note.key);
        } else {
            records.put(&note).unwrap();
            after.insert(note.key.clone(), note);
        }
        records.keep().unwrap();
    }
    after
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_commit_is_there_after_a_crash_a_rollback_and_a_close(
        groups in proptest::collection::vec(
            (proptest::collection::vec((0..20_u8, 0..8_u8, any::<u8>()), 0..6), 0..8_u8, 0..6_u8),
            0..40,
        ),
    ) {
        let (_folder, mut path) = file();
        let mut folders = Vec::new();
        let mut store = Sqlite::open(&path, &KEY).unwrap();
        let mut held = State::new();
        for (told, then, settled) in groups {
            let after = group(&mut store, &told, &held);
            prop_assert_eq!(state_by_key(&mut store), after.clone());
            if settled == 0 {
                // A query within the group: SQLite has a part of it.
                prop_assert_eq!(state(&mut store), after.clone());
            }
            match then {
                0 | 1 => store.rollback(),
                _ => {
                    store.commit().unwrap();
                    held = after;
                }
            }
            prop_assert_eq!(state_by_key(&mut store), held.clone());
            let mut left = settled;
            store.settle(&mut || {
                left = left.saturating_sub(1);
                left == 0
            });
            prop_assert_eq!(state_by_key(&mut store), held.clone());
            match then {
                2 => {
                    // The process is killed: the files stay as they are.
                    let (folder, copy) = file();
                    copy_logs(&path, &copy);
                    drop(store);
                    store = Sqlite::open(&copy, &KEY).unwrap();
                    folders.push(folder);
                    path = copy;
                }
                3 => {
                    drop(store);
                    prop_assert!(!file::redo(&path).exists() && !file::log(&path).exists());
                    store = Sqlite::open(&path, &KEY).unwrap();
                }
                // The next group begins while SQLite lacks a part of this one.
                6 | 7 => continue,
                _ => {}
            }
            prop_assert_eq!(state(&mut store), held.clone());
        }
    }
}

/// A store that was left by a crash after some groups, and what it held after each of them. No group was synced.
fn crashed(groups: u8) -> (TempDir, PathBuf, Vec<State>) {
    crashed_after(groups, |_| {}, |_| {})
}

/// The same, with something done when it is opened and after each commit.
fn crashed_after(
    groups: u8,
    opened: impl Fn(&mut Sqlite),
    committed: impl Fn(&Sqlite),
) -> (TempDir, PathBuf, Vec<State>) {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    opened(&mut store);
    let mut states = vec![State::new()];
    for number in 0..groups {
        let told = [(number, 1, number % 50), (number / 2, 1, 3), (number.wrapping_sub(5), 0, 0)];
        let after = group(&mut store, &told, states.last().unwrap());
        store.commit().unwrap();
        committed(&store);
        states.push(after);
    }
    let (folder, copy) = file();
    copy_logs(&path, &copy);
    (folder, copy, states)
}

/// The content of a store with this redo log and nothing after it, as long as the log was.
fn opened_with(left: &Path, redo: &[u8]) -> Result<State, StoreError> {
    let length = fs::metadata(file::redo(left)).unwrap().len();
    opened_with_length(left, redo, length)
}

fn opened_with_length(left: &Path, redo: &[u8], length: u64) -> Result<State, StoreError> {
    let (_folder, copy) = file();
    copy_logs(left, &copy);
    fs::write(file::redo(&copy), redo).unwrap();
    fs::OpenOptions::new().write(true).open(file::redo(&copy)).unwrap().set_len(length).unwrap();
    Sqlite::open(&copy, &KEY).map(|mut store| state(&mut store))
}

/// The redo log up to its last byte that is not zero.
fn written(path: &Path) -> Vec<u8> {
    let mut redo = fs::read(file::redo(path)).unwrap();
    redo.truncate(redo.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
    redo
}

/// Every position that is a multiple of `step`, without the gaps between the entries and the receipts.
fn positions(redo: &[u8], step: usize) -> impl Iterator<Item = usize> {
    (0..redo.len()).step_by(step).filter(|at| redo[*at..].iter().take(64).any(|byte| *byte != 0))
}

#[test]
fn a_redo_log_whose_end_was_not_written_is_an_earlier_commit() {
    let (_folder, path, states) = crashed(5);
    let redo = written(&path);
    assert_eq!(opened_with(&path, &redo).unwrap(), states[5]);
    let mut seen = vec![false; states.len()];
    // The header was synced.
    for length in (HEADER..redo.len()).step_by(61) {
        let found = opened_with(&path, &redo[..length]).unwrap();
        seen[states.iter().position(|state| *state == found).expect("one of the commits")] = true;
    }
    assert!(seen[..5].iter().all(|seen| *seen), "{seen:?}");
}

/// Whether it has entries or not, and whether SQLite has committed some of them or not.
#[test]
fn a_cut_or_missing_redo_log_is_refused() {
    for groups in [0, 1, 90] {
        let (_folder, path, states) = crashed(groups);
        let redo = fs::read(file::redo(&path)).unwrap();
        let whole = redo.len() as u64;
        for length in (0..whole).step_by(1_999).chain([whole - 1]) {
            let error = opened_with_length(&path, &redo, length).unwrap_err();
            assert!(error.to_string().contains("-redo is missing or cut"), "{error}");
        }
        assert_eq!(opened_with_length(&path, &redo, whole).unwrap(), *states.last().unwrap());
        // The file alone, as in a backup without the logs.
        let (_other, copy) = file();
        fs::copy(&path, &copy).unwrap();
        let error = Sqlite::open(&copy, &KEY).err().unwrap().to_string();
        assert!(error.contains("-redo is missing or cut"), "{error}");
        fs::remove_file(file::redo(&path)).unwrap();
        assert!(Sqlite::open(&path, &KEY).is_err());
    }
}

#[test]
fn a_damaged_redo_log_is_an_earlier_commit() {
    // Both regions are in use, and SQLite has committed some of it.
    let (_folder, path, states) = crashed(90);
    let redo = written(&path);
    assert_eq!(opened_with(&path, &redo).unwrap(), states[90]);
    let mut earlier = 0;
    for at in (0..redo.len()).step_by(397) {
        let mut damaged = redo.clone();
        damaged[at] ^= 1 << (at % 8);
        match opened_with(&path, &damaged) {
            Ok(found) => {
                assert!(states.contains(&found), "byte {at}");
                earlier += usize::from(found != states[90]);
            }
            // The header was synced.
            Err(error) => assert!(at as u64 % REGION < HEADER as u64, "byte {at}: {error}"),
        }
    }
    assert!(earlier > 0);
}

/// Opens a store after each of many damages to its redo log. Returns the states that were found, and how many times it was refused.
fn damaged(path: &Path, states: &[State], step: usize) -> (BTreeSet<usize>, usize) {
    let redo = written(path);
    assert_eq!(opened_with(path, &redo).unwrap(), *states.last().unwrap());
    let (mut found, mut refused) = (BTreeSet::new(), 0);
    for at in positions(&redo, step) {
        let mut damaged = redo.clone();
        damaged[at] ^= 1 << (at % 8);
        match opened_with(path, &damaged) {
            Ok(state) => {
                found.insert(states.iter().position(|known| *known == state).expect("one of the commits"));
            }
            Err(error) => {
                assert!(error.to_string().contains("before commits that were acknowledged"), "byte {at}: {error}");
                refused += 1;
            }
        }
    }
    (found, refused)
}

/// A later entry or the receipt says what was on the disk, so damage before it is no end of the log.
#[test]
fn damage_of_what_was_synced_is_refused() {
    for groups in [1, 5, 40, 90] {
        let (_folder, path, states) = crashed_after(groups, |_| {}, |store| store.syncer().unwrap().sync().unwrap());
        let (found, refused) = damaged(&path, &states, 53);
        // Damage of the receipt, or of what an earlier generation has left.
        assert!(found.iter().all(|state| *state == usize::from(groups)), "{groups} groups: {found:?}");
        assert!(refused > 2, "{refused} refused");
    }
}

/// A disk loses whole sectors or blocks: also the end of the last group that was synced, with what is beside it.
#[test]
fn a_lost_sector_or_block_of_what_was_synced_is_refused() {
    for (groups, unsynced) in [(1, 0), (5, 0), (40, 0), (90, 0), (5, 1), (90, 2)] {
        let count = std::cell::Cell::new(0);
        let sync = |store: &Sqlite| {
            count.set(count.get() + 1);
            if count.get() <= groups - unsynced {
                store.syncer().unwrap().sync().unwrap();
            }
        };
        let (_folder, path, states) = crashed_after(groups, |_| {}, sync);
        let redo = fs::read(file::redo(&path)).unwrap();
        let mut refused = 0;
        for (size, lost) in [(512, 0), (4_096, 0xa5)] {
            let is_empty = |at: usize| redo[at..at + size].iter().all(|byte| *byte == 0);
            for at in (0..redo.len()).step_by(size).filter(|at| !is_empty(*at)) {
                let mut damaged = redo.clone();
                damaged[at..at + size].fill(lost);
                match opened_with(&path, &damaged) {
                    Ok(found) => {
                        let kept = states.iter().position(|state| *state == found).expect("one of the commits");
                        assert!(kept >= usize::from(groups - unsynced), "{groups} groups, byte {at}: {kept}");
                    }
                    Err(error) => {
                        assert!(error.to_string().contains("before commits that were acknowledged"), "{error}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 2, "{groups} groups, {unsynced} not synced: {refused} refused");
    }
}

/// A power cut keeps any part of what was not synced: a group may be on the disk while the one before is not.
#[test]
fn groups_that_were_not_synced_may_be_missing() {
    let synced = std::cell::Cell::new(0);
    let sync_at_first = |store: &Sqlite| {
        if synced.replace(synced.get() + 1) < 3 {
            store.syncer().unwrap().sync().unwrap();
        }
    };
    let (_folder, path, states) = crashed_after(9, |_| {}, sync_at_first);
    let redo = written(&path);
    let mut found = vec![false; states.len()];
    for at in positions(&redo, 17) {
        let mut torn = redo.clone();
        torn[at] = !torn[at];
        match opened_with(&path, &torn) {
            Ok(state) => found[states.iter().position(|known| *known == state).expect("one of the commits")] = true,
            Err(error) => assert!(!found.contains(&true), "byte {at} was not synced: {error}"),
        }
    }
    // All groups are there if the receipt alone is torn.
    assert_eq!(found, [false, false, false, true, true, true, true, true, true, true]);
}

/// Turns the log into one of the earlier version, whose entries have no marks.
fn without_marks(redo: &[u8]) -> Vec<u8> {
    let tags: Hmac<Sha256> = keyed(&**derived(&KEY, b"pg-sandbox store redo"));
    let tag =
        |before: &[u8], bytes: &[u8]| tags.clone().chain_update(before).chain_update(bytes).finalize().into_bytes();
    let (header, whole) = (HEADER, Whole::BYTES);
    let mut old = redo[..header - 32].to_vec();
    old[15] &= 0x7f;
    let mut last = tag(&[0; 32], &old);
    old.extend_from_slice(&last);
    let mut at = header;
    while let Some(length) = redo.get(at..at + 4) {
        let length = usize::try_from(u32::from_le_bytes(length.try_into().unwrap())).unwrap();
        if length == 0 {
            break;
        }
        let body = &redo[at + 4..at + 4 + length];
        let shorter = u32::try_from(length - 16).unwrap().to_le_bytes();
        let entry = [&shorter, &body[..whole], &body[whole + 16..]].concat();
        last = tag(&last, &entry);
        old.extend_from_slice(&entry);
        old.extend_from_slice(&last);
        at += 4 + length + 32;
    }
    old
}

#[test]
fn a_log_of_the_earlier_version_is_read() {
    // It was as long as what was written, and the store did not say that it needs it.
    let (_folder, path, states) = crashed_after(9, |store| store.seal_whole(Since::default()).unwrap(), |_| {});
    let old = without_marks(&fs::read(file::redo(&path)).unwrap());
    assert_eq!(opened_with_length(&path, &old, old.len() as u64).unwrap(), states[9]);
}

#[test]
fn an_earlier_state_beside_a_later_redo_log_is_refused() {
    let (_folder, path) = file();
    drop(Sqlite::open(&path, &KEY).unwrap());
    let early = fs::read(&path).unwrap();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    write(&mut store, &[note("k1", "main", "r")]);
    drop(store);
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    write(&mut store, &[note("k2", "main", "r")]);
    let (_other, copy) = file();
    copy_logs(&path, &copy);
    fs::write(&copy, early).unwrap();
    fs::write(file::log(&copy), []).unwrap();
    let error = Sqlite::open(&copy, &KEY).err().unwrap().to_string();
    assert!(error.contains("redo log"), "{error}");
}

/// Commits groups until the store refuses to begin one. Returns its content, and why.
fn fill(store: &mut Sqlite) -> (State, StoreError) {
    let mut held = State::new();
    for number in 0..90 {
        if let Err(error) = store.begin() {
            return (held, error);
        }
        store.rollback();
        held = group(store, &[(number, 1, 20)], &held);
        store.commit().unwrap();
    }
    panic!("no group was refused");
}

/// A power cut may lose what was not synced, in any order: an entry of the next generation may be on the disk while the end of the one
/// before is not.
#[test]
fn a_generation_is_on_the_disk_before_the_next_one_begins() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    // A device that cannot be synced.
    store.ahead.as_mut().unwrap().syncer = Syncer::new(File::open("/dev/null").unwrap());
    let generation = |store: &Sqlite| store.ahead.as_ref().unwrap().redo.generation();
    let first = generation(&store);
    let (held, refused) = fill(&mut store);
    assert!(matches!(refused, StoreError::Unsynced(_)), "the log is full: {refused:?}");
    assert!(matches!(store.begin(), Err(StoreError::Unsynced(_))));
    assert_eq!(generation(&store), first);
    assert_eq!(state(&mut store), held);
}

/// A group that does not fit into the log is in SQLite's alone, which cannot be synced here: whether it is durable is unknown.
#[test]
fn a_large_group_that_the_disk_may_have_lost_is_neither_acknowledged_nor_refused() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    store.ahead.as_mut().unwrap().log = Syncer::new(File::open("/dev/null").unwrap());
    let sandbox = Sandbox::over(Box::new(store), Settings::default(), &[1; 32], [2; 32]);
    let mut sandbox = sandbox.unwrap();
    let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
    let make =
        |name: u64| pg_support::request(Method::POST, "/_sandbox/accounts", format!(r#"{{"name":"account-{name}"}}"#));
    let group: Vec<_> = (0..REGION / 400).map(make).collect();
    let asked = group.len();
    let answers = sandbox.handle_group(now, group);
    assert_eq!(answers.len(), asked);
    assert!(answers.iter().all(|answer| ResponseDelivery::of(answer) == ResponseDelivery::Close));
    let refused = sandbox.handle(now, make(0));
    assert_eq!(refused.status(), 500);
    assert!(String::from_utf8_lossy(refused.body()).contains("restart the sandbox"));
    assert!(matches!(sandbox.close(), Err(StoreError::Unsynced(_))));
}

#[test]
fn a_store_that_was_moved_leaves_the_log_of_another_one_alone() {
    let (folder, path) = file();
    let mut moved = Sqlite::open(&path, &KEY).unwrap();
    write(&mut moved, &[note("k1", "main", "r")]);
    let away = folder.path().join("away");
    fs::create_dir(&away).unwrap();
    for file in [path.clone(), file::log(&path), file::redo(&path)] {
        fs::rename(&file, away.join(file.file_name().unwrap())).unwrap();
    }
    let mut new = Sqlite::open(&path, &KEY).unwrap();
    write(&mut new, &[note("k2", "main", "r")]);
    let held = state(&mut new);
    drop(moved);
    assert!(file::redo(&path).exists());
    // As after a kill.
    let (_other, copy) = file();
    copy_logs(&path, &copy);
    assert_eq!(state(&mut Sqlite::open(&copy, &KEY).unwrap()), held);
}

#[test]
fn while_sqlite_lacks_changes_nothing_is_read_and_when_it_can_have_them_nothing_is_lost() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    let limit = |store: &Sqlite, pages: i64| store.connection.pragma_update(None, "max_page_count", pages).unwrap();
    limit(&store, 1);
    let (held, refused) = fill(&mut store);
    assert!(matches!(refused, StoreError::Full), "{refused:?}");
    assert!(store.begin().is_err());
    assert!(store.get(Note::KIND, "k0").is_err() && store.holds(Note::KIND, "k0").is_err());
    assert!(store.select(Note::KIND, &Query::newest(9)).is_err());
    limit(&store, 1_000_000);
    store.begin().unwrap();
    assert_eq!(state_by_key(&mut store), held);
    store.rollback();
    let after = group(&mut store, &[(1, 1, 1)], &held);
    store.commit().unwrap();
    assert_eq!(state(&mut store), after);
    drop(store);
    assert_eq!(state(&mut Sqlite::open(&path, &KEY).unwrap()), after);
}
