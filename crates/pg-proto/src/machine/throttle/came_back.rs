//! What a reply says about the account that sent the request.

use std::time::Duration;

use bytes::Bytes;
use pg_model::{Remedy, ServiceError, decode_into, mask};

use crate::Refused;

/// Errors are short. A longer body that came with a status of success is none, and is not read twice.
const LONGEST_ERROR: usize = 4096;

/// What a reply says about the account that sent the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CameBack {
    /// The service took the credentials.
    Accepted,
    /// It did not: the code, if there is one.
    CredentialError(String),
    /// It wants no requests for so long.
    Closed(Duration),
    /// Nothing: it may have been refused before anybody looked at the credentials.
    Other,
}

impl From<&http::Response<Bytes>> for CameBack {
    fn from(response: &http::Response<Bytes>) -> Self {
        let success = response.status().is_success();
        if success && response.body().len() > LONGEST_ERROR {
            return Self::Accepted;
        }
        let mut error = ServiceError::default();
        let readable = decode_into(response.body(), &mut error).is_ok();
        if success && error.error_code.is_empty() {
            return if readable { Self::Accepted } else { Self::Other };
        }
        Self::from(&Refused { http_status: response.status(), error })
    }
}

impl From<&Refused> for CameBack {
    fn from(refused: &Refused) -> Self {
        match refused.remedy() {
            Remedy::FixCredentials => Self::CredentialError(mask::text(refused.code().as_str())),
            // A second more, since two clocks count milliseconds.
            Remedy::WaitOneMinute => Self::Closed(Duration::from_secs(61)),
            Remedy::WaitFiveMinutes => Self::Closed(Duration::from_secs(301)),
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came_back(status: u16, body: &str) -> CameBack {
        let response = http::Response::builder().status(status).body(Bytes::copy_from_slice(body.as_bytes()));
        CameBack::from(&response.unwrap())
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
        assert_eq!(came_back(401, "<html>"), CameBack::CredentialError(String::new()));
        assert_eq!(came_back(403, &json("121")), CameBack::Closed(Duration::from_secs(61)));
        assert_eq!(came_back(403, &json("122")), CameBack::Closed(Duration::from_secs(301)));
        assert_eq!(came_back(403, &json("936")), CameBack::Closed(Duration::from_secs(61)));
        assert_eq!(came_back(429, ""), CameBack::Closed(Duration::from_secs(61)));
        for (status, body) in [(400, json("103")), (403, json("106")), (500, json("999")), (502, "<html>".into())] {
            assert_eq!(came_back(status, &body), CameBack::Other, "{status} {body}");
        }
        assert_eq!(came_back(200, ""), CameBack::Other);
        assert_eq!(came_back(200, r#"{"result":"OK"}"#), CameBack::Accepted);
        assert_eq!(came_back(200, &" ".repeat(LONGEST_ERROR + 1)), CameBack::Accepted);
    }
}
