//! Accounts that are removed, and those whose time is over.

use http::Method;
use pg_sandbox::{OpenError, Sandbox, Settings, merchants::Merchants, secret::Secret};
use pg_support::payment;
use serde_json::Value;

use super::{Job, Shared};

fn names(shared: &mut Shared) -> Vec<String> {
    let all = shared.get("accounts");
    all.as_array().unwrap().iter().map(|account| account["name"].as_str().unwrap().to_owned()).collect()
}

/// The account of each request in the journal, newest first.
fn requests(shared: &mut Shared) -> Vec<Value> {
    let all = shared.get("requests?limit=1000");
    all.as_array().unwrap().iter().map(|request| request["merchant"].clone()).collect()
}

// spec: 1 §7, A52, A335: The credentials of a removed account are invalid.
#[test]
fn a_removed_account_is_unknown_and_leaves_nothing() {
    let mut shared = Shared::new();
    let job = shared.account(r#"{"name":"ci-1"}"#);
    job.pay(&mut shared, "order-1");
    job.batch(&mut shared);
    job.session(&mut shared);
    let (status, removed) = shared.send(Method::DELETE, "/_sandbox/accounts/ci-1", "");
    assert_eq!((status, removed["removed"].as_u64()), (200, Some(1)));
    let (status, reply) = job.session(&mut shared);
    assert_eq!((status, &reply["errorCode"]), (401, &Value::from("102")));
    let form = format!(
        "api_key={}&api_password={}&version=5",
        job.merchant.enterprise.as_ref().unwrap().api_key.expose(),
        job.merchant.enterprise.as_ref().unwrap().api_password.expose()
    );
    let gettoken = pg_support::request(Method::POST, "/enterprise/gettoken", form);
    let response = shared.sandbox.handle(shared.now, gettoken);
    assert_eq!(response.status(), 401);
    assert!(String::from_utf8_lossy(response.body()).contains(">3<"));
    for list in ["transactions", "tokens", "batches", "sessions"] {
        assert_eq!(shared.get(&format!("{list}?limit=1000")).as_array().unwrap().len(), 0, "{list}");
    }
    assert_eq!(requests(&mut shared), [Value::Null, Value::Null], "only the two that came later");
    assert_eq!(shared.refused(Method::DELETE, "accounts/ci-1", "").0, 404);
    shared.pass(121);
    assert!(shared.due().is_empty(), "its batch is gone");
    // The name is free again, and its references too; old credentials stay invalid.
    let again = shared.account(r#"{"name":"ci-1"}"#);
    again.pay(&mut shared, "order-1");
    assert_eq!(job.session(&mut shared).0, 401);
    assert_eq!(names(&mut shared), ["ci-1"]);
}

/// A program may still send with the credentials of a removed account when another account has its name.
#[test]
fn credentials_of_a_removed_account_do_not_reach_a_new_one_of_its_name() {
    let mut shared = Shared::new();
    let old = shared.account(r#"{"name":"ci-1"}"#);
    shared.send(Method::DELETE, "/_sandbox/accounts/ci-1", "");
    let new = shared.account(r#"{"name":"ci-1"}"#);
    shared.post("faults?account=ci-1", r#"{"method":"session/initiate","kind":"status","status":503}"#);
    let enterprise = |shared: &mut Shared, job: &Job| {
        let held = job.merchant.enterprise.as_ref().unwrap();
        let (key, password) = (held.api_key.expose(), held.api_password.expose());
        let form = format!("api_key={key}&api_password={password}&version=5");
        shared.sandbox.handle(shared.now, pg_support::request(Method::POST, "/enterprise/gettoken", form)).status()
    };
    assert_eq!(enterprise(&mut shared, &old).as_u16(), 401);
    let codes: Vec<Value> = (0..6).map(|_| old.session(&mut shared).1["errorCode"].clone()).collect();
    assert_eq!((&codes[0], &codes[5]), (&"102".into(), &"121".into()), "its address is locked out elsewhere");
    assert_eq!(shared.get("requests?account=ci-1"), Value::Array(Vec::new()));
    assert_eq!([new.session(&mut shared).0, new.session(&mut shared).0], [503, 200], "its fault was left");
    assert_ne!(enterprise(&mut shared, &new).as_u16(), 401);
}

#[test]
fn a_time_to_live_is_measured_on_the_real_clock() {
    let mut shared = Shared::new();
    let job = shared.account(r#"{"name":"short","ttlSeconds":3600}"#);
    shared.account(r#"{"name":"long"}"#);
    assert_eq!(shared.get("accounts/short")["expires"], "2026-05-04T11:00:00Z");
    job.pay(&mut shared, "order-1");
    // Neither clock of the sandbox ends it, and a frozen one does not prolong it.
    shared.post("clock", r#"{"advanceSeconds":864000}"#);
    shared.post("clock?account=short", r#"{"advanceSeconds":864000,"speed":0}"#);
    shared.pass(3_599);
    assert_eq!(job.session(&mut shared).0, 200);
    shared.due();
    assert_eq!(names(&mut shared), ["short", "long"]);
    shared.pass(1);
    // At once, before it is removed.
    assert_eq!(job.session(&mut shared).1["errorCode"], "102");
    assert_eq!(names(&mut shared), ["long"]);
    assert_eq!(shared.refused(Method::GET, "clock?account=short", "").0, 404);
    assert_eq!(shared.get("transactions").as_array().unwrap().len(), 1);
    assert_eq!(requests(&mut shared).iter().filter(|account| **account == "short").count(), 2);
    shared.due();
    assert_eq!(shared.get("transactions").as_array().unwrap().len(), 0, "what belonged to it is removed");
    assert_eq!(requests(&mut shared), [Value::Null], "the request that came too late has no account");
    shared.account(r#"{"name":"short"}"#).pay(&mut shared, "order-1");
}

#[test]
fn accounts_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    let open = || Shared::over(Sandbox::open(&path, Settings::default(), [9; 32]).unwrap());
    let mut shared = open();
    let job = shared.account(r#"{"name":"ci-1","ttlSeconds":7200}"#);
    job.batch(&mut shared);
    shared.post("clock?account=ci-1", r#"{"advanceSeconds":60}"#);
    shared.post("faults?account=ci-1", r#"{"method":"session/initiate","kind":"status","status":503}"#);
    drop(shared);
    let mut shared = open();
    assert_eq!(shared.get("clock?account=ci-1")["now"], "2026-05-04T10:01:00Z");
    assert_eq!([job.session(&mut shared).0, job.session(&mut shared).0], [503, 200]);
    shared.pass(61);
    assert_eq!(shared.due().len(), 1, "its batch finishes by itself");
    shared.pass(7_200);
    drop(shared.due());
    assert_eq!(names(&mut shared), [""; 0]);
    let _: Job = shared.account(r#"{"name":"ci-1"}"#);
}

// spec: 2 §4.3, A92, A335: Accounts are never mixed: a used reference stays used when an account of its name expires.
#[test]
fn a_store_never_has_a_configured_account_and_one_created_at_run_time_of_one_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    let open = |merchants: Merchants| {
        let mut settings = Settings::default();
        settings.merchants = merchants;
        Sandbox::open(&path, settings, [9; 32])
    };
    let shop = configured_shop();
    let with_shop = || Merchants::with(vec![shop.merchant.clone()]).unwrap();
    let mut shared = Shared::over(open(Merchants::default()).unwrap());
    shared.account(r#"{"name":"shop","ttlSeconds":3600}"#).pay(&mut shared, "u-1");
    drop(shared);
    let refused = open(with_shop()).map(drop).unwrap_err();
    assert!(matches!(&refused, OpenError::NameTaken(name) if name == "shop"), "{refused}");
    assert!(refused.to_string().contains("`pg sandbox account remove shop`"), "{refused}");
    // The way out that it names.
    let mut shared = Shared::over(open(Merchants::default()).unwrap());
    assert_eq!(shared.send(Method::DELETE, "/_sandbox/accounts/shop", "").0, 200);
    drop(shared);
    let mut shared = Shared::over(open(with_shop()).unwrap());
    shop.pay(&mut shared, "u-1");
    drop(shared);
    // The name stays reserved when the account leaves the configuration: its records are still in the store.
    let mut shared = Shared::over(open(Merchants::default()).unwrap());
    let (status, code, reason) = shared.refused(Method::POST, "accounts", r#"{"name":"shop"}"#);
    assert_eq!((status, &*code), (409, "name-taken"), "{reason}");
    assert!(reason.contains("choose another name"), "{reason}");
    drop(shared);
    let mut shared = Shared::over(open(with_shop()).unwrap());
    shared.pass(7_200);
    drop(shared.due());
    assert_eq!(shop.call(&mut shared, "transaction/auth", &payment("u-1")).1["errorCode"], "950");
}

/// The account of a config file.
pub(super) fn configured_shop() -> Job {
    let mut shop = Job::configured("main");
    shop.name = "shop".to_owned();
    shop.merchant.name = shop.name.clone();
    shop.merchant.api_key = Secret::new("ShopApiKey0000000000000000000000");
    shop.merchant.enterprise = None;
    shop
}

// spec: 2 §4.4, A21: Rows of the lookup are in the order of their creation.
#[test]
fn payments_of_one_millisecond_stay_in_order_across_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    let main = Job::configured("main");
    let mut paid = Vec::new();
    for seed in 1..4 {
        let mut shared = Shared::over(Sandbox::open(&path, Settings::default(), [seed; 32]).unwrap());
        for number in 0..3 {
            let reference = format!("order-{seed}-{number}");
            let payment = [&payment(&reference)[..], &[("merchantReference", "many")]].concat();
            let reply = main.done(&mut shared, "transaction/auth", &payment);
            paid.push(reply["transactionKey"].clone());
        }
        let found = main.done(&mut shared, "transaction/lookup", &[("merchantReference", "many")]);
        let rows = &found["transactions"];
        let keys: Vec<Value> = (0..paid.len()).map(|at| rows[at.to_string()]["transactionKey"].clone()).collect();
        assert_eq!(keys, paid);
    }
}
