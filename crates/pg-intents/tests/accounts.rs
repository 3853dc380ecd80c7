//! Rows belong to an account. A worker whose account is written otherwise than in the rows does not pay them again.

use std::sync::{Arc, atomic::Ordering};

use pg_hyper::proto::{
    Account, BaseUrl, Credentials, EnterpriseCredentials,
    machine::three_d_secure::ThreeDSecurePlan,
    model::{InitiateThreeDSecureCardKey, Refund},
};
use pg_intents::{
    Fleet, FleetError, FleetEvent, FleetLimits, FleetPlan, FleetQuestion, FleetStartError, FleetStep, IntentStore,
    SealKey, SealedStore, Sealing, SqliteStore,
};
use pg_sandbox::InProcess;

use crate::{
    machines::{ASKS, paid_on_page, token},
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
        let known = || plan().stored_as(&*now, &*stored);
        let same = start(&world, account(), &world.store, &wire, known()).await.unwrap();
        assert_eq!(same.account(), stored);
        assert_eq!(same.operation("r-1", refund).await.unwrap().name(), "approved");
        assert_eq!(same.charge(by_card("order-1", 499)).await.unwrap().name(), "approved");
        assert_eq!(sent(&wire), requests, "{before}: paid and refunded once");
        let limits = FleetLimits::new(Arc::clone(&world.store), &account(), &known()).await.unwrap();
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
        let limits = FleetLimits::new(Arc::clone(&world.store), &unnamed, &plan()).await;
        assert_eq!(limits.unwrap_err(), FleetStartError::Unnamed, "it would share nothing with a fleet");
        let refused = start(&world, unnamed, &world.store, &world.wire(None), plan()).await.unwrap_err();
        assert_eq!(refused, FleetStartError::Unnamed);
    }
}

#[tokio::test]
async fn other_accounts_of_a_store_are_always_named() {
    let world = World::new();
    let wire = world.wire(None);
    let _ = refunded(&world, &wire, "one").await;
    let other = || with_key("another key").identity("two");
    let named = || plan().apart_from(["one at http://localhost"]);
    start(&world, other(), &world.store, &wire, plan()).await.unwrap_err();
    let two = start(&world, other(), &world.store, &wire, named()).await.unwrap();
    world.store.begin(submitted(two.account(), "order-1")).await.unwrap();
    for account in [other(), world.account().identity("one")] {
        let refused = start(&world, account, &world.store, &wire, plan()).await.unwrap_err();
        assert!(matches!(refused, FleetStartError::OtherAccounts { .. }), "also beside payments of its own: {refused}");
    }
    start(&world, other(), &world.store, &wire, named()).await.unwrap();
    // Every other account is named, not only one of them.
    let third = || with_key("a third key").identity("three");
    let refused = start(&world, third(), &world.store, &wire, named()).await.unwrap_err();
    let FleetStartError::OtherAccounts { found, .. } = refused else { panic!("{refused}") };
    assert_eq!(found, ["two at http://localhost"]);
    start(&world, third(), &world.store, &wire, named().apart_from(found)).await.unwrap();
}

/// Two servers of one account over an empty store, one of them with a typing error in its name.
#[tokio::test]
async fn of_two_names_that_start_at_once_only_one_pays() {
    let world = World::new();
    let wire = world.wire(None);
    let key = world.card_key().await;
    let starts = async |name| start(&world, world.account().identity(name), &world.store, &wire, plan()).await;
    let (shop, again, other) = (starts("shop").await, starts("shop").await, starts("shop-uk").await);
    let (shop, again, other) = (shop.unwrap(), again.unwrap(), other.unwrap());
    let page = shop.checkout("cart-1", token()).await.unwrap();
    let paid = shop.charge(by_key(&key, "order-1")).await.unwrap();
    let refund = Refund::new(&paid.transaction().unwrap().transaction_key);
    assert_eq!(shop.operation("r-1", refund.clone()).await.unwrap().name(), "approved");
    let requests = sent(&wire);

    let refusals = [
        other.checkout("cart-1", token()).await.unwrap_err(),
        other.operation("r-1", refund.clone()).await.unwrap_err(),
        other.charge(by_key(&key, "order-1")).await.unwrap_err(),
        other.submit(by_key(&key, "order-1")).await.unwrap_err(),
    ];
    for refused in refusals {
        let FleetError::OtherAccounts(FleetStartError::OtherAccounts { account, found }) = &refused else {
            panic!("{refused}")
        };
        assert_eq!((&**account, &**found), (other.account(), &[shop.account().to_owned()][..]));
        assert!(refused.to_string().contains("FleetPlan::stored_as"), "{refused}");
    }
    starts("shop-uk").await.unwrap_err();
    assert_eq!(again.checkout("cart-1", token()).await.unwrap(), page);
    assert_eq!(again.operation("r-1", refund).await.unwrap().name(), "approved");
    assert_eq!(sent(&wire), requests, "the other name has sent nothing");
    starts("shop").await.unwrap();
}

