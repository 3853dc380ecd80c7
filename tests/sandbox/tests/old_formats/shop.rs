//! Stores as sandboxes of earlier versions have left them, and a sandbox over one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use http::{Method, Request, Response};
use pg_sandbox::{OpenError, Sandbox, Settings, Timestamp, merchants::Merchants};
use pg_support::{request, signed_form};
use rusqlite::Connection;
use serde_json::Value;

/// The script of each format whose rows are in clear, and the rows of its tables.
pub(crate) const IN_CLEAR: [(&str, &str); 5] = [
    (include_str!("../../../../crates/pg-sandbox/src/store/schema/1.sql"), include_str!("rows/1.sql")),
    (include_str!("../../../../crates/pg-sandbox/src/store/schema/2.sql"), include_str!("rows/2.sql")),
    (include_str!("../../../../crates/pg-sandbox/src/store/schema/3.sql"), include_str!("rows/3.sql")),
    (include_str!("../../../../crates/pg-sandbox/src/store/schema/4.sql"), include_str!("rows/4.sql")),
    (include_str!("../../../../crates/pg-sandbox/src/store/schema/5.sql"), include_str!("rows/5.sql")),
];
/// The scripts of the formats whose rows are sealed: the first creates all tables again, and each later one adds to it.
pub(crate) const SEALED: [&str; 2] = [
    include_str!("../../../../crates/pg-sandbox/src/store/schema/6.sql"),
    include_str!("../../../../crates/pg-sandbox/src/store/schema/7.sql"),
];
/// The newest format.
pub(crate) const NEWEST: usize = IN_CLEAR.len() + SEALED.len();

/// The letters `pgSB`, by which SQLite's header says whose file it is.
const APPLICATION_ID: i64 = 0x7067_5342;
/// What the cards in `rows/` were sealed with.
const KEY: &str = "6bbb605b8a45bb11c10d71e769ca62837ec6894b430dc3df36d8408ed474912d\n";

/// A store as a sandbox of this format has left it, and its key.
pub(crate) fn make(store: &Path, format: usize) {
    if format > IN_CLEAR.len() {
        return make_sealed(store, format);
    }
    let scripts = IN_CLEAR[..format].iter().map(|(script, _)| *script);
    let rows = IN_CLEAR[..format].iter().map(|(_, rows)| *rows);
    write(store, &scripts.chain(rows).collect::<Vec<_>>(), format);
    write_key(store, KEY);
}

fn make_sealed(store: &Path, format: usize) {
    write(store, &[&SEALED[..format - IN_CLEAR.len()], &[&*sealed_rows(format)]].concat(), format);
    write_key(store, &format!("{KEY}sealed\n"));
}

/// The rows of a format whose rows are sealed.
pub(crate) fn sealed_rows(format: usize) -> String {
    fs::read_to_string(sealed_rows_path(format)).unwrap()
}

pub(crate) fn sealed_rows_path(format: usize) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/old_formats/rows/{format}.sql"))
}

fn write(store: &Path, scripts: &[&str], format: usize) {
    let connection = Connection::open(store).unwrap();
    scripts.iter().for_each(|script| connection.execute_batch(script).unwrap());
    connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    connection.pragma_update(None, "user_version", u16::try_from(format).unwrap()).unwrap();
}

fn write_key(store: &Path, text: &str) {
    let key = store.with_extension("sqlite.key");
    fs::write(&key, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[track_caller]
pub(crate) fn open(store: &Path) -> Sandbox {
    try_to_open(store).unwrap()
}

pub(crate) fn try_to_open(store: &Path) -> Result<Sandbox, OpenError> {
    Sandbox::open(store, Settings::default(), [9; 32])
}

/// The clock of these stores stands still, so the real time does not matter.
pub(crate) fn respond(sandbox: &mut Sandbox, request: http::request::Builder, body: String) -> Response<Bytes> {
    sandbox.handle(Timestamp::MIN, request.body(Bytes::from(body)).unwrap())
}

pub(crate) fn show(sandbox: &mut Sandbox, list: &str) -> Value {
    let response = respond(sandbox, Request::get(format!("/_sandbox/{list}")), String::new());
    serde_json::from_slice(response.body()).unwrap()
}

pub(crate) fn call(sandbox: &mut Sandbox, method: &str, parameters: &[(&str, &str)]) -> Value {
    serde_json::from_slice(ask(sandbox, method, parameters).body()).unwrap()
}

pub(crate) fn ask(sandbox: &mut Sandbox, method: &str, parameters: &[(&str, &str)]) -> Response<Bytes> {
    let merchants = Merchants::default();
    let main = merchants.by_name("main").unwrap();
    sandbox.handle(Timestamp::MIN, request(Method::POST, &format!("/v3/{method}/json"), signed_form(main, parameters)))
}

/// A payment of so much with a card key that `rows/` holds.
pub(crate) fn pay(sandbox: &mut Sandbox, price: &str, parameters: &[(&str, &str)]) -> Value {
    let order = [("cardKey", super::TOKEN), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", price)];
    call(sandbox, "transaction/authCardKey", &[&order[..], parameters].concat())
}
