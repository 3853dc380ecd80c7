//! The order of records that several processes make, after the clock of an account at one of them was ahead.

use http::Method;
use pg_sandbox::{Sandbox, Settings, StoreKey};
use pg_stores::Postgres;
use pg_support::{body_of, enterprise_form, request, with};
use serde_json::Value;

use super::{Job, Shared};
use crate::hosted_checkout::{CARD, ORDER};

/// Two sandboxes over a new database. The first has answered an account whose clock is years ahead.
fn two() -> Option<[Shared; 2]> {
    let url = Postgres::for_tests()?.database().unwrap();
    let open = |number: u8| {
        let key = StoreKey::from_bytes([3; 32]);
        Shared::over(Sandbox::open_postgres(&url, &key, Settings::default(), [number; 32]).unwrap())
    };
    let [mut one, other] = [open(1), open(2)];
    let job = one.account(r#"{"name":"ci-1"}"#);
    one.post("clock?account=ci-1", r#"{"set":"2040-01-01T00:00:00Z"}"#);
    assert_eq!(job.session(&mut one).0, 200);
    Some([one, other])
}

/// The values of a member of the entries of a reply.
fn texts(entries: &Value, name: &str) -> Vec<String> {
    let entries = entries.as_object().unwrap().values();
    entries.map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
}

// spec: 2 §2.3, A21: The lookup finds the oldest transaction first.
// spec: 1 §4.2, A69: The lookup finds the oldest token first.
#[test]
fn lookups_and_lists_have_the_order_of_time_whichever_process_made_the_records() {
    let Some(mut processes) = two() else { return };
    let main = Job::configured("main");
    let (mut paid, mut made) = (Vec::new(), Vec::new());
    for at in [1, 0, 1, 0, 1] {
        let reference = format!("order-{}", paid.len());
        let order = [&pg_support::payment(&reference)[..], &[("merchantReference", "r")]].concat();
        let payment = main.done(&mut processes[at], "transaction/auth", &order);
        let key = payment["transactionKey"].as_str().unwrap().to_owned();
        let card = [("transactionKey", &*key), ("merchantCustomerReference", "c")];
        let token = main.done(&mut processes[at], "token/tokeniseTransactionKey", &card);
        made.extend(texts(&token["cardKeyDetails"], "cardKey"));
        paid.push(key);
    }
    for process in &mut processes {
        let found = main.done(process, "transaction/lookup", &[("merchantReference", "r")]);
        assert_eq!(texts(&found["transactions"], "transactionKey"), paid);
        let found = main.done(process, "token/lookup", &[("merchantCustomerReference", "c")]);
        assert_eq!(texts(&found["cardKeyDetails"], "cardKey"), made);
        let newest = process.get("transactions?limit=2");
        assert_eq!([&newest[0]["transactionKey"], &newest[1]["transactionKey"]], [&paid[4][..], &paid[3][..]]);
    }
}

// spec: 3 §3.1, A136: A form without an identifier counts as the newest of its token.
#[test]
fn the_newest_form_of_a_token_is_the_last_one_whichever_process_showed_it() {
    let Some(mut processes) = two() else { return };
    let main = Job::configured("main");
    let order = enterprise_form(&main.merchant, &with(ORDER, &[("trans_reference", "r")]));
    let now = processes[0].now;
    let mut page = |at: usize, method: Method, path: &str, body: &str| {
        let response = processes[at].sandbox.handle(now, request(method, path, body.to_owned()));
        String::from_utf8(response.body().to_vec()).unwrap()
    };
    let token = pg_support::element(&page(0, Method::POST, "/enterprise/gettoken", &order), "tokenid");
    let path = format!("/pay/{token}");
    for (charges, at) in (1..).zip([0, 1, 0, 1, 1]) {
        page(at, Method::GET, &path, "");
        // The second time is a double click.
        for at in [at, 1 - at] {
            assert!(page(at, Method::POST, &path, &body_of(CARD)).contains("Payment complete"));
        }
        let listed = page(at, Method::GET, "/_sandbox/transactions", "");
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed.as_array().unwrap().len(), charges);
    }
}
