//! Who may call a method: blocked addresses, credentials, signature, rate (assumptions 51 to 54).

use pg_crypto::ShaKey;
use pg_model::{ErrorCode, SandboxErrorCode, method::Credentials};

use super::{context::Context, refusal::Refusal};
use crate::{
    form::Form,
    merchants::{Merchant, Merchants},
    records::{Block, FailedAttempts},
};

/// Whether a method needs the signature that every other one needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signature {
    /// Error 123 without it.
    Required,
    /// Verified when it is there (assumption 28).
    Optional,
}

/// Whether a parameter of this name says who calls.
pub(crate) fn is_credential(credentials: Credentials, name: &str) -> bool {
    match credentials {
        Credentials::Enterprise => matches!(name, "api_key" | "api_password" | "version"),
        Credentials::Signed => matches!(name, "apiKey" | "apiPassword" | "shaSignature"),
        Credentials::Session => false,
    }
}

/// Refuses an address that is blocked at the moment; version 5 blocks nobody (assumption 53).
pub(crate) fn refuse_blocked(context: &mut Context<'_>, credentials: Credentials) -> Result<(), Refusal> {
    if credentials != Credentials::Signed {
        return Ok(());
    }
    let address = context.peer.to_string();
    let attempts = context.records.get::<FailedAttempts>(&address)?;
    let code = match attempts.and_then(|attempts| attempts.block(context.now)) {
        None => return Ok(()),
        Some(Block::OneMinute) => ErrorCode::IP_BLOCKED_ONE_MINUTE,
        Some(Block::FiveMinutes) => ErrorCode::IP_BLOCKED_FIVE_MINUTES,
    };
    Err(Refusal::from(code).assuming(53))
}

/// The account that a version 3 request comes from, once all of its credentials are right.
pub(crate) fn signed<'a>(
    context: &mut Context<'a>,
    form: &Form,
    signature: Signature,
    is_signed: bool,
) -> Result<&'a Merchant, Refusal> {
    let merchant = account(context, form)?;
    let demanded = form.get("shaSignature").is_some() || signature == Signature::Required;
    if demanded && !is_signed {
        return Err(Refusal::from(ErrorCode::SIGNATURE_NOT_VERIFIED).assuming(52));
    }
    if !demanded {
        context.basis.assume(28);
    }
    if let Some(limit) = merchant.requests_per_minute
        && !context.throttle.admits(&merchant.name, limit, context.now)
    {
        return Err(SandboxErrorCode::RATE_LIMIT_EXCEEDED.into());
    }
    Ok(merchant)
}

/// The account that a version 5 request comes from (spec 3 §5): any mistake is error 3.
pub(crate) fn enterprise<'a>(context: &Context<'a>, form: &Form) -> Result<&'a Merchant, Refusal> {
    let merchant = form.given("api_key").and_then(|key| context.merchants().by_enterprise_key(key));
    let password = form.get("api_password").unwrap_or_default();
    let right =
        |merchant: &&Merchant| merchant.enterprise.as_ref().is_some_and(|held| held.api_password.matches(password));
    let Some(merchant) = merchant.filter(right) else {
        return Err(Refusal::from(ErrorCode::ENTERPRISE_NO_MERCHANT_KEY).assuming(52));
    };
    if form.get("version") == Some("5") { Ok(merchant) } else { Err(SandboxErrorCode::UNSUPPORTED_VERSION.into()) }
}

fn account<'a>(context: &mut Context<'a>, form: &Form) -> Result<&'a Merchant, Refusal> {
    let merchant = form.given("apiKey").and_then(|key| context.merchants().by_api_key(key));
    let code = match merchant {
        None => ErrorCode::MERCHANT_SETTINGS_NOT_FOUND,
        Some(merchant) if merchant.api_password.matches(form.get("apiPassword").unwrap_or_default()) => {
            return Ok(merchant);
        }
        Some(_) => ErrorCode::INVALID_API_CREDENTIALS,
    };
    count_failure(context)?;
    Err(Refusal::from(code).assuming(52).assuming(53))
}

/// A failure is counted although the request that failed is refused.
fn count_failure(context: &mut Context<'_>) -> Result<(), Refusal> {
    let address = context.peer.to_string();
    let known = context.records.get::<FailedAttempts>(&address)?;
    let mut attempts = known.unwrap_or_else(|| FailedAttempts::none(&address));
    attempts.count(context.now);
    context.records.put(&attempts)?;
    Ok(context.records.keep()?)
}

/// Whether the version 3 account that a form names has signed it.
pub(crate) fn is_signed(merchants: &Merchants, form: &Form) -> bool {
    let merchant = form.given("apiKey").and_then(|key| merchants.by_api_key(key));
    let Some((merchant, given)) = merchant.zip(form.get("shaSignature")) else { return false };
    let parameters: Vec<(&str, &str)> = form.iter().collect();
    pg_crypto::verify(&parameters, &ShaKey::new(merchant.sha_key.expose()), given).is_ok()
}
