//! The accounts of sandboxes that share one PostgreSQL database: each knows at once what another one has made or removed.

use http::Method;
use pg_sandbox::{OpenError, Sandbox, Settings, StoreKey, merchants::Merchants};
use pg_stores::Postgres;

use super::{Shared, lifetime::configured_shop};

#[test]
fn two_processes_over_one_database_have_the_same_accounts() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let open = |number: u8| {
        let key = StoreKey::from_bytes([3; 32]);
        Shared::over(Sandbox::open_postgres(&url, &key, Settings::default(), [number; 32]).unwrap())
    };
    let (mut one, mut other) = (open(1), open(2));
    let job = one.account(r#"{"name":"ci-1","ttlSeconds":600}"#);
    job.pay(&mut other, "order-1");
    assert_eq!(other.refused(Method::POST, "accounts", r#"{"name":"ci-1"}"#).0, 409);
    // One clock and one list of faults for the account, over both.
    other.post("clock?account=ci-1", r#"{"advanceSeconds":1860}"#);
    assert_eq!(one.get("clock?account=ci-1")["now"], "2026-05-04T10:31:00Z");
    one.post("faults?account=ci-1", r#"{"method":"session/initiate","kind":"status","status":503,"times":2}"#);
    assert_eq!([job.session(&mut other).0, job.session(&mut one).0, job.session(&mut other).0], [503, 503, 200]);
    let mut wrong = job.clone();
    wrong.merchant.sha_key = pg_sandbox::secret::Secret::new("wrong");
    for number in 0..6 {
        wrong.session(if number % 2 == 0 { &mut one } else { &mut other });
    }
    for process in [&mut one, &mut other] {
        assert_eq!(job.session(process).1["errorCode"], "121");
    }
    one.post("clock?account=ci-1", r#"{"advanceSeconds":61}"#);
    // A batch that one has taken is finished by the other, on the account's clock.
    job.batch(&mut one);
    other.post("clock?account=ci-1", r#"{"advanceSeconds":121}"#);
    one.pass(6);
    other.pass(6);
    assert_eq!(other.due().len() + one.due().len(), 1, "the callback is sent by one of them");
    assert_eq!(other.send(Method::DELETE, "/_sandbox/accounts/ci-1", "").0, 200);
    assert_eq!(job.session(&mut one).1["errorCode"], "102");
    for table in ["transactions", "unique_references", "sessions", "batches", "callbacks", "card_tokens"] {
        let held = format!("SELECT count(*) FROM payment_sandbox.{table}");
        assert_eq!(server.psql(&url, &held).unwrap(), "0", "{table}");
    }
    let left = "SELECT string_agg(key, ' ' ORDER BY key) FROM payment_sandbox.meta WHERE merchant <> ''";
    assert_eq!(server.psql(&url, left).unwrap(), "");
}

#[test]
fn a_name_that_one_process_has_configured_is_taken_in_all_of_them() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let shop = configured_shop();
    let open = |number: u8, configured: bool| {
        let more = if configured { vec![shop.merchant.clone()] } else { Vec::new() };
        let mut settings = Settings::default();
        settings.merchants = Merchants::with(more).unwrap();
        Sandbox::open_postgres(&url, &StoreKey::from_bytes([3; 32]), settings, [number; 32])
    };
    let mut one = Shared::over(open(1, false).unwrap());
    one.account(r#"{"name":"shop"}"#);
    let refused = open(2, true).map(drop).unwrap_err();
    assert!(matches!(&refused, OpenError::NameTaken(name) if name == "shop"), "{refused}");
    assert_eq!(one.send(Method::DELETE, "/_sandbox/accounts/shop", "").0, 200);
    let mut other = Shared::over(open(2, true).unwrap());
    // Also before it has any records.
    assert_eq!(one.refused(Method::POST, "accounts", r#"{"name":"shop"}"#).1, "name-taken");
    shop.pay(&mut other, "u-1");
}
