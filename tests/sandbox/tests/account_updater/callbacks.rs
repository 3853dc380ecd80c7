//! The callback of a finished batch (spec 1 §6; A76), and what it can be told to do.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::account_updater::{A, Desk, HOOK, PLAIN, body};

fn finished(desk: &mut Desk) -> String {
    let key = desk.token(PLAIN, "c");
    let batch = desk.request(&[&key], HOOK);
    desk.wait(120);
    batch
}

// spec: 1 §1: Its result is sent as a callback and can be retrieved by batch key.
// spec: 1 §6: If the request named a URL, it receives a POST when the batch has finished.
// spec: 1 §3.2
#[test]
fn one_callback_comes_when_the_batch_has_finished_and_says_what_a_retrieval_does() {
    let mut desk = Desk::new();
    let (a, plain) = (desk.token(A, "c"), desk.token(PLAIN, "c"));
    let batch = desk.request(&[&a, &plain], HOOK);
    desk.wait(119);
    assert!(desk.due().is_empty());
    assert_eq!(desk.sandbox.next_due(), Some(desk.now.plus(std::time::Duration::from_secs(1))));
    desk.wait(1);
    let outgoing = desk.deliver(200);
    assert_eq!(outgoing.request.method(), "POST");
    assert_eq!(outgoing.request.uri(), HOOK);
    assert_eq!(outgoing.request.headers()["content-type"], "application/json; charset=utf-8");
    assert_eq!(outgoing.request.headers()["pg-callback"], outgoing.id.as_str());
    let said: Value = serde_json::from_str(body(&outgoing)).unwrap();
    assert_eq!(said, desk.retrieve(&batch));
    assert_eq!(said["cardKeyDetails"][0]["response"], "700");
    desk.wait(86_400);
    assert!(desk.due().is_empty());
    let newest = desk.newest();
    assert_eq!((&newest["status"], &newest["attempts"]), (&json!("delivered"), &json!(1)));
    assert_eq!((&newest["kind"], &newest["about"]), (&json!("account-updater"), &json!(batch)));
    assert_eq!(newest["lastResult"], json!({ "at": "2026-05-04T10:02:00Z", "status": 200 }));
}

// spec: 1 §6: The callback has the format of a retrieval, in the encoding of the request.
#[test]
fn a_callback_has_the_encoding_of_the_request() {
    let mut desk = Desk::new();
    let key = desk.token(A, "c");
    let updater = desk.updater_key();
    let pairs = [("accountUpdaterKey", updater.as_str()), ("cardKey", &key), ("callbackUrl", HOOK)];
    for path in ["token/requestAccountUpdater", "token/requestAccountUpdater/xml"] {
        let (_, requested) = desk.call(path, &pairs, true);
        assert!(requested.contains("<result>OK</result><batchKey>"), "{requested}");
        desk.wait(120);
        let outgoing = desk.deliver(204);
        assert_eq!(outgoing.request.headers()["content-type"], "application/xml; charset=utf-8");
        let batch = requested.split("<batchKey>").nth(1).unwrap()[..32].to_owned();
        // Retrieved as JSON or XML, whatever was requested.
        let (_, retrieved) = desk.call("token/retrieveAccountUpdater", &[("batchKey", &batch)], true);
        assert_eq!(body(&outgoing), retrieved);
    }
}

// spec: 1 §3.2, §6, A72: A batch whose data is lost finishes too: its callback names it, and its retrieval is refused.
#[test]
fn a_spoiled_batch_has_a_callback_without_cards() {
    let mut desk = Desk::new();
    let key = desk.token(A, "c");
    let batch = desk.request(&[&key], HOOK);
    desk.tell(&format!("batches/{batch}/spoil"), "");
    desk.wait(120);
    let said: Value = serde_json::from_str(body(&desk.deliver(200))).unwrap();
    assert_eq!((&said["batchKey"], &said["cardKeyDetails"]), (&json!(batch), &Value::Null));
    assert_eq!(desk.refused("token/retrieveAccountUpdater", &[("batchKey", &batch)]).0, "181");
    assert!(desk.due().is_empty());
}

