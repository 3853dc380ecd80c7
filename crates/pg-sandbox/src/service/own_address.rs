//! The address of the sandbox's own pages.

use http::uri::Authority;

use super::Context;

/// Where `pg sandbox` listens when nothing else is asked for; a test without a socket has no address
/// at all.
const USUAL: &str = "http://127.0.0.1:8480";

/// The base address of the pages that customers are sent to, without a slash at the end: what the
/// sandbox was told, else the host that this request was sent to.
pub(super) fn base(context: &Context<'_>) -> String {
    if let Some(told) = &context.settings.public_url {
        return told.trim_end_matches('/').to_owned();
    }
    let host = context.host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    match host {
        Some(host) if host.port().is_some() => format!("http://{}:{}", host.host(), host.port_u16().unwrap_or(80)),
        Some(host) => format!("http://{}", host.host()),
        None => USUAL.to_owned(),
    }
}
