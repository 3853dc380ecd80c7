//! What is refused, with its code, and how each service says so.

use http::StatusCode;
use pg_model::{Encoding, EnterpriseError, ErrorCode, SandboxErrorCode, ServiceError};
use serde_json::json;

use super::{basis::Basis, page, reply::Reply};
use crate::{form::FormError, store::StoreError, vault::NotOurs};

/// A request that is answered with an error code. What it wrote is undone, except what it kept.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    code: String,
    message: String,
    status: u16,
    basis: Basis,
}

/// The longest `errorMessage`, in characters (spec 2 §2.2).
const MESSAGE_LIMIT: usize = 100;

impl Refusal {
    /// More about it, after the message: the name of a parameter, never a value.
    pub(crate) fn about(mut self, detail: &str) -> Self {
        self.message = format!("{}: {detail}", self.message).chars().take(MESSAGE_LIMIT).collect();
        self
    }

    /// The same with another HTTP status.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The same with another assumption that it rests on.
    pub(crate) fn assuming(mut self, number: u16) -> Self {
        self.basis.assume(number);
        self
    }

    /// The same with everything that the request had assumed before it was refused.
    pub(crate) fn joining(mut self, basis: &Basis) -> Self {
        self.basis.join(basis);
        self
    }

    /// What it rests on.
    pub(crate) fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The three digits of the code.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// The text of `errorMessage`.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The error as the body of a service has it, with a fresh trace code.
    pub(crate) fn record(&self, trace_code: String) -> ServiceError {
        ServiceError {
            error_code: self.code.clone().into(),
            trace_code: trace_code.into(),
            error_message: self.message.clone(),
            ..ServiceError::default()
        }
    }

    /// The error as the caller expects it.
    pub(crate) fn reply(mut self, voice: Voice, trace_code: String) -> Reply {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        self.basis.assume(40);
        let reply = match voice {
            Voice::V3(encoding) => {
                self.basis.assume(20);
                self.basis.assume(38);
                Reply::encoded(status, encoding, pg_model::encode(&self.record(trace_code), encoding))
            }
            Voice::V5 => {
                self.basis = self.basis.citing("3 §7");
                self.basis.assume(39);
                // The documents show two codes of version 5; the others are those of version 3 and of the sandbox.
                if !matches!(&*self.code, "1" | "3") {
                    self.basis.assume(112);
                }
                let record = EnterpriseError { error_code: self.code.clone().into(), ..EnterpriseError::default() };
                Reply::encoded(status, Encoding::Xml, pg_model::encode(&record, Encoding::Xml))
            }
            Voice::Control => return Reply::json(status, &json!({ "error": self.message })),
            Voice::Page => Reply::page(status, page::failure(&self.code, &self.message)),
            Voice::Plain => return Reply::text(status, &self.message),
        };
        reply.refused_with(self.code).resting_on(self.basis)
    }
}

/// In whose shape a request has to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
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

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self {
            message: code.message().unwrap_or_default().to_owned(),
            status: code.http_status().unwrap_or(400),
            basis: Basis::new("2 §7"),
            code: code.as_str().to_owned(),
        }
    }
}

impl From<SandboxErrorCode> for Refusal {
    fn from(code: SandboxErrorCode) -> Self {
        let mut basis = Basis::new("2 §7");
        code.assumption().into_iter().for_each(|number| basis.assume(number));
        Self {
            message: code.message().unwrap_or_default().to_owned(),
            status: code.http_status().unwrap_or(400),
            basis,
            code: code.as_str().to_owned(),
        }
    }
}

impl From<FormError> for Refusal {
    fn from(error: FormError) -> Self {
        let code = match error {
            FormError::ContentType | FormError::Charset => SandboxErrorCode::UNSUPPORTED_CONTENT_TYPE,
            FormError::TooLarge { .. } => SandboxErrorCode::BODY_TOO_LARGE,
            FormError::TooMany { .. } => SandboxErrorCode::TOO_MANY_PARAMETERS,
            FormError::Duplicate { name } => {
                return Self::from(SandboxErrorCode::DUPLICATE_PARAMETER).about(&name);
            }
            FormError::Incomplete | FormError::PercentEncoding { .. } | FormError::Utf8 { .. } => {
                SandboxErrorCode::MALFORMED_BODY
            }
        };
        let refusal = Self::from(code);
        // The code of a content type says everything already.
        match error {
            FormError::ContentType => refusal,
            _ => refusal.about(&error.to_string()),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::from(SandboxErrorCode::SANDBOX_FAILURE).about(&error.to_string())
    }
}

impl From<NotOurs> for Refusal {
    fn from(error: NotOurs) -> Self {
        Self::from(SandboxErrorCode::SANDBOX_FAILURE).about(&error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(refusal: Refusal, voice: Voice) -> String {
        let response = refusal.reply(voice, "123456789".to_owned()).into_response();
        String::from_utf8(response.body().to_vec()).unwrap()
    }

    #[test]
    fn each_voice_says_it_in_its_own_shape() {
        let refusal = || Refusal::from(SandboxErrorCode::MISSING_PARAMETER).about("cardKey");
        let xml = body(refusal(), Voice::V3(Encoding::Xml));
        let fields = "<errorCode>938</errorCode><traceCode>123456789</traceCode>\
                      <errorMessage>Missing parameter: cardKey</errorMessage>";
        assert!(xml.starts_with("<?xml") && xml.contains(fields), "{xml}");
        assert_eq!(
            body(refusal(), Voice::V3(Encoding::Json)),
            r#"{"errorCode":"938","traceCode":"123456789","errorMessage":"Missing parameter: cardKey"}"#
        );
        let v5 = body(refusal(), Voice::V5);
        assert!(v5.contains("<serviceResponse><errorcode>938</errorcode></serviceResponse>"), "{v5}");
        assert!(body(refusal(), Voice::Control).contains("\"error\": \"Missing parameter: cardKey\""));
    }

    #[test]
    fn every_refusal_carries_its_basis() {
        let refusal = Refusal::from(SandboxErrorCode::MISSING_PARAMETER);
        let response = refusal.reply(Voice::V3(Encoding::Xml), String::new()).into_response();
        assert_eq!(response.headers()["pg-basis"].as_bytes(), "2 §7, A20, A38, A40, A45".as_bytes());
        assert_eq!(response.status(), 400);
        for (code, wanted) in [
            (ErrorCode::CURRENCY_NOT_SUPPORTED, "3 §7, A39, A40, A112"),
            (ErrorCode::ENTERPRISE_NO_MERCHANT_KEY, "3 §7, A39, A40"),
        ] {
            let response = Refusal::from(code).reply(Voice::V5, String::new()).into_response();
            assert_eq!(response.headers()["pg-basis"].as_bytes(), wanted.as_bytes());
        }
    }

    #[test]
    fn a_message_stays_within_its_length() {
        let refusal = Refusal::from(ErrorCode::NO_DATA_SENT).about(&"é".repeat(300));
        assert_eq!(refusal.message().chars().count(), MESSAGE_LIMIT);
    }
}