// spec: 1 §3.2
#[test]
fn without_an_address_there_is_none() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    desk.request(&[&key], "");
    desk.wait(120);
    assert!(desk.due().is_empty());
    assert_eq!(desk.get("callbacks").1, json!([]));
}

// spec: 1 §6, A76: It is sent once, and again only on request.
#[test]
fn a_callback_in_flight_is_not_handed_out_again_and_a_failure_is_final() {
    let mut desk = Desk::new();
    finished(&mut desk);
    let due = desk.due();
    assert_eq!(due.len(), 1);
    assert!(desk.due().is_empty());
    desk.delivered("another", Ok(StatusCode::OK));
    desk.delivered(&due[0].id, Err("no connection: refused".to_owned()));
    desk.delivered(&due[0].id, Ok(StatusCode::OK));
    desk.wait(86_400);
    assert!(desk.due().is_empty());
    let newest = desk.newest();
    assert_eq!((&newest["status"], &newest["attempts"]), (&json!("failed"), &json!(1)));
    assert_eq!(newest["lastResult"]["error"], "no connection: refused");
}

#[test]
fn any_status_but_2xx_is_a_failure() {
    let mut desk = Desk::new();
    for (status, wanted) in [(200, "delivered"), (299, "delivered"), (302, "failed"), (404, "failed"), (500, "failed")]
    {
        finished(&mut desk);
        desk.deliver(status);
        assert_eq!(desk.newest()["status"], wanted, "{status}");
    }
}

// spec: 1 §6, A76
#[test]
fn a_callback_can_be_sent_again() {
    let mut desk = Desk::new();
    finished(&mut desk);
    let first = desk.deliver(500);
    let path = format!("callbacks/{}/redeliver", first.id);
    desk.wait(60);
    assert_eq!(desk.tell(&path, "")["status"], "pending");
    let again = desk.deliver(200);
    assert_eq!((&again.id, body(&again)), (&first.id, body(&first)));
    assert!(desk.due().is_empty());
    let newest = desk.newest();
    assert_eq!((&newest["status"], &newest["attempts"]), (&json!("delivered"), &json!(2)));
    assert_eq!(newest["lastResult"]["at"], "2026-05-04T10:03:00Z");
    // While it is on its way it can be asked for once more.
    desk.tell(&path, "");
    let under_way = desk.due();
    desk.tell(&path, "");
    assert!(desk.due().is_empty());
    desk.delivered(&under_way[0].id, Ok(StatusCode::OK));
    desk.deliver(200);
    assert!(desk.due().is_empty());
    let missing = desk.control(Method::POST, "callbacks/none/redeliver", "");
    assert_eq!(missing.0, 404);
}

