//! The part of the sandbox to which a path belongs.

use pg_model::{Encoding, METHODS, method::MethodInfo};

/// The destination of a request.
#[derive(Debug, Clone)]
pub(crate) enum Route {
    /// A method, and the encoding of its reply; the encoding is missing if the path names an unknown encoding (error
    /// 104).
    Method(&'static MethodInfo, Option<Encoding>),
    /// A path below the prefix of a service that names no method (error 103).
    NoMethod(ResponseFormat),
    /// The control interface, with the part of the path after `/_sandbox/`.
    Control(String),
    /// The inspector: `/_sandbox/` itself, and the part of the path after `/_sandbox/pages/`. Everything else below
    /// `/_sandbox/` is the control interface.
    Inspector(String),
    /// The error page for an unknown session (A79).
    SessionError,
    /// A hosted payment page, with the part of the path after `/pay/` (spec 3 §1).
    Pay(String),
    /// The page on which a customer authenticates, with the authentication key (A107).
    Challenge(String),
    /// The address of the sandbox without a path.
    Root,
    /// Any other path.
    Nowhere,
}

const VERSION_3: [&str; 3] = ["token", "session", "transaction"];

impl Route {
    /// Returns the route of a path.
    pub(crate) fn of(path: &str) -> Self {
        if let Some(rest) = path.strip_prefix("/v3/") {
            let (service, rest) = rest.split_once('/').unwrap_or((rest, ""));
            if VERSION_3.contains(&service) { version_3(service, rest) } else { Route::Nowhere }
        } else if let Some(rest) = path.strip_prefix("/enterprise/") {
            let name = rest.strip_suffix('/').unwrap_or(rest);
            find("enterprise", name)
                .map_or(Route::NoMethod(ResponseFormat::V5), |info| Route::Method(info, Some(Encoding::Xml)))
        } else if let Some(rest) = path.strip_prefix("/_sandbox") {
            match rest.strip_prefix('/') {
                None if !rest.is_empty() => Route::Nowhere,
                None | Some("" | "pages") => Route::Inspector(String::new()),
                Some(rest) => match rest.strip_prefix("pages/") {
                    Some(page) => Route::Inspector(page.to_owned()),
                    None => Route::Control(rest.to_owned()),
                },
            }
        } else if let Some(rest) = path.strip_prefix("/pay/") {
            Route::Pay(rest.to_owned())
        } else if let Some(key) = path.strip_prefix("/3ds/").filter(|key| !key.is_empty() && !key.contains('/')) {
            Route::Challenge(key.to_owned())
        } else if path == "/" {
            Route::Root
        } else if path == "/session-error" {
            Route::SessionError
        } else {
            Route::Nowhere
        }
    }

    /// Returns the method that is called, if any.
    pub(crate) const fn method(&self) -> Option<&'static MethodInfo> {
        match self {
            Self::Method(info, _) => Some(info),
            _ => None,
        }
    }

    /// Returns the service whose error format applies.
    pub(crate) fn response_format(&self) -> ResponseFormat {
        match self {
            Self::Method(info, _) if info.service.version == 5 => ResponseFormat::V5,
            Self::Method(_, encoding) => ResponseFormat::V3(encoding.unwrap_or_default()),
            Self::NoMethod(response_format) => *response_format,
            Self::Control(_) => ResponseFormat::Control,
            Self::Pay(_) | Self::Challenge(_) | Self::Inspector(_) => ResponseFormat::Page,
            Self::SessionError | Self::Root | Self::Nowhere => ResponseFormat::Plain,
        }
    }
}

/// The encoding follows the method, at most once. A slash at the end means nothing (A37).
fn version_3(service: &str, rest: &str) -> Route {
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (name, encoding) = match rest.split_once('/') {
        None => (rest, Some(Encoding::Xml)),
        Some((name, "xml")) => (name, Some(Encoding::Xml)),
        Some((name, "json")) => (name, Some(Encoding::Json)),
        Some((name, _)) => (name, None),
    };
    match find(service, name) {
        Some(info) => Route::Method(info, encoding),
        None => Route::NoMethod(ResponseFormat::V3(encoding.unwrap_or_default())),
    }
}

fn find(service: &str, name: &str) -> Option<&'static MethodInfo> {
    METHODS.iter().copied().find(|info| info.service.name == service && info.name == name)
}

/// The service whose error format a request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseFormat {
    /// The token, session and transaction services.
    V3(Encoding),
    /// The hosted checkout and utility service.
    V5,
    /// The control interface.
    Control,
    /// A page for a customer's browser.
    Page,
    /// Anything else.
    Plain,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str) -> String {
        match Route::of(path) {
            Route::Method(info, encoding) => format!("{info:?} {encoding:?}"),
            other => format!("{other:?}"),
        }
    }

    // spec: 1 §4.1, A37: The path consists of the service's prefix, the method and the encoding, xml or json; without
    //   an encoding the reply is XML.
    // spec: 1 §9: The version is the first segment of the path.
    // spec: 2 §9: The version is the first segment of the path.
    #[test]
    fn paths_lead_where_they_should() {
        for (path, wanted) in [
            ("/v3/token/lookup", "token/lookup Some(Xml)"),
            ("/v3/token/lookup/", "token/lookup Some(Xml)"),
            ("/v3/token/lookup/xml", "token/lookup Some(Xml)"),
            ("/v3/transaction/auth/json/", "transaction/auth Some(Json)"),
            ("/v3/transaction/auth/JSON", "transaction/auth None"),
            ("/v3/transaction/auth/json/xml", "transaction/auth None"),
            ("/v3/transaction/Auth", "NoMethod(V3(Xml))"),
            ("/v3/transaction/nothing/json", "NoMethod(V3(Json))"),
            ("/v3/session", "NoMethod(V3(Xml))"),
            ("/v3/enterprise/gettoken", "Nowhere"),
            ("/v3/", "Nowhere"),
            ("/enterprise/gettoken", "enterprise/gettoken Some(Xml)"),
            ("/enterprise/gettoken/xml", "NoMethod(V5)"),
            ("/enterprise/", "NoMethod(V5)"),
            ("/_sandbox/clock", "Control(\"clock\")"),
            ("/_sandbox", "Inspector(\"\")"),
            ("/_sandbox/", "Inspector(\"\")"),
            ("/_sandbox/pages/", "Inspector(\"\")"),
            ("/_sandbox/pages/clock", "Inspector(\"clock\")"),
            ("/_sandbox/pagesx", "Control(\"pagesx\")"),
            ("/_sandboxes", "Nowhere"),
            ("/session-error", "SessionError"),
            ("/3ds/k1", "Challenge(\"k1\")"),
            ("/3ds/", "Nowhere"),
            ("/3ds/k1/", "Nowhere"),
            ("/3dsx", "Nowhere"),
            ("/pay/abc", "Pay(\"abc\")"),
            ("/pay", "Nowhere"),
            ("/", "Root"),
            ("//", "Nowhere"),
            ("", "Nowhere"),
        ] {
            assert_eq!(told(path), wanted, "{path}");
        }
    }
}
