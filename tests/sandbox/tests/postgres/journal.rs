//! The journal of requests is the same at every process.

use std::time::Duration;

use http::Method;
use pg_stores::Postgres;
use serde_json::Value;

use super::process::Process;

const ACCOUNT: &str = r#"{"name":"ci","ttlSeconds":3600}"#;
const SESSION: [(&str, &str); 1] = [("errorPageUrl", "https://shop.example/error")];

fn two() -> Option<(String, Process, Process)> {
    let url = Postgres::for_tests()?.database().unwrap();
    let (one, other) = (Process::open(&url, 1), Process::open(&url, 2));
    Some((url, one, other))
}

/// The paths of the requests, newest first.
fn paths(process: &mut Process, query: &str) -> Vec<String> {
    let (status, listed) = process.send(Method::GET, &format!("/_sandbox/requests{query}"), "");
    assert_eq!(status, 200, "{listed}");
    let path = |entry: &Value| entry["path"].as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(path).collect()
}

#[test]
fn every_process_shows_the_requests_of_all_in_their_order() {
    let Some((_, mut one, mut other)) = two() else { return };
    for number in 0..6 {
        let process = if number % 2 == 0 { &mut one } else { &mut other };
        process.now = process.now.plus(Duration::from_secs(number));
        process.send(Method::GET, &format!("/v3/none/{number}/json"), "");
    }
    other.pay("order-1");
    // Whichever asks, the other one has handed its entries over.
    paths(&mut one, "");
    let expected: Vec<String> = paths(&mut other, "");
    assert_eq!(paths(&mut one, ""), expected);
    assert_eq!(expected.len(), 7);
    assert_eq!(expected.iter().filter(|path| path.contains("/none/")).count(), 6);
    let (_, listed) = one.send(Method::GET, "/_sandbox/requests?find=order-1", "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["parameters"]["cardNumber"], "400000******1000");
    let (status, entry) =
        one.send(Method::GET, &format!("/_sandbox/requests/{}", listed[0]["id"].as_str().unwrap()), "");
    assert_eq!((status, &entry), (200, &listed[0]));
    assert_eq!(paths(&mut one, "?method=transaction/auth").len(), 1);
    let mut pages = Vec::new();
    let mut before = String::new();
    while let Some(last) =
        one.send(Method::GET, &format!("/_sandbox/requests?limit=3{before}"), "").1.as_array().cloned()
    {
        let Some(key) = last.last().map(|entry| entry["id"].as_str().unwrap().to_owned()) else { break };
        pages.extend(last.into_iter().map(|entry| entry["path"].as_str().unwrap().to_owned()));
        before = format!("&before={key}");
    }
    assert_eq!(pages, expected);
}

#[test]
fn the_journal_of_an_account_is_its_own_and_ends_with_it() {
    let Some((url, mut one, mut other)) = two() else { return };
    let make = |process: &mut Process| process.send(Method::POST, "/_sandbox/accounts", ACCOUNT).1;
    let account = make(&mut one);
    let key = account["apiKey"].as_str().unwrap();
    let own = format!("apiKey={key}&apiPassword=wrong&errorPageUrl=https%3A%2F%2Fshop.example%2Ferror&shaSignature=0");
    other.send(Method::POST, "/v3/session/initiate/json", &own);
    other.call("main", "session/initiate", &SESSION);
    assert_eq!(paths(&mut other, "?account=ci"), ["/v3/session/initiate/json"]);
    assert_eq!(paths(&mut one, "?account=ci"), ["/v3/session/initiate/json"]);
    assert_eq!(paths(&mut one, "").len(), 2);
    assert_eq!(one.send(Method::DELETE, "/_sandbox/accounts/ci", "").0, 200);
    assert_eq!(paths(&mut one, "").len(), 1);
    // One of the same name sees nothing of it, even if an entry came late.
    other.now = other.now.plus(Duration::from_secs(60));
    make(&mut other);
    assert!(paths(&mut other, "?account=ci").is_empty());
    drop((one, other));
    // A process that ends has written its entries, and a new one shows them.
    let mut third = Process::open(&url, 3);
    third.now = third.now.plus(Duration::from_secs(60));
    assert_eq!(paths(&mut third, "").len(), 1);
}