#[test]
fn a_callback_can_be_made_to_fail() {
    let mut desk = Desk::new();
    desk.tell("callbacks/behaviour", r#"{"kind": "fail"}"#);
    finished(&mut desk);
    assert!(desk.due().is_empty());
    let newest = desk.newest();
    assert_eq!((&newest["status"], &newest["attempts"]), (&json!("failed"), &json!(0)));
    assert_eq!(newest["lastResult"]["error"], "the callback was set to fail, and was not sent");
    desk.tell(&format!("callbacks/{}/redeliver", newest["id"].as_str().unwrap()), "");
    desk.deliver(200);
    assert_eq!(desk.newest()["status"], "delivered");
    // The next one is as usual.
    finished(&mut desk);
    desk.deliver(200);
}

#[test]
fn a_callback_can_be_delayed_on_the_sandboxs_clock() {
    let mut desk = Desk::new();
    desk.tell("callbacks/behaviour", r#"{"kind": "late", "seconds": 600}"#);
    let batch = finished(&mut desk);
    desk.retrieve(&batch);
    desk.wait(599);
    assert!(desk.due().is_empty());
    assert_eq!(desk.newest()["status"], "pending");
    desk.tell("clock", r#"{"advanceSeconds": 1}"#);
    desk.deliver(200);
    assert!(desk.due().is_empty());
    // One that waits is sent at once when it is asked for, and then no more.
    desk.tell("callbacks/behaviour", r#"{"kind": "late", "seconds": 600}"#);
    finished(&mut desk);
    assert!(desk.due().is_empty());
    let id = desk.newest()["id"].as_str().unwrap().to_owned();
    desk.tell(&format!("callbacks/{id}/redeliver"), "");
    desk.deliver(200);
    desk.wait(600);
    assert!(desk.due().is_empty());
}

#[test]
fn a_callback_can_be_duplicated() {
    let mut desk = Desk::new();
    desk.tell("callbacks/behaviour", r#"{"kind": "twice", "times": 2}"#);
    for _ in 0..2 {
        finished(&mut desk);
        let first = desk.deliver(200);
        assert_eq!(desk.newest()["status"], "pending");
        let second = desk.deliver(200);
        assert_eq!((first.id, first.request.body()), (second.id.clone(), second.request.body()));
        assert!(desk.due().is_empty());
        let newest = desk.newest();
        assert_eq!((&newest["status"], &newest["attempts"]), (&json!("delivered"), &json!(2)));
    }
    finished(&mut desk);
    desk.deliver(200);
    assert!(desk.due().is_empty());
}

#[test]
fn concurrent_callbacks_are_limited() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    let batches: Vec<String> = (0..70).map(|_| desk.request(&[&key], HOOK)).collect();
    desk.wait(120);
    let mut told = Vec::new();
    let mut under_way = desk.due();
    while let Some(outgoing) = under_way.pop() {
        assert!(under_way.len() < 32);
        let said: Value = serde_json::from_str(body(&outgoing)).unwrap();
        told.push(said["batchKey"].as_str().unwrap().to_owned());
        desk.delivered(&outgoing.id, Ok(StatusCode::OK));
        under_way.extend(desk.due());
    }
    told.sort();
    assert_eq!(told, batches);
}

#[test]
fn a_callback_address_is_checked_again_after_its_name_was_resolved() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    for (url, address, admitted) in [
        ("https://shop.example/", "1.1.1.1", true),
        ("https://shop.example/", "127.0.0.1", true),
        ("https://shop.example/", "10.0.0.1", false),
        ("https://shop.example/", "169.254.169.254", false),
        ("https://shop.example/", "::ffff:169.254.169.254", false),
        ("https://shop.example/", "fe80::1", false),
        ("http://localhost/", "::1", true),
        ("http://localhost/", "1.1.1.1", false),
    ] {
        desk.request(&[&key], url);
        desk.wait(120);
        let outgoing = desk.deliver(200);
        assert_eq!(outgoing.admits(address.parse().unwrap()).is_ok(), admitted, "{url} {address}");
    }
}

// spec: 1 §6, A345: An unacknowledged callback is sent again only if retries are configured.
#[test]
fn retries_are_bounded_and_their_pauses_double() {
    let mut desk = Desk::with_settings(|settings| settings.callback_retries(3));
    finished(&mut desk);
    let first = desk.deliver(500);
    for (attempt, pause) in [(1, 10), (2, 20), (3, 40)] {
        let newest = desk.newest();
        assert_eq!((&newest["status"], &newest["attempts"]), (&json!("pending"), &json!(attempt)));
        assert_eq!(newest["retriesLeft"], 3 - attempt);
        desk.wait(pause - 1);
        assert!(desk.due().is_empty(), "retry {attempt}");
        assert_eq!(desk.sandbox.next_due(), Some(desk.now.plus(std::time::Duration::from_secs(1))));
        desk.wait(1);
        let again = desk.deliver(503);
        assert_eq!((&again.id, body(&again)), (&first.id, body(&first)));
    }
    desk.wait(86_400);
    assert!(desk.due().is_empty());
    let newest = desk.newest();
    assert_eq!((&newest["status"], &newest["attempts"]), (&json!("failed"), &json!(4)));
    assert_eq!((&newest["retriesLeft"], &newest["lastResult"]["status"]), (&json!(0), &json!(503)));

    // An acknowledgement ends it, and a failure that was ordered is not retried.
    finished(&mut desk);
    desk.deliver(500);
    desk.wait(10);
    desk.deliver(204);
    desk.wait(86_400);
    assert!(desk.due().is_empty());
    assert_eq!((&desk.newest()["status"], &desk.newest()["attempts"]), (&json!("delivered"), &json!(2)));
    desk.tell("callbacks/behaviour", r#"{"kind": "fail"}"#);
    finished(&mut desk);
    desk.wait(86_400);
    assert!(desk.due().is_empty());
    // More than the most counts as the most.
    let mut desk = Desk::with_settings(|settings| settings.callback_retries(1_000_000));
    finished(&mut desk);
    desk.deliver(500);
    assert_eq!(desk.newest()["retriesLeft"], 8);
}

// spec: 1 §6, A346: A registered destination receives the callbacks of its account and kind instead of the URL of the
//   request.
#[test]
fn a_registered_destination_receives_the_callbacks_of_its_account_and_kind() {
    let mut desk = Desk::new();
    let url = "http://127.0.0.1:8490/abc";
    let asked = |merchant: &str, kind: &str, url: &str| {
        json!({ "merchant": merchant, "kind": kind, "url": url, "retries": 2 }).to_string()
    };
    for (merchant, kind, url, problem) in [
        ("unknown", "checkout", url, "merchant must be the name of an account"),
        (
            "main",
            "account-updater",
            "http://10.0.0.1/",
            "private networks are disabled; start the sandbox with --private-networks",
        ),
        ("main", "account-updater", "http://169.254.169.254/", "never go to link-local"),
        ("main", "sms", url, "kind is account-updater or checkout"),
    ] {
        let (status, wrong) = desk.control(Method::POST, "callbacks/destinations", &asked(merchant, kind, url));
        assert_eq!((status.as_u16(), &wrong["code"]), (400, &json!("invalid")));
        assert!(wrong["error"].as_str().unwrap().contains(problem), "{wrong}");
    }
    // An account that was created at run time has destinations of its own.
    desk.tell("accounts", r#"{"name": "run-1"}"#);
    for (path, merchant, problem) in [
        ("callbacks/destinations", "run-1", "created at run time, add ?account=run-1"),
        ("callbacks/destinations?account=run-1", "main", "merchant must be run-1"),
    ] {
        let (status, wrong) = desk.control(Method::POST, path, &asked(merchant, "checkout", url));
        assert_eq!(status.as_u16(), 400);
        assert!(wrong["error"].as_str().unwrap().contains(problem), "{wrong}");
    }
    desk.tell("callbacks/destinations?account=run-1", &asked("run-1", "checkout", url));
    // Of another account and of another kind: they change nothing here.
    desk.tell("callbacks/destinations", &asked("other", "account-updater", "http://127.0.0.1:1/"));
    desk.tell("callbacks/destinations", &asked("main", "checkout", "http://127.0.0.1:1/"));
    finished(&mut desk);
    assert_eq!(desk.deliver(200).request.uri(), HOOK);
    desk.tell("callbacks/destinations", &asked("main", "account-updater", "http://127.0.0.1:2/"));
    let registered = desk.tell("callbacks/destinations", &asked("main", "account-updater", url));
    assert_eq!(desk.get("callbacks/destinations").1.as_array().unwrap().len(), 3, "the later one replaces the earlier");
    finished(&mut desk);
    assert_eq!(desk.deliver(500).request.uri(), url);
    let newest = desk.newest();
    assert_eq!((&newest["url"], &newest["requestedUrl"]), (&json!(url), &json!(HOOK)));
    assert_eq!((&newest["status"], &newest["retriesLeft"]), (&json!("pending"), &json!(1)));
    desk.wait(10);
    desk.deliver(200);

    // A request that names no URL gets no callback, as the documents say.
    let key = desk.token(PLAIN, "c");
    desk.request(&[&key], "");
    desk.wait(120);
    assert!(desk.due().is_empty());
    let path = format!("callbacks/destinations/{}", registered["id"].as_str().unwrap());
    assert_eq!(desk.control(Method::DELETE, &path, "").0, 200);
    let (status, gone) = desk.control(Method::DELETE, &path, "");
    assert_eq!((status.as_u16(), &gone["code"]), (404, &json!("no-such-entry")));
    finished(&mut desk);
    assert_eq!(desk.deliver(200).request.uri(), HOOK);
    assert_eq!(desk.control(Method::DELETE, "callbacks/destinations", "").1, json!([]));
    assert_eq!(desk.control(Method::PUT, "callbacks/destinations", "").0, 405);
    assert_eq!(desk.get("nothing").1["code"], "no-such-call");
}