/// Only payments of both names that begin at the same moment pass.
#[tokio::test]
async fn two_names_that_have_begun_at_the_same_moment_are_noticed_at_the_next_start() {
    let world = World::new();
    let wire = world.wire(None);
    for name in ["shop", "shop-uk"] {
        world.store.begin(submitted(&format!("{name} at http://localhost"), "order-1")).await.unwrap();
    }
    for name in ["shop", "shop-uk"] {
        let account = world.account().identity(name);
        let refused = start(&world, account, &world.store, &wire, plan()).await.unwrap_err();
        assert!(matches!(refused, FleetStartError::OtherAccounts { .. }), "{refused}");
    }
}

/// Merchants that join later do not disturb the others, whose list may be older.
#[tokio::test]
async fn a_fleet_that_has_payments_does_not_look_again() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.card_key().await);
    let begun = world.worker("one", &wire).await;
    // It has begun nothing itself when the other account comes.
    let idle = world.worker("three", &wire).await;
    begun.submit(by_key(&key, "order-1")).await.unwrap();
    let started = world.worker("two", &wire).await;
    world.store.begin(submitted("later at http://localhost", "order-1")).await.unwrap();
    for (fleet, order) in [(begun, "order-2"), (started, "order-3"), (idle.clone(), "order-4"), (idle, "order-2")] {
        assert_eq!(fleet.charge(by_key(&key, order)).await.unwrap().name(), "approved");
    }
}

/// An earlier version stored payments under the fingerprint of the API key until the account got a name.
#[tokio::test]
async fn payments_under_the_api_key_are_noticed_beside_those_under_the_name() {
    let world = World::new();
    let wire = world.wire(None);
    let nameless = with_key(world.sandbox.merchant("main").unwrap().api_key.expose()).bound_identity();
    assert!(nameless.starts_with("key-"), "{nameless}");
    for account in [&*nameless, "shop at http://localhost"] {
        world.store.begin(submitted(account, "order-1")).await.unwrap();
    }
    let account = || world.account().identity("shop");
    let refused = start(&world, account(), &world.store, &wire, plan()).await.unwrap_err();
    let now = account().bound_identity();
    assert_eq!(refused, FleetStartError::OtherAccounts { account: now, found: vec![nameless.clone()] });
    start(&world, account(), &world.store, &wire, plan().apart_from([nameless])).await.unwrap();
}

/// The way that the guide advises, without `FleetPlan::stored_as`.
#[tokio::test]
async fn an_account_named_by_its_fingerprint_keeps_the_payments_that_were_stored_without_a_name() {
    let world = World::new();
    let wire = world.wire(None);
    let nameless = with_key(world.sandbox.merchant("main").unwrap().api_key.expose()).bound_identity();
    let name = nameless.strip_suffix(" at http://localhost").unwrap();
    let refund = refunded(&world, &wire, name).await;
    let requests = sent(&wire);
    let new = start(&world, world.account().identity(name), &world.store, &wire, plan()).await.unwrap();
    assert_eq!(new.account(), nameless);
    assert_eq!(new.operation("r-1", refund).await.unwrap().name(), "approved");
    assert_eq!(new.charge(by_card("order-1", 499)).await.unwrap().name(), "approved");
    assert_eq!(sent(&wire), requests);
}

