//! Receipts, which say what is on the disk.

use super::*;

/// While a group is synced, the next ones are written: the receipt follows them, and is true for those that were synced.
#[test]
fn a_receipt_after_groups_that_are_not_synced_vouches_only_for_those_before() {
    let count = std::cell::Cell::new(0);
    let written = std::cell::Cell::new(0);
    let sync_two_late = |store: &Sqlite| {
        let log = store.ahead.as_ref().unwrap().redo.log();
        count.set(count.get() + 1);
        match count.get() {
            3 => written.set(log.written()),
            5 => log.is_on_disk(written.get()),
            _ => {}
        }
    };
    let (_folder, path, states) = crashed_after(5, |_| {}, sync_two_late);
    let (found, refused) = damaged(&path, &states, 7);
    assert_eq!(found, BTreeSet::from([3, 4, 5]), "{refused} refused");
    assert!(refused > 20, "{refused} refused");
}

/// The receipt has the last block of a region, however long a group is.
#[test]
fn no_receipt_overwrites_a_group() {
    for length in (14_000..20_500).step_by(250) {
        let (_folder, path) = file();
        let mut store = Sqlite::open(&path, &KEY).unwrap();
        let mut held = State::new();
        for (key, length) in [("k1", 2_000), ("k2", length)] {
            let note = note(key, "main", &"r".repeat(length));
            write(&mut store, std::slice::from_ref(&note));
            store.syncer().unwrap().sync().unwrap();
            held.insert(key.to_owned(), note);
        }
        let (_copies, copy) = file();
        copy_logs(&path, &copy);
        assert!(state(&mut Sqlite::open(&copy, &KEY).unwrap()) == held, "{length}");
    }
}
