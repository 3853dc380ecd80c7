//! Requests that are refused, and with which code (spec 1 §4.8, §7; A45, A70 to A72, A77).

use serde_json::json;

use crate::account_updater::{Desk, OTHER, PLAIN};

const REQUEST: &str = "token/requestAccountUpdater";
const RETRIEVE: &str = "token/retrieveAccountUpdater";

fn refused(desk: &mut Desk, keys: &str, url: &str) -> String {
    let updater = desk.updater_key();
    let (code, message) =
        desk.refused(REQUEST, &[("accountUpdaterKey", &updater), ("cardKey", keys), ("callbackUrl", url)]);
    assert!(desk.get("batches").1.as_array().unwrap().is_empty());
    format!("{code} {message}")
}

// spec: 1 §4.8, A71: accountUpdaterKey must be that of the account.
// spec: codes ErrorCode 180
#[test]
fn the_updater_key_must_match_the_account() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    for wrong in ["", "OtherSandboxUpdaterKey0000000000", "wrong"] {
        let pairs = [("accountUpdaterKey", wrong), ("cardKey", &key)];
        assert_eq!(desk.refused(REQUEST, &pairs).0, "180", "{wrong}");
    }
    assert_eq!(desk.refused(REQUEST, &[("cardKey", &key)]).0, "180");
}

// spec: 1 §1, A71, A102: The account updater is disabled until it is enabled for the account.
// spec: codes ErrorCode 106
#[test]
fn an_account_without_the_updater_has_no_permission() {
    let mut desk = Desk::new();
    desk.become_merchant("strict");
    for updater in ["wrong", "StrictSandboxUpdaterKey000000000"] {
        assert_eq!(desk.refused(REQUEST, &[("accountUpdaterKey", updater), ("cardKey", "k")]).0, "106");
    }
    assert_eq!(desk.refused(RETRIEVE, &[("batchKey", "x")]).0, "106");
}

// spec: 1 §4.8, A70: cardKey contains one key, or up to 5,000 separated by commas, each once.
// spec: 1 §8; codes SandboxErrorCode 945
#[test]
fn the_list_of_cards_must_be_valid_without_repetition() {
    let mut desk = Desk::new();
    let (first, same) = (desk.token(PLAIN, "a"), desk.token(PLAIN, "b"));
    let other = desk.token(OTHER, "a");
    let gone = desk.token("4000000000005001", "a");
    desk.done("token/delete", &[("cardKey", &gone)]);
    for (keys, wanted) in [
        (String::new(), "938 Missing parameter: cardKey"),
        (",".to_owned(), "937 Invalid parameter: cardKey"),
        (format!("{first},"), "937 Invalid parameter: cardKey"),
        (format!("{first}, ,{other}"), "937 Invalid parameter: cardKey"),
        (format!("{first}\n"), "937 Invalid parameter: cardKey"),
        (format!("{first},\t{other}"), "937 Invalid parameter: cardKey"),
        (format!("{first},\u{85}{other}"), "937 Invalid parameter: cardKey"),
        ("none".to_owned(), "940 Unknown card key: 1"),
        (format!("{first},{other},none,never"), "940 Unknown card key: 3"),
        (format!("{first},{gone}"), "940 Unknown card key: 2"),
    ] {
        assert_eq!(refused(&mut desk, &keys, ""), wanted, "{keys}");
    }
    // A request with duplicated cards fails: the documents name `ERROR` for that (spec 1 §4.8).
    for keys in
        [format!("{first},{other},{first}"), format!("{first},{other}, {first} "), format!("{first},{other},{same}")]
    {
        let updater = desk.updater_key();
        let given = [("accountUpdaterKey", &*updater), ("cardKey", &*keys)];
        assert_eq!(desk.done(REQUEST, &given), json!({"result": "ERROR"}), "{keys}");
        let mut strict = Desk::with(|merchant| merchant.duplicates_as_error = true);
        let given = [("accountUpdaterKey", &*updater), ("cardKey", "a,a")];
        assert_eq!(strict.refused(REQUEST, &given).0, "945");
    }
    let many: Vec<String> = (0..5_001).map(|number| number.to_string()).collect();
    assert_eq!(refused(&mut desk, &many.join(","), ""), "946 More than 5000 card keys");
    // Blanks around commas mean nothing.
    desk.request(&[&format!(" {first} "), &format!(" {other}")], "");
}

// spec: 1 §4.8, A77: callbackUrl is a URL with a trusted certificate.
// spec: codes ErrorCode 184
#[test]
fn only_addresses_that_may_be_called_are_taken() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    for url in [
        "shop.example",
        "ftp://shop.example/",
        "http://shop.example/",
        "https://sh\u{f6}p.example/",
        "https://shop.example:0/",
        &format!("https://shop.example/{}", "a".repeat(8 << 10)),
        "https://user:pass@shop.example/",
        "https://10.0.0.1/",
        "https://[::ffff:169.254.169.254]/",
        "http://169.254.169.254/latest/meta-data",
        "http://0.0.0.0/",
    ] {
        assert_eq!(refused(&mut desk, &key, url), "184 Invalid callback URL", "{url}");
        let warning = desk.get("requests").1[0]["warnings"][0].as_str().unwrap_or_default().to_owned();
        let reason = warning.strip_prefix("Invalid callback URL: ").unwrap_or_else(|| panic!("{url}: {warning}"));
        assert!(!reason.is_empty() && !reason.contains("example"), "{url}: {warning}");
    }
    for url in ["https://shop.example/hook", "http://127.0.0.1:9/hook", "http://[::1]:9/", "http://localhost:9/"] {
        desk.request(&[&key], url);
    }
}

// spec: 1 §4.9, A72: batchKey is required; an unknown one has a code of its own.
// spec: codes ErrorCode 181 183
#[test]
fn unknown_batches_have_their_code_and_lost_ones_too() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    for batch in ["", "short", "0123456789abcdef0123456789abcdef", "!123456789abcdef0123456789abcdef"] {
        assert_eq!(desk.refused(RETRIEVE, &[("batchKey", batch)]).0, "183", "{batch}");
    }
    let batch = desk.request(&[&key], "");
    desk.tell(&format!("batches/{batch}/spoil"), "");
    assert_eq!(desk.refused(RETRIEVE, &[("batchKey", &batch)]).0, "182");
    desk.wait(120);
    assert_eq!(desk.refused(RETRIEVE, &[("batchKey", &batch)]).0, "181");
}

// spec: 1 §4.8, A70
#[test]
fn a_refused_request_leaves_nothing() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    refused(&mut desk, &key, "http://10.0.0.1/");
    desk.wait(120);
    assert!(desk.due().is_empty());
    assert!(pg_stores::rests(&desk.sandbox, desk.now));
}
