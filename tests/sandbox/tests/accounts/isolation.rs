//! Calls of one account change nothing for another.

use http::Method;
use serde_json::Value;

use super::{Job, Shared};

fn count(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

#[test]
fn a_hundred_accounts_side_by_side_do_not_see_each_other() {
    let mut shared = Shared::new();
    let jobs: Vec<Job> = (0..100).map(|number| shared.account(&format!(r#"{{"name":"ci-{number}"}}"#))).collect();
    // All pay under the same reference, which is used once by each.
    let keys: Vec<String> = jobs.iter().map(|job| job.pay(&mut shared, "order-1")).collect();
    for (at, job) in jobs.iter().enumerate() {
        let own = job.done(&mut shared, "transaction/lookup", &[("transactionKey", &keys[at])]);
        assert!(own.to_string().contains(&keys[at]), "{own}");
        let (status, other) = job.call(&mut shared, "transaction/lookup", &[("transactionKey", &keys[(at + 1) % 100])]);
        assert!(status != 200 || !other.to_string().contains(&keys[(at + 1) % 100]), "{other}");
        let listed = shared.get(&format!("transactions?account={}", job.name));
        assert_eq!((count(&listed), &listed[0]["transactionKey"]), (1, &Value::from(&*keys[at])));
        assert_eq!(count(&shared.get(&format!("requests?account={}", job.name))), 3);
    }
    assert_eq!(count(&shared.get("transactions?limit=1000")), 100);
    assert_eq!(count(&shared.get("transactions?merchant=main")), 0);
    assert_eq!(count(&shared.get("accounts")), 100);
}

#[test]
fn a_misspelt_account_changes_nothing_for_the_others() {
    let mut shared = Shared::new();
    let job = shared.account(r#"{"name":"ci-17"}"#);
    shared.post("faults", r#"{"method":"*","kind":"garble"}"#);
    for (method, call, body) in [
        (Method::POST, "clock?acount=ci-17", r#"{"advanceSeconds":1}"#),
        (Method::POST, "clock?account=ci-17&account=ci-17", r#"{"advanceSeconds":1}"#),
        (Method::GET, "clock?x", ""),
        (Method::POST, "faults?Account=ci-17", r#"{"method":"*","kind":"garble"}"#),
        (Method::GET, "faults?merchant=ci-17", ""),
        (Method::DELETE, "faults?merchant=ci-17", ""),
        (Method::DELETE, "faults/1?acount=ci-17", ""),
        (Method::POST, "callbacks/behaviour?acount=ci-17", r#"{"kind":"fail"}"#),
        (Method::DELETE, "callbacks/destinations?merchant=main", ""),
        (Method::DELETE, "cards/updater?acount=ci-17", ""),
        (Method::DELETE, "accounts/ci-17?acount=x", ""),
        (Method::POST, "callbacks/1/redeliver?acount=ci-17", ""),
        (Method::GET, "merchants?limit=1", ""),
        (Method::GET, "transactions/1?limit=1", ""),
    ] {
        let (status, refused) = shared.send(method, &format!("/_sandbox/{call}"), body);
        assert_eq!((status, &refused["code"]), (400, &Value::from("invalid")), "{call}: {refused}");
    }
    assert_eq!(shared.get("clock")["now"], "2026-05-04T10:00:00Z");
    assert_eq!((count(&shared.get("faults")), count(&shared.get("accounts"))), (1, 1));
    assert_eq!(shared.send(Method::GET, "/_sandbox/nothing?x", "").0, 404);
    let own = shared.post(&format!("clock?account={}", job.name), r#"{"advanceSeconds":1}"#);
    assert_eq!(own["now"], "2026-05-04T10:00:01Z");
}

#[test]
fn each_has_its_own_clock() {
    let mut shared = Shared::new();
    let (one, other, main) = (shared.account("{}"), shared.account("{}"), Job::configured("main"));
    let jobs = [&one, &other, &main];
    let sessions: Vec<Value> = jobs.iter().map(|job| job.session(&mut shared).1["sessionKey"].clone()).collect();
    let post = |shared: &mut Shared, key: &Value| {
        let form = serde_urlencoded::to_string([
            ("sessionKey", key.as_str().unwrap()),
            ("cardNumber", "4000000000001000"),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "2030"),
            ("cardCV2", "123"),
            ("nextPageUrl", "https://shop.example/next"),
            ("currentPageUrl", "https://shop.example/card"),
        ]);
        let posted = pg_support::request(Method::POST, "/v3/session/postform/json", form.unwrap());
        let response = shared.sandbox.handle(shared.now, posted);
        let location = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        location.unwrap_or_default().split('?').next().unwrap_or_default().to_owned()
    };
    for key in &sessions {
        assert_eq!(post(&mut shared, key), "https://shop.example/next");
    }
    let held = |shared: &mut Shared| -> Vec<bool> {
        let all = shared.get("sessions");
        let has_card = |job: &&Job| {
            let mut all = all.as_array().unwrap().iter();
            !all.find(|session| session["merchant"] == *job.name).unwrap()["card"].is_null()
        };
        jobs.iter().map(has_card).collect()
    };
    assert_eq!(held(&mut shared), [true, true, true]);
    let clock = shared.post(&format!("clock?account={}", one.name), r#"{"advanceSeconds":1860}"#);
    assert_eq!(clock["now"], "2026-05-04T10:31:00Z");
    shared.due();
    assert_eq!(
        held(&mut shared),
        [false, true, true],
        "the card of an expired session is erased, of this account alone"
    );
    let pay = |shared: &mut Shared, job: &Job, session: &Value| {
        let session = session.as_str().unwrap();
        let order = [("sessionKey", session), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
        job.call(shared, "transaction/authSessionKey", &order).1["errorCode"].clone()
    };
    assert_eq!(pay(&mut shared, &one, &sessions[0]), "136");
    assert_eq!(pay(&mut shared, &other, &sessions[1]), Value::Null);
    assert_eq!(shared.get("clock")["now"], "2026-05-04T10:00:00Z");
    // The other way round: the sandbox's clock moves, and the account's does not. A CV2 is not forgotten either.
    let (_, later) = other.session(&mut shared);
    assert_eq!(post(&mut shared, &later["sessionKey"]), "https://shop.example/next");
    shared.post("clock", r#"{"advanceSeconds":86400}"#);
    shared.due();
    assert_eq!(shared.get(&format!("clock?account={}", other.name))["now"], "2026-05-04T10:00:00Z");
    assert_eq!(pay(&mut shared, &other, &later["sessionKey"]), Value::Null);
    assert!(!held(&mut shared)[2]);
}

#[test]
fn each_has_its_own_faults() {
    let mut shared = Shared::new();
    let (one, other, main) = (shared.account("{}"), shared.account("{}"), Job::configured("main"));
    let fault = r#"{"method":"session/initiate","kind":"status","status":503}"#;
    shared.post(&format!("faults?account={}", one.name), fault);
    assert_eq!((count(&shared.get("faults")), count(&shared.get(&format!("faults?account={}", one.name)))), (0, 1));
    assert_eq!([&main, &other, &one, &one].map(|job| job.session(&mut shared).0), [200, 200, 503, 200]);
    shared.post("faults", fault);
    assert_eq!([&one, &other, &main, &main].map(|job| job.session(&mut shared).0), [200, 200, 503, 200]);
    shared.post(&format!("faults?account={}", other.name), fault);
    let (_, removed) = shared.send(Method::DELETE, &format!("/_sandbox/faults?account={}", other.name), "");
    assert_eq!((removed["removed"].as_u64(), other.session(&mut shared).0), (Some(1), 200));
}

// spec: 1 §5, A53, A335: More than five failures lock an address out of the account whose credentials were wrong.
#[test]
fn lockouts_and_limits_are_per_account() {
    let mut shared = Shared::new();
    let one = shared.account(r#"{"like":"strict"}"#);
    let (other, main) = (shared.account(r#"{"like":"strict"}"#), Job::configured("strict"));
    let mut wrong = one.clone();
    wrong.merchant.sha_key = pg_sandbox::secret::Secret::new("wrong");
    let codes: Vec<Value> = (0..7).map(|_| wrong.session(&mut shared).1["errorCode"].clone()).collect();
    assert_eq!((&codes[0], &codes[5], &codes[6]), (&"123".into(), &"123".into(), &"121".into()));
    assert_eq!(one.session(&mut shared).1["errorCode"], "121");
    assert_eq!([&other, &main].map(|job| job.session(&mut shared).0), [200, 200]);
    // The minute of the block passes on the account's own clock.
    shared.post(&format!("clock?account={}", one.name), r#"{"advanceSeconds":61}"#);
    let admitted = (0..101).filter(|_| one.session(&mut shared).0 == 200).count();
    assert_eq!((admitted, other.session(&mut shared).0), (100, 200));
}

#[test]
fn batches_and_callbacks_come_on_the_clock_of_their_account() {
    let mut shared = Shared::new();
    let (one, other, main) = (shared.account("{}"), shared.account("{}"), Job::configured("main"));
    let jobs = [&one, &other, &main];
    jobs.iter().for_each(|job| job.batch(&mut shared));
    shared
        .post(&format!("cards/updater?account={}", one.name), r#"{"cardNumber":"4000000000001000","response":"705"}"#);
    assert!(shared.due().is_empty());
    shared.post(&format!("callbacks/behaviour?account={}", other.name), r#"{"kind":"fail"}"#);
    shared.post(&format!("clock?account={}", one.name), r#"{"advanceSeconds":121}"#);
    let sent = shared.due();
    assert_eq!(sent.len(), 1, "the batch of one account has finished");
    let callback = shared.get("callbacks")[0].clone();
    assert_eq!((&callback["merchant"], &callback["id"]), (&Value::from(&*one.name), &Value::from(&*sent[0].id)));
    shared.sandbox.delivered(shared.now, &sent[0].id, Ok(http::StatusCode::OK));
    let id = callback["id"].as_str().unwrap();
    assert_eq!(shared.get(&format!("callbacks/{id}"))["status"], "delivered");
    // It is sent again on the account's own clock only.
    assert_eq!(shared.refused(Method::POST, &format!("callbacks/{id}/redeliver"), "").0, 404);
    shared.post(&format!("callbacks/{id}/redeliver?account={}", one.name), "");
    assert_eq!(shared.due().len(), 1);
    shared.sandbox.delivered(shared.now, id, Ok(http::StatusCode::OK));

    shared.pass(121);
    let sent = shared.due();
    assert_eq!(sent.len(), 1, "the other account's callback was set to fail, and that of main was not");
    let batches = shared.get("batches");
    let responses = |job: &Job| {
        let mut all = batches.as_array().unwrap().iter();
        all.find(|batch| batch["merchant"] == *job.name).unwrap()["responses"].clone()
    };
    let answered = jobs.map(responses).map(|responses| responses.to_string());
    assert_eq!(answered, [r#"{"705":1}"#, r#"{"706":1}"#, r#"{"706":1}"#]);
}

#[test]
fn an_entry_of_another_account_is_neither_shown_nor_changed() {
    let mut shared = Shared::new();
    let (one, other) = (shared.account("{}"), shared.account("{}"));
    let key = one.pay(&mut shared, "order-1");
    let tokens = one.done(&mut shared, "token/tokeniseTransactionKey", &[("transactionKey", &key)]);
    let token = tokens["cardKeyDetails"]["0"]["cardKey"].as_str().unwrap().to_owned();
    let updater = one.merchant.account_updater_key.as_ref().unwrap().expose();
    let batch = [("accountUpdaterKey", updater), ("cardKey", &token), ("callbackUrl", "https://shop.example/callback")];
    let batch = one.done(&mut shared, "token/requestAccountUpdater", &batch);
    let batch = batch["batchKey"].as_str().unwrap().to_owned();
    for path in [format!("transactions/{key}"), format!("tokens/{token}"), format!("batches/{batch}")] {
        assert!(shared.get(&path).is_object() && shared.get(&format!("{path}?account={}", one.name)).is_object());
        assert!(shared.get(&format!("{path}?account=")).is_object(), "it names no account, as in lists");
        let (status, code, _) = shared.refused(Method::GET, &format!("{path}?account={}", other.name), "");
        assert_eq!((status, code.as_str()), (404, "no-such-entry"), "{path}");
    }
    let spoil = |account: &Job| format!("batches/{batch}/spoil?account={}", account.name);
    assert_eq!(shared.refused(Method::POST, &spoil(&other), "").0, 404);
    let answer = format!(r#"{{"cardKey":"{token}","response":"705"}}"#);
    let answers = |account: &Job| format!("cards/updater?account={}", account.name);
    for (path, body) in
        [(format!("batches/{batch}/spoil"), ""), ("cards/updater".to_owned(), &*answer), (answers(&other), &answer)]
    {
        let (status, code, reason) = shared.refused(Method::POST, &path, body);
        assert_eq!((status, code.as_str()), (404, "no-such-entry"), "{path}");
        assert!(reason.ends_with("of an account that was created at run time needs ?account=NAME"), "{path}: {reason}");
    }
    assert_eq!(shared.post(&answers(&one), &answer)["response"], "705");
    assert_eq!(shared.get(&format!("batches/{batch}"))["spoiled"], false);
    assert_eq!(shared.post(&spoil(&one), "")["spoiled"], true);
}

// spec: 2 §2.2, A46, A80: A card form that cannot be read leads to the error page of its session, in any account.
#[test]
fn an_unreadable_card_form_leads_to_the_error_page_of_its_session() {
    let mut shared = Shared::new();
    for job in [shared.account("{}"), Job::configured("main")] {
        let session = job.session(&mut shared).1["sessionKey"].as_str().unwrap().to_owned();
        let parts = format!("--b\r\nContent-Disposition: form-data; name=\"sessionKey\"\r\n\r\n{session}\r\n--b--\r\n");
        let many = format!("{}sessionKey={session}", "x[]=1&".repeat(2_000));
        for (content_type, body) in
            [("multipart/form-data; boundary=b", parts), ("application/x-www-form-urlencoded", many)]
        {
            let mut posted = pg_support::request(Method::POST, "/v3/session/postform/json", body);
            posted.headers_mut().insert("content-type", content_type.parse().unwrap());
            let response = shared.sandbox.handle(shared.now, posted);
            let location = response.headers()["location"].to_str().unwrap();
            assert!(location.starts_with("https://shop.example/error"), "{} {content_type}: {location}", job.name);
            assert_eq!(shared.get("requests?limit=1")[0]["merchant"], *job.name, "{content_type}");
        }
    }
}

// spec: 2 §1.1, A200: A card number in free text is reported to any account.
#[test]
fn a_card_number_in_free_text_is_reported_to_any_account() {
    let mut shared = Shared::new();
    for job in [shared.account("{}"), Job::configured("main")] {
        let order = pg_support::payment("order-1");
        let form = pg_support::signed_form(
            &job.merchant,
            &[&order[..], &[("merchantReference", "4000000000001000")]].concat(),
        );
        let paid = pg_support::request(Method::POST, "/v3/transaction/auth/json", form);
        let response = shared.sandbox.handle(shared.now, paid);
        assert_eq!(response.status(), 200);
        let header = |name: &str| response.headers().get(name).map_or("", |value| value.to_str().unwrap());
        assert!(header("pg-warning").contains("merchantReference contains a value like a card number"), "{}", job.name);
        assert!(header("pg-basis").contains("A200"), "{}", job.name);
        let warnings = shared.get("requests?limit=1")[0]["warnings"].to_string();
        assert!(warnings.contains("like a card number"), "{}: {warnings}", job.name);
    }
}
