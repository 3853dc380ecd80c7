//! Checks who may call a method: blocked addresses, credentials, signature, rate (A28 and A51 to A54).

use pg_crypto::ShaKey;
use pg_model::{ErrorCode, method::AuthScheme};

use super::{context::Context, refusal::Refusal, throttle::Throttle};
use crate::{
    assumed,
    codes::SandboxErrorCode,
    form::Form,
    merchants::{Merchant, Merchants},
    records::{Block, FailedAttempts, Meta},
    store::{Query, StoreError},
    timestamp::Timestamp,
};

/// Whether a method needs the signature that all other methods need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signature {
    /// Without the signature: error 123.
    Required,
    /// The same, unless the account may leave the signature out (A28).
    OptionalWhereAllowed,
}

/// Whether the parameter identifies the caller.
pub(crate) fn is_credential(credentials: AuthScheme, name: &str) -> bool {
    match credentials {
        AuthScheme::Enterprise => matches!(name, "api_key" | "api_password" | "version"),
        AuthScheme::Signed => matches!(name, "apiKey" | "apiPassword" | "shaSignature"),
        AuthScheme::Session => false,
    }
}

/// Refuses an address that is blocked at present, by failures in either version (A53). An account created at run time
/// has its own count (A335).
pub(crate) fn refuse_blocked(context: &mut Context<'_>) -> Result<(), Refusal> {
    let key = FailedAttempts::key_of(context.own_name(), &context.peer.to_string());
    let attempts = context.records.get::<FailedAttempts>(&key)?;
    let code = match attempts.and_then(|attempts| attempts.block(context.now)) {
        None => return Ok(()),
        Some(Block::OneMinute) => ErrorCode::IP_BLOCKED_ONE_MINUTE,
        Some(Block::FiveMinutes) => ErrorCode::IP_BLOCKED_FIVE_MINUTES,
    };
    Err(Refusal::from(code).assuming(assumed::FAILURES_THAT_COUNT_TOWARDS_A_LOCKOUT))
}

/// Returns the account from which a version 3 request comes, if all of its credentials are valid.
pub(crate) fn signed<'a>(
    context: &mut Context<'a>,
    form: &Form,
    signature: Signature,
    is_signed: bool,
) -> Result<&'a Merchant, Refusal> {
    let merchant = account(context, form)?;
    let may_be_left_out = signature == Signature::OptionalWhereAllowed && merchant.unsigned_retrieval;
    let demanded = form.get("shaSignature").is_some() || !may_be_left_out;
    let is_signed = is_signed || is_signed_by_own(context, merchant, form);
    if demanded && !is_signed {
        count_failure(context)?;
        let capitals = is_in_capitals(form).then_some(assumed::LETTER_CASE_OF_THE_SIGNATURE);
        let of_text = assumed_of_signed_text(AuthScheme::Signed, form);
        let refusal = Refusal::from(ErrorCode::SIGNATURE_NOT_VERIFIED)
            .assuming(assumed::CODES_102_105_AND_123)
            .assuming(assumed::FAILURES_THAT_COUNT_TOWARDS_A_LOCKOUT);
        return Err(capitals.into_iter().chain(of_text).fold(refusal, Refusal::assuming));
    }
    if signature == Signature::OptionalWhereAllowed {
        context.basis.assume(assumed::SIGNATURE_OF_RETRIEVEACCOUNTUPDATER);
    }
    if let Some(limit) = merchant.requests_per_minute
        && !admits(context, &merchant.name, limit)?
    {
        return Err(SandboxErrorCode::RATE_LIMIT_EXCEEDED.into());
    }
    Ok(merchant)
}

/// Returns the account from which a version 5 request comes (spec 3 §5). Any mistake is error 3.
pub(crate) fn enterprise<'a>(context: &mut Context<'a>, form: &Form) -> Result<&'a Merchant, Refusal> {
    let merchant = form.given("api_key").and_then(|key| context.merchant_of_enterprise_key(key));
    let Some(merchant) = with_enterprise_password(merchant, form) else {
        count_failure(context)?;
        return Err(Refusal::from(ErrorCode::ENTERPRISE_NO_MERCHANT_KEY)
            .assuming(assumed::CODES_102_105_AND_123)
            .assuming(assumed::FAILURES_THAT_COUNT_TOWARDS_A_LOCKOUT));
    };
    if form.get("version").is_some_and(is_five) {
        Ok(merchant)
    } else {
        Err(SandboxErrorCode::UNSUPPORTED_VERSION.into())
    }
}

