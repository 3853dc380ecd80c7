//! Bugs that are planted between workers and their database, each found by the scenario that it breaks. Without a bug every
//! scenario passes. The bugs of the protocol itself are planted in [`model`](crate::model).

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use pg_faulty_intents::{FaultyStore, StoreBug as Bug};
use pg_hyper::{
    Client, Clock,
    proto::{Account, BaseUrl, Credentials, machine::Moment, model::CardKey},
};
use pg_intents::{Fleet, IntentKey, IntentStatus, IntentStore as _, NewIntent, SqliteStore};
use pg_sandbox::InProcess;

use crate::world::{Fault, LEASE, Wire, World, by_key, charge_at_once, submitted};

type Faulty = FaultyStore<SqliteStore>;

type Found = Option<&'static str>;

const FENCE: &str = "a worker sent without the lease";
const ALIVE: &str = "a worker took the intent of a living one";
const STORED: &str = "an outcome was told that is not stored";
const ONCE: &str = "a payment was sent twice";
const RECORDED: &str = "a payment was sent that no row records";
const ACCOUNT: &str = "a worker took the intent of another account";
const VERSION: &str = "a worker took a state that it cannot read";
const LOCKOUT: &str = "more than five requests with invalid credentials";
const DAY: &str = "more than five requests with invalid credentials within a day";
const MINUTE: &str = "more requests in 60 seconds than the account may send";

fn found(rule: &'static str, broken: bool) -> Found {
    broken.then_some(rule)
}

fn sent(wire: &Wire) -> usize {
    wire.paid.load(Ordering::SeqCst)
}

async fn sleeper(bug: Option<Bug>) -> Found {
    let (world, wire, key) = World::with_card().await;
    let other = world.worker("other", &wire).await;
    other.submit(by_key(&key, "order-1")).await.unwrap();
    let store = world.faulty(bug).asleep(world.night());
    let sleeper = world.worker_over("sleeper", &Arc::new(store), &wire).await;
    sleeper.work_once().await.unwrap();
    found(FENCE, sent(&wire) > 0)
}

/// A worker that lives waits for its reply, while another one looks for work.
async fn living(bug: Option<Bug>) -> Found {
    let (world, wire, key) = World::with_card().await;
    let store = Arc::new(world.faulty(bug));
    let (one, other) = (world.worker_over("one", &store, &wire).await, world.worker_over("other", &store, &wire).await);
    // From now on the service has accepted its credentials, and it needs no probe share.
    assert_eq!(other.charge(by_key(&key, "order-0")).await.unwrap().name(), "approved");
    *wire.fault.lock().unwrap() = Some(Fault::After);
    tokio::select! {
        settled = one.charge(by_key(&key, "order-1")) => panic!("it did not hang: {settled:?}"),
        taken = async { wire.hanging.notified().await; other.work_once().await.unwrap() } => found(ALIVE, taken > 0),
    }
}

async fn told(bug: Option<Bug>) -> Found {
    let (world, wire, key) = World::with_card().await;
    let fleet = world.worker_over("one", &Arc::new(world.faulty(bug)), &wire).await;
    let told = fleet.charge(by_key(&key, "order-1")).await.unwrap();
    let row = world.store.find(&IntentKey::new(fleet.account(), "order-1")).await.unwrap().unwrap();
    found(STORED, told.name() == "approved" && row.outcome.is_none())
}

async fn twice(bug: Option<Bug>) -> Found {
    let (world, wire, key) = World::with_card().await;
    let store = Arc::new(world.faulty(bug));
    let (one, other) = (world.worker_over("one", &store, &wire).await, world.worker_over("other", &store, &wire).await);
    assert_eq!(one.charge(by_key(&key, "order-1")).await.unwrap().name(), "approved");
    assert_eq!(other.charge(by_key(&key, "order-1")).await.unwrap().name(), "approved");
    found(ONCE, sent(&wire) > 1)
}

