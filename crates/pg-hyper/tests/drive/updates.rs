//! Whether an account update can be dropped without a doubtful batch.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    AccountUpdateDrive, Client, KeySource, LimitError, LimitFuture, RequestEnd, SharedLimit, SharedPermit, Transport,
    TransportError,
    proto::{Account, BaseUrl, Credentials, machine::account_update::UpdatePlan, model::method::ServiceInfo},
};
use tokio::sync::Semaphore;

/// A limit that permits a request, and takes note of its end, when the test says so.
#[derive(Clone)]
struct Slow {
    permits: Arc<Semaphore>,
    ends: Arc<Semaphore>,
}

impl SharedLimit for Slow {
    fn permit<'a>(&'a self, _: &'a ServiceInfo) -> LimitFuture<'a, Result<Box<dyn SharedPermit>, LimitError>> {
        Box::pin(async {
            self.permits.acquire().await.unwrap().forget();
            Ok(Box::new(self.clone()) as Box<dyn SharedPermit>)
        })
    }
}

impl SharedPermit for Slow {
    fn keep(&self) -> LimitFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn landed(self: Box<Self>, _: RequestEnd) -> LimitFuture<'static, ()> {
        Box::pin(async move { self.ends.acquire().await.unwrap().forget() })
    }
}

/// Goes on until the update has to wait.
async fn until_it_waits<S, T>(updating: &mut AccountUpdateDrive<S, T>)
where
    S: KeySource<Error = Infallible>,
    T: Transport + Clone + 'static,
{
    loop {
        tokio::select! {
            biased;
            update = updating.next() => drop(update.unwrap().expect("it has not ended")),
            () = tokio::task::yield_now() => return,
        }
    }
}

const REPLY: &str = r#"{"result":"OK","batchKey":"0123456789abcdef0123456789abcdef"}"#;

fn client(limit: &Slow) -> Client<impl Transport + Clone + 'static> {
    let transport = |_: Request<Bytes>| async { Ok::<_, TransportError>(Response::new(Bytes::from(REPLY))) };
    let base = BaseUrl::parse("https://gateway.example").unwrap();
    let account = Account::new(base, Credentials::new("key", "password", "sha key"));
    Client::with_transport(account, transport).with_shared_limit(Arc::new(limit.clone()))
}

/// The store of the limit may be unreachable for a while, and the process may be killed meanwhile.
#[tokio::test(start_paused = true)]
async fn a_reply_is_saved_before_its_permit_is_returned() {
    let limit = Slow { permits: Arc::new(Semaphore::new(1)), ends: Arc::new(Semaphore::new(0)) };
    let saved = Arc::new(Mutex::new(String::new()));
    let store = Arc::clone(&saved);
    let updating = client(&limit).update_accounts(UpdatePlan::new("updater key"), ["a"].into_iter()).unwrap();
    let mut updating = updating.store(move |state| {
        state.text().clone_into(&mut store.lock().unwrap());
        std::future::ready(Ok::<_, Infallible>(()))
    });
    until_it_waits(&mut updating).await;
    assert!(saved.lock().unwrap().contains("0123456789abcdef"), "{saved:?}");
    // The permit is returned before anything else happens.
    assert!(updating.awaits_reply());
    limit.ends.add_permits(1);
    until_it_waits(&mut updating).await;
    assert!(!updating.awaits_reply());
}

#[tokio::test(start_paused = true)]
async fn an_update_awaits_a_reply_from_the_permit_until_its_machine_has_the_reply() {
    let limit = Slow { permits: Arc::new(Semaphore::new(0)), ends: Arc::new(Semaphore::new(0)) };
    let mut updating = client(&limit).update_accounts(UpdatePlan::new("updater key"), ["a"].into_iter()).unwrap();
    // Nothing may be sent, so nothing is lost with the update.
    until_it_waits(&mut updating).await;
    assert!(!updating.awaits_reply());
    // The transport has the reply, and the machine has not.
    limit.permits.add_permits(1);
    until_it_waits(&mut updating).await;
    assert!(updating.awaits_reply());
    assert_eq!(updating.progress().submitted, 0);
    limit.ends.add_permits(1);
    until_it_waits(&mut updating).await;
    assert!(!updating.awaits_reply());
    assert_eq!(updating.progress().submitted, 1);
}
