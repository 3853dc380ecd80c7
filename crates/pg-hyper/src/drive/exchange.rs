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
    Client, DriveError, Transport, TransportError, observation::Sending, shared_limit::RequestEnd, store::Store,
};

/// The result of a request.
pub(super) enum Exchanged {
    Reply(Response<Bytes>),
    Failed(DriveError),
}

pub(super) async fn exchange<T: Transport>(
    client: Client<T>,
    store: Option<(Store, SavedState)>,
    receipts: ReceiptHandles,
    departed: Arc<AtomicBool>,
    service: &ServiceInfo,
    request: Request<Bytes>,
) -> Exchanged {
    let exchanged = permitted(&client, store, receipts, &departed, service, request).await;
    client.scheduler().keep().await;
    exchanged
}

/// The order matters: a saved machine counts its request as sent, so no wait may follow.
async fn permitted<T: Transport>(
    client: &Client<T>,
    store: Option<(Store, SavedState)>,
    receipts: ReceiptHandles,
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
            let check = admission.answered(&response);
            pass.landed(client.request_end(check)).await;
            Exchanged::Reply(response)
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
