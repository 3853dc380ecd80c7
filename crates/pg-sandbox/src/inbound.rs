//! A request, with everything that can be checked without the records. A connection does this before it queues the
//! request, so that the one thread that owns the records has little work.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
};

use bytes::Bytes;
use http::{Method, Request};
use pg_model::method::AuthScheme;

use crate::{
    card_numbers, form,
    journal::{MOST_PARAMETERS, Parameters},
    records::Account,
    route::Route,
    service::{Call, session_in_unreadable},
    settings::Settings,
};

/// A request that waits in the queue.
pub(crate) struct Inbound {
    /// The request, with GET instead of HEAD.
    pub(crate) request: Request<Bytes>,
    /// Whether it is a HEAD request: GET without the body and without the effects of a page visit.
    pub(crate) is_head: bool,
    /// The route of its path.
    pub(crate) route: Route,
    /// The call of a method, until it is executed.
    pub(crate) call: Option<Call>,
    /// Its part for the journal; `None` for the control interface and the inspector, which are not journaled.
    pub(crate) journaled: Option<JournaledRequest>,
}

/// A request as the journal may hold it.
pub(crate) struct JournaledRequest {
    /// Its path, masked.
    pub(crate) path: String,
    /// Its parameters, masked.
    pub(crate) parameters: Parameters,
    /// The caller that it names.
    pub(crate) caller: Caller,
}

/// The caller that a request names, whether or not its credentials are right.
pub(crate) enum Caller {
    /// An unknown caller.
    Unknown,
    /// The account with this name.
    Merchant(String),
    /// The account with this id and API key, if it was created at run time.
    Account { id: String, key: String },
    /// The owner of the session with this key.
    Session(String),
}

impl Inbound {
    /// Finds the route, and checks a call as far as possible without the records.
    pub(crate) fn new(settings: &Settings, mut request: Request<Bytes>) -> Self {
        let is_head = request.method() == Method::HEAD;
        if is_head {
            *request.method_mut() = Method::GET;
        }
        let route = Route::of(request.uri().path());
        // A panic here recurs when the call is executed, and is handled there.
        let call =
            route.method().and_then(|info| catch_unwind(AssertUnwindSafe(|| Call::new(settings, info, &request))).ok());
        let journaled = match route {
            Route::Control(_) | Route::Inspector(_) => None,
            _ => Some(JournaledRequest::new(settings, &route, &request, call.as_ref())),
        };
        Self { request, is_head, route, call, journaled }
    }
}

impl JournaledRequest {
    fn new(settings: &Settings, route: &Route, request: &Request<Bytes>, call: Option<&Call>) -> Self {
        let path = Parameters::masked_path(request.uri().path());
        let credentials = route.method().map(|info| info.credentials);
        let is_entered = matches!(route, Route::Pay(_)) || credentials == Some(AuthScheme::Session);
        if let Some(Ok(form)) = call.map(Call::form)
            && !form.is_empty()
        {
            let caller = Caller::of(settings, credentials, |name| form.get(name));
            return Self { path, parameters: journaled(form.iter(), is_entered), caller };
        }
        // The journal gets the readable part of an invalid form, and a query without a body.
        let query = request.uri().query().unwrap_or_default().as_bytes();
        let form = if request.body().is_empty() { query } else { &request.body()[..] };
        let form: Vec<(Cow<'_, str>, Cow<'_, str>)> =
            form::read_as_can_be(form).take(settings.limits.parameters).collect();
        let given = |name: &str| form.iter().find(|pair| pair.0 == name).map(|pair| &*pair.1);
        let error = call.and_then(|call| call.form().err()).filter(|_| credentials == Some(AuthScheme::Session));
        let session = error.and_then(|error| session_in_unreadable(error, request.body()));
        let caller = session.map_or_else(|| Caller::of(settings, credentials, given), Caller::Session);
        Self { path, parameters: journaled(form.iter().map(|(name, value)| (&**name, &**value)), is_entered), caller }
    }
}

/// Returns parameters in the journal's form. On a page on which cards are entered, any parameter may contain a card
/// number.
fn journaled<'a>(form: impl ExactSizeIterator<Item = (&'a str, &'a str)> + Clone, is_entered: bool) -> Parameters {
    if !is_entered {
        return Parameters::of_pairs(form);
    }
    let count = form.len();
    let start = card_numbers::masked_start(form, MOST_PARAMETERS);
    Parameters::of(&start).and_left_out(count - start.len())
}

impl Caller {
    fn of<'a>(settings: &Settings, credentials: Option<AuthScheme>, given: impl Fn(&str) -> Option<&'a str>) -> Self {
        let merchants = &settings.merchants;
        let (key, merchant) = match credentials {
            None => (None, None),
            Some(AuthScheme::Signed) => (given("apiKey"), given("apiKey").and_then(|key| merchants.by_api_key(key))),
            Some(AuthScheme::Enterprise) => {
                (given("api_key"), given("api_key").and_then(|key| merchants.by_enterprise_key(key)))
            }
            Some(AuthScheme::Session) => {
                return given("sessionKey").map_or(Self::Unknown, |key| Self::Session(key.to_owned()));
            }
        };
        let created =
            |key: &str| Account::id_of_key(key).map(|id| Self::Account { id: id.to_owned(), key: key.to_owned() });
        let unknown = || key.and_then(created).unwrap_or(Self::Unknown);
        merchant.map_or_else(unknown, |merchant| Self::Merchant(merchant.name.clone()))
    }
}
