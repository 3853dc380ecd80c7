//! One request within its transaction: its fault, its answer, and its entry in the journal.

use std::{
    net::IpAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Response, StatusCode, header};
use pg_model::Encoding;

use super::{Sandbox, accounts::Scope};
use crate::{
    Peer,
    accounts::LiveAccount,
    basis::Basis,
    codes::SandboxErrorCode,
    extensions::ResponseDelivery,
    inbound::{Caller, Inbound},
    journal::Noted,
    records::{FaultKind, Session, Silence},
    route::Route,
    service::{self, Answer, Context, OwnAccount, Refusal, Reply},
    store::{StoreError, Transaction},
    timestamp::Timestamp,
    warning::Warnings,
};

impl Sandbox {
    /// Answers one request with the fault of its method, if there is one.
    ///
    /// Fails if the store has lost the transaction, or if a fault cannot be counted. Then every request of the group
    /// fails.
    pub(super) fn answer_one(
        &mut self,
        real_now: Timestamp,
        inbound: &mut Inbound,
    ) -> Result<Response<Bytes>, StoreError> {
        let scope = self.scope(real_now, inbound)?;
        let fault = self.fault(&scope, &inbound.route)?;
        let answer = match fault {
            Some(FaultKind::DropRequest) => None,
            Some(FaultKind::Status { status }) => {
                let injected = Refusal::from(SandboxErrorCode::INJECTED_FAULT).with_status(status);
                Some(self.refused(injected, &inbound.route))
            }
            Some(FaultKind::Duplicate) => {
                let first = self.carry_out(real_now, inbound, &scope, None)?;
                self.note(real_now, inbound, &scope, fault, Some(&first));
                Some(self.carry_out(real_now, inbound, &scope, None)?)
            }
            _ => Some(self.carry_out(real_now, inbound, &scope, fault.and_then(FaultKind::silence))?),
        };
        self.note(real_now, inbound, &scope, fault, answer.as_ref());
        self.note_accounts(inbound);
        let response = answer.map(Answer::into_response).unwrap_or_default();
        Ok(match fault {
            Some(FaultKind::DropRequest | FaultKind::DropReply) => closed(),
            Some(FaultKind::Delay { milliseconds }) => late(response, milliseconds),
            Some(FaultKind::Garble) => response.map(|body| garbled(&body)),
            _ => response,
        })
    }

    /// Returns the answer to a request whose transaction has failed.
    pub(super) fn failure(&mut self, real_now: Timestamp, inbound: &Inbound, error: &StoreError) -> Response<Bytes> {
        if matches!(error, StoreError::Unknown) {
            // An error response would mean that nothing was changed.
            return closed();
        }
        let refusal = Refusal::from(SandboxErrorCode::SANDBOX_FAILURE).about(&error.to_string());
        let answer = self.refused(refusal, &inbound.route);
        self.note(real_now, inbound, &Scope::default(), None, Some(&answer));
        answer.into_response()
    }

    /// Returns the fault of a request. The fault is counted whatever the result of the request is.
    fn fault(&mut self, scope: &Scope, route: &Route) -> Result<Option<FaultKind>, StoreError> {
        let Some(info) = route.method() else { return Ok(None) };
        let account = scope.account.as_ref().and_then(|id| self.accounts.get_mut(id));
        let faults = account.map_or(&mut self.faults, |live| &mut live.faults);
        let mut records = Transaction::new(&mut *self.store);
        let met = faults.meet(info, &mut records)?;
        records.keep()?;
        Ok(met)
    }

    /// Returns the error of a request that no service has answered.
    fn refused(&mut self, refusal: Refusal, route: &Route) -> Answer {
        let trace_code = self.keys.digits(9);
        refusal.answer(&Basis::default(), route.response_format(), trace_code, &self.settings.spoken())
    }

