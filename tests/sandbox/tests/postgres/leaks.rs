//! What stands in the database of a shared sandbox: no card, no security code, no credential, in no spelling.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::Method;
use pg_stores::Postgres;
use serde_json::Value;

use super::process::{Process, payment};

const CARD: &str = "4000000000001000";
const CV2: &str = "9178";

fn spellings(text: &str) -> Vec<String> {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let base64 = STANDARD.encode(text).trim_end_matches('=').to_owned();
    // The last letter holds bits of a neighbour.
    let base64 = base64[..base64.len() - 1].to_owned();
    vec![text.to_owned(), text.chars().rev().collect(), hex.to_uppercase(), hex, percent, base64]
}

/// Every row of every table, as text.
fn dumped(server: &Postgres, url: &str) -> String {
    let tables = "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) FROM information_schema.tables \
                  WHERE table_schema NOT IN ('pg_catalog', 'information_schema')";
    let tables = server.psql(url, tables).unwrap();
    assert!(tables.lines().count() > 3, "{tables}");
    let rows = |table: &str| server.psql(url, &format!("SELECT t::text FROM {table} t")).unwrap();
    tables.lines().map(|table| format!("{table}\n{}\n", rows(table))).collect()
}

#[test]
fn no_table_holds_a_card_or_a_credential_in_any_spelling() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let mut one = Process::open(&url, 1);
    let account = one.send(Method::POST, "/_sandbox/accounts", r#"{"name":"ci","ttlSeconds":3600}"#).1;
    let secrets = |names: &[&str]| -> Vec<String> {
        names.iter().filter_map(|name| account[*name].as_str()).map(str::to_owned).collect()
    };
    let secrets = secrets(&["apiPassword", "shaKey", "enterpriseApiPassword"]);
    assert_eq!(secrets.len(), 3, "{account}");
    // Paid, refused, and unreadable; with the card where it belongs, and where it does not.
    for (reference, more) in [
        ("order-1", &[("cardCV2", CV2)][..]),
        ("order-2", &[("cardCV2", CV2), ("merchantReference", CARD), ("itemName1", CARD), ("itemPrice1", "1")]),
        ("order-3", &[("cardCV2", CV2), ("nonsense", CARD)]),
    ] {
        let pairs = payment(reference);
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|(name, value)| (*name, &**value)).chain(more.iter().copied()).collect();
        one.call("main", "transaction/auth", &pairs);
    }
    one.send(Method::GET, &format!("/v3/none/{CARD}?cardNumber={CARD}&cardCV2={CV2}"), "");
    let (_, listed) = one.send(Method::GET, "/_sandbox/requests", "");
    assert!(listed.as_array().is_some_and(|listed| listed.len() >= 4), "{listed}");
    // Another process reads the journal from the database.
    let mut other = Process::open(&url, 2);
    let (_, read) = other.send(Method::GET, "/_sandbox/requests", "");
    assert!(read[0]["path"].is_string() && !read.to_string().contains(CARD), "{read}");
    let dump = dumped(server, &url);
    assert!(dump.lines().count() > 20, "{dump}");
    for secret in secrets.iter().map(String::as_str).chain([CARD]) {
        for spelling in spellings(secret) {
            assert!(!dump.contains(&spelling), "{spelling} stands in the database");
        }
    }
    for named in ["cardCV2=9178", "\"cardCV2\":\"9178\"", "\"9178\""] {
        assert!(!dump.contains(named), "{named} stands in the database");
    }
    // Control: a planted card number is found.
    let marked = Value::from(CARD).to_string();
    server.psql(&url, &format!("CREATE TABLE planted AS SELECT '{marked}'::text AS x")).unwrap();
    assert!(dumped(server, &url).contains(CARD));
}