/// The connection is lost while the intent is begun. What is sent then needs a row.
async fn doubt(bug: Option<Bug>) -> Found {
    let world = World::new();
    let (wire, key) = (world.wire(Some(Fault::After)), world.card_key().await);
    let store = Arc::new(world.faulty(bug));
    store.lost.store(1, Ordering::SeqCst);
    let fleet = world.worker_over("one", &store, &wire).await;
    tokio::select! {
        settled = fleet.charge(by_key(&key, "order-1")) => panic!("it did not hang: {settled:?}"),
        () = wire.hanging.notified() => {}
    }
    let row = world.store.find(&IntentKey::new(fleet.account(), "order-1")).await.unwrap();
    found(RECORDED, row.is_none())
}

async fn over(store: &Arc<Faulty>, wire: &Wire, account: Account, name: &str) -> Fleet<Faulty, Wire> {
    let client = Client::with_transport(account, wire.clone());
    let plan = World::plan(name).apart_from(["main at http://localhost"]);
    Fleet::new(client, Arc::clone(store), plan).await.unwrap()
}

async fn another_account(bug: Option<Bug>) -> Found {
    let (world, wire, key) = World::with_card().await;
    let main = world.worker("main", &wire).await;
    main.submit(by_key(&key, "order-1")).await.unwrap();
    let stranger = Account::new(
        BaseUrl::parse(InProcess::BASE_URL).unwrap(),
        Credentials::new("another key", "password", "SHA key"),
    )
    .identity("stranger");
    let stranger = over(&Arc::new(world.faulty(bug)), &wire, stranger, "stranger").await;
    let taken = stranger.work_once().await.unwrap();
    // A second line of defence: the machine refuses the account too.
    assert_eq!(sent(&wire), 0);
    found(ACCOUNT, taken > 0)
}

async fn later_version(bug: Option<Bug>) -> Found {
    let world = World::new();
    let wire = world.wire(None);
    let fleet = world.worker_over("old", &Arc::new(world.faulty(bug)), &wire).await;
    let state = "a state of a later program".to_owned();
    let new = NewIntent { state, version: 9, lease: LEASE, ..submitted(fleet.account(), "order-1") };
    world.store.begin(new).await.unwrap();
    found(VERSION, fleet.work_once().await.unwrap() > 0)
}

async fn none_is_approved(fleets: &[Fleet<Faulty, Wire>], key: &CardKey, each: usize, round: &str) {
    for ended in charge_at_once(fleets, key, each, round).await {
        assert!(!ended.as_ref().is_ok_and(|settled| settled.name() == "approved"), "{ended:?}");
    }
}

/// Six processes start with invalid credentials at once.
async fn lockout(bug: Option<Bug>) -> Found {
    let (world, wire, key) = World::with_card().await;
    wire.yields.store(50, Ordering::SeqCst);
    let store = Arc::new(world.faulty(bug));
    let mut fleets = Vec::new();
    for process in 0..6 {
        fleets.push(over(&store, &wire, world.account_of("main", Some("wrong")), &format!("p{process}")).await);
    }
    none_is_approved(&fleets, &key, 1, "order").await;
    found(LOCKOUT, sent(&wire) > 5)
}

/// Processes that send with credentials that the service has accepted.
async fn accepted(
    (world, wire, store): (&World, &Wire, &Arc<Faulty>),
    key: &CardKey,
    round: &str,
    count: usize,
) -> Vec<Fleet<Faulty, Wire>> {
    let mut fleets = Vec::new();
    for process in 0..count {
        let plan = World::plan(&format!("p{process}")).failures(5);
        let fleet = Fleet::new(world.client(wire), Arc::clone(store), plan).await.unwrap();
        assert_eq!(fleet.charge(by_key(key, &format!("{round}-{process}"))).await.unwrap().name(), "approved");
        fleets.push(fleet);
    }
    fleets
}

