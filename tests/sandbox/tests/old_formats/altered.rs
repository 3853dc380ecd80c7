//! A store that another program has changed is refused, and so is one that is not the one that was left.

use std::{fs, path::PathBuf};

use pg_sandbox::{OpenError, store::StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::old_formats::{
    PREAUTH,
    shop::{IN_CLEAR, NEWEST, call, make, open, pay, try_to_open},
};

struct Place {
    _folder: TempDir,
    store: PathBuf,
}

/// A store with payments, closed.
fn left() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    make(&store, NEWEST);
    let mut sandbox = open(&store);
    (1..4).for_each(|number| drop(pay(&mut sandbox, "100", &[("uniqueMerchantReference", &format!("new-{number}"))])));
    Place { _folder: folder, store }
}

impl Place {
    fn sql(&self) -> Connection {
        Connection::open(&self.store).unwrap()
    }

    #[track_caller]
    fn refusal(&self) -> OpenError {
        let before = fs::read(&self.store).ok();
        let error = try_to_open(&self.store).err().expect("it is refused");
        assert_eq!(fs::read(&self.store).ok(), before, "it is left as it is");
        error
    }

    #[track_caller]
    fn is_damaged(&self, by: &str) {
        let error = self.refusal();
        let damaged = matches!(&error, OpenError::Store(StoreError::Damaged(_)));
        assert!(damaged && error.to_string().contains(by), "{error}");
    }
}

#[test]
fn an_edited_record_is_refused() {
    for edit in [
        "UPDATE transactions SET merchant = 'euro'",
        "UPDATE transactions SET merchant_reference = NULL",
        "UPDATE transactions SET parent = NULL WHERE parent IS NOT NULL",
        "UPDATE transactions SET body = substr(body, 1, length(body) - 1)",
        "UPDATE transactions SET body = (SELECT body FROM sessions LIMIT 1)",
        "UPDATE transactions SET body = (SELECT min(body) FROM transactions)",
        "UPDATE transactions SET key = '1' || substr(key, 2)",
        "UPDATE unique_references SET key = zeroblob(16) WHERE key = (SELECT min(key) FROM unique_references)",
        "UPDATE whole SET body = substr(body, 1, 20)",
        "DELETE FROM whole",
    ] {
        let place = left();
        assert!(place.sql().execute(edit, []).unwrap() > 0, "{edit}");
        place.is_damaged("");
    }
}

#[test]
fn a_missing_or_restored_record_is_refused() {
    for table in ["transactions", "unique_references", "meta", "failed_attempts"] {
        let place = left();
        let gone = format!("DELETE FROM {table} WHERE key = (SELECT max(key) FROM {table})");
        assert_eq!(place.sql().execute(&gone, []).unwrap(), 1, "{table}");
        place.is_damaged("");
    }

    let place = left();
    let row = "SELECT body FROM transactions WHERE key = ?1";
    let early: Vec<u8> = place.sql().query_row(row, [PREAUTH], |row| row.get(0)).unwrap();
    let mut sandbox = open(&place.store);
    let captured = call(&mut sandbox, "transaction/capturepreauth", &[("transactionKey", PREAUTH)]);
    assert_eq!(captured["transactionStatusCode"], "600");
    drop(sandbox);
    drop(open(&place.store));
    let put_back = "UPDATE transactions SET body = ?2 WHERE key = ?1";
    assert_eq!(place.sql().execute(put_back, (PREAUTH, early)).unwrap(), 1);
    place.is_damaged("older versions");
}

#[test]
fn triggers_views_and_indexes_of_others_are_refused() {
    for (script, named) in [
        ("CREATE TRIGGER t AFTER INSERT ON transactions BEGIN DELETE FROM unique_references; END", "trigger t"),
        ("CREATE VIEW v AS SELECT * FROM transactions", "view v"),
        ("CREATE INDEX i ON transactions (merchant)", "index i"),
        ("CREATE TABLE theirs (a)", "table theirs"),
        ("DROP INDEX transactions_parent", "missing"),
    ] {
        let place = left();
        place.sql().execute_batch(script).unwrap();
        place.is_damaged(named);
    }
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    make(&store, IN_CLEAR.len());
    Connection::open(&store).unwrap().execute_batch("CREATE VIEW v AS SELECT * FROM sessions").unwrap();
    Place { _folder: folder, store }.is_damaged("view v");
}

#[test]
fn an_empty_or_missing_store_beside_its_key_is_refused() {
    for empty in [true, false] {
        let place = left();
        if empty {
            fs::write(&place.store, "").unwrap()
        } else {
            fs::remove_file(&place.store).unwrap()
        }
        let error = place.refusal();
        assert!(matches!(&error, OpenError::StoreMissing(_)), "{error}");
        // To start with a new store, the key must be deleted as well.
        fs::remove_file(place.store.with_extension("sqlite.key")).unwrap();
        drop(open(&place.store));
        drop(open(&place.store));
    }
    // Killed before the first store was made: the key has nothing to protect yet.
    let place = left();
    fs::remove_file(&place.store).unwrap();
    let key = place.store.with_extension("sqlite.key");
    fs::write(&key, fs::read_to_string(&key).unwrap().replace("sealed", "new")).unwrap();
    drop(open(&place.store));
    fs::write(&place.store, "").unwrap();
    assert!(matches!(place.refusal(), OpenError::StoreMissing(_)));
}

#[test]
fn a_store_in_clear_beside_the_key_of_a_sealed_one_is_refused() {
    let place = left();
    let key = place.store.with_extension("sqlite.key");
    let text = fs::read(&key).unwrap();
    fs::remove_file(&place.store).unwrap();
    make(&place.store, IN_CLEAR.len());
    fs::write(&key, text).unwrap();
    assert!(matches!(place.refusal(), OpenError::EarlierStore));
}

#[cfg(unix)]
#[test]
fn links_are_refused_by_name() {
    use std::os::unix::fs::symlink;
    let place = left();
    let link = place.store.with_file_name("link.sqlite");
    for target in [place.store.clone(), PathBuf::from("nowhere")] {
        symlink(target, &link).unwrap();
        let error = try_to_open(&link).err().unwrap();
        let told = error.to_string();
        assert!(
            matches!(error, OpenError::Store(StoreError::Link(_))) && told.contains("link.sqlite is a symbolic link")
        );
        fs::remove_file(&link).unwrap();
    }
    symlink("/dev/null", place.store.with_extension("sqlite-wal")).unwrap();
    assert!(matches!(place.refusal(), OpenError::Store(StoreError::Link(_))));
}
