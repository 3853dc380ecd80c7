//! Stores whose texts are sealed: the contents of the database, and the handling of intents that cannot be opened.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use pg_hyper::proto::model::{CheckoutItem, GetToken};
use pg_intents::{
    Directive, Fleet, FleetError, FleetEvent, FleetQuestion, FleetStep, IntentEnd, IntentFilter, IntentKey, IntentKind,
    IntentRow, IntentStatus, IntentStore, PostgresStore, Resealed, RewritableStore, SealKey, SealedStore, Sealing,
    StoreError, conformance,
};
use pg_stores::Postgres;

use crate::world::{Fault, Wire, World, by_key};

fn key(number: u8) -> SealKey {
    SealKey::from_bytes(&[number; 32])
}

async fn sealed<S: RewritableStore>(store: &Arc<S>, sealing: Sealing) -> Arc<SealedStore<S>> {
    Arc::new(SealedStore::open(Arc::clone(store), sealing).await.unwrap())
}

/// Returns the row as it is in the database.
async fn raw<S: RewritableStore>(store: &Arc<S>, reference: &str) -> IntentRow {
    let rows = store.list(IntentFilter::default()).await.unwrap();
    rows.into_iter().find(|row| row.key.reference == reference).unwrap()
}

/// What a writer of the database can do.
async fn altered<S: RewritableStore>(store: &Arc<S>, reference: &str, alter: impl FnOnce(&mut IntentRow)) -> IntentRow {
    let old = raw(store, reference).await;
    let mut new = old.clone();
    alter(&mut new);
    assert!(store.rewrite(&old, &new, &[]).await.unwrap());
    old
}

fn flipped(text: &str) -> String {
    let (head, last) = text.split_at(text.len() - 4);
    format!("{head}{}", if last == "AAAA" { "BBBB" } else { "AAAA" })
}

fn is_sealed(error: &FleetError, words: &str) -> bool {
    matches!(error, FleetError::Store(StoreError::Sealed { why, .. }) if why.contains(words))
}

/// A charge, a submitted charge and a checkout with an event over one store, and all that stands of them in the database below it;
/// then what must not be read there.
async fn written<S: IntentStore, R: RewritableStore>(
    name: &str,
    store: &Arc<S>,
    below: &Arc<R>,
) -> (String, Vec<String>) {
    let (world, wire, card_key) = World::with_card().await;
    let fleet = world.worker_over(name, store, &wire).await;
    let paid = fleet.charge(by_key(&card_key, &format!("{name}-1"))).await.unwrap();
    fleet.submit(by_key(&card_key, &format!("{name}-2"))).await.unwrap();
    let cart = format!("{name}-3");
    let FleetStep::Ask(FleetQuestion::Redirect { url, .. }) = fleet.checkout(&cart, token()).await.unwrap() else {
        panic!("it does not ask")
    };
    let trans_key = "feedfeedfeedfeedfeedfeedfeedfeed";
    fleet.event(&cart, &FleetEvent::Reported { trans_key: trans_key.to_owned() }).await.unwrap();
    let mut rows = below.list(IntentFilter::default()).await.unwrap();
    rows.retain(|row| row.key.reference.starts_with(name));
    let events = below.events(&IntentKey::new(fleet.account(), cart), 0).await.unwrap();
    assert_eq!((rows.len(), events.len()), (3, 1));
    let dump = format!("{rows:?} {events:?}");
    for clear in [&format!("{name}-1"), "charge authCardKey", "checkout", &format!("{name}#"), "begun", fleet.account()]
    {
        assert!(dump.contains(clear), "operators see {clear}: {dump}");
    }
    let page = url.rsplit('/').next().unwrap();
    let transaction = paid.transaction().unwrap().transaction_key.as_str();
    let secrets = [card_key.as_str(), transaction, page, trans_key, "7319731", "approved"];
    (dump, secrets.map(str::to_owned).to_vec())
}

async fn hides_payments<S: RewritableStore>(store: &Arc<S>) {
    let (dump, secrets) = written("hidden", &sealed(store, Sealing::new(key(1))).await, store).await;
    for secret in secrets {
        assert!(!dump.contains(&secret), "{secret} in {dump}");
    }
    // Without the key to compare with.
    let (dump, secrets) = written("clear", store, store).await;
    for secret in secrets {
        assert!(dump.contains(&secret), "no {secret} in {dump}");
    }
}

