//! Several sandboxes over one database keep every promise as if they were one.

use std::{thread, time::Duration};

use http::Method;
use pg_sandbox::Timestamp;
use pg_stores::Postgres;

use super::process::{Process, payment, request, shown};

/// Two sandboxes over a new database.
fn two() -> Option<(Process, Process)> {
    let url = Postgres::for_tests()?.database().unwrap();
    Some((Process::open(&url, 1), Process::open(&url, 2)))
}

const SESSION: [(&str, &str); 1] = [("errorPageUrl", "https://shop.example/error")];

/// Milliseconds that the clock of the second process is behind: as of one that took its time before it waited for its
/// turn, and as of a machine that is not synchronised.
const BEHIND: [i64; 3] = [0, 3, 240_000];

fn behind(now: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(now.millis() - millis)
}

#[test]
fn the_limit_of_requests_is_exact_over_two_whose_clocks_differ() {
    for millis in BEHIND {
        let Some((mut one, mut other)) = two() else { return };
        other.now = behind(one.now, millis);
        let statuses: Vec<u16> = (0..130)
            .map(|number| {
                if number % 3 == 0 { &mut one } else { &mut other }.call("strict", "session/initiate", &SESSION).0
            })
            .collect();
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 100, "{millis}");
        assert!(statuses[..100].iter().all(|status| *status == 200), "{millis}");
        one.now = one.now.plus(Duration::from_secs(60));
        assert_eq!(one.call("strict", "session/initiate", &SESSION).0, 200, "{millis}");
    }
}

const WRONG: &str = "apiKey=wrong&apiPassword=wrong&errorPageUrl=https%3A%2F%2Fshop.example%2Ferror&shaSignature=0";

#[test]
fn an_address_is_locked_out_after_six_failures_wherever_they_were_and_whatever_the_clocks_say() {
    for millis in BEHIND {
        let Some((mut one, mut other)) = two() else { return };
        other.now = behind(one.now, millis);
        for number in 0..6 {
            let process = if number % 2 == 0 { &mut one } else { &mut other };
            let (_, reply) = process.send(Method::POST, "/v3/session/initiate/json", WRONG);
            assert_eq!(reply["errorCode"], "102", "{millis} {number}");
        }
        for process in [&mut one, &mut other] {
            assert_eq!(process.call("main", "session/initiate", &SESSION).1["errorCode"], "121", "{millis}");
        }
    }
}

