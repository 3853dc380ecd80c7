//! Card data in the files of a store: a number sealed, a CV2 never.

use std::time::Duration;

use pg_sandbox::{
    records::Session,
    store::{Sqlite, Transaction},
    vault,
};

use crate::{
    on_disk::on_disk,
    session_and_tokens::{CURRENT, CV2, GOOD, NEXT, PAN, Shop, with},
};

// spec: 2 §1.1, A101
#[test]
fn neither_number_nor_cv2_reaches_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let cv2 = ["\"cardCV2\"", "cardCV2=", "9173\""];
    let mut shop = Shop::in_file(&folder.path().join("store.sqlite"));
    let session = shop.initiate();
    let right = with(GOOD, &[("cardCV2", CV2), ("customerSurname", "Canary-on-disk")]);
    let wrong = with(GOOD, &[("cardCV2", CV2), ("cardExpiryYear", "20"), ("customerSurname", "Never-stored")]);
    assert_eq!(shop.post(&session, &right).page(), NEXT);
    assert_eq!(shop.post(&session, &wrong).page(), CURRENT);
    let order = [("sessionKey", session.as_str()), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    let paid = shop.done("transaction/authSessionKey", &order);
    shop.done("token/tokeniseTransactionKey", &[("transactionKey", paid["transactionKey"].as_str().unwrap())]);
    let check = || {
        // The search finds what is there, so that finding nothing means something.
        assert!(on_disk(folder.path(), &session), "keys are in clear");
        assert!(!on_disk(folder.path(), "Canary-on-disk") && !on_disk(folder.path(), "400000******1000"));
        assert!(!on_disk(folder.path(), PAN) && !on_disk(folder.path(), "Never-stored"));
        assert!(cv2.iter().all(|text| !on_disk(folder.path(), text)));
    };
    check();
    drop(shop);
    check();
}

#[test]
fn a_session_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut shop = Shop::in_file(&path);
    let session = shop.initiate();
    shop.post(&session, &with(GOOD, &[("collectSize", "M")]));
    drop(shop);
    let mut shop = Shop::in_file(&path);
    assert_eq!(shop.post(&session, GOOD).shown().collect.get("collectSize"), Some("M"));
    let order = [("sessionKey", session.as_str()), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
    assert_eq!(shop.done("transaction/authSessionKey", &order)["transactionStatusCode"], "600");
}

#[test]
fn a_card_is_deleted_at_its_time_without_a_call() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    shop.post(&session, GOOD);
    assert!(shop.due().is_empty());
    let end = shop.now.plus(Duration::from_secs(30 * 60));
    if !pg_stores::rests(&shop.sandbox, shop.now) {
        assert_eq!(shop.sandbox.next_due(), Some(end));
    }
    assert!(shop.sandbox.due(end).is_empty());
    // A request at an earlier time, which erases nothing.
    assert!(shop.control("sessions")[0]["card"].is_null());
    assert!(pg_stores::rests(&shop.sandbox, end), "the store holds no card any more");
}

#[test]
fn the_card_is_deleted_with_its_session_and_the_key_stays_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut shop = Shop::in_file(&path);
    let (told, untold) = (shop.initiate(), shop.initiate());
    for session in [&told, &untold] {
        shop.post(session, &with(GOOD, &[("customerSurname", "Other"), ("collectSize", "M")]));
    }
    shop.pass(Duration::from_secs(30 * 60));
    assert_eq!(shop.post(&told, GOOD).error(), "136");
    drop(shop);
    let key = vault::load_key(&vault::key_path(&path)).unwrap().unwrap().key;
    let mut store = Sqlite::open(&path, &key).unwrap();
    let mut records = Transaction::new(&mut store);
    for key in [told, untold] {
        let session: Session = records.get(&key).unwrap().unwrap();
        assert!(session.card.is_none() && session.details.is_empty() && session.collected.is_empty());
    }
}
