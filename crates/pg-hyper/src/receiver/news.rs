//! What came in.

use std::fmt;

use bytes::Bytes;
use http::{Method, Request};
use pg_proto::{CheckoutHint, Redirect, UpdaterHint};

use super::{Purpose, Receipt};

/// Something came in at one of the addresses. Its `Debug` does not show the token.
#[derive(Clone)]
#[non_exhaustive]
pub struct Received {
    /// Where: the token of its [`Door`](super::Door).
    pub token: String,
    /// What it says.
    pub news: News,
    /// What answers whoever brought it, when it is dropped.
    pub receipt: Receipt,
}

/// What a callback or a browser says. Nobody vouches for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum News {
    /// A batch has finished: for [`Updating::hint`](crate::Updating::hint).
    Updater(UpdaterHint),
    /// A payment on the hosted pages: its [key](CheckoutHint::trans_key) is for
    /// [`CheckoutInput::Told`](pg_proto::machine::checkout::CheckoutInput::Told).
    Paid(CheckoutHint),
    /// The customer went back from the hosted pages. That is no reason to withdraw: another tab may be paying.
    CheckoutLeft,
    /// The customer came back from the card form: for [`Redirect::open`].
    CardForm(Redirect),
    /// The customer came back from the challenge: for
    /// [`ThreeDSecureInput::Returned`](pg_proto::machine::three_d_secure::ThreeDSecureInput::Returned).
    Challenged,
}

/// Why a request brings no news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoNews {
    WrongMethod,
    Unreadable,
}

impl Purpose {
    /// The methods of its requests, as the header `Allow` lists them. Callbacks are posted; browsers follow redirects,
    /// and some banks' pages post the customer back.
    pub(super) const fn methods(self) -> &'static str {
        match self {
            Self::UpdaterCallback | Self::CheckoutCallback => "POST",
            Self::Challenge => "GET, POST",
            Self::CheckoutReturn | Self::CheckoutCancel | Self::CardForm => "GET",
        }
    }

    /// Whether whoever brings news may bring them again when they were not received: browsers do not.
    pub(super) const fn waits(self) -> bool {
        matches!(self, Self::UpdaterCallback | Self::CheckoutCallback)
    }

    /// Reads a request that came in for it.
    pub(super) fn read(self, request: &Request<Bytes>) -> Result<News, NoNews> {
        if !self.takes(request.method()) {
            return Err(NoNews::WrongMethod);
        }
        let query = request.uri().query().unwrap_or_default();
        match self {
            Self::UpdaterCallback => UpdaterHint::read(request).map(News::Updater).map_err(|_| NoNews::Unreadable),
            Self::CheckoutCallback => CheckoutHint::read(request).map(News::Paid).map_err(|_| NoNews::Unreadable),
            Self::CheckoutReturn => CheckoutHint::returned(query).map(News::Paid).map_err(|_| NoNews::Unreadable),
            Self::CheckoutCancel => Ok(News::CheckoutLeft),
            Self::CardForm => Redirect::parse(query).map(News::CardForm).map_err(|_| NoNews::Unreadable),
            Self::Challenge => Ok(News::Challenged),
        }
    }

    fn takes(self, method: &Method) -> bool {
        self.methods().split(", ").any(|allowed| allowed == method.as_str())
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Received").field("news", &self.news).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(purpose: Purpose, method: &str, uri: &str, body: &'static str) -> Result<News, NoNews> {
        let request = Request::builder().method(method).uri(uri);
        purpose.read(&request.body(Bytes::from_static(body.as_bytes())).unwrap())
    }

    #[test]
    fn each_purpose_reads_its_own() {
        let batch = r#"{"batchKey":"b1","createdOn":"2026-05-04T10:00:00+00:00","cardKeyDetails":[]}"#;
        assert!(
            matches!(read(Purpose::UpdaterCallback, "POST", "/t", batch), Ok(News::Updater(hint)) if hint.claimed().batch_key == "b1")
        );
        let form = "tokenid=t&trans_key=abc&status=1";
        assert!(
            matches!(read(Purpose::CheckoutCallback, "POST", "/t", form), Ok(News::Paid(hint)) if hint.trans_key() == "abc")
        );
        let returned = read(Purpose::CheckoutReturn, "GET", "/t?trans_key=mine&order=7&trans_key=abc", "");
        assert!(matches!(returned, Ok(News::Paid(hint)) if hint.trans_key() == "abc"));
        assert!(matches!(read(Purpose::CheckoutCancel, "GET", "/t", ""), Ok(News::CheckoutLeft)));
        assert!(
            matches!(read(Purpose::CardForm, "GET", "/t?formId=card&data=x&iv=y", ""), Ok(News::CardForm(form)) if form.form_id == "card")
        );
        for method in ["GET", "POST"] {
            assert!(matches!(read(Purpose::Challenge, method, "/t?anything", "at=all"), Ok(News::Challenged)));
        }
    }

    #[test]
    fn what_does_not_fit_is_no_news() {
        for (purpose, method, uri, body) in [
            (Purpose::UpdaterCallback, "POST", "/t", ""),
            (Purpose::UpdaterCallback, "POST", "/t", "<serviceResponse"),
            (Purpose::UpdaterCallback, "POST", "/t", "{}"),
            (Purpose::CheckoutCallback, "POST", "/t", ""),
            (Purpose::CheckoutCallback, "POST", "/t", "trans_key="),
            (Purpose::CheckoutCallback, "POST", "/t", "trans_key=a%0Ab"),
            (Purpose::CheckoutReturn, "GET", "/t", "trans_key=abc"),
            (Purpose::CheckoutReturn, "GET", "/t?trans_key=%3Cscript%3E%20", ""),
            (Purpose::CardForm, "GET", "/t?data=x", ""),
        ] {
            assert_eq!(read(purpose, method, uri, body).err(), Some(NoNews::Unreadable), "{purpose:?} {uri} {body}");
        }
        for (purpose, method) in [
            (Purpose::UpdaterCallback, "GET"),
            (Purpose::CheckoutCallback, "PUT"),
            (Purpose::CheckoutReturn, "POST"),
            (Purpose::CheckoutReturn, "HEAD"),
            (Purpose::Challenge, "HEAD"),
        ] {
            assert_eq!(read(purpose, method, "/t?trans_key=a&data=x&iv=y", "").err(), Some(NoNews::WrongMethod));
        }
    }
}
