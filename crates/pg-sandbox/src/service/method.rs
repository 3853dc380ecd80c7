//! Calls a method of the service: from parameters to its typed request, and from its reply record to the response.

use http::Request;
use pg_model::{
    ApiRequest, Encoding, ErrorCode, Record, Violations,
    method::{AuthScheme, MethodInfo},
};

use super::{
    context::Context,
    gate::{self, Signature},
    misplaced,
    names::Names,
    refusal::Refusal,
    reply::Reply,
    spelling::{self, Spelling},
    stray_number,
    transaction::bank,
    unique_reference, violation,
};
use crate::{
    assumed,
    basis::Basis,
    codes::SandboxErrorCode,
    form::{Form, FormError},
    merchants::Merchant,
    settings::Settings,
    warning::Warnings,
};

/// A method that the sandbox implements. Each has a file in the folder of its service.
pub(crate) trait Serve: ApiRequest + Send + 'static {
    /// The permission that the account needs.
    const PERMISSION: Permission = Permission::Open;
    /// Whether the request must be signed.
    const SIGNATURE: Signature = Signature::Required;

    /// Returns the rules that the request's parameters break.
    fn broken_rules(&self) -> Violations {
        self.check()
    }

    /// Executes a request with valid credentials and parameters. If the method refuses, its changes to the records are
    /// rolled back, except for the use of a unique reference.
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Self::Reply, Refusal>;

    /// Returns the reply that expresses a refusal, if the method's reply can express it.
    fn told_in_reply(refusal: Refusal, context: &mut Context<'_>, merchant: &Merchant) -> Result<Self::Reply, Refusal> {
        let _ = (context, merchant);
        Err(refusal)
    }
}

/// The permission that an account needs (A102).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    /// No permission.
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
    read: fn(&Form) -> Result<Box<dyn Served>, Refusal>,
    refused: fn(Refusal, &mut Context<'_>, &Merchant) -> Result<Reply, Refusal>,
}

/// Returns the table entry of a method.
pub(crate) const fn entry<M: Serve>() -> Entry {
    Entry { info: M::INFO, permission: M::PERMISSION, signature: M::SIGNATURE, read: read::<M>, refused: refused::<M> }
}

impl Entry {
    /// Reads the typed request of a form, or returns why it cannot be read.
    fn typed(&self, form: &Form) -> Result<Box<dyn Served>, Refusal> {
        let misplaced = || misplaced::refusal(self.info, form);
        match (self.read)(form) {
            Ok(request) => misplaced().map_or(Ok(request), Err),
            // The misspelt name of the only field is more helpful than the message that there is no field.
            Err(refusal) if refusal.is(SandboxErrorCode::NOTHING_TO_UPDATE) => Err(misplaced().unwrap_or(refusal)),
            Err(refusal) if self.is_empty(form, &refusal) => Err(refusal.assuming(assumed::EMPTY_VALUES)),
            Err(refusal) => Err(refusal),
        }
    }

    /// Whether a required parameter was refused because it is empty (A09).
    fn is_empty(&self, form: &Form, refusal: &Refusal) -> bool {
        let names = Names::of(self.info);
        refusal.parameter().is_some_and(|name| {
            form.get(name) == Some("") && names.find(name).is_some_and(|known| names.field(known).required)
        })
    }
}

