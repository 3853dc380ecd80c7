//! Stores that earlier versions of the sandbox made: opening one brings it to the newest format with everything that is
//! in it, and what is in it can still be used. And stores that were altered since.
//!
//! `rows/` holds what those versions wrote, by the format that brought the table. A new format needs a file of rows
//! here, from a sandbox of that version.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod altered;
mod at_rest;
mod damaged;
mod shop;

use std::{
    fs,
    path::{Path, PathBuf},
};

use pg_sandbox::{
    KINDS, Sandbox,
    store::{Sqlite, Store as _},
    vault,
};
use rusqlite::{Connection, types::Value};
use shop::{IN_CLEAR, NEWEST, SEALED, call, make, open, pay, sealed_rows, sealed_rows_path, show, try_to_open};

#[test]
fn every_format_has_its_rows() {
    let scripts =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/pg-sandbox/src/store/schema")).unwrap();
    assert_eq!(scripts.count(), NEWEST, "add the rows of the newest format");
    let sealed: Vec<String> = (IN_CLEAR.len() + 1..=NEWEST).map(sealed_rows).collect();
    let sealed = SEALED.into_iter().zip(sealed.iter().map(|rows| &**rows));
    for (script, rows) in IN_CLEAR.into_iter().chain(sealed) {
        for table in script.split("CREATE TABLE ").skip(1).filter_map(|rest| rest.split([' ', '(']).next()) {
            assert!(rows.contains(&format!("INSERT INTO {table} ")), "no row of {table}");
        }
    }
}

#[test]
fn nothing_is_lost_or_changed_on_the_way_to_the_newest_format() {
    for format in 1..=IN_CLEAR.len() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("shop.sqlite");
        make(&store, format);
        let before = everything(&store);
        drop(open(&store));
        let version: u16 =
            Connection::open(&store).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(usize::from(version), NEWEST);
        drop(open(&store));

        let sealed = everything(&store);
        let count = |tables: &Tables| tables.iter().map(|(_, rows)| rows.len()).sum::<usize>();
        assert_eq!(count(&sealed), count(&before) + 1, "format {format}: the sum of all rows is one more");
        let key = vault::load_key(&vault::key_path(&store)).unwrap().unwrap().key;
        let mut opened = Sqlite::open(&store, &key).unwrap();
        for (table, rows) in before {
            let kind = KINDS.iter().copied().find(|kind| kind.table == table).unwrap();
            for row in rows {
                let [Value::Text(key), .., Value::Text(body)] = &row[..] else { panic!("{row:?}") };
                let held = opened.get(kind, key).unwrap();
                assert_eq!(held.as_ref(), Some(body), "format {format}, {table}");
            }
        }
    }
}

/// The rows of the newest format, as a sandbox of this version leaves them: `PG_BLESS=1` writes them.
#[test]
fn the_newest_format_stays_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    make(&store, IN_CLEAR.len());
    drop(open(&store));
    let connection = Connection::open(&store).unwrap();
    let mut text = String::new();
    for (table, rows) in everything(&store) {
        let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid").unwrap();
        let names: Vec<String> = columns.query_map([&table], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for row in rows {
            let values: Vec<String> = row.iter().map(literal).collect();
            text.push_str(&format!(
                "INSERT INTO {table} ({}) VALUES\n    ({});\n",
                names.join(", "),
                values.join(", ")
            ));
        }
    }
    if std::env::var_os("PG_BLESS").is_some() {
        fs::write(sealed_rows_path(NEWEST), text).unwrap();
    } else {
        // The sum is sealed together with a generation of the redo log, which is random.
        let without_sum = |text: &str| -> Vec<String> {
            text.split("INSERT INTO ").filter(|row| !row.starts_with("whole ")).map(str::to_owned).collect()
        };
        let known = without_sum(&sealed_rows(NEWEST));
        assert!(without_sum(&text) == known, "rows of the newest format were written otherwise before");
    }
}

#[test]
fn records_of_an_old_store_can_be_used() {
    for format in 1..=NEWEST {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("shop.sqlite");
        make(&store, format);
        can_be_used(&mut open(&store), format);
    }
}

