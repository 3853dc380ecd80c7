//! Machines that are stored: two drives of one machine, and a file that has a state already.

use std::{
    convert::Infallible,
    future::ready,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use pg_hyper::{
    Client, Drive, DriveError, DriveStep, DurableFile, EndpointPurpose, Receiver, StoreError, ThreeDSecureDrive,
    Transport, TransportError,
    proto::{
        Account, BaseUrl, Credentials, EnterpriseCredentials,
        machine::{
            SavedState, UnknownReason,
            charge::{Charge, ChargeBounds, ChargeOutcome},
            checkout::{CheckoutInput, CheckoutOutcome, CheckoutPlan},
            retry::{RetryBounds, RetryOutcome},
            three_d_secure::{ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome, ThreeDSecurePlan},
        },
        model::{
            AuthCardKey, CapturePreauth, CheckoutItem, Currency, GetToken, InitiateThreeDSecureCardKey, Item, Order,
        },
    },
};
use tokio::task::yield_now;

use super::receiver::send;

/// Approves everything, and counts the requests by their methods.
#[derive(Clone, Default)]
struct Service(Arc<Mutex<Vec<String>>>);

impl Service {
    fn count(&self, method: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|sent| *sent == method).count()
    }
}

impl Transport for Service {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        // Version 3 has the encoding behind the method.
        let path = request.uri().path();
        let method = path.strip_prefix("/enterprise/").or_else(|| path.rsplit('/').nth(1)).unwrap().to_owned();
        let body = match method.as_str() {
            "initiate3DSecureCardKey" => {
                "<transactionStatusCode>607</transactionStatusCode><transactionKey>check</transactionKey>\
                 <authenticationKey>0123456789abcdef0123456789abcdef</authenticationKey>\
                 <authenticationUrl>https://gateway.example/3ds/1</authenticationUrl>"
            }
            "getAuthenticationStatus" => {
                "<transactionStatusCode>607</transactionStatusCode><transactionKey>check</transactionKey>\
                 <liabilityShift>Y</liabilityShift>"
            }
            "gettoken" => {
                "<token><tokenid>token-1</tokenid><redemption_url>https://gateway.example/pay/1</redemption_url>\
                 <token_expiry>2999-05-01T13:00:00Z</token_expiry></token>"
            }
            _ => {
                "<transactionStatusCode>600</transactionStatusCode><transactionType>Auth</transactionType>\
                 <transactionKey>paid</transactionKey><uniqueMerchantReference>order-7</uniqueMerchantReference>\
                 <currency>GBP</currency>"
            }
        };
        self.0.lock().unwrap().push(method);
        // The other drive has its turn.
        yield_now().await;
        Ok(Response::new(Bytes::from(format!("<serviceResponse>{body}</serviceResponse>"))))
    }
}

fn client(service: &Service) -> Client<Service> {
    let base = |text| BaseUrl::parse(text).unwrap();
    let account = Account::new(base("https://gateway.example"), Credentials::new("key", "password", "sha key"))
        .enterprise(
            base("https://gateway.example/enterprise"),
            EnterpriseCredentials::new("k".repeat(32), "p".repeat(32)),
        );
    Client::with_transport(account, service.clone())
}

fn order() -> Order {
    Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7")
}

fn token() -> GetToken {
    GetToken::new().item(CheckoutItem::new("Tea", "4.99")).currency("GBP")
}

/// A row of a database with `UPDATE … WHERE state = …`.
#[derive(Clone)]
struct Row(Arc<Mutex<SavedState>>);

impl Row {
    fn replace(&self, previous: Option<SavedState>, new: SavedState) -> Result<bool, StoreError> {
        let mut state = self.0.lock().unwrap();
        let is_known = previous.as_ref() == Some(&*state);
        if is_known {
            *state = new;
        }
        Ok(is_known)
    }
}

async fn returned(mut payment: ThreeDSecureDrive<Service>) -> ThreeDSecureOutcome {
    payment.handle_input(ThreeDSecureInput::Returned);
    match payment.next().await {
        DriveStep::Done(outcome) => outcome,
        DriveStep::Ask(demand) => panic!("{demand:?}"),
    }
}

/// Two requests for the return URL, as of a customer who clicks twice.
#[tokio::test(start_paused = true)]
async fn of_two_drives_of_one_payment_whose_store_compares_only_one_pays() {
    let service = Service::default();
    let client = client(&service);
    let initiation = InitiateThreeDSecureCardKey::new("card-key", order());
    let mut payment = client.three_d_secure(initiation, ThreeDSecurePlan::default()).unwrap();
    let DriveStep::Ask(ThreeDSecureDemand::Challenge { .. }) = payment.next().await else { panic!("no challenge") };
    let row = Row(Arc::new(Mutex::new(payment.saved())));
    let resumed = || {
        let (saved, row) = (row.0.lock().unwrap().clone(), row.clone());
        let payment = client.resume_three_d_secure(&saved).unwrap();
        payment.store_if(move |previous, new| ready(row.replace(previous, new)))
    };
    let (one, other) = (resumed(), resumed());
    let outcomes = tokio::join!(returned(one), returned(other));
    assert_eq!(service.count("auth3DSecure"), 1, "{outcomes:?}");
    let mut labels = [outcomes.0.label(), outcomes.1.label()];
    labels.sort_unstable();
    assert_eq!(labels, ["approved", "unknown"], "{outcomes:?}");
}