/// A typed request of any method.
trait Served: Send {
    fn serve(self: Box<Self>, context: &mut Context<'_>, merchant: &Merchant) -> Result<Reply, Refusal>;
}

/// A call that was checked as far as possible without the records.
pub(crate) struct Call {
    form: Result<Form, FormError>,
    /// Warnings about the parameter names of a request.
    warnings: Warnings,
    /// The refusal of a form that can be read in two ways.
    ambiguous: Option<Refusal>,
    /// `None` without parameters, or if the sandbox does not implement the method.
    judged: Option<Judged>,
}

struct Judged {
    /// Whether the account that the form names has signed it.
    signed: bool,
    /// The assumptions that a reply follows because of the names that were sent.
    assumptions: Vec<u16>,
    /// The typed request, or the rules that it breaks; `None` if the credentials are wrong.
    request: Option<Result<Box<dyn Served>, Refusal>>,
}

impl Call {
    pub(crate) fn new(settings: &Settings, info: &MethodInfo, request: &Request<bytes::Bytes>) -> Self {
        let form = match info.credentials {
            AuthScheme::Session => card_form(settings, info, request),
            AuthScheme::Signed | AuthScheme::Enterprise => form(settings, request),
        };
        let given = form.as_ref().ok().filter(|form| !form.is_empty());
        let Spelling { mut assumptions, mut warnings, twice } =
            given.map(|form| spelling::judge(info, form)).unwrap_or_default();
        let mut judged = given.zip(find(info)).map(|(form, entry)| {
            let signed = gate::is_signed(&settings.merchants, form);
            // Before the credentials are checked, no work on a request may take longer than reading the request.
            let admitted = gate::is_admitted(&settings.merchants, info.credentials, form, entry.signature, signed);
            let typed = admitted.then(|| entry.typed(form));
            if admitted && stray_number::warn(info, form, &mut warnings) {
                assumptions.push(assumed::CARD_NUMBERS_IN_FREE_TEXT);
            }
            Judged { signed, assumptions, request: typed }
        });
        if stray_number::warn_of_head(request, &mut warnings)
            && let Some(judged) = &mut judged
        {
            judged.assumptions.push(assumed::CARD_NUMBERS_IN_ADDRESSES_AND_HEADERS);
        }
        Self { form, warnings, ambiguous: twice, judged }
    }

    /// Returns the parameters, or why they cannot be read.
    pub(crate) const fn form(&self) -> Result<&Form, &FormError> {
        self.form.as_ref()
    }

    /// Warnings about the parameter names of a request.
    pub(crate) fn warnings(&self) -> Warnings {
        self.warnings.clone()
    }

    /// Returns the parameters or why they cannot be read, and the refusal if they can be read in two ways.
    pub(crate) fn into_form(self) -> (Result<Form, FormError>, Option<Refusal>) {
        (self.form, self.ambiguous)
    }
}

/// Answers a call of a method. Checks it in the order of A51.
pub(crate) fn call(
    context: &mut Context<'_>,
    request: &Request<bytes::Bytes>,
    call: Call,
    info: &'static MethodInfo,
    encoding: Option<Encoding>,
) -> Result<Reply, Refusal> {
    context.basis = Basis::new(info.source);
    let entry = find(info).ok_or_else(|| {
        Refusal::from(ErrorCode::INVALID_FUNCTION_CALL)
            .about("this sandbox does not implement it")
            .assuming(assumed::UNKNOWN_PATHS_AND_OTHER_HTTP_METHODS)
    })?;
    if request.method() != http::Method::POST {
        return Err(SandboxErrorCode::METHOD_NOT_ALLOWED.into());
    }
    let encoding =
        encoding.ok_or_else(|| Refusal::from(ErrorCode::INVALID_RETURN_TYPE).assuming(assumed::ENCODING_SEGMENT))?;
    gate::refuse_blocked(context)?;
    let form = call.form?;
    let mut judged = call.judged.ok_or_else(|| no_data(info))?;
    if let Some(refusal) = call.ambiguous {
        return Err(refusal);
    }
    let merchant = match info.credentials {
        AuthScheme::Enterprise => gate::enterprise(context, &form)?,
        AuthScheme::Signed | AuthScheme::Session => gate::signed(context, &form, entry.signature, judged.signed)?,
    };
    // Connections know only configured accounts.
    if judged.request.is_none() && stray_number::warn(info, &form, &mut context.warnings) {
        judged.assumptions.push(assumed::CARD_NUMBERS_IN_FREE_TEXT);
    }
    // The names of the documents are not arrays, and differ in more than their letter case.
    if judged.assumptions.contains(&assumed::PARAMETERS_THAT_A_METHOD_DOES_NOT_KNOW) {
        context.basis.assume_all(gate::assumed_of_signed_text(info.credentials, &form));
    }
    let allowed = match entry.permission {
        Permission::Open => true,
        Permission::RawCards => merchant.raw_cards,
        Permission::AccountUpdater => merchant.account_updater,
    };
    if !allowed {
        let refusal = Refusal::from(ErrorCode::PERMISSION_DENIED).assuming(assumed::WHICH_METHODS_NEED_PERMISSION);
        return Err(match entry.permission {
            // Its key was not looked at.
            Permission::AccountUpdater => refusal.assuming(assumed::ORDER_OF_106_AND_180),
            Permission::Open | Permission::RawCards => refusal,
        });
    }
    context.encoding = encoding;
    unique_reference::take(context, merchant, info, &form)?;
    let answer = match judged.request.unwrap_or_else(|| entry.typed(&form)) {
        Ok(request) => {
            judged.assumptions.into_iter().for_each(|number| context.basis.assume(number));
            context.stray_currency = misplaced::stray_currency(info, &form).map(str::to_owned);
            let reply = request.serve(context, merchant);
            reply.and_then(|reply| bank::refuse_unheard(context).map(|()| reply))
        }
        Err(refusal) => (entry.refused)(refusal, context, merchant),
    };
    if let Some(name) = answer.as_ref().err().and_then(Refusal::parameter) {
        spelling::take_back(info, name, &mut context.warnings);
    }
    let reply = unique_reference::settle(context, answer)?;
    context.basis.assume(assumed::CONTENT_TYPES_OF_REPLIES);
    Ok(reply)
}

/// Returns the parameters of a body. If the server could not read the body, it contains the reason.
pub(crate) fn form(settings: &Settings, request: &Request<bytes::Bytes>) -> Result<Form, FormError> {
    match request.extensions().get::<FormError>() {
        Some(error) => Err(error.clone()),
        None => Form::read(request.headers(), request.body(), &settings.limits),
    }
}

/// Returns the parameters of the card form. Inputs that it collects or ignores may share a name (A48).
fn card_form(settings: &Settings, info: &MethodInfo, request: &Request<bytes::Bytes>) -> Result<Form, FormError> {
    if let Some(error) = request.extensions().get::<FormError>() {
        return Err(error.clone());
    }
    let names = Names::of(info);
    let joins = |name: &str| names.find(name).is_none_or(|known| names.field(known).wire.ends_with('*'));
    Form::read_card_form(request.headers(), request.body(), &settings.limits, joins)
}

fn find(info: &MethodInfo) -> Option<&'static Entry> {
    super::TABLES.iter().copied().flatten().find(|entry| std::ptr::eq(entry.info, info))
}