/// Whether credentials may be valid according to the settings. [`signed`] and [`enterprise`] also refuse all
/// credentials that are refused here.
pub(crate) fn is_admitted(
    merchants: &Merchants,
    credentials: AuthScheme,
    form: &Form,
    signature: Signature,
    is_signed: bool,
) -> bool {
    match credentials {
        AuthScheme::Session => true,
        AuthScheme::Enterprise => {
            let merchant = form.given("api_key").and_then(|key| merchants.by_enterprise_key(key));
            with_enterprise_password(merchant, form).is_some()
        }
        AuthScheme::Signed => {
            let unsigned = signature == Signature::OptionalWhereAllowed && form.get("shaSignature").is_none();
            let merchant = form.given("apiKey").and_then(|key| merchants.by_api_key(key));
            (is_signed || unsigned) && with_password(merchant, form).is_some()
        }
    }
}

/// Returns the account of a version 5 key, if the password is valid too.
fn with_enterprise_password<'a>(merchant: Option<&'a Merchant>, form: &Form) -> Option<&'a Merchant> {
    let password = form.get("api_password").unwrap_or_default();
    merchant.filter(|merchant| merchant.enterprise.as_ref().is_some_and(|held| held.api_password.matches(password)))
}

/// Returns the account of a version 3 key, if the password is valid too.
fn with_password<'a>(merchant: Option<&'a Merchant>, form: &Form) -> Option<&'a Merchant> {
    let password = form.get("apiPassword").unwrap_or_default();
    merchant.filter(|merchant| merchant.api_password.matches(password))
}

/// Whether the version is 5. It is an integer, so 05 is 5 too (spec 3 §9; A111).
fn is_five(version: &str) -> bool {
    version.bytes().all(|byte| byte.is_ascii_digit()) && version.trim_start_matches('0') == "5"
}

/// An unknown key and a wrong password give the same error, so that a caller cannot learn which keys exist (A52).
fn account<'a>(context: &mut Context<'a>, form: &Form) -> Result<&'a Merchant, Refusal> {
    let key = form.given("apiKey");
    let password = form.get("apiPassword").unwrap_or_default();
    if let Some(merchant) = with_password(key.and_then(|key| context.merchant_of_key(key)), form) {
        return Ok(merchant);
    }
    // Reached only with valid credentials of version 5, which have no settings here.
    let other = key.and_then(|key| context.merchant_of_enterprise_key(key));
    if other.and_then(|other| other.enterprise.as_ref()).is_some_and(|held| held.api_password.matches(password)) {
        return Err(Refusal::from(ErrorCode::MERCHANT_SETTINGS_NOT_FOUND).assuming(assumed::CODES_102_105_AND_123));
    }
    count_failure(context)?;
    Err(Refusal::from(ErrorCode::INVALID_API_CREDENTIALS)
        .assuming(assumed::CODES_102_105_AND_123)
        .assuming(assumed::FAILURES_THAT_COUNT_TOWARDS_A_LOCKOUT))
}

/// Counts a failure, although the request is refused (A53).
fn count_failure(context: &mut Context<'_>) -> Result<(), Refusal> {
    let address = context.peer.to_string();
    let own = context.own_name();
    let known = context.records.get::<FailedAttempts>(&FailedAttempts::key_of(own, &address))?;
    let mut attempts = known.unwrap_or_else(|| FailedAttempts::none_at(own, &address));
    attempts.count(context.now);
    context.records.put(&attempts)?;
    Ok(context.records.keep()?)
}

