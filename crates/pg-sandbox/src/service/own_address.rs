//! The address of the sandbox's own pages.

use http::uri::Authority;

use super::Context;

/// The default address of `pg sandbox`, also for a test without a socket.
const USUAL: &str = "http://127.0.0.1:8480";

/// The base URL of the pages for customers, without a trailing slash: the configured one, otherwise the host of this
/// request.
pub(super) fn base(context: &Context<'_>) -> String {
    if let Some(told) = &context.settings.public_url {
        return told.trim_end_matches('/').to_owned();
    }
    let scheme = context.settings.scheme();
    let host = context.host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    match host {
        Some(host) => match host.port_u16() {
            Some(port) => format!("{scheme}://{}:{port}", host.host()),
            None => format!("{scheme}://{}", host.host()),
        },
        None => USUAL.to_owned(),
    }
}
