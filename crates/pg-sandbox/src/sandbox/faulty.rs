//! Calls that meet a fault.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};

use super::Sandbox;
use crate::codes::SandboxErrorCode;
use crate::{
    inbound::Inbound,
    records::FaultKind,
    response_delivery::ResponseDelivery,
    service::{Refusal, ResponseFormat, Route},
    store::{StoreError, Transaction},
    timestamp::Timestamp,
};

impl Sandbox {
    /// Answers one request with the fault, if any, that its method is to meet.
    ///
    /// Fails when the store has lost the transaction, or a fault cannot be counted; every request of the
    /// group fails then.
    pub(super) fn handle_one(
        &mut self,
        real_now: Timestamp,
        inbound: &mut Inbound,
    ) -> Result<Response<Bytes>, StoreError> {
        let fault = self.fault(Route::of(inbound.request.uri().path()))?;
        let response = match fault {
            Some(FaultKind::DropRequest) => None,
            Some(FaultKind::Status { status }) => {
                Some(self.injected(status, Route::of(inbound.request.uri().path()).response_format()))
            }
            Some(FaultKind::Duplicate) => {
                let first = self.carry_out(real_now, inbound, None)?;
                self.note(real_now, inbound, fault, Some(&first));
                Some(self.carry_out(real_now, inbound, None)?)
            }
            _ => Some(self.carry_out(real_now, inbound, fault.and_then(FaultKind::silence))?),
        };
        self.note(real_now, inbound, fault, response.as_ref());
        let response = response.unwrap_or_default();
        Ok(match fault {
            Some(FaultKind::DropRequest | FaultKind::DropReply) => closed(),
            Some(FaultKind::Delay { milliseconds }) => late(response, milliseconds),
            Some(FaultKind::Garble) => response.map(|body| garbled(&body)),
            _ => response,
        })
    }

    /// The fault that a request meets. It is counted whatever becomes of the request.
    fn fault(&mut self, route: Route<'_>) -> Result<Option<FaultKind>, StoreError> {
        let Route::Method(info, _) = route else { return Ok(None) };
        let mut records = Transaction::new(&mut *self.store);
        let met = self.faults.meet(info, &mut records)?;
        records.keep()?;
        Ok(met)
    }

    fn injected(&mut self, status: u16, response_format: ResponseFormat) -> Response<Bytes> {
        let refusal = Refusal::from(SandboxErrorCode::INJECTED_FAULT).with_status(status);
        refusal.reply(response_format, self.keys.digits(9), &self.settings.spoken()).into_response()
    }
}

fn late(mut response: Response<Bytes>, milliseconds: u64) -> Response<Bytes> {
    response.extensions_mut().insert(ResponseDelivery::SendAfter(Duration::from_millis(milliseconds)));
    response
}

/// What stands for no response; nothing of it is to be sent.
pub(super) fn closed() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response.extensions_mut().insert(ResponseDelivery::Close);
    response
}

/// The first half of a body and then bytes that are neither UTF-8, nor XML, nor JSON.
fn garbled(body: &[u8]) -> Bytes {
    [&body[..body.len() / 2], b"\xff\xfe<\"{"].concat().into()
}
