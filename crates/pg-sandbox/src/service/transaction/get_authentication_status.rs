//! `transaction/getAuthenticationStatus` (spec 2 §3.3, §4.4; assumption 106).

use pg_model::{AuthenticationStatus, GetAuthenticationStatus, LiabilityShift, SandboxAuthenticationCode, StatusCode};

use super::{Context, Refusal, Serve, authentication, eci};
use crate::{
    merchants::Merchant,
    records::{AuthenticationEnd, Service},
};

impl Serve for GetAuthenticationStatus {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<AuthenticationStatus, Refusal> {
        let key = self.authentication_key.as_str();
        let authentication = authentication::find(context, merchant, Service::V3, key)?;
        let check = authentication::check_of(context, &authentication)?;
        context.basis.assume(106);
        let end = authentication.ended(context.now);
        let (code, status) = code_and_status(end);
        let liability = match end {
            Some(AuthenticationEnd::Authenticated) => LiabilityShift::SHIFTED,
            _ => LiabilityShift::MERCHANT_LIABLE,
        };
        Ok(AuthenticationStatus {
            transaction_status_code: code,
            transaction_status: status.to_owned(),
            transaction_key: check.key.as_str().into(),
            bank_eci_value: eci::of(&check).to_owned(),
            liability_shift: liability,
            ..AuthenticationStatus::default()
        })
    }
}

/// How an authentication ended, or that it has not yet.
fn code_and_status(end: Option<AuthenticationEnd>) -> (StatusCode, &'static str) {
    let documented = |code: StatusCode| {
        let message = code.message().unwrap_or_default();
        (code, message)
    };
    let invented =
        |code: SandboxAuthenticationCode| (StatusCode::from(code.as_str()), code.message().unwrap_or_default());
    match end {
        Some(AuthenticationEnd::Authenticated) => documented(StatusCode::THREE_D_SECURE_SUCCESS),
        Some(AuthenticationEnd::Failed) => documented(StatusCode::THREE_D_SECURE_FAILED),
        None => invented(SandboxAuthenticationCode::AUTHENTICATION_PENDING),
        Some(AuthenticationEnd::Abandoned) => invented(SandboxAuthenticationCode::AUTHENTICATION_ABANDONED),
        Some(AuthenticationEnd::TimedOut) => invented(SandboxAuthenticationCode::AUTHENTICATION_TIMED_OUT),
        Some(AuthenticationEnd::NotEnrolled) => invented(SandboxAuthenticationCode::NOT_ENROLLED),
    }
}