    /// Passes the request to its service. Fails only if the store has lost the transaction; then every request of the
    /// group fails.
    fn carry_out(
        &mut self,
        real_now: Timestamp,
        inbound: &mut Inbound,
        scope: &Scope,
        silence: Option<Silence>,
    ) -> Result<Answer, StoreError> {
        let call = inbound.call.take();
        let Inbound { request, route, is_head, .. } = &*inbound;
        let host = request.headers().get(header::HOST);
        let missing_account = scope.missing.clone();
        let context = self.context(scope.account.as_deref(), real_now, Peer::of(request));
        let mut context = Context { host, silence, missing_account, ..context };
        // A panic in one method must not affect the others.
        let answered = catch_unwind(AssertUnwindSafe(|| {
            let answered = service::answer(&mut context, route, request, call);
            let kept = if answered.is_ok() && !is_head { context.records.keep() } else { context.records.undo() };
            kept.map(|()| answered)
        }));
        let answered: Result<Result<Reply, Refusal>, StoreError> = match answered {
            Ok(kept) => kept,
            Err(_) => {
                context.basis = Basis::default();
                context.records.undo().map(|()| Err(SandboxErrorCode::SANDBOX_FAILURE.into()))
            }
        };
        let trace_code = context.trace_code();
        let (basis, mut warnings) = (std::mem::take(&mut context.basis), std::mem::take(&mut context.warnings));
        if !self.store.in_transaction() {
            return Err(StoreError::Lost);
        }
        let answer = match answered? {
            Ok(reply) => Answer::new(reply, basis),
            Err(refusal) => refusal.answer(&basis, route.response_format(), trace_code, &self.settings.spoken()),
        };
        warnings.join(answer.warnings);
        let answer = Answer { warnings, ..answer };
        Ok(if *is_head { answer.without_body() } else { answer })
    }

    /// Returns the context of a request or a task. An account created at run time has its own clock, faults and
    /// schedule.
    pub(super) fn context(&mut self, account: Option<&str>, real_now: Timestamp, peer: IpAddr) -> Context<'_> {
        let live = account.and_then(|id| self.accounts.get_mut(id));
        let (account, clock, faults, schedule) = match live {
            None => (None, &mut self.clock, &mut self.faults, &mut self.schedule),
            Some(LiveAccount { account, merchant, clock, faults, schedule, .. }) => {
                (Some(OwnAccount { account, merchant }), clock, faults, schedule)
            }
        };
        Context {
            now: clock.at(real_now),
            account,
            missing_account: None,
            real_now,
            peer,
            host: None,
            is_shared: self.store.is_shared(),
            records: Transaction::new(&mut *self.store),
            settings: &self.settings,
            vault: &self.vault,
            keys: &mut self.keys,
            cv2: &mut self.cv2,
            clock,
            throttle: &mut self.throttle,
            faults,
            journal: &mut self.journal,
            metrics: &self.metrics,
            schedule,
            unique_reference: None,
            stray_currency: None,
            silence: None,
            unheard: None,
            encoding: Encoding::default(),
            basis: Basis::default(),
            warnings: Warnings::default(),
        }
    }

    /// Adds a request of a service or of one of its pages to the journal, with its answer if there is one.
    fn note(
        &mut self,
        real_now: Timestamp,
        inbound: &Inbound,
        scope: &Scope,
        fault: Option<FaultKind>,
        answer: Option<&Answer>,
    ) {
        let Some(journaled) = &inbound.journaled else { return };
        let request = &inbound.request;
        let at = self.now_of(scope, real_now);
        let has_own = scope.account.as_ref().is_some_and(|id| self.accounts.get(id).is_some());
        let owner = match &journaled.caller {
            Caller::Session(key) if !has_own => self.merchant_of(key),
            _ => None,
        };
        let own = scope.account.as_ref().and_then(|id| self.accounts.get(id)).map(|live| &*live.account.name);
        let named = match &journaled.caller {
            Caller::Merchant(name) => Some(&**name),
            Caller::Unknown | Caller::Account { .. } | Caller::Session(_) => owner.as_deref(),
        };
        self.journal.add(&Noted {
            at,
            real_at: real_now,
            peer: Peer::of(request),
            http_method: if inbound.is_head { Method::HEAD } else { request.method().clone() },
            path: &journaled.path,
            info: inbound.route.method(),
            merchant: own.or(named),
            parameters: &journaled.parameters,
            fault,
            reply: answer.map(Answer::remembered),
        });
    }

    /// Returns the name of the account that created a session.
    fn merchant_of(&mut self, session_key: &str) -> Option<String> {
        let session = Transaction::new(&mut *self.store).get::<Session>(session_key);
        Some(session.ok()??.merchant)
    }
}

fn late(mut response: Response<Bytes>, milliseconds: u64) -> Response<Bytes> {
    response.extensions_mut().insert(ResponseDelivery::SendAfter(Duration::from_millis(milliseconds)));
    response
}

/// Returns a placeholder where there is no response. It is never sent.
pub(super) fn closed() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response.extensions_mut().insert(ResponseDelivery::Close);
    response
}

/// Returns the first half of a body and then bytes that are neither UTF-8, nor XML, nor JSON.
fn garbled(body: &[u8]) -> Bytes {
    [&body[..body.len() / 2], b"\xff\xfe<\"{"].concat().into()
}
