//! Permits, saves and sends one request of a machine.

use bytes::Bytes;
use http::{Request, Response};
use pg_model::method::ServiceInfo;
use pg_proto::machine::SavedState;
use tracing::{Instrument, field::Empty};

use super::{DriveError, receipts::ReceiptHandles, scheduler::CredentialSet, store::Store};
use crate::{Client, Transport, TransportError};

/// The result of a request.
pub(super) enum Exchanged {
    Reply(Response<Bytes>),
    Failed(DriveError),
}

pub(super) async fn exchange<T: Transport>(
    client: Client<T>,
    store: Option<(Store, SavedState)>,
    receipts: ReceiptHandles,
    service: &ServiceInfo,
    request: Request<Bytes>,
) -> Exchanged {
    let exchanged = permitted(&client, store, receipts, service, request).await;
    client.scheduler().keep().await;
    exchanged
}

/// In this order: a saved machine counts its request as sent, so no wait may follow.
async fn permitted<T: Transport>(
    client: &Client<T>,
    store: Option<(Store, SavedState)>,
    receipts: ReceiptHandles,
    service: &ServiceInfo,
    request: Request<Bytes>,
) -> Exchanged {
    let mut admission = match client.scheduler().admit(CredentialSet::of(service)).await {
        Ok(admission) => admission,
        Err(stop) => return Exchanged::Failed(DriveError::Stopped(stop)),
    };
    if let Some((store, saved)) = store
        && let Err(error) = store.put(saved).await
    {
        return Exchanged::Failed(DriveError::Store(error));
    }
    receipts.give();
    if let Err(stop) = admission.depart() {
        return Exchanged::Failed(DriveError::Stopped(stop));
    }
    let span = tracing::info_span!("pg.send", path = request.uri().path(), "http.status" = Empty);
    match client.transport().send(request).instrument(span.clone()).await {
        Ok(response) => {
            span.record("http.status", response.status().as_u16());
            admission.answered(&response);
            Exchanged::Reply(response)
        }
        Err(error) => {
            if matches!(error, TransportError::NotSent(_)) {
                admission.unsent();
            }
            Exchanged::Failed(DriveError::Transport(error))
        }
    }
}