/// The order must not be taken for unpaid.
#[tokio::test(start_paused = true)]
async fn a_new_machine_does_not_call_the_payment_of_an_earlier_run_unpaid() {
    let (folder, service) = (tempfile::tempdir().unwrap(), Service::default());
    let client = client(&service);
    let file = DurableFile::new(folder.path().join("order-7.json"));
    let charge = || client.charge(AuthCardKey::new("card-key", order())).unwrap().store_in(file.clone());
    let outcome = charge().await;
    assert!(matches!(outcome, ChargeOutcome::Approved(_)), "{outcome}");
    // The process died before it recorded the outcome.
    let mut again = charge();
    let outcome = again.run().await;
    assert!(matches!(outcome, ChargeOutcome::Unknown { why: UnknownReason::Superseded, .. }), "{outcome}");
    assert!(matches!(again.error(), Some(DriveError::Superseded)), "{:?}", again.error());

    file.remove().unwrap();
    let key = "0123456789abcdef0123456789abcdef";
    let capture = || client.retry(CapturePreauth::new(key), RetryBounds::default()).unwrap().store_in(file.clone());
    let _ = capture().await;
    let outcome = capture().await;
    assert!(matches!(outcome, RetryOutcome::Unknown { why: UnknownReason::Superseded, .. }), "{outcome}");
    assert_eq!(service.0.lock().unwrap().len(), 2, "a charge and a capture");
}

/// The other drive must not wait for it, and it must not send again.
#[tokio::test(start_paused = true)]
async fn a_drive_that_lost_its_state_ends_before_it_waits() {
    let locked = |_: Request<Bytes>| async {
        let body = "<serviceResponse><errorCode>121</errorCode></serviceResponse>";
        Ok::<_, Infallible>(Response::builder().status(403).body(Bytes::from_static(body.as_bytes())).unwrap())
    };
    let client = Client::with_transport(client(&Service::default()).account().clone(), locked);
    let saves = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&saves);
    // The first save is before the request, the second before the wait that its reply asks for.
    let charging = client
        .charge(AuthCardKey::new("card-key", order()))
        .unwrap()
        .store_if(move |_, _| ready(Ok::<_, StoreError>(counted.fetch_add(1, Ordering::SeqCst) == 0)));
    let outcome = charging.await;
    assert!(matches!(outcome, ChargeOutcome::Unknown { why: UnknownReason::Superseded, .. }), "{outcome}");
    assert_eq!(saves.load(Ordering::SeqCst), 2);
}

/// The other drive has the customer.
#[tokio::test(start_paused = true)]
async fn a_drive_that_lost_its_state_sends_no_customer_to_a_page() {
    let service = Service::default();
    let client = client(&service);
    let saves = AtomicUsize::new(0);
    // The first save is before the request, the second before the demand.
    let mut checkout = client
        .checkout(token(), CheckoutPlan::default())
        .unwrap()
        .store_if(move |_, _| ready(Ok::<_, StoreError>(saves.fetch_add(1, Ordering::SeqCst) == 0)));
    let DriveStep::Done(outcome) = checkout.next().await else { panic!("an address was handed out") };
    assert!(matches!(outcome, CheckoutOutcome::Unknown { why: UnknownReason::Superseded, .. }), "{outcome}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_save_leaves_the_state_that_the_next_one_replaces() {
    let service = Service::default();
    let client = client(&service);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let mut payment = client
        .three_d_secure(InitiateThreeDSecureCardKey::new("card-key", order()), ThreeDSecurePlan::default())
        .unwrap()
        .store_if(move |previous, new| {
            let mut noted = noted.lock().unwrap();
            noted.push((previous, new));
            // The second save, before the challenge, fails.
            ready(if noted.len() == 2 { Err("no database") } else { Ok(true) })
        });
    let DriveStep::Ask(ThreeDSecureDemand::Challenge { .. }) = payment.next().await else { panic!("no challenge") };
    assert!(matches!(returned(payment).await, ThreeDSecureOutcome::Approved(_)));
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].0, None);
    assert_eq!(seen[1].0.as_ref(), Some(&seen[0].1));
    assert_eq!(seen[2].0.as_ref(), Some(&seen[0].1), "the second one was not stored");
    assert_eq!(seen[3].0.as_ref(), Some(&seen[2].1));
}

