//! Account updates: polled, reported by a callback, dropped at every point and resumed.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    time::Duration,
};

use pg_hyper::{AccountUpdateDrive, Client, EndpointPurpose, Notification, Receiver, Transport, UpdateEvent};
use pg_model::{CardKey, Encoding, TokeniseTransactionKey};
use pg_proto::{
    UpdaterHint,
    machine::account_update::{BatchEnd, UpdateEnd, UpdatePlan},
};
use pg_tests::shop::Shop;

use crate::drive::{
    World,
    cancelled::{Shelf, Waits, polled},
    payment,
};

/// A card number with a valid check digit.
fn number(at: u32) -> String {
    let body = format!("41110000{at:07}");
    let sum: u32 = body
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0') * if place % 2 == 0 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

/// Stores the given number of cards and returns their keys.
async fn cards<T: Transport>(client: &Client<T>, count: u32) -> Vec<CardKey> {
    let mut keys = Vec::new();
    for at in 0..count {
        let paid = client.call(&payment(&number(at), &format!("card-{at}"))).await.unwrap();
        let stored = client.call(&TokeniseTransactionKey::new(&paid.record().transaction_key)).await.unwrap();
        keys.push(stored.card_key_details[0].card_key.clone());
    }
    keys
}

fn updater_key() -> String {
    let main = pg_sandbox::Settings::default().merchants.by_name("main").unwrap().clone();
    main.account_updater_key.unwrap().expose().to_owned()
}

/// The results by number, until it ends.
async fn results<S, T>(
    updating: &mut AccountUpdateDrive<S, T>,
    into: &mut BTreeMap<u64, (BatchEnd, Vec<CardKey>)>,
) -> UpdateEnd
where
    S: pg_hyper::KeySource<Error = Infallible>,
    T: Transport + Clone + 'static,
{
    loop {
        match updating.next().await.unwrap() {
            Some(UpdateEvent::Result(batch)) => {
                let answered = batch.entries.iter().map(|entry| entry.old_card_key.clone());
                let keys: Vec<_> = answered.chain(batch.unanswered.iter().cloned()).collect();
                let known = into.insert(batch.number, (batch.how.clone(), keys.clone()));
                assert!(known.is_none_or(|known| known.1 == keys), "a repeat says the same");
            }
            Some(UpdateEvent::Progress(_)) => {}
            Some(UpdateEvent::Ended(summary)) => return summary.end,
            None => panic!("it said how it ended"),
        }
    }
}

#[tokio::test]
async fn batches_are_polled_until_all_results_are_there() {
    let world = World::new();
    let keys = cards(&world.client, 7).await;
    let twice: Vec<CardKey> = keys.iter().chain(&keys[..2]).cloned().collect();
    let plan = UpdatePlan::new(updater_key()).batch_size(3);
    let mut updating = world.client.update_accounts(plan, twice.into_iter()).unwrap();
    let mut found = BTreeMap::new();
    assert_eq!(results(&mut updating, &mut found).await, UpdateEnd::Complete);
    assert_eq!(updating.next().await.unwrap().map(|_| ()), None, "nothing follows the end");
    assert_eq!(found.len(), 3);
    assert!(found.values().all(|(how, _)| *how == BatchEnd::Finished));
    let answered: Vec<CardKey> = found.into_values().flat_map(|(_, keys)| keys).collect();
    assert_eq!(answered, keys);
    let progress = updating.progress();
    assert_eq!((progress.read, progress.duplicates, progress.finished), (9, 2, 7));
}

#[tokio::test]
async fn dropped_at_every_point_an_update_goes_on_from_what_was_stored() {
    let mut polls = 0;
    loop {
        let world = World::new();
        let keys = cards(&world.client, 5).await;
        let client = world.over(Waits::new(world.sandbox.clone()));
        let shelf = Shelf::default();
        let plan = || UpdatePlan::new(updater_key()).batch_size(2);
        let mut found = BTreeMap::new();

        let keep = shelf.clone();
        let mut updating =
            client.update_accounts(plan(), keys.clone().into_iter()).unwrap().store(move |saved| keep.put(saved));
        let first = polled(polls, results(&mut updating, &mut found)).await;
        drop(updating);
        if first.is_none() {
            let mut again = match shelf.last() {
                Some(saved) => client.resume_update(&saved, plan(), keys.clone().into_iter()).unwrap(),
                None => client.update_accounts(plan(), keys.clone().into_iter()).unwrap(),
            };
            assert_eq!(results(&mut again, &mut found).await, UpdateEnd::Complete, "{polls}");
        }
        let all: Vec<CardKey> = found.values().flat_map(|(_, keys)| keys.clone()).collect();
        assert_eq!(all.len(), keys.len(), "{polls}: each key once");
        assert_eq!(all.iter().map(CardKey::as_str).collect::<BTreeSet<_>>().len(), keys.len());
        let doubtful = found.values().filter(|(how, _)| *how == BatchEnd::Doubtful).count();
        assert!(doubtful <= 1 && found.values().all(|(how, _)| matches!(how, BatchEnd::Finished | BatchEnd::Doubtful)));
        let batches = world.list("batches");
        let batches = batches.as_array().unwrap().len();
        assert!(batches == 3 || (batches == 2 && doubtful == 1), "{polls}: {batches} batches, {doubtful} in doubt");
        if first.is_some() {
            assert!(polls > 10, "it waits often");
            return;
        }
        polls += 1;
    }
}

#[tokio::test]
async fn many_callbacks_at_once_repeat_no_result() {
    let world = World::new();
    let keys = cards(&world.client, 7).await;
    let plan = UpdatePlan::new(updater_key()).batch_size(3);
    let mut updating = world.client.update_accounts(plan, keys.into_iter()).unwrap();
    let forged = r#"{"batchKey":"b","createdOn":"2026-05-04T10:00:00+00:00","cardKeyDetails":[]}"#;
    let forged = http::Request::post("/").body(bytes::Bytes::from_static(forged.as_bytes())).unwrap();
    let forged = UpdaterHint::read(&forged).unwrap();
    let mut taken = Vec::new();
    loop {
        (0..20).for_each(|_| updating.hint(forged.clone()));
        match updating.next().await.unwrap() {
            Some(UpdateEvent::Result(batch)) => taken.push(batch.number),
            Some(UpdateEvent::Ended(summary)) => break assert_eq!(summary.end, UpdateEnd::Complete),
            _ => {}
        }
    }
    assert_eq!(taken, [0, 1, 2]);
}

#[tokio::test]
async fn a_callback_brings_the_result_without_a_poll() {
    let shop = Shop::open(Encoding::Json).await;
    let keys = cards(&shop.client, 3).await;
    let mut receiver = Receiver::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let endpoint = receiver.open(EndpointPurpose::UpdaterCallback).unwrap();
    // The next scheduled poll would be in a year.
    let plan = UpdatePlan::new(updater_key())
        .callback_url(endpoint.url())
        .polls(Duration::from_secs(31_536_000), Duration::MAX);
    let mut updating = shop.client.update_accounts(plan, keys.clone().into_iter()).unwrap();
    let mut answered = Vec::new();
    let summary = loop {
        tokio::select! {
            update = updating.next() => match update.unwrap() {
                Some(UpdateEvent::Progress(progress)) if progress.submitted == 3 && answered.is_empty() => {
                    shop.advance(121).await;
                }
                Some(UpdateEvent::Progress(_)) => {}
                Some(UpdateEvent::Result(batch)) => {
                    assert_eq!(batch.how, BatchEnd::Finished);
                    answered.extend(batch.entries.iter().map(|entry| entry.old_card_key.clone()));
                }
                Some(UpdateEvent::Ended(summary)) => break summary,
                None => panic!("it said how it ended"),
            },
            received = receiver.next() => {
                let received = received.unwrap();
                assert_eq!(received.token, endpoint.token());
                let Notification::Updater(hint) = received.notification else { panic!("{received:?}") };
                updating.hint(hint);
            }
        }
    };
    assert_eq!((summary.end, answered), (UpdateEnd::Complete, keys));
}
