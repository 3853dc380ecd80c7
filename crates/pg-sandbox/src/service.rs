//! The services: they decide which method answers a request, and in which format.
//!
//! A method is one file with `impl Serve for …` and one line in the table of its service.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode};
use pg_model::{
    ErrorCode,
    method::{AuthScheme, MethodInfo},
};

pub(crate) mod accounts;
mod answer;
pub(crate) mod callback;
mod caller;
mod context;
mod control;
mod cv2;
mod enterprise;
mod gate;
mod inspector;
mod method;
mod misplaced;
mod money;
mod names;
mod page;
mod page_url;
mod refusal;
mod reply;
mod session;
mod spelling;
mod stray_number;
mod throttle;
mod token;
mod transaction;
mod unique_reference;
mod violation;

pub(crate) use answer::Answer;
pub(crate) use context::{Context, OwnAccount};
pub(crate) use control::{LIVE, METRICS, READY, metrics, named_account};
pub(crate) use method::Call;
pub(crate) use refusal::Refusal;
pub(crate) use reply::Reply;
pub(crate) use session::session_in_unreadable;
pub(crate) use throttle::Throttle;

use crate::{assumed, basis::Basis, codes::SandboxErrorCode, route::Route, store::StoreError};

/// Every method that the sandbox implements, by service.
const TABLES: &[&[method::Entry]] = &[token::METHODS, session::METHODS, transaction::METHODS, enterprise::METHODS];

/// Executes due tasks before a request is answered: batches of the account updater finish at their due time, whenever
/// they are read, and the card data of a session is erased at its end.
pub(crate) fn catch_up(context: &mut Context<'_>) -> Result<(), StoreError> {
    if context.schedule.has_batch(context.now) {
        token::finish_batches(context)?;
    }
    if context.schedule.has_session(context.now) {
        session::erase_ended(context)?;
    }
    Ok(())
}

/// Answers a request, or returns the refusal.
pub(crate) fn answer(
    context: &mut Context<'_>,
    route: &Route,
    request: &Request<Bytes>,
    call: Option<Call>,
) -> Result<Reply, Refusal> {
    catch_up(context)?;
    context.records.keep()?;
    context.basis = Basis::default();
    if let Route::Method(MethodInfo { credentials: AuthScheme::Signed | AuthScheme::Enterprise, .. }, _)
    | Route::NoMethod(_) = route
        && let Some(reason) = caller::refused_as_browser(request, context.settings)
    {
        return Err(Refusal::from(SandboxErrorCode::CALLED_BY_A_BROWSER).about(reason));
    }
    match route {
        Route::Method(info, encoding) if info.credentials == AuthScheme::Session => {
            let call = warned(context, info, request, call);
            session::postform(context, request, call, *encoding)
        }
        Route::Method(info, encoding) => {
            let call = warned(context, info, request, call);
            method::call(context, request, call, info, *encoding)
        }
        Route::NoMethod(_) => Err(no_method(context, request.uri().path())),
        Route::Control(path) => control::answer(context, path, request),
        Route::Inspector(path) => inspector::answer(context, path, request),
        Route::Pay(path) => page::pay(context, path, request),
        Route::Challenge(key) => page::challenge(context, key, request),
        Route::SessionError if request.method() == Method::GET => Ok(page::session_error(context, request)),
        Route::SessionError | Route::Root | Route::Nowhere => Ok(beside_the_service(context, route, request.method())),
    }
}

/// Returns the refusal of a path below the prefix of a service that names no method.
fn no_method(context: &mut Context<'_>, path: &str) -> Refusal {
    let refusal =
        Refusal::from(ErrorCode::INVALID_FUNCTION_CALL).assuming(assumed::UNKNOWN_PATHS_AND_OTHER_HTTP_METHODS);
    let mut parts = path.split('/').skip(1);
    if parts.next() != Some("v3") {
        return refusal;
    }
    if parts.next() == Some("token") {
        // The token service has its own list of errors.
        context.basis = Basis::new("1 §7");
    }
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_mentioned = UNSHOWN.iter().any(|word| name.contains(word));
    if is_mentioned { refusal.assuming(assumed::METHODS_WHOSE_PATHS_ARE_NOT_SHOWN) } else { refusal }
}

/// Parts of the names that callers guess for methods whose paths the documents do not show (A130), in lower case.
const UNSHOWN: [&str; 4] = ["preauth", "3dsecure", "threedsecure", "token"];

/// Returns the reply to a request that the documents do not mention.
fn beside_the_service(context: &mut Context<'_>, route: &Route, method: &Method) -> Reply {
    context.basis = Basis::assuming("1 §4.1", assumed::UNKNOWN_PATHS_AND_OTHER_HTTP_METHODS);
    match route {
        Route::SessionError => page::wrong_method("GET, HEAD"),
        // The address that `pg sandbox` prints leads a browser to the inspector.
        Route::Root if method == Method::GET => Reply::see_other(HeaderValue::from_static("/_sandbox/")),
        _ => Reply::text(StatusCode::NOT_FOUND, "Not found"),
    }
}

/// Returns the call of a method, and passes on the warnings about its parameters.
fn warned(context: &mut Context<'_>, info: &MethodInfo, request: &Request<Bytes>, call: Option<Call>) -> Call {
    let call = call.unwrap_or_else(|| Call::new(context.settings, info, request));
    if request.uri().query().is_some_and(|query| !query.is_empty()) {
        context.warn("parameters in the URL were ignored: send them in the body");
    }
    context.warnings.join(call.warnings());
    call
}
