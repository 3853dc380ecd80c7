//! Access to the control interface. It shows credentials and changes the clock, so by default only programs on this machine may use
//! it, and no web page through a browser on it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header, uri::Authority};

use crate::{
    Peer,
    outgoing::CALLBACK_HEADER,
    secret::Secret,
    service::caller::{self, Host},
    settings::Settings,
};

/// Why a request may not use the control interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Denied {
    pub(in super::super) status: StatusCode,
    pub(in super::super) reason: &'static str,
}

const NOT_LOOPBACK: Denied = forbidden("the control interface accepts requests from this machine only");
const FORWARDED: Denied = forbidden(
    "the control interface accepts requests from this machine only, and this request came through a proxy; configure a control token",
);
const NO_TOKEN: Denied = Denied {
    status: StatusCode::UNAUTHORIZED,
    reason: "send the control token, as \"Authorization: Bearer TOKEN\" or as the password of any user",
};
const WRONG_HOST: Denied =
    forbidden("the Host must be an IP address, localhost, or a host name given with --control-host");
const CALLBACK: Denied = forbidden("the control interface does not accept callbacks");
const WRONG_ORIGIN: Denied = forbidden("the control interface does not accept requests from pages of other sites");

const fn forbidden(reason: &'static str) -> Denied {
    Denied { status: StatusCode::FORBIDDEN, reason }
}

pub(in super::super) fn check(settings: &Settings, request: &Request<Bytes>) -> Result<(), Denied> {
    let headers = request.headers();
    let forwarded = caller::is_forwarded(request);
    if forwarded || !Peer::of(request).to_canonical().is_loopback() {
        match &settings.control.token {
            Some(token) if has_token(headers, token) => {}
            Some(_) => return Err(NO_TOKEN),
            None if forwarded => return Err(FORWARDED),
            None => return Err(NOT_LOOPBACK),
        }
    }
    if headers.contains_key(CALLBACK_HEADER) {
        return Err(CALLBACK);
    }
    let host = match Host::of(request) {
        Host::Named(host) if caller::is_ours(&host, settings) => host,
        Host::Named(_) | Host::Invalid => return Err(WRONG_HOST),
        Host::InProcess => return Ok(()),
    };
    if caller::is_cross_site(request) {
        return Err(WRONG_ORIGIN);
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => Ok(()),
        (Some(origin), None) if is_origin_of(origin.as_bytes(), &host) => Ok(()),
        _ => Err(WRONG_ORIGIN),
    }
}

/// Returns the token as a bearer token (RFC 6750), or as a password, for browsers (RFC 7617).
fn has_token(headers: &HeaderMap, token: &Secret) -> bool {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(given), None) = (all.next().and_then(|value| value.to_str().ok()), all.next()) else { return false };
    match given.split_once(' ') {
        Some((scheme, given)) if scheme.eq_ignore_ascii_case("bearer") => token.matches(given.trim()),
        Some((scheme, given)) if scheme.eq_ignore_ascii_case("basic") => {
            let pair = STANDARD.decode(given.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            pair.as_deref().and_then(|pair| pair.split_once(':')).is_some_and(|(_, password)| token.matches(password))
        }
        _ => false,
    }
}

fn is_origin_of(origin: &[u8], host: &Authority) -> bool {
    let rest = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host.as_str().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_sandbox_itself() {
        let host: Authority = "127.0.0.1:8480".parse().unwrap();
        assert!(is_origin_of(b"http://127.0.0.1:8480", &host));
        for origin in ["null", "http://127.0.0.1", "http://evil.example", "http://127.0.0.1:8480.evil.example"] {
            assert!(!is_origin_of(origin.as_bytes(), &host), "{origin}");
        }
    }

    #[test]
    fn a_token_is_given_as_bearer_or_as_a_password() {
        let token = Secret::new("0123456789abcdef");
        let given = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            has_token(&headers, &token)
        };
        // printf 'anybody:0123456789abcdef' | base64
        let basic = "Basic YW55Ym9keTowMTIzNDU2Nzg5YWJjZGVm";
        assert!(given(&["Bearer 0123456789abcdef"]) && given(&["bearer  0123456789abcdef"]) && given(&[basic]));
        for wrong in ["Bearer 0123456789abcdeF", "Bearer", "Basic 0123456789abcdef", "0123456789abcdef", ""] {
            assert!(!given(&[wrong]), "{wrong}");
        }
        assert!(!given(&[]) && !given(&[basic, basic]));
    }
}