/// All of these send several payments at once, with credentials that have become invalid.
async fn fail(wire: &Wire, key: &CardKey, fleets: &[Fleet<Faulty, Wire>], round: &str) {
    wire.yields.store(50, Ordering::SeqCst);
    wire.invalid.store(true, Ordering::SeqCst);
    none_is_approved(fleets, key, 4, round).await;
    wire.invalid.store(false, Ordering::SeqCst);
}

/// Six processes send many requests while the credentials become invalid.
async fn turned(bug: Option<Bug>) -> Found {
    let world = World::new();
    let (wire, store, key) = (world.wire(None), Arc::new(world.faulty(bug)), world.card_key().await);
    let fleets = accepted((&world, &wire, &store), &key, "first", 6).await;
    fail(&wire, &key, &fleets, "turned").await;
    let (failed, locked_out) = (wire.failed.load(Ordering::SeqCst), wire.locked_out.load(Ordering::SeqCst));
    assert!(failed > 0 && (failed > 5 || locked_out == 0), "{failed}, {locked_out}");
    found(LOCKOUT, failed > 5)
}

/// The credentials become invalid for one process. An operator corrects them, and an hour later they become invalid for six.
async fn turned_again(bug: Option<Bug>) -> Found {
    let world = World::new();
    let (wire, store, key) = (world.wire(None), Arc::new(world.faulty(bug)), world.card_key().await);
    let fleets = accepted((&world, &wire, &store), &key, "first", 1).await;
    fail(&wire, &key, &fleets, "one").await;
    let first = wire.failed.load(Ordering::SeqCst);
    assert!((1..5).contains(&first), "{first}");
    fleets[0].resume_sending().await.unwrap();
    world.sandbox.advance(Duration::from_secs(60 * 60));
    wire.yields.store(0, Ordering::SeqCst);
    let fleets = accepted((&world, &wire, &store), &key, "second", 6).await;
    fail(&wire, &key, &fleets, "two").await;
    let (failed, locked_out) = (wire.failed.load(Ordering::SeqCst), wire.locked_out.load(Ordering::SeqCst));
    assert!(failed > first && (failed > 5 || locked_out == 0), "{failed}, {locked_out}");
    found(DAY, failed > 5)
}

/// Three processes have more to send than the account may send, for three minutes.
async fn busy(bug: Option<Bug>) -> Found {
    const PER_MINUTE: u32 = 20;
    const WORKERS: usize = 3;
    const CALLS: usize = 100;
    let (world, wire, key) = World::with_card().await;
    let store = Arc::new(world.faulty(bug));
    let (mut fleets, mut calls) = (Vec::new(), tokio::task::JoinSet::new());
    for number in 0..WORKERS {
        let client = world.client(&wire);
        let plan = World::plan(&format!("w{number}")).per_minute(PER_MINUTE);
        let fleet = Fleet::new(client, Arc::clone(&store), plan).await.unwrap();
        // The service accepts its credentials: it needs no probe share, for which the others would wait.
        assert_eq!(fleet.charge(by_key(&key, &format!("first-{number}"))).await.unwrap().name(), "approved");
        fleets.push(fleet);
    }
    for (number, fleet) in fleets.into_iter().enumerate() {
        for at in 0..CALLS {
            let (fleet, payment) = (fleet.clone(), by_key(&key, &format!("order-{number}-{at}")));
            calls.spawn(async move { fleet.charge(payment).await });
        }
    }
    // Every 20 seconds of the shared clock: how many had been sent.
    let mut marks = VecDeque::from([0]);
    for _ in 0..9 {
        store.refused.lock().unwrap().clear();
        // Until every process has asked for more and was refused, or all is sent.
        while sent(&wire) < WORKERS * CALLS
            && (0..WORKERS).any(|number| {
                let refused = store.refused.lock().unwrap();
                refused.iter().filter(|process| process.starts_with(&format!("w{number}#"))).count() < 3
            })
        {
            tokio::time::timeout(Duration::from_millis(1), std::future::pending::<()>()).await.unwrap_err();
        }
        marks.push_back(sent(&wire));
        if marks.len() > 4 {
            marks.pop_front();
        }
        let in_a_minute = marks.back().unwrap() - marks.front().unwrap();
        if in_a_minute > usize::try_from(PER_MINUTE).unwrap() {
            return Some(MINUTE);
        }
        world.sandbox.advance(Duration::from_secs(20));
    }
    assert!(sent(&wire) >= 2 * usize::try_from(PER_MINUTE).unwrap(), "the limit is used: {}", sent(&wire));
    None
}