fn token() -> GetToken {
    let token = GetToken::new().item(CheckoutItem::new("Cake", "73197.31")).currency("GBP");
    token.callback_url("https://shop.example/paid").success_url("https://shop.example/thanks")
}

async fn leaves_to_others_what_it_has_no_key_for<S: RewritableStore>(store: &Arc<S>) {
    let (world, wire, card_key) = World::with_card().await;
    // All of them began over an empty database: otherwise those with a wrong key would not have started.
    let right = world.worker_over("right", &sealed(store, Sealing::new(key(1))).await, &wire).await;
    let wrong = sealed(store, Sealing::new(key(2))).await;
    // It would wait for a database: if it waits for a key too, this test does not end.
    let plan = World::plan("wrong").patience(Duration::MAX);
    let wrong = Fleet::new(world.client(&wire), wrong, plan).await.unwrap();
    let clear = world.worker_over("clear", store, &wire).await;
    right.submit(by_key(&card_key, "mine-1")).await.unwrap();
    assert_eq!(
        (wrong.work_once().await.unwrap(), clear.work_once().await.unwrap()),
        (0, 0),
        "they claim nothing of it"
    );
    let error = wrong.charge(by_key(&card_key, "mine-1")).await.unwrap_err();
    assert!(is_sealed(&error, "which was not given") && error.to_string().contains(key(1).fingerprint()), "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");
    let error = clear.charge(by_key(&card_key, "mine-1")).await.unwrap_err();
    assert!(is_sealed(&error, "which was not given"), "{error}");
    let error = clear.step("mine-1").await.unwrap_err();
    assert!(is_sealed(&error, "which was not given"), "{error}");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 0, "nothing was sent for it");
    let row = raw(store, "mine-1").await;
    assert_eq!((row.status, row.fence, row.claims), (IntentStatus::Open, 1, 0), "it is as it was");
    // The processes go on.
    assert_eq!(wrong.charge(by_key(&card_key, "theirs")).await.unwrap().name(), "approved");
    assert_eq!(right.work_once().await.unwrap(), 1);
    assert_eq!(right.outcome("mine-1").await.unwrap().unwrap().name(), "approved");
    let error = clear.outcome("mine-1").await.unwrap_err();
    assert!(is_sealed(&error, "which was not given"), "{error}");

    let refused = SealedStore::open(Arc::clone(store), Sealing::new(key(3))).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Sealed { .. }), "{refused}");
    assert!(refused.to_string().contains("which was not given"), "{refused}");
}

async fn parks_what_was_altered<S: RewritableStore>(store: &Arc<S>) {
    let (world, wire, card_key) = World::with_card().await;
    let fleet = world.worker_over("one", &sealed(store, Sealing::new(key(1))).await, &wire).await;
    for reference in ["moved", "flipped", "kind", "clear", "whole"] {
        fleet.submit(by_key(&card_key, reference)).await.unwrap();
    }
    let whole = raw(store, "whole").await;
    let before = altered(store, "moved", |row| row.state.clone_from(&whole.state)).await;
    altered(store, "flipped", |row| row.request = row.request.as_deref().map(flipped)).await;
    altered(store, "kind", |row| row.kind = row.kind.replace("authCardKey", "authSessionKey")).await;
    altered(store, "clear", |row| row.state = "{}".to_owned()).await;
    assert_eq!(fleet.work_once().await.unwrap(), 1, "the others go on");
    assert_eq!(fleet.outcome("whole").await.unwrap().unwrap().name(), "approved");
    for reference in ["moved", "flipped", "kind", "clear"] {
        let row = raw(store, reference).await;
        assert_eq!(row.status, IntentStatus::Parked, "{reference}");
        let error = fleet.charge(by_key(&card_key, reference)).await.unwrap_err();
        assert!(is_sealed(&error, "was altered, or was copied from another row"), "{reference}: {error}");
        assert_eq!(world.ledger(reference).await, [], "{reference}");
    }
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1);
    // Its state is put back, and an operator sends it on.
    altered(store, "moved", |row| row.state = before.state).await;
    assert!(store.direct(&before.key, Directive::Reconcile).await.unwrap());
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.outcome("moved").await.unwrap().unwrap().name(), "approved", "it goes on");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 2);
}

