//! Over sockets: a supervisor that starts a program again and again.

use std::{fs, path::Path};

use pg_hyper::{Client, DriveError, Error};
use pg_model::{Encoding, TransactionLookup};
use pg_proto::{
    Account, BaseUrl, Credentials,
    machine::{
        SavedState,
        charge::{ChargeOutcome, UnknownReason},
    },
};
use pg_tests::shop::Shop;

use crate::drive::{APPROVED, payment};

/// Starts a program with its throttle in a file.
fn start(shop: &Shop, password: &str, file: Option<&Path>) -> Client {
    let [key, _, sha_key] = shop.credentials();
    let base = BaseUrl::parse(&shop.server.base_url()).unwrap();
    let account = Account::new(base, Credentials::new(key, password, sha_key)).with_dialect(pg_sandbox::dialect());
    let builder = Client::builder(account).unwrap();
    let Some(file) = file.map(Path::to_owned) else { return builder.build() };
    let builder = match fs::read_to_string(&file) {
        Ok(text) => builder.resume_throttle(&SavedState::from_text(text)).unwrap(),
        Err(_) => builder,
    };
    builder.store_throttle(move |saved| std::future::ready(fs::write(&file, saved.text()))).build()
}

/// Five starts with a wrong password, each to be the first to charge. Then another program behind the
/// same address sends one more invalid request: the sixth failure if all five failed. Returns the next reply to the address.
async fn after_five_starts(file: Option<&Path>) -> (Shop, u32, Result<(), Error>) {
    let shop = Shop::open(Encoding::Json).await;
    let mut sent = 0;
    for at in 0..5 {
        let client = start(&shop, "wrong", file);
        let mut charging = client.charge(payment(APPROVED, &format!("order-{at}"))).unwrap();
        match charging.run().await {
            ChargeOutcome::Unknown { why: UnknownReason::Credentials(_), .. } => sent += 1,
            ChargeOutcome::NotSent => assert!(matches!(charging.error(), Some(DriveError::Stopped(_)))),
            other => panic!("{other:?}"),
        }
    }
    let lookup = TransactionLookup::new().unique_merchant_reference("order-0");
    start(&shop, "wrong as well", None).call(&lookup).await.unwrap_err();
    let heard = shop.client.call(&lookup).await.map(|_| ());
    (shop, sent, heard)
}

#[tokio::test]
async fn five_starts_with_a_wrong_password_are_one_failed_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("throttle.json");
    let (shop, sent, heard) = after_five_starts(Some(&file)).await;
    assert_eq!(sent, 1);
    heard.unwrap();
    let [_, password, _] = shop.credentials();
    let stored = fs::read_to_string(&file).unwrap();
    assert!(shop.credentials().iter().all(|secret| !stored.contains(secret)) && !stored.contains("wrong"), "{stored}");

    // The password is corrected in the configuration, and the program restarts.
    let mended = start(&shop, &password, Some(&file));
    let charged = mended.charge(payment(APPROVED, "order-0")).unwrap().await;
    assert!(matches!(charged, ChargeOutcome::Approved(_)), "{charged:?}");
}

/// Without the file, the restarts lock the address out.
#[tokio::test]
async fn without_it_the_address_is_locked_out() {
    let (_shop, sent, heard) = after_five_starts(None).await;
    assert_eq!(sent, 5);
    let Err(Error::Refused(refused)) = heard else { panic!("{heard:?}") };
    assert_eq!(refused.code().as_str(), "121");
}