/// The scenarios.
async fn run(bug: Option<Bug>) -> Vec<&'static str> {
    let all = [
        sleeper(bug).await,
        living(bug).await,
        told(bug).await,
        twice(bug).await,
        doubt(bug).await,
        another_account(bug).await,
        later_version(bug).await,
        lockout(bug).await,
        turned(bug).await,
        turned_again(bug).await,
        busy(bug).await,
    ];
    all.into_iter().flatten().collect()
}

#[tokio::test]
async fn without_a_bug_no_scenario_breaks_a_rule() {
    assert_eq!(run(None).await, [""; 0]);
}

macro_rules! planted {
    ($($name:ident: $bug:ident in $scenario:ident breaks $rule:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $name() {
                assert_eq!($scenario(Some(Bug::$bug)).await, Some($rule));
            }
        )*
    };
}

planted! {
    no_fence_is_found: NoFence in sleeper breaks FENCE,
    a_lease_by_the_local_clock_is_found: LeaseByLocalClock in living breaks ALIVE,
    a_claim_without_a_lock_is_found: ClaimWithoutLock in living breaks ALIVE,
    an_outcome_told_before_it_is_stored_is_found: ToldBeforeStored in told breaks STORED,
    an_intent_begun_twice_is_found: BegunTwice in twice breaks ONCE,
    doubt_taken_for_success_is_found: DoubtTakenForSuccess in doubt breaks RECORDED,
    an_intent_resumed_under_another_account_is_found: OtherAccountClaimed in another_account breaks ACCOUNT,
    a_later_state_read_as_a_known_one_is_found: LaterVersionClaimed in later_version breaks VERSION,
    a_stop_that_is_not_shared_is_found: StopNotShared in lockout breaks LOCKOUT,
    a_probe_by_every_process_is_found: ProbeByProcess in lockout breaks LOCKOUT,
    a_stop_that_is_not_shared_is_found_when_credentials_become_invalid: StopNotShared in turned breaks LOCKOUT,
    places_by_process_are_found: PlacesByProcess in turned breaks LOCKOUT,
    failures_that_are_forgotten_are_found: FailureForgotten in turned_again breaks DAY,
    a_throttle_by_process_is_found: ThrottleByProcess in busy breaks MINUTE,
    blocks_that_never_rest_are_found: BlocksNeverRest in busy breaks MINUTE,
}

/// A clock at which no time passes.
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Moment {
        Moment::from_millis(1_700_000_000_000)
    }

    fn sleep_until(&self, _: Moment) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn the_shared_throttle_asks_the_store_twice_for_five_charges() {
    let world = World::new();
    let (wire, key): (_, CardKey) = (world.wire(None), world.card_key().await);
    let store = Arc::new(world.faulty(None));
    let plan = World::plan("one").per_minute(100).clock(Still);
    let fleet = Fleet::new(world.client(&wire), Arc::clone(&store), plan).await.unwrap();
    for at in 0..50 {
        assert_eq!(fleet.charge(by_key(&key, &format!("order-{at}"))).await.unwrap().name(), "approved");
    }
    let row = world.store.find(&IntentKey::new(fleet.account(), "order-49")).await.unwrap().unwrap();
    assert_eq!(row.status, IntentStatus::Ended);
    let asked = store.shares.load(Ordering::SeqCst);
    println!("50 charges: {asked} questions about the limit");
    // Ten blocks were taken, and nine were released.
    assert_eq!(asked, 19);
}
