//! The redirect that the card form answers with (spec 2 §4.2).

use bytes::Bytes;
use http::header::LOCATION;
use pg_model::{Parameters, Record, json};
use pg_proto::{Account, CardFormResult, Redirect, RedirectError};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{failure::Exit, output};

/// A redirect, ready to be printed.
pub(super) struct Shown {
    pub(super) json: String,
    pub(super) outcome: &'static str,
    pub(super) exit: Exit,
}

#[derive(Serialize)]
struct Whole<'a> {
    outcome: &'a str,
    location: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
}

/// Returns the redirect target of a reply, if any.
pub(super) fn location(response: &http::Response<Bytes>) -> Option<String> {
    let location = response.headers().get(LOCATION)?;
    response.status().is_redirection().then(|| String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// The pages that the card form named.
pub(super) struct Pages {
    next: String,
    current: String,
}

impl Pages {
    /// Returns the pages among the form's parameters; an absent one is empty.
    pub(super) fn of(parameters: &Parameters) -> Self {
        let page = |name| parameters.get(name).unwrap_or_default().to_owned();
        Self { next: page("nextPageUrl"), current: page("currentPageUrl") }
    }

    /// Returns the outcome that the page of a redirect shows.
    fn outcome(&self, location: &str) -> (&'static str, Exit) {
        match (leads_to(location, &self.next), leads_to(location, &self.current)) {
            (true, false) => ("accepted", Exit::Done),
            (false, true) => ("not-accepted", Exit::Refused),
            _ => ("unknown", Exit::Unknown),
        }
    }
}

/// Whether a redirect leads to this page. The service appends parameters to the query (spec 2 §4.2).
fn leads_to(location: &str, page: &str) -> bool {
    let bare = |address: &str| address.split('#').next().unwrap_or_default().to_owned();
    let (location, page) = (bare(location), bare(page));
    let page = page.trim_end_matches(['?', '&']);
    let Some(appended) = location.strip_prefix(page).filter(|_| !page.is_empty()) else { return false };
    let is_appended = |name: &str| matches!(name, "formId" | "data" | "iv");
    appended.starts_with(['?', '&'])
        && form_urlencoded::parse(appended.trim_start_matches(['?', '&']).as_bytes())
            .all(|(name, _)| is_appended(&name))
}

/// Explains a redirect by its decrypted data if the key is known, otherwise by its URL.
pub(super) fn read(account: &Account, location: &str, pages: &Pages, can_decrypt: bool) -> Shown {
    let opened = Redirect::parse(location).map(|_| can_decrypt.then(|| account.redirect(location)));
    let (outcome, exit, data) = match opened {
        // Only the service's own error page is reached without data, because the session names none of the merchant's
        // pages.
        Err(_) => ("session-error-page", Exit::Refused, None),
        Ok(Some(Ok(returned))) => data_of(&returned),
        Ok(undecrypted) => {
            output::warn(&reason(undecrypted.and_then(Result::err)));
            let (outcome, exit) = pages.outcome(location);
            (outcome, exit, None)
        }
    };
    let data = data.and_then(|json| RawValue::from_string(json).ok());
    let json = serde_json::to_string(&Whole { outcome, location, data }).unwrap_or_default();
    Shown { json, outcome, exit }
}

fn data_of(returned: &CardFormResult) -> (&'static str, Exit, Option<String>) {
    let text = |record: &dyn Record| Some(json::write(record));
    match returned {
        CardFormResult::Accepted(data) => ("accepted", Exit::Done, text(data.get())),
        CardFormResult::Invalid(data) => ("invalid", Exit::Refused, text(data.get())),
        CardFormResult::Failed(error) => ("failed", Exit::Refused, text(error.get())),
    }
}

fn reason(error: Option<RedirectError>) -> String {
    let reason = error.map_or_else(|| "PG_API_KEY is not set".to_owned(), |error| error.to_string());
    format!("the redirect's data is not shown: {reason}")
}
