//! SQLite lacks changes of the log: it refused them, or has rolled its transaction back.

use super::*;

/// SQLite refuses the changes of a group once, after the group, and keeps its transaction.
#[test]
fn changes_that_sqlite_refused_between_groups_are_read_from_the_log() {
    for is_closed in [false, true] {
        let (_folder, path) = file();
        let mut store = Sqlite::open(&path, &KEY).unwrap();
        let refuse = |store: &Sqlite, all: bool| store.connection.pragma_update(None, "query_only", all).unwrap();
        write(&mut store, &[note("k1", "main", "r")]);
        refuse(&store, true);
        store.settle(&mut || false);
        assert!(!store.connection.is_autocommit());
        assert!(store.get(Note::KIND, "k1").is_err() && store.holds(Note::KIND, "k1").is_err());
        refuse(&store, false);
        if is_closed {
            drop(store);
            store = Sqlite::open(&path, &KEY).unwrap();
        }
        store.begin().unwrap();
        assert_eq!(keys(&mut store, &Query::oldest(10)), ["k1"], "closed: {is_closed}");
    }
}

/// SQLite had the group before, and would commit each later change alone.
#[test]
fn after_sqlite_has_rolled_back_a_group_fails_and_the_earlier_ones_are_read_from_the_log() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    write(&mut store, &[note("k1", "main", "r")]);
    store.settle(&mut || false);
    store.begin().unwrap();
    let mut records = Transaction::new(&mut store);
    records.put(&note("k2", "main", "r")).unwrap();
    records.keep().unwrap();
    store.run("ROLLBACK").unwrap();
    assert!(matches!(store.select(Note::KIND, &Query::oldest(10)), Err(StoreError::Lost)));
    store.rollback();
    assert_eq!(keys(&mut store, &Query::oldest(10)), ["k1"]);
}

#[test]
fn a_log_whose_changes_do_not_have_its_sum_is_refused() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    let before = store.committed;
    store.begin().unwrap();
    let mut records = Transaction::new(&mut store);
    records.put(&note("k1", "main", "r")).unwrap();
    records.keep().unwrap();
    assert!(store.ahead.as_mut().unwrap().redo.append(before).unwrap());
    let (_copies, copy) = file();
    copy_logs(&path, &copy);
    let error = Sqlite::open(&copy, &KEY).err().unwrap().to_string();
    assert!(error.contains("the redo log belongs to another state of the store"), "{error}");
}
