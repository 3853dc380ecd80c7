//! What a reply says about the account that sent the request.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use pg_model::{Dialect, Remedy, ServiceError, decode_into, mask, method::ServiceInfo};

use crate::{Refused, ReplyError, machine::exchange::wait};

/// What a reply says about the account that sent the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CameBack {
    /// The service accepted the credentials.
    Accepted,
    /// The service refused the credentials, with the code if there is one.
    CredentialError(String),
    /// The service refuses requests for this long.
    Closed(Duration),
    /// Nothing: the request may have been refused before the service checked the credentials.
    Other,
    /// The reply may have been a credential error: a 401 with an unlisted code, or a reply that a proxy has replaced or
    /// damaged.
    Doubtful,
}

impl CameBack {
    /// Classifies a reply of a service, with the account's dialect.
    pub(super) fn of(service: &ServiceInfo, response: &http::Response<Bytes>, dialect: &Dialect) -> Self {
        let (body, success) = (response.body(), response.status().is_success());
        let mut error = ServiceError::default();
        let readable = decode_into(body, &mut error).is_ok();
        let came_back = if success && readable && error.error_code.is_empty() {
            Self::Accepted
        } else {
            Self::of_error(service, response.status(), error, readable, dialect)
        };
        came_back.unless_empty(body)
    }

    /// Classifies a reply that was already read.
    pub(super) fn of_result<R>(
        service: &ServiceInfo,
        body: &[u8],
        reply: &Result<R, ReplyError>,
        dialect: &Dialect,
    ) -> Self {
        let came_back = match reply {
            Ok(_) => Self::Accepted,
            Err(ReplyError::Refused(refused)) => Self::from(refused),
            Err(ReplyError::Unreadable(unreadable)) => {
                let readable = unreadable.why.is_none();
                Self::of_error(service, unreadable.http_status, ServiceError::default(), readable, dialect)
            }
        };
        came_back.unless_empty(body)
    }

    /// Doubts a reply whose body is empty: no reply of a method is, but the answer of a proxy may be.
    fn unless_empty(self, body: &[u8]) -> Self {
        match self {
            Self::Accepted | Self::Other if says_nothing(body) => Self::Doubtful,
            other => other,
        }
    }

    fn of_error(
        service: &ServiceInfo,
        status: StatusCode,
        error: ServiceError,
        readable: bool,
        dialect: &Dialect,
    ) -> Self {
        match Self::from(&Refused::new(service, status, error, dialect)) {
            Self::Other if !readable => Self::Doubtful,
            other => other,
        }
    }
}

/// Whether a body is an empty JSON object.
fn says_nothing(body: &[u8]) -> bool {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    matches!(body.trim_ascii(), [b'{', inner @ .., b'}'] if inner.trim_ascii().is_empty())
}

