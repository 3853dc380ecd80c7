//! How a method of the service is called: from parameters to its typed request, and from its reply
//! record to the response.

use http::Request;
use pg_model::{
    Encoding, ErrorCode, Method, SandboxErrorCode, Violations,
    method::{Credentials, MethodInfo},
};

use super::{
    basis::Basis,
    context::Context,
    gate::{self, Signature},
    refusal::Refusal,
    reply::Reply,
    violation,
};
use crate::{
    form::{Form, FormError},
    merchants::Merchant,
};

/// A method that the sandbox carries out: one file each, beside the method's service.
pub(crate) trait Serve: Method {
    /// What the account needs to be allowed.
    const PERMISSION: Permission = Permission::Open;
    /// Whether the request has to be signed.
    const SIGNATURE: Signature = Signature::Required;

    /// Carries out a request whose credentials and parameters are right. Changes of the records are
    /// undone when it refuses.
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Self::Reply, Refusal>;
}

/// What an account needs to be allowed (assumption 102).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Nothing.
    Open,
    /// Raw card numbers (spec 2 §1.2).
    RawCards,
    /// The account updater (spec 1 §1).
    AccountUpdater,
}

/// A method in the table of its service.
pub(crate) struct Entry {
    info: &'static MethodInfo,
    permission: Permission,
    signature: Signature,
    run: Run,
}

type Run = fn(&mut Context<'_>, &Merchant, &Form, Encoding) -> Result<Reply, Refusal>;

/// The table entry of a method.
pub(crate) const fn entry<M: Serve>() -> Entry {
    Entry { info: M::INFO, permission: M::PERMISSION, signature: M::SIGNATURE, run: run::<M> }
}

/// Answers a call of a method, checking in the order of assumption 51.
pub(crate) fn call(
    context: &mut Context<'_>,
    request: &Request<bytes::Bytes>,
    info: &'static MethodInfo,
    encoding: Option<Encoding>,
) -> Result<Reply, Refusal> {
    context.basis = Basis::new(info.source);
    let entry = super::TABLES.iter().copied().flatten().find(|entry| std::ptr::eq(entry.info, info));
    let entry = entry.ok_or_else(|| {
        Refusal::from(ErrorCode::INVALID_FUNCTION_CALL).about("this sandbox does not carry it out").assuming(49)
    })?;
    if request.method() != http::Method::POST {
        return Err(SandboxErrorCode::METHOD_NOT_ALLOWED.into());
    }
    let encoding = encoding.ok_or_else(|| Refusal::from(ErrorCode::INVALID_RETURN_TYPE).assuming(37))?;
    gate::refuse_blocked(context, info.credentials)?;
    let form = form(context, request)?;
    if let Some(refusal) = violation::two_spellings(info, form.parameters()) {
        return Err(refusal);
    }
    let merchant = match info.credentials {
        _ if form.is_empty() => return Err(no_data(info)),
        Credentials::Enterprise => gate::enterprise(context, &form)?,
        Credentials::Signed | Credentials::Session => gate::signed(context, &form, entry.signature)?,
    };
    let allowed = match entry.permission {
        Permission::Open => true,
        Permission::RawCards => merchant.raw_cards,
        Permission::AccountUpdater => merchant.account_updater,
    };
    if !allowed {
        return Err(Refusal::from(ErrorCode::PERMISSION_DENIED).assuming(102));
    }
    (entry.run)(context, merchant, &form, encoding)
}

/// The parameters of a body; a body that the server could not read carries the reason with it.
pub(crate) fn form(context: &Context<'_>, request: &Request<bytes::Bytes>) -> Result<Form, FormError> {
    match request.extensions().get::<FormError>() {
        Some(error) => Err(error.clone()),
        None => Form::read(request.headers(), request.body(), &context.settings.limits),
    }
}

fn no_data(info: &MethodInfo) -> Refusal {
    match info.credentials {
        Credentials::Enterprise => ErrorCode::ENTERPRISE_NO_DATA_SENT.into(),
        Credentials::Signed | Credentials::Session => ErrorCode::NO_DATA_SENT.into(),
    }
}

/// Parameters that the method does not have are left alone (assumption 55).
fn run<M: Serve>(
    context: &mut Context<'_>,
    merchant: &Merchant,
    form: &Form,
    encoding: Encoding,
) -> Result<Reply, Refusal> {
    let request = M::from_parameters(form.parameters()).map_err(|violations| broken(M::INFO, &violations))?;
    let violations = request.check();
    if !violations.is_empty() {
        return Err(broken(M::INFO, &violations));
    }
    context.encoding = encoding;
    let record = request.serve(context, merchant)?;
    context.basis.assume(41);
    Ok(Reply::record(&record, encoding).resting_on(std::mem::take(&mut context.basis)))
}

fn broken(info: &MethodInfo, violations: &Violations) -> Refusal {
    violation::refusal(info, violations).unwrap_or_else(|| SandboxErrorCode::INVALID_PARAMETER.into())
}