/// One after the other: the outbox and the events of an intent that has ended, or waits.
async fn passes_over_altered_outcomes_and_events<S: RewritableStore>(store: &Arc<S>) {
    let (world, wire, card_key) = World::with_card().await;
    let sealed = sealed(store, Sealing::new(key(1))).await;
    let fleet = world.worker_over("one", &sealed, &wire).await;
    for reference in ["told-1", "told-2"] {
        assert_eq!(fleet.charge(by_key(&card_key, reference)).await.unwrap().name(), "approved");
    }
    altered(store, "told-1", |row| row.outcome = row.outcome.as_deref().map(flipped)).await;
    let untold = sealed.untold(fleet.account(), 10, Duration::ZERO).await.unwrap();
    let told: Vec<&str> = untold.iter().map(|row| &*row.key.reference).collect();
    assert_eq!(told, ["told-2"], "an outcome that was altered is told to no application");
    assert!(untold[0].outcome.as_deref().is_some_and(|outcome| outcome.contains("approved")), "{untold:?}");
    let error = fleet.charge(by_key(&card_key, "told-1")).await.unwrap_err();
    assert!(is_sealed(&error, "its outcome or its kind was altered"), "{error}");
    assert_eq!(world.ledger("told-1").await.len(), 1, "it is not paid again");
    let listed = sealed.list(IntentFilter::default()).await.unwrap();
    let shown: Vec<bool> =
        listed.iter().filter(|row| row.sealed_with().is_some()).map(|row| row.key.reference == "told-1").collect();
    assert_eq!(shown, [true], "operators see it as it is stored");

    let asked = fleet.checkout("cart-1", token()).await.unwrap();
    let cart = IntentKey::new(fleet.account(), "cart-1");
    assert!(store.deliver(&cart, "{\"event\":\"cancelled\"}").await.unwrap(), "an event that no worker has sealed");
    assert_eq!(sealed.events(&cart, 0).await.unwrap(), [(1, String::new())]);
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.step("cart-1").await.unwrap(), asked, "it waits on");
}

/// It is repeated until it seals none.
async fn reseals_beside_events_that_cannot_be_opened<S: RewritableStore>(store: &Arc<S>) {
    let world = World::new();
    let wire = world.wire(None);
    let old = world.worker_over("old", &sealed(store, Sealing::new(key(1))).await, &wire).await;
    let mut carts = Vec::new();
    for name in ["cart-2", "cart-3"] {
        let asked = old.checkout(name, token()).await.unwrap();
        let cart = IntentKey::new(old.account(), name);
        let genuine = FleetEvent::Reported { trans_key: "feedfeedfeedfeedfeedfeedfeedfeed".to_owned() };
        old.event(name, &genuine).await.unwrap();
        carts.push((asked, cart));
    }
    let [(_, altered_one), (asked, clear_one)] = &carts[..] else { panic!("two") };
    let event = store.events(altered_one, 0).await.unwrap().remove(0).1;
    assert!(store.deliver(altered_one, &flipped(&event)).await.unwrap());
    assert!(store.deliver(clear_one, "{\"event\":\"cancelled\"}").await.unwrap());
    let both = sealed(store, Sealing::new(key(2)).older(key(1))).await;
    assert_eq!(both.reseal().await.unwrap(), Resealed { sealed: 2, ..Resealed::default() });
    assert_eq!(both.reseal().await.unwrap(), Resealed { current: 2, ..Resealed::default() });
    // A process that has only the older key still receives callbacks.
    assert!(store.deliver(altered_one, &event).await.unwrap());
    assert_eq!(both.reseal().await.unwrap(), Resealed { sealed: 1, current: 1, ..Resealed::default() });
    // The older key is not needed any more.
    let new = sealed(store, Sealing::new(key(2))).await;
    for (_, cart) in &carts {
        let events = new.events(cart, 0).await.unwrap();
        assert!(events[0].1.contains("feedfeed") && events[1].1.is_empty(), "{events:?}");
        assert!(events.get(2).is_none_or(|(_, event)| event.contains("feedfeed")), "{events:?}");
        assert_eq!(events.len(), if cart == altered_one { 3 } else { 2 });
    }
    let worker = world.worker_over("new", &new, &wire).await;
    assert_eq!(worker.work_once().await.unwrap(), 2);
    assert_eq!(&worker.step("cart-3").await.unwrap(), asked, "it waits on");
}

