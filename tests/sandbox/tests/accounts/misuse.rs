//! Bad input gets a status, a code and a reason, and changes nothing.

use http::Method;
use pg_support::request;
use serde_json::Value;

use super::{Job, Shared};

#[test]
fn bad_input_is_refused_with_a_reason() {
    let mut shared = Shared::new();
    shared.account(r#"{"name":"ci-1"}"#);
    let post = |shared: &mut Shared, body: &str| shared.refused(Method::POST, "accounts", body);
    for (body, status, code, says) in [
        (r#"{"name":"ci-1"}"#, 409, "name-taken", "there is already an account \"ci-1\""),
        (r#"{"name":"main"}"#, 409, "name-taken", "there is already an account \"main\""),
        (r#"{"name":"Ci 1"}"#, 400, "invalid", "name must be 1 to 32 lower-case letters"),
        (r#"{"ttlSeconds":"1h"}"#, 400, "invalid", "ttlSeconds must be a whole number"),
        (r#"{"ttlSeconds":0}"#, 400, "invalid", "ttlSeconds must be a whole number"),
        (r#"{"like":"nothing"}"#, 400, "invalid", "like must be the name of a configured account: main, strict, other"),
        (r#"{"like":"ci-1"}"#, 400, "invalid", "like must be the name of a configured account"),
        ("name=ci-2", 400, "invalid", "JSON object"),
    ] {
        let (found, found_code, reason) = post(&mut shared, body);
        assert_eq!((found, &*found_code), (status, code), "{body}: {reason}");
        assert!(reason.contains(says), "{body}: {reason}");
    }
    for (method, path) in [
        (Method::GET, "accounts/ci-2"),
        (Method::DELETE, "accounts/ci-2"),
        (Method::DELETE, "accounts/main"),
        (Method::GET, "clock?account=ci-2"),
        (Method::POST, "faults?account=main"),
        (Method::GET, "transactions?account=CI"),
    ] {
        let (status, code, reason) = shared.refused(method, path, "");
        assert_eq!((status, &*code), (404, "no-such-entry"), "{path}: {reason}");
        let begin = if path.ends_with("main") { "\"main\" is a configured account" } else { "there is no account " };
        assert!(reason.starts_with(begin) && reason.contains("GET /_sandbox/accounts"), "{path}: {reason}");
    }
    assert_eq!(shared.refused(Method::POST, "accounts/ci-1", "").0, 405);
    assert_eq!(shared.refused(Method::DELETE, "accounts", "").0, 405);
    assert_eq!(shared.get("accounts").as_array().unwrap().len(), 1);
}

/// The name in a script's variable may be missing. Then the call must not apply to all configured accounts.
#[test]
fn an_account_without_a_name_or_with_two_changes_nothing() {
    let mut shared = Shared::new();
    shared.account(r#"{"name":"ci-1"}"#);
    shared.account(r#"{"name":"ci-2"}"#);
    shared.post("faults", r#"{"method":"*","kind":"garble"}"#);
    let before = ["clock", "faults", "accounts", "callbacks/behaviour"].map(|path| shared.get(path));
    for (method, call, body) in [
        (Method::POST, "clock?account=", r#"{"advanceSeconds":1}"#),
        (Method::POST, "clock?account", r#"{"advanceSeconds":1}"#),
        (Method::POST, "clock?account=ci-1&account=", r#"{"advanceSeconds":1}"#),
        (Method::POST, "clock?account=ci-1&account=ci-2", r#"{"advanceSeconds":1}"#),
        (Method::GET, "clock?account=ci-1&account=ci-2", ""),
        (Method::GET, "transactions?account=ci-1&account=ci-2", ""),
        (Method::GET, "transactions?account=ci-1&merchant=ci-2", ""),
        (Method::POST, "faults?account=", r#"{"method":"*","kind":"garble"}"#),
        (Method::DELETE, "faults?account=", ""),
        (Method::DELETE, "faults?account=nobody&account=ci-1", ""),
        (Method::POST, "callbacks/behaviour?account=", r#"{"kind":"fail"}"#),
        (Method::DELETE, "callbacks/destinations?account=", ""),
        (Method::POST, "cards/updater?account=", r#"{"cardNumber":"4000000000001000","response":"705"}"#),
        (Method::POST, "batches/1/spoil?account=", ""),
        // These calls name their account in another way.
        (Method::POST, "accounts?account=ci-1", "{}"),
        (Method::GET, "accounts?account=ci-1", ""),
        (Method::DELETE, "accounts/ci-1?account=ci-2", ""),
        (Method::GET, "merchants?account=ci-1", ""),
    ] {
        let (status, code, reason) = shared.refused(method, call, body);
        assert_eq!((status, &*code), (400, "invalid"), "{call}: {reason}");
        assert!(reason.contains("account"), "{call}: {reason}");
    }
    // The same holds for the buttons of the inspector.
    for path in ["clock?account=", "clock?account=ci-1&account=ci-2", "clock?account=nobody&account=ci-1"] {
        let pressed = request(Method::POST, &format!("/_sandbox/pages/{path}"), "advanceSeconds=1");
        assert_eq!(shared.sandbox.handle(shared.now, pressed).status(), 400, "{path}");
    }
    let after = ["clock", "faults", "accounts", "callbacks/behaviour"].map(|path| shared.get(path));
    assert_eq!(before, after);
    assert_eq!(shared.get("clock?account="), before[0], "a call that only reads names no account, as in lists");
    assert_eq!(shared.get("transactions?account=ci-1&merchant=ci-1").as_array().map(Vec::len), Some(0));
}

#[test]
fn credentials_are_shown_once_and_are_those_of_this_account() {
    let mut shared = Shared::new();
    let made = shared.post("accounts", r#"{"name":"ci-1","like":"strict"}"#);
    for (name, length) in [("apiKey", 32), ("apiPassword", 32), ("shaKey", 32), ("enterpriseApiKey", 32)] {
        assert_eq!(made[name].as_str().unwrap().len(), length, "{name}");
    }
    assert_eq!((&made["requestsPerMinute"], &made["rawCards"]), (&Value::from(100), &Value::from(false)));
    assert!(made["baseUrl"].as_str().is_some() && made["accountUpdaterKey"].is_null());
    let secret = made["apiPassword"].as_str().unwrap();
    for path in ["accounts", "accounts/ci-1", "merchants", "requests"] {
        assert!(!shared.get(path).to_string().contains(secret), "{path}");
    }
    let (_, wrong) = (
        0,
        Job::of(&{
            let mut wrong = made.clone();
            wrong["accountUpdaterKey"] = Value::Null;
            wrong["apiPassword"] = "0".repeat(32).into();
            wrong
        }),
    );
    assert_eq!(wrong.session(&mut shared).1["errorCode"], "102");
}

/// The first half of a key names the account, which a neighbour may have read somewhere. Guessing the rest tells nothing.
#[test]
fn a_key_with_a_known_prefix_gets_the_reply_of_an_unknown_key() {
    let mut shared = Shared::new();
    let made = shared.post("accounts", r#"{"name":"ci-1"}"#);
    let with_key = |key: &str| {
        let mut guessed = made.clone();
        guessed["apiKey"] = key.into();
        Job::of(&guessed)
    };
    let half = &made["apiKey"].as_str().unwrap()[..16];
    let (guessed, unknown) = (with_key(&format!("{half}{}", "0".repeat(16))), with_key(&"0".repeat(32)));
    let [mut of_guessed, mut of_unknown] = [guessed, unknown].map(|job| job.session(&mut shared));
    // Each reply has its own trace code.
    for (_, reply) in [&mut of_guessed, &mut of_unknown] {
        reply["traceCode"] = Value::Null;
    }
    assert_eq!(of_guessed, of_unknown);
    assert_eq!(of_guessed.1["errorCode"], "102", "{}", of_guessed.1);
    assert_eq!(Job::of(&made).session(&mut shared).0, 200, "the account itself goes on");
}
