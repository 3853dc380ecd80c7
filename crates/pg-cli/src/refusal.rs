//! What the service said when it refused, with what the tables know of the code.

use pg_hyper::Error;
use pg_model::{ErrorCode, SandboxAuthenticationCode, SandboxErrorCode, SandboxStatusCode};
use pg_proto::Refused;
use serde::Serialize;

/// A refusal, for programs: what came as it came, and what the tables know.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refusal {
    code: String,
    error_message: String,
    trace_code: String,
    http_status: u16,
    remedy: String,
    /// What the code means; none for one that no table has.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<&'static str>,
    /// The assumption that the code comes from, when only the sandbox gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    assumption: Option<String>,
}

impl From<&Refused> for Refusal {
    fn from(refused: &Refused) -> Self {
        let code = refused.code();
        Self {
            code: code.to_string(),
            error_message: refused.error.error_message.clone(),
            trace_code: refused.error.trace_code.to_string(),
            http_status: refused.http_status.as_u16(),
            remedy: refused.remedy().to_string(),
            meaning: meaning(code),
            assumption: SandboxErrorCode::from(code.as_str()).assumption().map(number),
        }
    }
}

impl Refusal {
    /// The refusal that an error rests on, if it does.
    pub(crate) fn in_error(error: &Error) -> Option<Self> {
        match error {
            Error::Refused(refused) => Some(refused.into()),
            Error::Unknown { cause, .. } => Self::in_error(cause),
            _ => None,
        }
    }
}

/// The same refusal whose message, for people, says what the tables know: version 5 sends codes alone (spec 3 §7).
pub(crate) fn explained(refused: &Refused) -> Refused {
    let mut explained = refused.clone();
    let code = refused.code();
    let said = &refused.error.error_message;
    let mut notes = Vec::new();
    let text = match meaning(code) {
        Some(meaning) if said.is_empty() => {
            notes.push("pg's own text, the reply has none".to_owned());
            meaning
        }
        _ => said,
    };
    notes.extend(SandboxErrorCode::from(code.as_str()).assumption().map(of_the_sandbox));
    if !notes.is_empty() {
        explained.error.error_message = format!("{text} [{}]", notes.join("; "));
    }
    explained
}

/// The same error, with its refusal explained if it rests on one.
pub(crate) fn explained_in(error: Error) -> Error {
    match error {
        Error::Refused(refused) => Error::Refused(explained(&refused)),
        Error::Unknown { reconcile, cause } => Error::Unknown { reconcile, cause: Box::new(explained_in(*cause)) },
        other => other,
    }
}

/// What is to be known of the status of a reply, in brackets, when only the sandbox gives it; nothing otherwise.
pub(crate) fn note_of_status(code: &str) -> String {
    let assumption =
        SandboxStatusCode::from(code).assumption().or_else(|| SandboxAuthenticationCode::from(code).assumption());
    assumption.map_or_else(String::new, |number| format!(" [{}]", of_the_sandbox(number)))
}

fn meaning(code: &ErrorCode) -> Option<&'static str> {
    code.message().or_else(|| SandboxErrorCode::from(code.as_str()).message())
}

fn of_the_sandbox(assumption: u16) -> String {
    format!("only the sandbox gives this code, assumption {}", number(assumption))
}

/// As it stands in `docs/assumptions.md`.
fn number(assumption: u16) -> String {
    format!("A{assumption:02}")
}