async fn changes_its_key<S: RewritableStore>(store: &Arc<S>) {
    let (world, wire, card_key) = World::with_card().await;
    let old = world.worker_over("old", &sealed(store, Sealing::new(key(1))).await, &wire).await;
    // From now on the service has accepted its credentials, and it needs no probe share.
    assert_eq!(old.charge(by_key(&card_key, "rotated-0")).await.unwrap().name(), "approved");
    *wire.fault.lock().unwrap() = Some(Fault::After);
    tokio::select! {
        settled = old.charge(by_key(&card_key, "rotated-1")) => panic!("it did not hang: {settled:?}"),
        () = wire.hanging.notified() => {}
    }
    let begun = raw(store, "rotated-1").await;
    assert!(store.direct(&begun.key, Directive::Reconcile).await.unwrap(), "its worker has died");
    old.submit(by_key(&card_key, "rotated-2")).await.unwrap();
    // A process with both keys.
    let both_store = sealed(store, Sealing::new(key(2)).older(key(1))).await;
    let both = world.worker_over("both", &both_store, &wire).await;
    assert_eq!(both.work_once().await.unwrap(), 2, "an older key still opens");
    let paid = both.outcome("rotated-1").await.unwrap().unwrap();
    assert_eq!(paid.name(), "approved");
    let saved = raw(store, "rotated-1").await;
    assert!(saved.state.contains(key(2).fingerprint()), "what is saved again gets the newer key");
    assert!(saved.digest.contains(key(1).fingerprint()));
    // A process that was given the older key alone sends nothing for it, and says which one it lacks.
    let error = old.charge(by_key(&card_key, "rotated-1")).await.unwrap_err();
    assert!(is_sealed(&error, key(2).fingerprint()), "{error}");

    let resealed = both_store.reseal().await.unwrap();
    assert_eq!(resealed, Resealed { sealed: 3, ..Resealed::default() });
    assert_eq!(both_store.reseal().await.unwrap(), Resealed { current: 3, ..Resealed::default() });
    let new = world.worker_over("new", &sealed(store, Sealing::new(key(2))).await, &wire).await;
    assert_eq!(new.charge(by_key(&card_key, "rotated-1")).await.unwrap(), paid, "the older key is not needed any more");
    assert_eq!(world.ledger("rotated-1").await.len(), 1);
    // A process starts although the one that changed last names a key that there is not.
    let unknown =
        altered(store, "rotated-2", |row| row.kind = row.kind.replace(key(2).fingerprint(), "0123456789abcdef")).await;
    drop(sealed(store, Sealing::new(key(2))).await);
    altered(store, "rotated-2", |row| row.kind = unknown.kind).await;
    // What cannot be opened is counted and left.
    altered(store, "rotated-2", |row| row.state = flipped(&row.state)).await;
    let left = raw(store, "rotated-2").await;
    let third = Sealing::new(key(3)).older(key(2));
    let resealed = sealed(store, third).await.reseal().await.unwrap();
    assert_eq!((resealed.sealed, resealed.unopened), (2, 1));
    assert!(resealed.first_unopened.is_some_and(|error| error.to_string().contains("rotated-2")));
    assert_eq!(raw(store, "rotated-2").await.state, left.state);
}

/// Unknown outcomes are looked up repeatedly. The same one is reported once, even if the key changes.
async fn tells_the_same_outcome_once<S: RewritableStore>(store: &Arc<S>) {
    let (world, wire, card_key) = World::with_card().await;
    let old = sealed(store, Sealing::new(key(1))).await;
    let fleet = world.worker_over("one", &old, &wire).await;
    fleet.submit(by_key(&card_key, "unknown-1")).await.unwrap();
    let kinds = [IntentKind { name: "charge authCardKey".to_owned(), version: 1 }];
    let new = sealed(store, Sealing::new(key(2)).older(key(1))).await;
    for (store, event) in [(&old, 1), (&new, 1), (&new, 1)] {
        let claimed = store.claim(fleet.account(), "w#1", 1, Duration::ZERO, &kinds).await.unwrap();
        let end = IntentEnd {
            status: IntentStatus::Unknown,
            state: claimed[0].state.clone(),
            outcome: "{\"outcome\":\"unknown\",\"why\":\"lost\"}".to_owned(),
            wake: Some(Duration::ZERO),
            heard: 0,
            quiet: Duration::ZERO,
        };
        store.end(&claimed[0].hold().unwrap(), end).await.unwrap();
        assert_eq!(raw(store.inner(), "unknown-1").await.event, event);
    }
}

