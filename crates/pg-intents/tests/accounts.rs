//! Rows belong to an account. A worker whose account is written otherwise than in the rows does not pay them again.

use std::sync::{Arc, atomic::Ordering};

use pg_hyper::proto::{
    Account, BaseUrl, Credentials, EnterpriseCredentials,
    machine::three_d_secure::ThreeDSecurePlan,
    model::{InitiateThreeDSecureCardKey, Refund},
};
use pg_intents::{
    Fleet, FleetEvent, FleetLimits, FleetPlan, FleetStartError, FleetStep, IntentStore, SealKey, SealedStore, Sealing,
    SqliteStore,
};
use pg_sandbox::InProcess;

use crate::{
    machines::{ASKS, token},
    world::{Wire, World, by_card, by_key, order, submitted},
};

/// The sandbox at another address.
const MOVED: &str = "http://127.0.0.1";

/// The account at that address.
fn moved(world: &World) -> Account {
    let merchant = world.sandbox.merchant("main").unwrap();
    let own = merchant.enterprise.as_ref().unwrap();
    let [key, password, sha] =
        [&merchant.api_key, &merchant.api_password, &merchant.sha_key].map(|secret| secret.expose());
    Account::new(BaseUrl::parse(MOVED).unwrap(), Credentials::new(key, password, sha))
        .with_dialect(pg_sandbox::dialect())
        .enterprise(
            BaseUrl::parse(&format!("{MOVED}/enterprise")).unwrap(),
            EnterpriseCredentials::new(own.api_key.expose(), own.api_password.expose()),
        )
}

fn with_key(key: &str) -> Account {
    Account::new(BaseUrl::parse(InProcess::BASE_URL).unwrap(), Credentials::new(key, "password", "sha"))
}

async fn start<S: IntentStore>(
    world: &World,
    account: Account,
    store: &Arc<S>,
    wire: &Wire,
    plan: FleetPlan,
) -> Result<Fleet<S, Wire>, FleetStartError> {
    Fleet::new(world.client_for(account, wire), Arc::clone(store), plan).await
}

fn plan() -> FleetPlan {
    World::plan("new")
}

/// A payment and its refund by the account with this name.
async fn refunded(world: &World, wire: &Wire, name: &str) -> Refund {
    let old = world.worker_for("old", wire, world.account().identity(name)).await;
    let paid = old.charge(by_card("order-1", 499)).await.unwrap();
    let refund = Refund::new(&paid.transaction().unwrap().transaction_key);
    assert_eq!(old.operation("r-1", refund.clone()).await.unwrap().name(), "approved");
    refund
}

