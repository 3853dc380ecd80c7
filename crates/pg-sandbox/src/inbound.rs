//! A request with all that can be said of it without the records. That is said on the connection's side of the queue, so
//! that the one thread which owns the records has no more to do than it must.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use bytes::Bytes;
use http::Request;
use pg_model::method::{AuthScheme, MethodInfo};

use crate::{
    card_numbers, form,
    journal::Parameters,
    service::{Call, Route},
    settings::Settings,
};

/// A request that waits for its turn.
pub(crate) struct Inbound {
    /// As it came.
    pub(crate) request: Request<Bytes>,
    /// The call of a method that it makes, until it is carried out.
    pub(crate) call: Option<Call>,
    /// What the journal will say of it; nothing of the control interface and the inspector, which only look on.
    pub(crate) journaled: Option<JournaledRequest>,
}

/// A request as the journal may hold it.
pub(crate) struct JournaledRequest {
    /// The method that it calls.
    pub(crate) info: Option<&'static MethodInfo>,
    /// Its path, masked.
    pub(crate) path: String,
    /// Its parameters, masked.
    pub(crate) parameters: Arc<Parameters>,
    /// Who says that it comes from them.
    pub(crate) caller: Caller,
}

/// Who says that a request comes from them.
pub(crate) enum Caller {
    /// An unknown caller.
    Unknown,
    /// The account of this name.
    Merchant(String),
    /// The owner of the session with this key.
    Session(String),
}

impl Inbound {
    /// Looks at a request as far as that can be done without the records.
    pub(crate) fn new(settings: &Settings, request: Request<Bytes>) -> Self {
        let route = Route::of(request.uri().path());
        let call = match route {
            // A defect shows, and is answered, when the call is carried out.
            Route::Method(info, _) => catch_unwind(AssertUnwindSafe(|| Call::new(settings, info, &request))).ok(),
            _ => None,
        };
        let journaled = match route {
            Route::Control(_) | Route::Inspector(_) => None,
            _ => Some(JournaledRequest::new(settings, route, &request, call.as_ref())),
        };
        Self { request, call, journaled }
    }
}

impl JournaledRequest {
    fn new(settings: &Settings, route: Route<'_>, request: &Request<Bytes>, call: Option<&Call>) -> Self {
        let info = match route {
            Route::Method(info, _) => Some(info),
            _ => None,
        };
        let path = Parameters::masked(request.uri().path());
        let credentials = info.map(|info| info.credentials);
        let is_entered = matches!(route, Route::Pay(_)) || credentials == Some(AuthScheme::Session);
        if let Some(Ok(form)) = call.map(Call::form)
            && !form.is_empty()
            && !is_entered
        {
            let parameters = Arc::new(Parameters::of_pairs(form.iter()));
            return Self { info, path, parameters, caller: Caller::of(settings, credentials, |name| form.get(name)) };
        }
        // A form that is wrong is noted as far as it can be read, and so is a query without a body.
        let form: Vec<(Cow<'_, str>, Cow<'_, str>)> = match call.map(Call::form) {
            Some(Ok(form)) if !form.is_empty() => {
                form.iter().map(|(name, value)| (name.into(), value.into())).collect()
            }
            _ => {
                let query = request.uri().query().unwrap_or_default().as_bytes();
                let form = if request.body().is_empty() { query } else { &request.body()[..] };
                form::read_as_can_be(form).take(settings.limits.parameters).collect()
            }
        };
        let given = |name: &str| form.iter().find(|pair| pair.0 == name).map(|pair| &*pair.1);
        let caller = Caller::of(settings, credentials, given);
        let parameters =
            if is_entered { Parameters::of(&card_numbers::masked_form(&form)) } else { Parameters::of(&form) };
        Self { info, path, parameters: Arc::new(parameters), caller }
    }
}

impl Caller {
    fn of<'a>(settings: &Settings, credentials: Option<AuthScheme>, given: impl Fn(&str) -> Option<&'a str>) -> Self {
        let merchants = &settings.merchants;
        let merchant = match credentials {
            None => None,
            Some(AuthScheme::Signed) => given("apiKey").and_then(|key| merchants.by_api_key(key)),
            Some(AuthScheme::Enterprise) => given("api_key").and_then(|key| merchants.by_enterprise_key(key)),
            Some(AuthScheme::Session) => {
                return given("sessionKey").map_or(Self::Unknown, |key| Self::Session(key.to_owned()));
            }
        };
        merchant.map_or(Self::Unknown, |merchant| Self::Merchant(merchant.name.clone()))
    }
}
