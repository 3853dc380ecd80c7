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