fn sent(wire: &Wire) -> usize {
    wire.paid.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_fleet_does_not_start_beside_payments_that_may_be_its_own() {
    for (before, after) in [
        // Without a name, an earlier version stored payments under the fingerprint of the API key.
        ("key-149732e12588", "shop"),
        ("shop", "shop-uk"),
        ("shop", "shop at its new address"),
    ] {
        let world = World::new();
        let wire = world.wire(None);
        let refund = refunded(&world, &wire, before).await;
        let requests = sent(&wire);
        let account =
            || if after.contains("new") { moved(&world).identity("shop") } else { world.account().identity(after) };
        let stored = format!("{before} at http://localhost");
        let refused = start(&world, account(), &world.store, &wire, plan()).await.unwrap_err();
        let now = account().bound_identity();
        assert_eq!(refused, FleetStartError::OtherAccounts { account: now.clone(), found: vec![stored.clone()] });
        for part in [&*format!("{stored:?}"), &format!("{now:?}"), "FleetPlan::stored_as", "FleetPlan::apart_from"] {
            assert!(refused.to_string().contains(part), "{refused}");
        }
        // It is the same account.
        let same = start(&world, account(), &world.store, &wire, plan().stored_as(&*stored)).await.unwrap();
        assert_eq!(same.account(), stored);
        assert_eq!(same.operation("r-1", refund).await.unwrap().name(), "approved");
        assert_eq!(same.charge(by_card("order-1", 499)).await.unwrap().name(), "approved");
        assert_eq!(sent(&wire), requests, "{before}: paid and refunded once");
        let limits = FleetLimits::new(Arc::clone(&world.store), &account(), &plan().stored_as(&*stored)).await.unwrap();
        assert_eq!(limits.account(), stored);
    }
}

#[tokio::test]
async fn an_account_with_a_name_keeps_its_payments_when_its_api_key_is_replaced() {
    let world = World::new();
    let wire = world.wire(None);
    let refund = refunded(&world, &wire, "shop").await;
    let requests = sent(&wire);
    for base in ["http://localhost", "http://LOCALHOST:80/", "http://localhost./"] {
        let account = Account::new(BaseUrl::parse(base).unwrap(), Credentials::new("a new key", "password", "sha"));
        let new = start(&world, account.identity("shop"), &world.store, &wire, plan()).await.unwrap();
        assert_eq!(new.operation("r-1", refund.clone()).await.unwrap().name(), "approved");
    }
    assert_eq!(sent(&wire), requests);
}

#[tokio::test]
async fn a_fleet_needs_an_account_with_a_name() {
    let world = World::new();
    for unnamed in [with_key("a key"), with_key("a key").identity(""), with_key("a key").identity(" ")] {
        let refused = start(&world, unnamed, &world.store, &world.wire(None), plan()).await.unwrap_err();
        assert_eq!(refused, FleetStartError::Unnamed);
    }
}

#[tokio::test]
async fn other_accounts_of_a_store_are_named_once() {
    let world = World::new();
    let wire = world.wire(None);
    let _ = refunded(&world, &wire, "one").await;
    let other = || with_key("another key").identity("two");
    let named = || plan().apart_from(["one at http://localhost"]);
    start(&world, other(), &world.store, &wire, plan()).await.unwrap_err();
    let two = start(&world, other(), &world.store, &wire, named()).await.unwrap();
    world.store.begin(submitted(two.account(), "order-1")).await.unwrap();
    start(&world, other(), &world.store, &wire, plan()).await.unwrap();
    // Every other account is named, not only one of them.
    let third = || with_key("a third key").identity("three");
    let refused = start(&world, third(), &world.store, &wire, named()).await.unwrap_err();
    let FleetStartError::OtherAccounts { found, .. } = refused else { panic!("{refused}") };
    assert_eq!(found, ["two at http://localhost"]);
    start(&world, third(), &world.store, &wire, named().apart_from(found)).await.unwrap();
}

#[tokio::test]
async fn payments_of_one_account_under_two_names_are_noticed() {
    let world = World::new();
    let wire = world.wire(None);
    let _ = refunded(&world, &wire, "shop").await;
    let (old, new) = ("shop at http://localhost", "shop-uk at http://localhost");
    world.store.begin(submitted(new, "order-2")).await.unwrap();
    let start = async |plan| start(&world, world.account().identity("shop-uk"), &world.store, &wire, plan).await;
    let refused = start(plan().stored_as(old)).await.unwrap_err();
    assert_eq!(refused, FleetStartError::OtherAccounts { account: old.to_owned(), found: vec![new.to_owned()] });
    start(plan().stored_as(old).apart_from([new])).await.unwrap();
    // A name that no row has.
    start(plan().stored_as("shop at http://localhots")).await.unwrap_err();
}

#[tokio::test]
async fn all_accounts_of_a_large_store_are_compared() {
    let world = World::new();
    let wire = world.wire(None);
    let names: Vec<String> = (0..2_003).map(|number| format!("shop-{number:04} at http://localhost")).collect();
    for name in &names {
        world.store.begin(submitted(name, "order-1")).await.unwrap();
    }
    let start = async |plan| start(&world, with_key("a key").identity("new"), &world.store, &wire, plan).await;
    for missing in [0, 999, 1_000, 1_001, 2_002] {
        let others = names.iter().enumerate().filter(|(number, _)| *number != missing).map(|(_, name)| name);
        let refused = start(plan().apart_from(others)).await.unwrap_err();
        let FleetStartError::OtherAccounts { found, .. } = refused else { panic!("{refused}") };
        assert_eq!(found, [&*names[missing]]);
    }
    start(plan().apart_from(&names)).await.unwrap();
}

/// Payments in progress are continued with the account as it is now, sealed or not.
async fn goes_on_elsewhere<S: IntentStore>(world: &World, store: Arc<S>) {
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    let before = world.account().identity("shop");
    let old = start(world, before, &store, &wire, World::plan("old")).await.unwrap();
    old.submit(by_key(&key, "order-1")).await.unwrap();
    let initiation =
        InitiateThreeDSecureCardKey::new(&key, order("order-2", 499)).return_url("https://shop.example/back");
    let asked = old.three_d_secure(initiation.clone(), ThreeDSecurePlan::default()).await.unwrap();
    let page = old.checkout("cart-3", token()).await.unwrap();
    let named = || moved(world).identity("shop-uk");
    start(world, named(), &store, &wire, plan()).await.unwrap_err();

    let new = start(world, named(), &store, &wire, plan().stored_as(old.account())).await.unwrap();
    assert_eq!(new.work_once().await.unwrap(), 1);
    let paid = new.charge(by_key(&key, "order-1")).await.unwrap();
    assert_eq!(paid.name(), "approved", "{paid:?}");
    assert_eq!(new.three_d_secure(initiation, ThreeDSecurePlan::default()).await.unwrap(), asked);
    assert_eq!(new.checkout("cart-3", token()).await.unwrap(), page);
    new.event("order-2", &FleetEvent::Closed).await.unwrap();
    let FleetStep::Done(left) = new.step("order-2").await.unwrap() else { panic!("it was left") };
    assert_eq!(left.name(), "not-paid");
    assert_eq!(world.ledger("order-1").await.len(), 1);
}

#[tokio::test]
async fn payments_in_progress_are_continued_under_another_name_and_base() {
    let world = World::new();
    goes_on_elsewhere(&world, Arc::clone(&world.store)).await;
    let world = World::new();
    let sealing = Sealing::new(SealKey::from_bytes(&[7; 32]));
    let store: SealedStore<SqliteStore> = SealedStore::open(Arc::clone(&world.store), sealing).await.unwrap();
    goes_on_elsewhere(&world, Arc::new(store)).await;
}
