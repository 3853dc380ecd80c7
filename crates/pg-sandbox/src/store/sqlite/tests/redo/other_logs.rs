//! Logs of the right length that are not the store's newest one. They would lack acknowledged commits.

use super::*;

const REFUSED: &str = "is another store's log, an earlier copy or damaged, and lacks acknowledged commits";

/// Leaves a store as a kill does after these groups.
fn killed(path: &Path, key: &[u8; 32], groups: u8) -> (TempDir, PathBuf) {
    let mut store = Sqlite::open(path, key).unwrap();
    for number in 0..groups {
        write(&mut store, &[note(&format!("k{}", number % 20), "main", &"r".repeat(400))]);
    }
    let (folder, copy) = file();
    copy_logs(path, &copy);
    (folder, copy)
}

fn redo(path: &Path) -> Vec<u8> {
    fs::read(file::redo(path)).unwrap()
}

fn assert_refused(path: &Path, log: &[u8]) {
    let error = opened_with(path, log).unwrap_err().to_string();
    assert!(error.contains(REFUSED), "{error}");
}

/// With no group, with some, and with so many that both regions are in use.
const GROUPS: [u8; 3] = [0, 3, 60];

#[test]
fn a_log_of_zeros_is_refused() {
    for groups in GROUPS {
        let (_folder, path) = file();
        let (_copy, left) = killed(&path, &KEY, groups);
        opened_with(&left, &redo(&left)).unwrap();
        for byte in [0, 0x55] {
            assert_refused(&left, &vec![byte; redo(&left).len()]);
        }
    }
}

#[test]
fn a_log_of_another_store_is_refused() {
    for (groups, others) in GROUPS.into_iter().flat_map(|groups| GROUPS.map(|others| (groups, others))) {
        let ((_folder, path), (_other, theirs)) = (file(), file());
        let (_copy, left) = killed(&path, &KEY, groups);
        let (_other_copy, left_by_other) = killed(&theirs, &[6; 32], others);
        assert_refused(&left, &redo(&left_by_other));
    }
}

/// Both copies have the same key and rows.
#[test]
fn a_log_of_another_copy_of_the_store_is_refused() {
    for groups in GROUPS {
        let ((_folder, path), (_other, theirs)) = (file(), file());
        write(&mut Sqlite::open(&path, &KEY).unwrap(), &[note("k1", "main", "r")]);
        fs::copy(&path, &theirs).unwrap();
        let (_copy, left) = killed(&path, &KEY, groups);
        let (_other_copy, left_by_other) = killed(&theirs, &KEY, 3);
        assert_refused(&left, &redo(&left_by_other));
    }
}

#[test]
fn an_earlier_log_of_the_same_store_is_refused() {
    for groups in GROUPS {
        let (_folder, path) = file();
        let (_first, early) = killed(&path, &KEY, groups);
        let early_log = redo(&early);
        let (_second, left) = killed(&early, &KEY, 3);
        let left_log = redo(&left);
        assert_refused(&left, &early_log);
        let (_third, latest) = killed(&left, &KEY, groups);
        assert_refused(&latest, &left_log);
        assert_refused(&latest, &early_log);
    }
}

#[test]
fn a_log_of_an_earlier_generation_is_refused() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    let generation = |store: &Sqlite| store.ahead.as_ref().unwrap().redo.generation();
    let first = generation(&store);
    write(&mut store, &[note("k1", "main", "r")]);
    let early = redo(&path);
    while generation(&store) == first {
        write(&mut store, &[note("k2", "main", &"r".repeat(400))]);
    }
    let (_copy, left) = file();
    copy_logs(&path, &left);
    assert_refused(&left, &early);
}

/// The store that has it open could write into the log of the one that begins here, and remove it.
#[test]
fn a_log_that_another_sandbox_writes_is_in_use_though_its_store_was_moved_removed_or_replaced() {
    for replaced in [None, Some(0), Some(3)] {
        let (_folder, path) = file();
        let mut moved = Sqlite::open(&path, &KEY).unwrap();
        write(&mut moved, &[note("k1", "main", "r")]);
        fs::rename(&path, path.with_extension("old")).unwrap();
        let (_backup_folder, backup) = file();
        if let Some(groups) = replaced {
            let mut other = Sqlite::open(&backup, &KEY).unwrap();
            (0..groups).for_each(|number| write(&mut other, &[note(&format!("b{number}"), "main", "r")]));
            drop(other);
            fs::rename(&backup, &path).unwrap();
        }
        let refused = Sqlite::open(&path, &KEY).err();
        assert!(matches!(refused, Some(StoreError::InUse)), "{replaced:?}: {refused:?}");
        assert_eq!(path.exists(), replaced.is_some());
        write(&mut moved, &[note("k2", "main", "r")]);
        drop(moved);
        drop(Sqlite::open(&path, &KEY).unwrap());
    }
}

/// Only the log has its last commits: it can be moved to its store.
#[test]
fn a_store_neither_uses_nor_removes_a_log_of_another_store() {
    for (begun, content) in [(false, 0), (true, 0), (false, 60), (true, 3)] {
        let ((_folder, path), (_other, theirs)) = (file(), file());
        if begun {
            write(&mut Sqlite::open(&path, &KEY).unwrap(), &[note("k1", "main", "r")]);
        }
        let log = match content {
            0 => b"a text".to_vec(),
            groups => redo(&killed(&theirs, &[6; 32], groups).1),
        };
        fs::write(file::redo(&path), &log).unwrap();
        let refused = Sqlite::open(&path, &KEY).err();
        assert!(matches!(refused, Some(StoreError::ForeignLog(_))), "{begun} {content}: {refused:?}");
        assert_eq!((redo(&path), path.exists()), (log, begun));
        // Nothing but its length was written yet.
        fs::write(file::redo(&path), [0; 5_000]).unwrap();
        drop(Sqlite::open(&path, &KEY).unwrap());
        assert!(!file::redo(&path).exists());
    }
}
