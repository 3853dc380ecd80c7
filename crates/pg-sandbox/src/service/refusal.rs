//! Refusals with their codes, and their form in each service.

use http::StatusCode;
use pg_model::{Dialect, Encoding, EnterpriseError, ErrorCode, ServiceError};
use serde_json::json;

use super::{answer::Answer, page::html, reply::Reply};
use crate::{
    assumed,
    basis::Basis,
    codes::SandboxErrorCode,
    form::{FormError, shown},
    route::ResponseFormat,
    store::StoreError,
    vault::NotOurs,
};

/// An answer with an error code. The request's changes are rolled back, except for those that were kept.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    code: Box<str>,
    message: Box<str>,
    status: u16,
    /// Whether the status is not the one of the code.
    has_own_status: bool,
    basis: Basis,
    /// The sandbox's own code, which a dialect may replace; `None` for a code of the documents.
    own: Option<SandboxErrorCode>,
    /// The parameter that is the reason, as a name that may be shown.
    parameter: Option<Box<str>>,
    /// Details that the message may not contain.
    warning: Option<Box<str>>,
}

/// The longest `errorMessage`, in characters (spec 2 §2.2).
const MESSAGE_LIMIT: usize = 100;

impl Refusal {
    /// Details after the message: the name of a parameter, but never a value. The message of a code of the documents is
    /// theirs alone (spec 1 §7, 2 §7), so its details are a warning (A77).
    pub(crate) fn about(mut self, detail: &str) -> Self {
        let told = format!("{}: {detail}", self.message);
        match self.own {
            Some(_) => self.message = told.chars().take(MESSAGE_LIMIT).collect(),
            None => self.warning = Some(told.into()),
        }
        self
    }

    /// Sets the parameter that is the reason, by its name on the wire.
    pub(crate) fn because_of(self, name: &str) -> Self {
        Self { parameter: Some(shown(name).into()), ..self }
    }

    /// Returns the parameter that is the reason, if it is known.
    pub(crate) fn parameter(&self) -> Option<&str> {
        self.parameter.as_deref()
    }

    /// Sets the HTTP status, whatever status the dialect has for the code.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, has_own_status: true, ..self }
    }

    /// Adds an assumption to its basis.
    pub(crate) fn assuming(mut self, number: u16) -> Self {
        self.basis.assume(number);
        self
    }

    /// Returns the refusal's own basis, for a reply that reports the refusal without an error.
    pub(crate) fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Whether the refusal has this code of the sandbox, whatever code the dialect has for it.
    pub(crate) fn is(&self, code: SandboxErrorCode) -> bool {
        self.own == Some(code)
    }

    /// Returns the three digits of the code.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Returns the text of `errorMessage`.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Replaces code, text and status with those of the dialect, if it has them.
    fn spoken(mut self, dialect: &Dialect) -> Self {
        if let Some(own) = self.own
            && let Some(entry) = dialect.error_for(own.situation())
        {
            self.code = entry.code.as_str().into();
            self.status = entry.http.filter(|_| !self.has_own_status).unwrap_or(self.status);
            if let Some(detail) = self.message.strip_prefix(own.message()).filter(|_| !entry.message.is_empty()) {
                self.message = format!("{}{detail}", entry.message).chars().take(MESSAGE_LIMIT).collect();
            }
        }
        self
    }

    /// Returns the error as the body that a service with this dialect sends.
    pub(crate) fn record(&self, trace_code: String, dialect: &Dialect) -> ServiceError {
        self.clone().spoken(dialect).body(trace_code)
    }

    fn body(&self, trace_code: String) -> ServiceError {
        ServiceError::default().with(|record| {
            record.error_code = (*self.code).into();
            record.trace_code = trace_code.into();
            record.error_message = self.message.to_string();
        })
    }

    /// Returns the answer in the format of the request's service and in its dialect. Its basis is the refusal's own and
    /// what the request had `assumed` before it was refused.
    pub(crate) fn answer(
        self,
        assumed: &Basis,
        response_format: ResponseFormat,
        trace_code: String,
        dialect: &Dialect,
    ) -> Answer {
        let wrong_method = *self.code == *SandboxErrorCode::METHOD_NOT_ALLOWED.as_str();
        let mut refusal = self;
        if matches!(response_format, ResponseFormat::V3(_) | ResponseFormat::V5) {
            refusal = refusal.spoken(dialect);
        }
        let basis = refusal.basis_in(response_format, assumed);
        let reply = refusal.reply(response_format, trace_code);
        if response_format == ResponseFormat::Control {
            return Answer::new(reply, basis);
        }
        let reply = if wrong_method { reply.allowing("POST") } else { reply };
        let mut answer = Answer::new(reply.with_error_code(refusal.code.into()), basis);
        refusal.warning.iter().for_each(|told| answer.warnings.add(told));
        answer
    }

    /// Returns the basis of the whole reply. The control interface is not part of the service.
    fn basis_in(&self, response_format: ResponseFormat, assumed: &Basis) -> Basis {
        let mut basis = self.basis.clone();
        basis.join(assumed);
        // The token service has its own list. A code that only the list of document 2 has is based on document 2.
        if assumed.is_of('1') && !is_listed_in_document_2_alone(&self.code) {
            basis = basis.citing("1 §7");
        }
        basis.assume(assumed::HTTP_STATUS_OF_EACH_ERROR_CODE);
        match response_format {
            ResponseFormat::V3(encoding) => {
                basis.assume_all([assumed::LENGTH_OF_TRACECODE, assumed::ERROR_BODIES_OF_THE_VERSION_3_METHODS]);
                if encoding == Encoding::Json {
                    basis.assume(assumed::TYPES_OF_JSON_VALUES);
                }
            }
            ResponseFormat::V5 => {
                basis = basis.citing("3 §7");
                basis.assume(assumed::ERROR_BODIES_OF_VERSION_5);
                // The documents show two codes of version 5. The other codes are those of version 3 and of the sandbox.
                if !matches!(&*self.code, "1" | "3") {
                    basis.assume(assumed::FURTHER_ERROR_CODES_OF_VERSION_5);
                }
            }
            ResponseFormat::Control => return Basis::default(),
            // The lists of codes are those of the methods: a page keeps its own clause.
            ResponseFormat::Page if !assumed.clause().is_empty() => basis = basis.citing(assumed.clause()),
            ResponseFormat::Page | ResponseFormat::Plain => {}
        }
        basis
    }

    fn reply(&self, response_format: ResponseFormat, trace_code: String) -> Reply {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        match response_format {
            ResponseFormat::V3(encoding) => {
                Reply::encoded(status, encoding, pg_model::encode(&self.body(trace_code), encoding))
            }
            ResponseFormat::V5 => {
                let record = EnterpriseError::default().with(|record| {
                    record.error_code = (*self.code).into();
                });
                Reply::encoded(status, Encoding::Xml, pg_model::encode(&record, Encoding::Xml))
            }
            ResponseFormat::Control => Reply::json(status, &json!({ "error": self.message, "code": self.code })),
            ResponseFormat::Page => Reply::page(status, html::failure(&self.code, &self.message)),
            ResponseFormat::Plain => Reply::text(status, &self.message),
        }
    }
}