impl From<&Refused> for CameBack {
    fn from(refused: &Refused) -> Self {
        // A second longer, since two clocks count milliseconds.
        let closed = |told| Self::Closed(told + Duration::from_secs(1));
        match (refused.remedy(), refused.hint()) {
            (Remedy::FixCredentials, _) => Self::CredentialError(mask::text(refused.code().as_str())),
            (remedy, hint) => match wait(remedy) {
                Some(told) => closed(told),
                None if refused.http_status == StatusCode::UNAUTHORIZED && !refused.is_told() => Self::Doubtful,
                // What only costs time is believed.
                None if hint == Some(Remedy::FixCredentials) => Self::Doubtful,
                None => hint.and_then(wait).map_or(Self::Other, closed),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pg_model::{ApiRequest as _, GetToken, Initiate, Token};

    use super::*;
    use crate::{Account, BaseUrl, Credentials};

    fn came_back(status: u16, body: &str) -> CameBack {
        came_back_of(Initiate::INFO.service, &crate::spoken::sandbox(), status, body)
    }

    fn came_back_of(service: &ServiceInfo, dialect: &Arc<Dialect>, status: u16, body: &str) -> CameBack {
        let response = http::Response::builder().status(status).body(Bytes::copy_from_slice(body.as_bytes())).unwrap();
        let by_bytes = CameBack::of(service, &response, dialect);
        let account = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("a", "b", "c"));
        let reply = account.with_dialect(Arc::clone(dialect)).reply_as::<Token>(service, &response);
        let by_result = CameBack::of_result(service, response.body(), &reply, dialect);
        // A reply of an unexpected form does not count as a reply of the service.
        let misshapen = matches!(reply, Err(ReplyError::Unreadable(_))) && by_bytes == CameBack::Accepted;
        assert_eq!(by_result, if misshapen { CameBack::Doubtful } else { by_bytes.clone() }, "{status} {body}");
        by_bytes
    }

    // spec: 3 §5, 3 §7, A112: Version 5 has its own codes.
    #[test]
    fn in_version_5_the_codes_of_version_3_stop_nothing_for_good_unless_the_dialect_shares_them() {
        let (documented, sandbox) = (Arc::new(Dialect::documented()), crate::spoken::sandbox());
        let five = GetToken::INFO.service;
        let body = |code: &str| format!("<serviceResponse><errorcode>{code}</errorcode></serviceResponse>");
        for code in ["102", "105", "123"] {
            let in_sandbox = came_back_of(five, &sandbox, 400, &body(code));
            assert_eq!(in_sandbox, CameBack::CredentialError(code.into()));
            assert_eq!(came_back_of(five, &documented, 400, &body(code)), CameBack::Doubtful);
            assert_eq!(came_back_of(five, &documented, 401, &body(code)), CameBack::Doubtful);
        }
        for code in ["121", "122"] {
            assert!(matches!(came_back_of(five, &sandbox, 403, &body(code)), CameBack::Closed(_)));
            assert!(matches!(came_back_of(five, &documented, 403, &body(code)), CameBack::Closed(_)));
        }
        for dialect in [&documented, &sandbox] {
            assert_eq!(came_back_of(five, dialect, 401, &body("3")), CameBack::CredentialError("3".into()));
            assert_eq!(came_back_of(Initiate::INFO.service, dialect, 400, &body("3")), CameBack::Other);
            assert_eq!(came_back_of(five, dialect, 401, &body("1")), CameBack::Other);
        }
    }

    /// Otherwise the throttle would permit more requests than failures are left, and the address could be locked out.
    #[test]
    fn an_empty_reply_shows_no_accepted_credentials() {
        for body in ["{}", " { }\n", "\u{feff}{}", "[]", "[ ]"] {
            for status in [200, 400, 401, 500] {
                assert_eq!(came_back(status, body), CameBack::Doubtful, "{status} {body}");
            }
        }
        for body in ["{", "{]", "", r#"{"a":1}"#, "[{}]"] {
            assert!(!says_nothing(body.as_bytes()), "{body}");
        }
    }

    #[test]
    fn replies_of_either_encoding_tell() {
        let json = |code: &str| format!(r#"{{"errorCode":"{code}","traceCode":"1","errorMessage":"m"}}"#);
        let xml = |code: &str| format!("<serviceResponse><errorCode>{code}</errorCode></serviceResponse>");
        for code in ["102", "105", "123"] {
            assert_eq!(came_back(401, &json(code)), CameBack::CredentialError(code.into()));
            assert_eq!(came_back(400, &xml(code)), CameBack::CredentialError(code.into()));
            assert_eq!(came_back(200, &xml(code)), CameBack::CredentialError(code.into()));
        }
        // Only a code says that the credentials are wrong.
        for body in ["<html>", "", "{}", &json("777"), &xml("777")] {
            assert_eq!(came_back(401, body), CameBack::Doubtful, "{body}");
        }
        assert_eq!(came_back(401, &json("108")), CameBack::Other);
        assert_eq!(came_back(403, &json("121")), CameBack::Closed(Duration::from_secs(61)));
        assert_eq!(came_back(403, &json("122")), CameBack::Closed(Duration::from_secs(301)));
        assert_eq!(came_back(403, &json("936")), CameBack::Closed(Duration::from_secs(61)));
        assert_eq!(came_back(429, ""), CameBack::Closed(Duration::from_secs(61)));
        for (status, body) in [(400, json("103")), (403, json("106")), (500, json("999"))] {
            assert_eq!(came_back(status, &body), CameBack::Other, "{status} {body}");
        }
        let long = " ".repeat(5_000);
        for ours in [
            r#"{"cardKey":"a"}"#,
            r#"{"result":"OK"}"#,
            "<?xml version=\"1.0\"?>\n<serviceResponse></serviceResponse>",
            // Whatever the reader reads: a byte order mark, a prefix of a namespace, a long comment.
            "\u{feff}{\"cardKey\":\"a\"}",
            "<s:serviceResponse xmlns:s=\"urn:s\"><s:cardKey>a</s:cardKey></s:serviceResponse>",
            &format!("<!--{long}--><serviceResponse></serviceResponse>"),
            &format!("{{\"cardKey\":\"a\"{long}}}"),
        ] {
            assert_eq!(came_back(200, ours), CameBack::Accepted, "{ours}");
        }
        assert_eq!(came_back(401, "\u{feff}{\"errorCode\":\"102\"}"), CameBack::CredentialError("102".into()));
        let half = &json("102")[..15];
        for (status, body) in
            [(200, ""), (502, ""), (200, "<html></html>"), (200, &long), (502, "<html>"), (504, half), (200, half)]
        {
            assert_eq!(came_back(status, body), CameBack::Doubtful, "{status} {body}");
        }
    }
}