#[test]
fn a_clock_that_is_turned_back_frees_a_limited_account_and_a_locked_address() {
    let Some((mut one, mut other)) = two() else { return };
    assert_eq!(one.send(Method::POST, "/_sandbox/clock", r#"{"set":"2027-01-01T00:02:00Z"}"#).0, 200);
    (0..100).for_each(|_| assert_eq!(one.call("strict", "session/initiate", &SESSION).0, 200));
    assert_eq!(other.call("strict", "session/initiate", &SESSION).0, 403);
    for _ in 0..6 {
        other.send(Method::POST, "/v3/session/initiate/json", WRONG);
    }
    assert_eq!(one.call("main", "session/initiate", &SESSION).1["errorCode"], "121");
    assert_eq!(one.send(Method::POST, "/_sandbox/clock", r#"{"set":"2027-01-01T00:01:30Z"}"#).0, 200);
    for account in ["main", "strict"] {
        assert_eq!(other.call(account, "session/initiate", &SESSION).0, 200, "{account}");
    }
}

#[test]
fn there_is_one_clock_and_one_list_of_faults() {
    let Some((mut one, mut other)) = two() else { return };
    assert_eq!(one.send(Method::POST, "/_sandbox/clock", r#"{"set":"2027-01-01T00:00:00Z"}"#).0, 200);
    let (_, clock) = other.send(Method::GET, "/_sandbox/clock", "");
    assert_eq!(clock["now"], "2027-01-01T00:00:00Z");
    let fault = r#"{"method":"session/initiate","kind":"status","status":503,"times":3}"#;
    assert_eq!(one.send(Method::POST, "/_sandbox/faults", fault).0 / 100, 2);
    let met = [&mut other, &mut one].map(|process| process.call("main", "session/initiate", &SESSION).0);
    assert_eq!(met, [503, 503]);
    assert_eq!(other.call("main", "session/initiate", &SESSION).0, 503);
    assert_eq!(one.call("main", "session/initiate", &SESSION).0, 200);
}

#[test]
fn a_reference_is_paid_once_by_processes_that_race() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let paid: Vec<u16> = thread::scope(|scope| {
        let racing: Vec<_> = (1..=3)
            .map(|number| {
                let url = &url;
                scope.spawn(move || {
                    let mut process = Process::open(url, number);
                    (0..20).map(|order| process.pay(&format!("order-{order}")).0).collect::<Vec<u16>>()
                })
            })
            .collect();
        racing.into_iter().flat_map(|racing| racing.join().unwrap()).collect()
    });
    assert_eq!(paid.iter().filter(|status| **status == 200).count(), 20, "{paid:?}");
    assert_eq!(server.psql(&url, "SELECT count(*) FROM payment_sandbox.unique_references").unwrap(), "20");
    let (_, listed) = Process::open(&url, 9).send(Method::GET, "/_sandbox/transactions?limit=100", "");
    assert_eq!(listed.as_array().unwrap().len(), 20);
}

#[test]
fn a_group_whose_connection_breaks_is_carried_out_once() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let url = server.database().unwrap();
    let mut process = Process::open(&url, 1);
    assert_eq!(process.pay("before").0, 200);
    // Connections end between two groups, and the server starts again.
    server
        .psql(&url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pg sandbox'")
        .unwrap();
    assert_eq!(process.pay("after a lost connection").0, 200);
    server.stop_at_once().unwrap();
    let starting = thread::scope(|scope| {
        let starting = scope.spawn(|| server.start_again());
        assert_eq!(process.pay("while it starts").0, 200);
        starting.join().unwrap()
    });
    starting.unwrap();
    let group = (0..16).map(|number| {
        let pairs = payment(&format!("group {number}"));
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
        request(Method::POST, "/v3/transaction/auth/json", &process.signed("main", &pairs))
    });
    let group: Vec<_> = group.collect();
    let responses = process.sandbox.handle_group(process.now, group);
    assert!(responses.iter().all(|response| shown(response).0 == 200));
    assert_eq!(server.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap(), "19");
}

#[test]
fn a_text_that_the_database_cannot_hold_is_found_nowhere_and_fails_no_other_request() {
    let Some((mut one, _)) = two() else { return };
    let pairs = payment("order-1");
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
    let group = [
        (Method::POST, "/v3/session/postform/json", "sessionKey=%00".to_owned()),
        (Method::POST, "/v3/transaction/auth/json", one.signed("main", &pairs)),
        (Method::GET, "/_sandbox/tokens?merchant=%00", String::new()),
        (Method::GET, "/_sandbox/transactions?before=%00", String::new()),
        (Method::GET, "/_sandbox/requests?before=1777888800000-%00", String::new()),
        (Method::GET, "/_sandbox/requests?merchant=%00", String::new()),
        (Method::GET, "/_sandbox/clock?account=%00", String::new()),
    ];
    let group = group.map(|(method, path, body)| request(method, path, &body));
    let responses = one.sandbox.handle_group(one.now, group.into());
    let statuses: Vec<u16> = responses.iter().map(|response| response.status().as_u16()).collect();
    assert_eq!(statuses, [303, 200, 400, 200, 200, 400, 404]);
    assert!([3, 4].iter().all(|at| responses[*at].body() == "[]\n"), "{responses:?}");
    assert_eq!(one.pay("order-1").1["errorCode"], "950");
}

#[test]
fn a_callback_is_sent_by_one_process_and_by_another_if_the_first_ends() {
    let Some((mut one, mut other)) = two() else { return };
    let (_, paid) = one.pay("order-1");
    let key = [("transactionKey", paid["transactionKey"].as_str().unwrap())];
    let (_, tokens) = one.call("main", "token/tokeniseTransactionKey", &key);
    let updater = one.sandbox.settings().merchants.by_name("main").unwrap().account_updater_key.clone().unwrap();
    let batch = [
        ("accountUpdaterKey", updater.expose()),
        ("cardKey", tokens["cardKeyDetails"]["0"]["cardKey"].as_str().unwrap()),
        ("callbackUrl", "http://127.0.0.1:9/callback"),
    ];
    assert_eq!(one.call("main", "token/requestAccountUpdater", &batch).0, 200);
    // The batch ends two minutes later; the process that took it may be gone, and another one finds out.
    let later = one.now.plus(Duration::from_secs(121));
    let sent = other.sandbox.due(later);
    assert_eq!(sent.len(), 1);
    assert!(one.sandbox.due(later).is_empty(), "it is sent by one of them");
    // The one that has it says nothing for as long as a delivery may take: it has ended.
    let again = one.sandbox.due(later.plus(Duration::from_secs(61)));
    assert_eq!(again.len(), 1);
    one.sandbox.delivered(later.plus(Duration::from_secs(62)), &again[0].id, Ok(http::StatusCode::OK));
    let (_, listed) = other.send(Method::GET, "/_sandbox/callbacks", "");
    assert_eq!(listed[0]["status"], "delivered");
    assert!(other.sandbox.due(later.plus(Duration::from_secs(300))).is_empty());
}

// spec: 2 §1.1, A101: The CV2 is dropped at the first authorisation.
#[test]
fn a_cv2_is_used_once_and_stored_nowhere() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let (mut one, mut other) = (Process::open(&url, 1), Process::open(&url, 2));
    let post = |process: &mut Process, cv2: &str| {
        let (_, session) = process.call("main", "session/initiate", &SESSION);
        let key = session["sessionKey"].as_str().unwrap().to_owned();
        let form = serde_urlencoded::to_string([
            ("sessionKey", &*key),
            ("cardNumber", "4000000000001000"),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "2030"),
            ("cardCV2", cv2),
            ("nextPageUrl", "https://shop.example/next"),
            ("currentPageUrl", "https://shop.example/card"),
        ]);
        let posted = request(Method::POST, "/v3/session/postform/json", &form.unwrap());
        let response = process.sandbox.handle(process.now, posted);
        assert!(response.headers()["location"].to_str().unwrap().starts_with("https://shop.example/next"));
        key
    };
    let basis = |process: &mut Process, session: &str| {
        let order = [("sessionKey", session), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
        let body = process.signed("main", &order);
        let paid = request(Method::POST, "/v3/transaction/authSessionKey/json", &body);
        let response = process.sandbox.handle(process.now, paid);
        assert_eq!(shown(&response).0, 200);
        let basis = response.headers()["pg-basis"].to_str().unwrap().to_owned();
        basis.split([',', ' ', ';']).any(|part| part == "A101")
    };
    let noted = || server.psql(&url, "SELECT count(*) FROM payment_sandbox.meta WHERE key LIKE 'cv2:%'").unwrap();
    let session = post(&mut one, "917");
    assert_eq!(noted(), "1");
    assert!(basis(&mut other, &session));
    assert_eq!(noted(), "0");
    assert!(!basis(&mut one, &session));
    let without = post(&mut one, "");
    assert!(!basis(&mut other, &without));

    // A session that ends takes its note along, whichever process notices.
    post(&mut one, "917");
    assert_eq!(noted(), "1");
    assert!(other.sandbox.due(other.now.plus(Duration::from_secs(31 * 60))).is_empty());
    assert_eq!(noted(), "0");
}