/// Whether only the list of document 1 has the code: the codes of the account updater.
fn is_listed_in_document_1_alone(code: &str) -> bool {
    matches!(code, "180" | "181" | "182" | "183" | "184")
}

/// Documented codes that the list of document 1 leaves out.
fn is_listed_in_document_2_alone(code: &str) -> bool {
    matches!(code.as_bytes(), [b'1', b'0', b'7'..=b'9'] | [b'1', b'1'..=b'3', _])
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        let section = if is_listed_in_document_1_alone(code.as_str()) { "1 §7" } else { "2 §7" };
        Self {
            message: code.message().unwrap_or_default().into(),
            status: code.http_status().unwrap_or(400),
            has_own_status: false,
            basis: Basis::new(section),
            code: code.as_str().into(),
            own: None,
            parameter: None,
            warning: None,
        }
    }
}

impl From<SandboxErrorCode> for Refusal {
    fn from(code: SandboxErrorCode) -> Self {
        let mut basis = Basis::new("2 §7");
        basis.assume(code.assumption());
        Self {
            message: code.message().into(),
            status: code.http_status(),
            has_own_status: false,
            basis,
            code: code.as_str().into(),
            own: Some(code),
            parameter: None,
            warning: None,
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
        // The code of a content type already says everything.
        match error {
            FormError::ContentType => refusal,
            FormError::Charset => refusal.about(&error.to_string()).assuming(assumed::DETAILS_OF_THE_FORM_ENCODING),
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

    fn response(refusal: Refusal, response_format: ResponseFormat, assumed: &Basis) -> http::Response<bytes::Bytes> {
        refusal.answer(assumed, response_format, "123456789".to_owned(), &crate::dialect()).into_response()
    }

    fn body(refusal: Refusal, response_format: ResponseFormat) -> String {
        let response = response(refusal, response_format, &Basis::default());
        String::from_utf8(response.body().to_vec()).unwrap()
    }

    // spec: 2 §7, A38: The body has errorCode, traceCode and errorMessage of at most 100 characters.
    #[test]
    fn each_voice_says_it_in_its_own_shape() {
        let refusal = || Refusal::from(SandboxErrorCode::MISSING_PARAMETER).about("cardKey");
        let xml = body(refusal(), ResponseFormat::V3(Encoding::Xml));
        let fields = "<errorCode>938</errorCode><traceCode>123456789</traceCode>\
                      <errorMessage>Missing parameter: cardKey</errorMessage>";
        assert!(xml.starts_with("<?xml") && xml.contains(fields), "{xml}");
        assert_eq!(
            body(refusal(), ResponseFormat::V3(Encoding::Json)),
            r#"{"errorCode":"938","traceCode":"123456789","errorMessage":"Missing parameter: cardKey"}"#
        );
        let v5 = body(refusal(), ResponseFormat::V5);
        assert!(v5.contains("<serviceResponse><errorcode>938</errorcode></serviceResponse>"), "{v5}");
        assert!(body(refusal(), ResponseFormat::Control).contains("\"error\": \"Missing parameter: cardKey\""));
    }

    #[test]
    fn every_refusal_carries_its_basis() {
        let refusal = Refusal::from(SandboxErrorCode::MISSING_PARAMETER);
        let response = response(refusal, ResponseFormat::V3(Encoding::Xml), &Basis::default());
        assert_eq!(response.headers()["pg-basis"], "2 7, A20, A38, A40, A45");
        assert_eq!(response.status(), 400);
        for (code, wanted) in [
            (ErrorCode::CURRENCY_NOT_SUPPORTED, "3 7, A39, A40, A112"),
            (ErrorCode::ENTERPRISE_NO_MERCHANT_KEY, "3 7, A39, A40"),
        ] {
            let response = self::response(Refusal::from(code), ResponseFormat::V5, &Basis::default());
            assert_eq!(response.headers()["pg-basis"], wanted);
        }
    }

    #[test]
    fn a_code_cites_its_list() {
        let clause = |code: ErrorCode, basis: &str| {
            let assumed = Basis::new(if basis == "1" { "1 §4.8" } else { "2 §4.4" });
            let response = response(Refusal::from(code), ResponseFormat::V3(Encoding::Xml), &assumed);
            response.headers()["pg-basis"].to_str().unwrap()[..3].to_owned()
        };
        for code in ["180", "181", "182", "183", "184"] {
            assert_eq!((clause(code.into(), "1"), clause(code.into(), "2")), ("1 7".to_owned(), "1 7".to_owned()));
        }
        assert_eq!(clause(ErrorCode::INVALID_API_CREDENTIALS, "1"), "1 7");
        assert_eq!(clause(ErrorCode::INVALID_API_CREDENTIALS, "2"), "2 7");
        for code in ["107", "109", "111", "119", "121", "123", "129", "136"] {
            assert_eq!(clause(code.into(), "1"), "2 7", "{code}");
        }
    }

    #[test]
    fn a_dialect_gives_code_text_and_status_and_leaves_the_detail() {
        let text = "[[error]]\ncode = \"42\"\nsituations = [\"missing-parameter\"]\nhttp = 422\nmessage = \"What is\"\nassumption = 45\n";
        let dialect = Dialect::from_toml(text).unwrap();
        let refusal = Refusal::from(SandboxErrorCode::MISSING_PARAMETER).about("cardKey");
        let format = ResponseFormat::V3(Encoding::Json);
        let response = refusal.answer(&Basis::default(), format, "123456789".into(), &dialect).into_response();
        assert_eq!(response.status(), 422);
        assert_eq!(response.body(), r#"{"errorCode":"42","traceCode":"123456789","errorMessage":"What is: cardKey"}"#);
        // Missing entries come from the sandbox's own dialect; documented codes are not part of a dialect.
        let other = Refusal::from(SandboxErrorCode::INVALID_PARAMETER).record(String::new(), &dialect);
        assert_eq!(other.error_code, "937");
        let documented = Refusal::from(ErrorCode::NO_DATA_SENT).record(String::new(), &dialect);
        assert_eq!(documented.error_code, "101");
    }

    // spec: 2 §7, A43, A50: Lookups that find nothing and injected faults may have another status than their code.
    #[test]
    fn a_dialect_gives_the_code_of_an_error_whose_status_is_set() {
        let text = "[[error]]\ncode = \"42\"\nsituations = [\"injected-fault\"]\nhttp = 422\nassumption = 50\n";
        let dialect = Dialect::from_toml(text).unwrap();
        let refusal = Refusal::from(SandboxErrorCode::INJECTED_FAULT).with_status(503);
        let format = ResponseFormat::V3(Encoding::Json);
        let response = refusal.answer(&Basis::default(), format, "123456789".into(), &dialect).into_response();
        assert_eq!(response.status(), 503);
        let said = r#"{"errorCode":"42","traceCode":"123456789","errorMessage":"Fault injected"}"#;
        assert_eq!(response.body(), said);
    }

    // spec: 2 §7, A38
    #[test]
    fn a_message_stays_within_its_length() {
        let refusal = Refusal::from(SandboxErrorCode::MISSING_PARAMETER).about(&"é".repeat(300));
        assert_eq!(refusal.message().chars().count(), MESSAGE_LIMIT);
    }

    // spec: 1 §7, A77: The message of a code is that of the table, and the reason is a warning.
    #[test]
    fn a_documented_code_has_its_documented_message() {
        let refusal = || Refusal::from(ErrorCode::INVALID_CALLBACK_URL).about("it contains credentials");
        let response = response(refusal(), ResponseFormat::V3(Encoding::Json), &Basis::default());
        assert_eq!(response.headers()["pg-warning"], "Invalid callback URL: it contains credentials");
        assert!(response.body().ends_with(br#""errorMessage":"Invalid callback URL"}"#));
    }
}
