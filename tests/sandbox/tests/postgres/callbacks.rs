//! Callbacks that one process has claimed.

use http::{Method, StatusCode};
use pg_sandbox::{Outgoing, Sandbox, Settings, StoreKey};
use pg_stores::Postgres;
use serde_json::Value;

use super::KEY;
use crate::accounts::{Job, Shared};

fn open(url: &str, number: u8) -> Shared {
    open_with(url, number, Settings::default())
}

fn open_with(url: &str, number: u8, settings: Settings) -> Shared {
    let key = StoreKey::from_bytes(KEY);
    Shared::over(Sandbox::open_postgres(url, &key, settings, [number; 32]).unwrap())
}

#[test]
fn a_callback_without_a_result_is_sent_again_once_its_claim_has_ended() {
    let Some(server) = Postgres::for_tests() else { return };
    let mut one = open(&server.database().unwrap(), 1);
    let job = one.account(r#"{"name":"ci-1"}"#);
    job.batch(&mut one);
    Job::configured("main").batch(&mut one);
    one.pass(121);
    let ids = |outgoing: Vec<Outgoing>| outgoing.into_iter().map(|one| one.id).collect::<Vec<_>>();
    let sent = ids(one.due());
    assert_eq!(sent.len(), 2);
    one.pass(59);
    assert_eq!(ids(one.due()), [""; 0]);
    one.pass(6);
    assert_eq!(ids(one.due()), sent);
}

#[test]
fn a_callback_that_another_process_sends_is_sent_once_more_if_it_is_asked_for() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let (mut one, mut other) = (open(&url, 1), open(&url, 2));
    Job::configured("main").batch(&mut one);
    one.pass(121);
    other.pass(121);
    let sent = one.due();
    assert_eq!((sent.len(), other.due().len()), (1, 0));
    let again = format!("/_sandbox/callbacks/{}/redeliver", sent[0].id);
    assert_eq!(other.send(Method::POST, &again, "").0, 200);
    one.sandbox.delivered(one.now, &sent[0].id, Ok(StatusCode::OK));
    one.pass(6);
    let more = one.due();
    assert_eq!(more.len(), 1);
    one.sandbox.delivered(one.now, &more[0].id, Ok(StatusCode::OK));
    let callback = &other.get("callbacks")[0];
    assert_eq!((&callback["status"], &callback["attempts"]), (&Value::from("delivered"), &Value::from(2)));
}

#[test]
fn a_callback_that_a_process_may_not_send_is_left_to_the_others_for_a_minute() {
    let Some(server) = Postgres::for_tests() else { return };
    let mut strict = Settings::default();
    strict.outgoing.this_machine = false;
    let status = |at: &mut Shared| at.get("callbacks")[0]["status"].clone();
    for wanted in ["delivered", "failed"] {
        let url = server.database().unwrap();
        let (mut one, mut other) = (open(&url, 1), open_with(&url, 2, strict.clone()));
        Job::configured("main").batch(&mut one);
        one.pass(121);
        other.now = one.now;
        assert!(other.due().is_empty());
        assert!(other.sandbox.next_due().unwrap() > other.now, "it does not look again at once");
        assert_eq!(status(&mut other), "pending");
        if wanted == "delivered" {
            let sent = one.due();
            assert_eq!(sent.len(), 1);
            one.sandbox.delivered(one.now, &sent[0].id, Ok(StatusCode::OK));
        }
        other.pass(61);
        assert!(other.due().is_empty());
        assert_eq!(status(&mut other), wanted);
    }
}