/// A sandbox of an earlier version was killed: what only the redo log has is kept by the one that brings the store to the newest
/// format.
#[test]
fn what_only_the_redo_log_holds_survives_a_new_format() {
    for format in IN_CLEAR.len() + 1..=NEWEST {
        let folder = tempfile::tempdir().unwrap();
        let [later, killed] = ["later.sqlite", "killed.sqlite"].map(|name| folder.path().join(name));
        make(&later, format);
        make(&killed, format);
        let mut sandbox = open(&later);
        let order = [("uniqueMerchantReference", "new-1"), ("merchantReference", "basket-1")];
        let paid = pay(&mut sandbox, "7", &order);
        assert_eq!(paid["transactionStatusCode"], "600", "{paid}");
        // The redo log builds upon the rows of the earlier format, which the newest one has too.
        let redo = |store: &Path| PathBuf::from(format!("{}-redo", store.display()));
        fs::copy(redo(&later), redo(&killed)).unwrap();
        let mut again = open(&killed);
        for (name, value) in order {
            let found = call(&mut again, "transaction/lookup", &[(name, value)]);
            assert_eq!(found["transactions"]["0"]["transactionKey"], paid["transactionKey"], "{format}: {found}");
        }
        assert_eq!(pay(&mut again, "7", &order[..1])["errorCode"], "950");
    }
}

/// Earlier versions of the sandbox can still open the store.
#[test]
fn a_store_that_is_refused_for_its_redo_log_keeps_its_format() {
    for format in 1..NEWEST {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("shop.sqlite");
        make(&store, format);
        fs::write(folder.path().join("shop.sqlite-redo"), "a text").unwrap();
        let refused = try_to_open(&store).err().unwrap().to_string();
        assert!(refused.contains("shop.sqlite-redo"), "{refused}");
        let found: u16 =
            Connection::open(&store).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(usize::from(found), format);
        fs::remove_file(folder.path().join("shop.sqlite-redo")).unwrap();
        can_be_used(&mut open(&store), format);
    }
}

fn can_be_used(sandbox: &mut Sandbox, format: usize) {
    let lists = ["transactions", "tokens", "sessions", "batches", "callbacks", "checkouts", "sms", "authentications"];
    let shown: [usize; 8] = lists.map(|list| show(sandbox, list).as_array().unwrap().len());
    let by_format = |since: usize, count: usize| if format >= since { count } else { 0 };
    let expected = [5, 2, 4, by_format(2, 1), by_format(2, 1), by_format(3, 2), by_format(3, 1), by_format(4, 1)];
    assert_eq!(shown, expected, "format {format}");

    let found = call(sandbox, "transaction/lookup", &[("uniqueMerchantReference", "old-1")]);
    assert_eq!(found["transactions"]["0"]["transactionValue"], "500", "format {format}: {found}");
    let found = call(sandbox, "transaction/lookup", &[("merchantReference", "shop-1")]);
    assert_eq!(found["transactions"]["0"]["transactionValue"], "500", "format {format}: {found}");
    let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "100")];
    let used = [&order[..], &[("cardKey", TOKEN), ("uniqueMerchantReference", "old-1")]].concat();
    assert_eq!(call(sandbox, "transaction/authCardKey", &used)["errorCode"], "950");
    // Each of these opens a card that was sealed then.
    for (method, parameters) in [
        ("transaction/capturepreauth", vec![("transactionKey", PREAUTH)]),
        ("transaction/authCardKey", [&order[..], &[("cardKey", TOKEN)]].concat()),
        ("transaction/authSessionKey", [&order[..], &[("sessionKey", SESSION)]].concat()),
    ] {
        let reply = call(sandbox, method, &parameters);
        assert_eq!(reply["transactionStatusCode"], "600", "format {format}: {method}: {reply}");
    }
}

const PREAUTH: &str = "0mwq0quyf01nhwkwwmg8owtcds4m2kwc";
const TOKEN: &str = "0d0fe61a-39bd-e97d-2cb4-7d0edeac84da5915";
const SESSION: &str = "0mwq0quyf06xlosgs0sid1cn1jl2cbka";

type Tables = Vec<(String, Vec<Vec<Value>>)>;

/// Every row of every table that has rows, by the first column.
fn everything(store: &Path) -> Tables {
    let connection = Connection::open(store).unwrap();
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let names: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |name: &String| {
        let mut rows = connection.prepare(&format!("SELECT * FROM {name} ORDER BY 1")).unwrap();
        let columns = rows.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
        rows.query_map([], row).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    names.iter().map(|name| (name.clone(), rows(name))).filter(|(_, rows)| !rows.is_empty()).collect()
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("X'{digits}'")
        }
    }
}
