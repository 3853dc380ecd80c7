//! Stores that earlier versions of the sandbox made: opening one brings it to the newest format with everything that is
//! in it, and what is in it can still be used.
//!
//! `rows/` holds what those versions wrote, by the format that brought the table. A new format needs a file of rows
//! here, from a sandbox of that version.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use bytes::Bytes;
use http::{Method, Request};
use pg_crypto::{ShaKey, sign};
use pg_sandbox::{Sandbox, Settings, Timestamp, merchants::Merchants};
use rusqlite::Connection;
use serde_json::Value;

/// The script of each format and the rows of its tables.
const FORMATS: [(&str, &str); 5] = [
    (include_str!("../../src/store/schema/1.sql"), include_str!("rows/1.sql")),
    (include_str!("../../src/store/schema/2.sql"), include_str!("rows/2.sql")),
    (include_str!("../../src/store/schema/3.sql"), include_str!("rows/3.sql")),
    (include_str!("../../src/store/schema/4.sql"), include_str!("rows/4.sql")),
    (include_str!("../../src/store/schema/5.sql"), include_str!("rows/5.sql")),
];
/// The letters `pgSB`, by which SQLite's header says whose file it is.
const APPLICATION_ID: i64 = 0x7067_5342;
/// What the cards in `rows/` were sealed with.
const KEY: &str = "6bbb605b8a45bb11c10d71e769ca62837ec6894b430dc3df36d8408ed474912d\n";

#[test]
fn every_format_has_its_rows() {
    let scripts = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/schema")).unwrap();
    assert_eq!(scripts.count(), FORMATS.len(), "add the rows of the newest format");
    for (script, rows) in FORMATS {
        for table in script.split("CREATE TABLE ").skip(1).filter_map(|rest| rest.split([' ', '(']).next()) {
            assert!(rows.contains(&format!("INSERT INTO {table} ")), "no row of {table}");
        }
    }
}

#[test]
fn nothing_is_lost_or_changed_on_the_way_to_the_newest_format() {
    for format in 1..=FORMATS.len() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("shop.sqlite");
        make(&store, format);
        let before = everything(&store);
        drop(open(&store));
        assert_eq!(everything(&store), before, "format {format}");
        let version: u16 =
            Connection::open(&store).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(usize::from(version), FORMATS.len());
        drop(open(&store));
        assert_eq!(everything(&store), before, "format {format}, opened again");
    }
}

#[test]
fn what_was_in_an_old_store_can_be_used() {
    for format in 1..=FORMATS.len() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("shop.sqlite");
        make(&store, format);
        let mut sandbox = open(&store);
        let lists =
            ["transactions", "tokens", "sessions", "batches", "callbacks", "checkouts", "sms", "authentications"];
        let entries = |list: &str| show(&mut sandbox, list).as_array().unwrap().len();
        let shown: [usize; 8] = lists.map(entries);
        let by_format = |since: usize, count: usize| if format >= since { count } else { 0 };
        let expected = [5, 2, 4, by_format(2, 1), by_format(2, 1), by_format(3, 2), by_format(3, 1), by_format(4, 1)];
        assert_eq!(shown, expected, "format {format}");

        let found = call(&mut sandbox, "transaction/lookup", &[("uniqueMerchantReference", "old-1")]);
        assert_eq!(found["transactions"]["0"]["transactionValue"], "500", "format {format}: {found}");
        let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "100")];
        let used = [&order[..], &[("cardKey", TOKEN), ("uniqueMerchantReference", "old-1")]].concat();
        assert_eq!(call(&mut sandbox, "transaction/authCardKey", &used)["errorCode"], "950");
        // Each of these opens a card that was sealed then.
        for (method, parameters) in [
            ("transaction/capturepreauth", vec![("transactionKey", PREAUTH)]),
            ("transaction/authCardKey", [&order[..], &[("cardKey", TOKEN)]].concat()),
            ("transaction/authSessionKey", [&order[..], &[("sessionKey", SESSION)]].concat()),
        ] {
            let reply = call(&mut sandbox, method, &parameters);
            assert_eq!(reply["transactionStatusCode"], "600", "format {format}: {method}: {reply}");
        }
    }
}

const PREAUTH: &str = "0mwq0quyf01nhwkwwmg8owtcds4m2kwc";
const TOKEN: &str = "0d0fe61a-39bd-e97d-2cb4-7d0edeac84da5915";
const SESSION: &str = "0mwq0quyf06xlosgs0sid1cn1jl2cbka";

/// A store as a sandbox of this format has left it, and its key.
fn make(store: &Path, format: usize) {
    let connection = Connection::open(store).unwrap();
    for (script, rows) in &FORMATS[..format] {
        connection.execute_batch(script).unwrap();
        connection.execute_batch(rows).unwrap();
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    connection.pragma_update(None, "user_version", u16::try_from(format).unwrap()).unwrap();
    let key = store.with_extension("sqlite.key");
    fs::write(&key, KEY).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// Every row of every table that has rows.
fn everything(store: &Path) -> Vec<(String, Vec<Vec<rusqlite::types::Value>>)> {
    let connection = Connection::open(store).unwrap();
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let names: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |name: &String| {
        let mut rows = connection.prepare(&format!("SELECT * FROM {name} ORDER BY key")).unwrap();
        let columns = rows.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
        rows.query_map([], row).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    names.iter().map(|name| (name.clone(), rows(name))).filter(|(_, rows)| !rows.is_empty()).collect()
}

fn open(store: &Path) -> Sandbox {
    Sandbox::open(store, Settings::default(), [9; 32]).unwrap()
}

/// The clock of these stores stands still, so the real time does not matter.
fn answer(sandbox: &mut Sandbox, request: http::request::Builder, body: String) -> Value {
    let response = sandbox.handle(Timestamp::MIN, request.body(Bytes::from(body)).unwrap());
    serde_json::from_slice(response.body()).unwrap()
}

fn show(sandbox: &mut Sandbox, list: &str) -> Value {
    answer(sandbox, Request::get(format!("/_sandbox/{list}")), String::new())
}

fn call(sandbox: &mut Sandbox, method: &str, parameters: &[(&str, &str)]) -> Value {
    let merchants = Merchants::default();
    let main = merchants.by_name("main").unwrap();
    let mut pairs = vec![("apiKey", main.api_key.expose()), ("apiPassword", main.api_password.expose())];
    pairs.extend_from_slice(parameters);
    let signature = sign(&pairs, &ShaKey::new(main.sha_key.expose()));
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(&pairs).append_pair("shaSignature", signature.hex().as_str());
    let form = "application/x-www-form-urlencoded";
    let request = Request::builder().method(Method::POST).uri(format!("/v3/{method}/json"));
    answer(sandbox, request.header(http::header::CONTENT_TYPE, form), body.finish())
}
