//! The services: which method answers, and in whose shape.
//!
//! A method is one file with `impl Serve for …` and one line in the table of its service.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use pg_model::{ErrorCode, method::Credentials};

mod basis;
mod context;
mod control;
mod enterprise;
mod gate;
mod method;
mod money;
mod page;
mod page_url;
mod refusal;
mod reply;
mod route;
mod session;
mod throttle;
mod token;
mod transaction;
mod violation;

pub(crate) use basis::Basis;
pub(crate) use context::Context;
pub(crate) use refusal::{Refusal, Voice};
pub(crate) use reply::Reply;
pub(crate) use route::Route;
pub(crate) use throttle::Throttle;

/// Every method that the sandbox carries out, by service.
const TABLES: &[&[method::Entry]] = &[token::METHODS, session::METHODS, transaction::METHODS, enterprise::METHODS];

/// Answers a request, or says why not.
pub(crate) fn answer(context: &mut Context<'_>, route: Route<'_>, request: &Request<Bytes>) -> Result<Reply, Refusal> {
    match route {
        Route::Method(info, encoding) if info.credentials == Credentials::Session => {
            session::postform(context, request, encoding)
        }
        Route::Method(info, encoding) => method::call(context, request, info, encoding),
        Route::NoMethod(_) => Err(Refusal::from(ErrorCode::INVALID_FUNCTION_CALL).assuming(49)),
        Route::Control(path) => Ok(control::answer(context, path, request)),
        Route::SessionError if request.method() == Method::GET => Ok(page::session_error(context, request)),
        Route::SessionError | Route::Nowhere => Ok(Reply::text(StatusCode::NOT_FOUND, "Not found")),
    }
}