fn no_data(info: &MethodInfo) -> Refusal {
    match info.credentials {
        AuthScheme::Enterprise => ErrorCode::ENTERPRISE_NO_DATA_SENT.into(),
        AuthScheme::Signed | AuthScheme::Session => ErrorCode::NO_DATA_SENT.into(),
    }
}

fn read<M: Serve>(form: &Form) -> Result<Box<dyn Served>, Refusal> {
    let request = M::from_parameters(form.parameters()).map_err(|violations| broken(M::INFO, &violations))?;
    let violations = request.broken_rules();
    if violations.is_empty() { Ok(Box::new(request)) } else { Err(broken(M::INFO, &violations)) }
}

impl<M: Serve> Served for M {
    fn serve(self: Box<Self>, context: &mut Context<'_>, merchant: &Merchant) -> Result<Reply, Refusal> {
        match Serve::serve(*self, context, merchant) {
            Ok(record) => Ok(written(context, &record)),
            Err(refusal) => refused::<M>(refusal, context, merchant),
        }
    }
}

fn refused<M: Serve>(refusal: Refusal, context: &mut Context<'_>, merchant: &Merchant) -> Result<Reply, Refusal> {
    let record = M::told_in_reply(refusal, context, merchant)?;
    Ok(written(context, &record))
}

fn written(context: &mut Context<'_>, record: &dyn Record) -> Reply {
    let reply = Reply::record(record, context.encoding);
    context.basis.assume_all(assumed_of_encoding(context.encoding, reply.body()));
    reply
}

/// Returns the assumption that decides how a text in this encoding is written. The XML writer writes U+FFFD for characters that
/// XML cannot contain.
pub(crate) fn assumed_of_encoding(encoding: Encoding, text: &[u8]) -> Option<u16> {
    let has_replacements = || !text.is_ascii() && text.windows(3).any(|bytes| bytes == "\u{fffd}".as_bytes());
    match encoding {
        Encoding::Json => Some(assumed::TYPES_OF_JSON_VALUES),
        Encoding::Xml => has_replacements().then_some(assumed::CHARACTERS_THAT_XML_CANNOT_CONTAIN),
    }
}

fn broken(info: &MethodInfo, violations: &Violations) -> Refusal {
    violation::refusal(info, violations).unwrap_or_else(|| SandboxErrorCode::INVALID_PARAMETER.into())
}
