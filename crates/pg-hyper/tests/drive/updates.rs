//! Whether an account update can be dropped without a doubtful batch.

use std::{convert::Infallible, sync::Arc};

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

#[tokio::test(start_paused = true)]
async fn an_update_awaits_a_reply_from_the_permit_until_its_machine_has_the_reply() {
    let reply = r#"{"result":"OK","batchKey":"0123456789abcdef0123456789abcdef"}"#;
    let transport = move |_: Request<Bytes>| async move { Ok::<_, TransportError>(Response::new(Bytes::from(reply))) };
    let base = BaseUrl::parse("https://gateway.example").unwrap();
    let account = Account::new(base, Credentials::new("key", "password", "sha key"));
    let limit = Slow { permits: Arc::new(Semaphore::new(0)), ends: Arc::new(Semaphore::new(0)) };
    let client = Client::with_transport(account, transport).with_shared_limit(Arc::new(limit.clone()));
    let mut updating = client.update_accounts(UpdatePlan::new("updater key"), ["a"].into_iter()).unwrap();
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