/// Forgets requests and failures that are later than the time to which the clock is set back.
pub(super) fn turn_back(context: &mut Context<'_>, now: Timestamp) -> Result<(), StoreError> {
    let own = context.own_name();
    let names: Vec<&str> = match context.account {
        Some(_) => vec![own],
        None => context.settings.merchants.all().iter().map(|merchant| &*merchant.name).collect(),
    };
    for name in names {
        context.throttle.turn_back(name, now);
        if context.is_shared
            && let Some(known) = context.records.get::<Meta>(&Meta::throttle_key(name))?
        {
            let mut throttle = Throttle::of(name, known.read()?);
            throttle.turn_back(name, now);
            context.put_meta(Meta::throttle(name, &throttle.times(name)))?;
        }
    }
    for mut attempts in context.records.find::<FailedAttempts>(&Query::oldest(u32::MAX).of(own))? {
        attempts.turn_back(now);
        context.records.put(&attempts)?;
    }
    Ok(())
}

/// Whether the version 3 account that a form names has signed it. With a wrong password the signature is not computed,
/// since the time for that would reveal that the key is known.
pub(crate) fn is_signed(merchants: &Merchants, form: &Form) -> bool {
    let Some(key) = form.given("apiKey") else { return false };
    with_password(merchants.by_api_key(key), form).is_some()
        && merchants.signing_key(key).is_some_and(|key| is_signed_with(key, form))
}

/// Returns the assumptions that decide which text is signed: about arrays, and about names that differ only in letter
/// case.
pub(crate) fn assumed_of_signed_text(credentials: AuthScheme, form: &Form) -> impl Iterator<Item = u16> {
    // An array with empty members is not empty: it is signed as [""].
    let is_signed =
        |(name, value): &(&str, &str)| (!value.is_empty() || name.ends_with(']')) && *name != "shaSignature";
    let mut names: Vec<(String, &str)> = match credentials {
        AuthScheme::Signed => {
            form.iter().filter(is_signed).map(|(name, _)| (name.to_ascii_lowercase(), name)).collect()
        }
        AuthScheme::Enterprise | AuthScheme::Session => Vec::new(),
    };
    names.sort_unstable();
    let arrays = names.iter().any(|(_, name)| name.ends_with(']'));
    let alike = names.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
    let alike = alike.then_some(assumed::ORDER_OF_NAMES_THAT_DIFFER_ONLY_IN_CASE);
    alike.into_iter().chain(arrays.then_some(assumed::ARRAYS_IN_THE_SIGNATURE))
}

/// Whether the text would have the form of a signature if its letters were in lower case.
fn is_in_capitals(form: &Form) -> bool {
    let signature = form.get("shaSignature").unwrap_or_default();
    signature.len() == 128
        && signature.bytes().all(|byte| byte.is_ascii_hexdigit())
        && signature.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Whether an account created at run time has signed the form. Connections know only configured accounts.
fn is_signed_by_own(context: &Context<'_>, merchant: &Merchant, form: &Form) -> bool {
    let own = context.account.is_some_and(|own| own.merchant.name == merchant.name);
    own && is_signed_with(&ShaKey::new(merchant.sha_key.expose()), form)
}

fn is_signed_with(key: &ShaKey, form: &Form) -> bool {
    let Some(given) = form.get("shaSignature") else { return false };
    let sent: Vec<(&str, &str)> = form.iter().collect();
    // Arrays are rare, and collecting them takes time.
    let arrays =
        if sent.iter().any(|(name, _)| name.ends_with(']')) { pg_crypto::form_arrays(&sent) } else { Vec::new() };
    let parameters: Vec<(&str, &str)> =
        if arrays.is_empty() { sent } else { arrays.iter().map(|(name, value)| (&**name, &**value)).collect() };
    pg_crypto::verify(&parameters, key, given).is_ok()
}

/// Counts a request of an account, in the store if several processes share it. Returns whether it is within the limit.
fn admits(context: &mut Context<'_>, merchant: &str, per_minute: u32) -> Result<bool, StoreError> {
    if !context.is_shared {
        return Ok(context.throttle.admits(merchant, per_minute, context.now));
    }
    let key = Meta::throttle_key(merchant);
    let known = context.records.get::<Meta>(&key)?;
    let times = known.map_or(Ok(Vec::new()), |meta| meta.read())?;
    let mut throttle = Throttle::of(merchant, times);
    let admitted = throttle.admits(merchant, per_minute, context.now);
    if admitted {
        let times = throttle.times(merchant);
        context.put_meta(Meta::throttle(merchant, &times))?;
        // The request counts even if it is refused.
        context.records.keep()?;
    }
    Ok(admitted)
}