/// The plan of one merchant must not lead another one to the first one's payments.
#[tokio::test]
async fn a_plan_that_was_made_for_another_account_is_refused() {
    let world = World::new();
    let wire = world.wire(None);
    let _ = refunded(&world, &wire, "one").await;
    let shared = || plan().stored_as("one-uk at http://localhost", "one at http://localhost");
    start(&world, world.account().identity("one-uk"), &world.store, &wire, shared()).await.unwrap();
    let two = with_key("another key").identity("two");
    let planned = "one-uk at http://localhost".to_owned();
    let error = FleetStartError::OtherPlan { account: two.bound_identity(), planned };
    assert_eq!(FleetLimits::new(Arc::clone(&world.store), &two, &shared()).await.unwrap_err(), error);
    assert_eq!(start(&world, two, &world.store, &wire, shared()).await.unwrap_err(), error);
}

#[tokio::test]
async fn payments_of_one_account_under_two_names_are_noticed() {
    let world = World::new();
    let wire = world.wire(None);
    let _ = refunded(&world, &wire, "shop").await;
    let (old, new) = ("shop at http://localhost", "shop-uk at http://localhost");
    world.store.begin(submitted(new, "order-2")).await.unwrap();
    let start = async |plan| start(&world, world.account().identity("shop-uk"), &world.store, &wire, plan).await;
    let refused = start(plan().stored_as(new, old)).await.unwrap_err();
    assert_eq!(refused, FleetStartError::OtherAccounts { account: old.to_owned(), found: vec![new.to_owned()] });
    start(plan().stored_as(new, old).apart_from([new])).await.unwrap();
    // A name that no row has.
    start(plan().stored_as(new, "shop at http://localhots")).await.unwrap_err();
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

    let known = plan().stored_as(named().bound_identity(), old.account());
    let new = start(world, named(), &store, &wire, known).await.unwrap();
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

/// The order of a change of the base URL: first every process gets to know both, then one after the other moves, and may move back.
#[tokio::test]
async fn processes_before_and_after_a_move_continue_each_others_payments() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    let (before, after) = (world.account().identity("shop"), moved(&world).identity("shop"));
    let stored = before.bound_identity();
    let starts = async |account: &Account| {
        let known = plan().stored_as(account.bound_identity(), &*stored);
        start(&world, account.clone(), &world.store, &wire, known).await.unwrap()
    };
    let (old, new) = (starts(&before).await, starts(&after).await);
    for (from, to, number) in [(&old, &new, 1), (&new, &old, 2)] {
        let [order, secured, cart] = ["order", "secured", "cart"].map(|kind| format!("{kind}-{number}"));
        from.submit(by_key(&key, &order)).await.unwrap();
        let initiation = InitiateThreeDSecureCardKey::new(&key, crate::world::order(&secured, 499))
            .return_url("https://shop.example/back");
        let _ = from.three_d_secure(initiation, ThreeDSecurePlan::default()).await.unwrap();
        let FleetStep::Ask(FleetQuestion::Redirect { url, .. }) = from.checkout(&cart, token()).await.unwrap() else {
            panic!("it asks")
        };
        assert_eq!(to.work_once().await.unwrap(), 1);
        assert_eq!(to.charge(by_key(&key, &order)).await.unwrap().name(), "approved");
        to.event(&secured, &FleetEvent::Closed).await.unwrap();
        let FleetStep::Done(left) = to.step(&secured).await.unwrap() else { panic!("it was left") };
        assert_eq!(left.name(), "not-paid");
        to.event(&cart, &FleetEvent::Reported { trans_key: paid_on_page(&world, &url) }).await.unwrap();
        let FleetStep::Done(paid) = to.step(&cart).await.unwrap() else { panic!("it is paid") };
        assert_eq!(paid.name(), "paid-on-page");
    }
    let rows = world.store.accounts("", u32::MAX).await.unwrap();
    assert_eq!(rows, [stored]);
}