async fn begins_in_clear<S: RewritableStore>(store: &Arc<S>) {
    let (world, wire, card_key) = World::with_card().await;
    let clear = world.worker_over("clear", store, &wire).await;
    let paid = clear.charge(by_key(&card_key, "clear-1")).await.unwrap();
    clear.submit(by_key(&card_key, "clear-2")).await.unwrap();
    let refused = SealedStore::open(Arc::clone(store), Sealing::new(key(1))).await.unwrap_err();
    assert!(refused.to_string().contains("it is not sealed"), "{refused}");
    let both_store = sealed(store, Sealing::new(key(1)).accept_clear()).await;
    let both = world.worker_over("both", &both_store, &wire).await;
    assert_eq!(both.charge(by_key(&card_key, "clear-1")).await.unwrap(), paid);
    assert_eq!(both.work_once().await.unwrap(), 1);
    assert_eq!(both_store.reseal().await.unwrap(), Resealed { sealed: 2, ..Resealed::default() });
    let sealed_only: Fleet<_, Wire> =
        world.worker_over("sealed", &sealed(store, Sealing::new(key(1))).await, &wire).await;
    assert_eq!(sealed_only.charge(by_key(&card_key, "clear-1")).await.unwrap(), paid);
    assert_eq!(sealed_only.outcome("clear-2").await.unwrap().unwrap().name(), "approved");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn over_sqlite_a_sealed_store_keeps_what_a_store_promises() {
    let folder = tempfile::tempdir().unwrap();
    let file = Arc::new(pg_intents::SqliteStore::open(folder.path().join("intents.sqlite")).unwrap());
    let memory = World::new().store;
    conformance::check_rewriting(&*file, "file").await;
    conformance::check_rewriting(&*memory, "memory").await;
    let clear = Sealing::new(key(1)).accept_clear();
    conformance::check(&*sealed(&file, clear).await, "file").await;
    let memory = World::new().store;
    conformance::check(&*sealed(&memory, Sealing::new(key(1))).await, "one key").await;
    conformance::check(&*sealed(&memory, Sealing::new(key(2)).older(key(1))).await, "two keys").await;
}

#[tokio::test]
async fn over_postgres_a_sealed_store_keeps_what_a_store_promises() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let one = sealed(&store, Sealing::new(key(1))).await;
    conformance::check(&*one, "one key").await;
    conformance::check(&*sealed(&store, Sealing::new(key(2)).older(key(1))).await, "two keys").await;
    conformance::check_rewriting(&*store, "clear").await;
}

#[tokio::test]
async fn over_postgres_intents_are_hidden_guarded_and_resealed() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = async || Arc::new(PostgresStore::migrate(&server.database().unwrap()).await.unwrap());
    hides_payments(&store().await).await;
    leaves_to_others_what_it_has_no_key_for(&store().await).await;
    parks_what_was_altered(&store().await).await;
    passes_over_altered_outcomes_and_events(&store().await).await;
    changes_its_key(&store().await).await;
    tells_the_same_outcome_once(&store().await).await;
    begins_in_clear(&store().await).await;
}

#[tokio::test]
async fn nothing_of_a_payment_stands_in_clear_in_a_sealed_store() {
    hides_payments(&World::new().store).await;
}

#[tokio::test]
async fn a_worker_without_the_key_leaves_sealed_intents_to_others_and_says_which_key_it_lacks() {
    leaves_to_others_what_it_has_no_key_for(&World::new().store).await;
}

#[tokio::test]
async fn an_intent_that_was_altered_or_moved_is_parked_unsent_and_the_others_go_on() {
    parks_what_was_altered(&World::new().store).await;
}

#[tokio::test]
async fn an_altered_outcome_is_withheld_and_an_altered_event_is_skipped() {
    passes_over_altered_outcomes_and_events(&World::new().store).await;
}

#[tokio::test]
async fn a_reseal_is_complete_although_events_cannot_be_opened() {
    reseals_beside_events_that_cannot_be_opened(&World::new().store).await;
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    reseals_beside_events_that_cannot_be_opened(&store).await;
}

#[tokio::test]
async fn an_older_key_still_opens_until_everything_is_sealed_with_the_newer_one() {
    changes_its_key(&World::new().store).await;
}

#[tokio::test]
async fn the_same_outcome_is_reported_once_across_a_change_of_the_key() {
    tells_the_same_outcome_once(&World::new().store).await;
}

#[tokio::test]
async fn clear_intents_are_accepted_with_the_setting_and_sealed_once() {
    begins_in_clear(&World::new().store).await;
}