/// A database that commits and loses its reply.
#[tokio::test(start_paused = true)]
async fn a_save_that_was_done_but_reported_as_failed_does_not_lock_its_drive_out() {
    let service = Service::default();
    let client = client(&service);
    let stored = Mutex::new((None, 0));
    let mut payment = client
        .three_d_secure(InitiateThreeDSecureCardKey::new("card-key", order()), ThreeDSecurePlan::default())
        .unwrap()
        .store_if(move |previous, new| {
            let mut stored = stored.lock().unwrap();
            let is_known = stored.0 == previous;
            if is_known {
                *stored = (Some(new), stored.1 + 1);
            }
            // The second one is that before the challenge.
            ready(if is_known && stored.1 == 2 { Err("the reply is lost") } else { Ok(is_known) })
        });
    let DriveStep::Ask(ThreeDSecureDemand::Challenge { .. }) = payment.next().await else { panic!("no challenge") };
    assert!(matches!(payment.error(), Some(DriveError::Store(_))), "{:?}", payment.error());
    let outcome = returned(payment).await;
    assert!(matches!(outcome, ThreeDSecureOutcome::Approved(_)), "{outcome}");
}

#[tokio::test(start_paused = true)]
async fn a_new_checkout_does_not_overwrite_the_state_of_an_open_one() {
    let (folder, service) = (tempfile::tempdir().unwrap(), Service::default());
    let client = client(&service);
    let file = DurableFile::new(folder.path().join("order-7.json"));
    let mut checkout = client.checkout(token(), CheckoutPlan::default()).unwrap().store_in(file.clone());
    let step = checkout.next().await;
    assert!(matches!(step, DriveStep::Ask(_)), "{step:?}");
    let saved = file.saved().unwrap().unwrap();
    drop(checkout);

    let mut again = client.checkout(token(), CheckoutPlan::default()).unwrap().store_in(file.clone());
    let DriveStep::Done(outcome) = again.next().await else { panic!("a second token") };
    assert!(matches!(outcome, CheckoutOutcome::Unknown { why: UnknownReason::Superseded, .. }), "{outcome}");
    let error = again.error().unwrap().to_string();
    assert!(
        error.contains("not sent: the stored state is not that of this machine; resume the stored state"),
        "{error}"
    );
    assert_eq!((service.count("gettoken"), file.saved().unwrap()), (1, Some(saved.clone())));

    let mut resumed = client.resume_checkout(&saved, CheckoutPlan::default()).unwrap().store_in(file.clone());
    resumed.handle_input(CheckoutInput::Reported("0123456789abcdef0123456789abcdef".to_owned()));
    let _ = resumed.next().await;
    assert!(resumed.error().is_none() && file.saved().unwrap() != Some(saved), "{:?}", resumed.error());
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_was_resumed_by_hand_is_stored_where_its_state_was() {
    let (folder, service) = (tempfile::tempdir().unwrap(), Service::default());
    let client = client(&service);
    let file = DurableFile::new(folder.path().join("order-7.json"));
    let charge = || AuthCardKey::new("card-key", order());
    let begun = Charge::new(client.account().clone(), charge(), ChargeBounds::default()).unwrap();
    let begun = client.drive(begun);
    file.write(begun.saved().text()).unwrap();
    let saved = file.saved().unwrap().unwrap();
    let resumed = || client.drive(Charge::resume(&saved, client.account().clone(), Some(charge())).unwrap());
    let unstated: Drive<_, _> = resumed().store_in(file.clone());
    let outcome = unstated.await;
    assert!(matches!(outcome, ChargeOutcome::Unknown { why: UnknownReason::Superseded, .. }), "{outcome}");
    assert_eq!(service.count("authCardKey"), 0);
    let stated = resumed().resumed_from(&saved).store_in(file.clone());
    let outcome = stated.await;
    assert!(matches!(outcome, ChargeOutcome::Approved(_)), "{outcome}");
    assert_eq!(service.count("authCardKey"), 1);
}

/// Its report is not looked up any more, so that the service must learn that it was not taken.
#[tokio::test]
async fn a_machine_that_has_ended_acknowledges_no_callback() {
    let service = Service::default();
    let client = client(&service);
    let mut receiver = Receiver::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    let saves = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&saves);
    let checkout = client.checkout(token(), CheckoutPlan::default()).unwrap();
    let mut checkout = checkout.store(move |_| {
        // Nothing can be saved, so no token is requested.
        counted.fetch_add(1, Ordering::SeqCst);
        ready(if counted.load(Ordering::SeqCst) == 1 { Err("no disk") } else { Ok(()) })
    });
    let DriveStep::Done(_) = checkout.next().await else { panic!("it cannot be saved") };
    let url = endpoint.url().to_owned();
    let callback = tokio::spawn(async move { send("POST", &url, "trans_key=abc").await.status() });
    let received = receiver.next().await.unwrap();
    checkout.handle_received_input(CheckoutInput::Reported("abc".to_owned()), received.receipt);
    let DriveStep::Done(_) = checkout.next().await else { panic!("it has ended") };
    assert_eq!(callback.await.unwrap(), StatusCode::SERVICE_UNAVAILABLE);
}
