//! `transaction/getAuthenticationStatus` (spec 2 §3.3, §4.4; A106).

use pg_model::{
    AuthenticationStatus, Dialect, GetAuthenticationStatus, LiabilityShift, StatusCode, dialect::AuthenticationState,
};

use super::{Context, Refusal, Serve, authentication};
use crate::{
    assumed,
    merchants::Merchant,
    records::{AuthenticationEnd, Service},
};

impl Serve for GetAuthenticationStatus {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<AuthenticationStatus, Refusal> {
        let key = self.authentication_key.as_str();
        let authentication = authentication::find(context, merchant, Service::V3, key)?;
        let check = authentication::check_of(context, &authentication)?;
        context.basis.assume(assumed::CODES_OF_GETAUTHENTICATIONSTATUS);
        let end = authentication.ended(context.now);
        let (code, status) = code_and_status(end, &context.settings.spoken());
        let liability = match end {
            Some(AuthenticationEnd::Authenticated) => LiabilityShift::SHIFTED,
            _ => LiabilityShift::MERCHANT_LIABLE,
        };
        Ok(AuthenticationStatus::default().with(|record| {
            record.transaction_status_code = code;
            record.transaction_status = status;
            record.transaction_key = check.key.as_str().into();
            record.bank_eci_value = authentication::eci_of(&check).to_owned();
            record.liability_shift = liability;
        }))
    }
}

/// Returns the status of an authentication, ended or not: in the dialect's codes, or else in the sandbox's own.
fn code_and_status(end: Option<AuthenticationEnd>, dialect: &Dialect) -> (StatusCode, String) {
    let means = match end {
        None => AuthenticationState::Pending,
        Some(AuthenticationEnd::Authenticated) => AuthenticationState::Authenticated,
        Some(AuthenticationEnd::Failed) => AuthenticationState::Failed,
        Some(AuthenticationEnd::Abandoned) => AuthenticationState::Abandoned,
        Some(AuthenticationEnd::TimedOut) => AuthenticationState::TimedOut,
        Some(AuthenticationEnd::NotEnrolled) => AuthenticationState::NotEnrolled,
    };
    let of = |dialect: &Dialect| dialect.authentication.iter().find(|entry| entry.means == means).cloned();
    match of(dialect).or_else(|| of(&crate::dialect())) {
        Some(entry) if entry.message.is_empty() => {
            let message = entry.code.message().unwrap_or_default().to_owned();
            (entry.code, message)
        }
        Some(entry) => (entry.code, entry.message),
        None => (StatusCode::default(), String::new()),
    }
}
