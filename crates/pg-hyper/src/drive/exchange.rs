//! Permits, saves and sends one request of a machine.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_model::method::ServiceInfo;
use pg_proto::machine::SavedState;
use tracing::{Instrument, Span};

use super::receipts::ReceiptHandles;
use crate::{
    Client, DriveError, Transport, TransportError, clock::Pending, observation::Sending, shared_limit::RequestEnd,
    store::Store,
};

/// The result of a request.
pub(super) enum Exchanged {
    Reply(Response<Bytes>, Landing),
    Failed(DriveError),
}

/// The return of a permit, if it is still to be awaited: after the reply is saved, and before the next request.
pub(super) type Landing = Option<Pending<()>>;

pub(super) async fn landed(landing: Landing) {
    if let Some(landing) = landing {
        landing.await;
    }
}

pub(super) async fn exchange<T: Transport>(
    client: Client<T>,
    store: Option<(Store, SavedState)>,
    (receipts, saves_replies): (ReceiptHandles, bool),
    departed: Arc<AtomicBool>,
    service: &ServiceInfo,
    request: Request<Bytes>,
) -> Exchanged {
    let exchanged = permitted(&client, store, (receipts, saves_replies), &departed, service, request).await;
    client.scheduler().keep().await;
    exchanged
}

/// The order matters: a saved machine counts its request as sent, so no wait may follow.
async fn permitted<T: Transport>(
    client: &Client<T>,
    store: Option<(Store, SavedState)>,
    (receipts, saves_replies): (ReceiptHandles, bool),
    departed: &AtomicBool,
    service: &ServiceInfo,
    request: Request<Bytes>,
) -> Exchanged {
    let (mut admission, pass) = match client.admit(service).await {
        Ok(admitted) => admitted,
        Err(error) => return Exchanged::Failed(error),
    };
    departed.store(true, Ordering::Release);
    if let Some((store, saved)) = store
        && let Err(error) = store.put(saved).await
    {
        pass.landed(RequestEnd::NotSent).await;
        return Exchanged::Failed(DriveError::of_store(error));
    }
    receipts.give();
    if let Err(stop) = admission.depart() {
        pass.landed(RequestEnd::NotSent).await;
        return Exchanged::Failed(DriveError::Stopped(stop));
    }
    let sending = Sending::begin(&request, Span::current);
    let sent = pass.during(client.send(request).instrument(sending.span())).await;
    sending.end(&sent);
    match sent {
        Ok(response) => {
            let end = client.request_end(admission.answered(&response));
            // A refusal stops the other processes before it has any other effect.
            let is_urgent = !saves_replies || matches!(end, RequestEnd::Refused(_));
            let landing: Pending<()> = Box::pin(pass.landed(end));
            if is_urgent {
                landing.await;
                return Exchanged::Reply(response, None);
            }
            Exchanged::Reply(response, Some(landing))
        }
        Err(error) => {
            if matches!(error, TransportError::NotSent(_)) {
                admission.unsent();
                pass.landed(RequestEnd::NotSent).await;
            } else {
                pass.landed(RequestEnd::Lost).await;
            }
            Exchanged::Failed(DriveError::Transport(error))
        }
    }
}
