//! A refusal of the service, with the meaning of its code according to the documents and the account's dialect.

use pg_hyper::Error;
use pg_model::{Dialect, StatusCode, mask};
use pg_proto::Refused;
use serde::Serialize;

/// A refusal for programs: the received fields and the known meaning.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refusal {
    code: String,
    error_message: String,
    trace_code: String,
    http_status: u16,
    remedy: String,
    /// What the code means; `None` for an unknown code.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<String>,
    /// The assumption that the dialect decides with the code, when the document of the service does not list it.
    #[serde(skip_serializing_if = "Option::is_none")]
    assumption: Option<String>,
}

impl From<&Refused> for Refusal {
    fn from(refused: &Refused) -> Self {
        let code = refused.code();
        Self {
            // The service may repeat what it received.
            code: mask::text(code.as_str()),
            error_message: mask::text(&refused.error.error_message),
            trace_code: mask::text(refused.error.trace_code.as_str()),
            http_status: refused.http_status.as_u16(),
            remedy: refused.remedy().to_string(),
            meaning: refused.meaning().map(str::to_owned),
            assumption: refused.assumption().map(number),
        }
    }
}

impl Refusal {
    /// Returns the refusal behind an error, if any.
    pub(crate) fn in_error(error: &Error) -> Option<Self> {
        match error {
            Error::Refused(refused) => Some(refused.into()),
            Error::Unknown { cause, .. } => Self::in_error(cause),
            _ => None,
        }
    }
}

/// The same refusal with an explanatory message for people: version 5 sends codes only (spec 3 §7).
pub(crate) fn explained(refused: &Refused) -> Refused {
    let mut explained = refused.clone();
    let said = &refused.error.error_message;
    let mut notes = Vec::new();
    let text = match refused.meaning() {
        Some(meaning) if said.is_empty() => {
            notes.push("text from pg, since the reply has none".to_owned());
            meaning
        }
        _ => said,
    };
    notes.extend(refused.assumption().map(of_the_dialect));
    if !notes.is_empty() {
        explained.error.error_message = format!("{text} [{}]", notes.join("; "));
    }
    explained
}

/// The same error, with its refusal explained if there is one.
pub(crate) fn explained_in(error: Error) -> Error {
    match error {
        Error::Refused(refused) => Error::Refused(explained(&refused)),
        Error::Unknown { reconcile, cause } => Error::Unknown { reconcile, cause: Box::new(explained_in(*cause)) },
        other => other,
    }
}

/// Returns a note in brackets about a status that only the dialect lists; otherwise empty.
pub(crate) fn note_of_status(code: &str, dialect: &Dialect) -> String {
    let code = StatusCode::from(code);
    if code.message().is_some() {
        return String::new();
    }
    let declined = dialect.declined.iter().find(|entry| entry.code == code).map(|entry| entry.assumption);
    let authentication =
        || dialect.authentication.iter().find(|entry| entry.code == code).map(|entry| entry.assumption);
    declined.or_else(authentication).map_or_else(String::new, |number| format!(" [{}]", of_the_dialect(number)))
}

fn of_the_dialect(assumption: u16) -> String {
    format!("this code comes from the dialect, {}", number(assumption))
}

/// The assumption's number, as `docs/reference/assumptions.md` writes it.
fn number(assumption: u16) -> String {
    format!("A{assumption:02}")
}
