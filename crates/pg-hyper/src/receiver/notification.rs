//! Notifications: callbacks and returning customers.

use std::fmt;

use bytes::Bytes;
use http::{Method, Request};
use pg_proto::{CallbackOutline, CheckoutHint, Redirect, UpdaterHint};

use super::{EndpointPurpose, ReceiptHandle};

/// A request at one of the endpoints. Its `Debug` does not show the token.
#[derive(Clone)]
#[non_exhaustive]
pub struct Received {
    /// The token of its [`Endpoint`](super::Endpoint).
    pub token: String,
    /// Its content.
    pub notification: Notification,
    /// Acknowledges the notification. If it is dropped, a callback is refused.
    pub receipt: ReceiptHandle,
}

/// The content of a callback or a return. It is unsigned: anyone who knows the URL can send it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notification {
    /// A batch has finished: for [`AccountUpdateDrive::hint`](crate::AccountUpdateDrive::hint).
    Updater(UpdaterHint),
    /// A payment on the hosted pages: its [key](CheckoutHint::trans_key) is for
    /// [`CheckoutInput::Reported`](pg_proto::machine::checkout::CheckoutInput::Reported).
    Paid(CheckoutHint),
    /// The customer left the hosted pages. Do not withdraw the checkout for this reason alone: another tab may be
    /// paying.
    CheckoutLeft,
    /// The customer returned from the card form: for [`Redirect::open`].
    CardForm(Redirect),
    /// The customer returned from the challenge: for
    /// [`ThreeDSecureInput::Returned`](pg_proto::machine::three_d_secure::ThreeDSecureInput::Returned).
    Challenged,
    /// A callback that was refused, because it has another form than the documents let expect. It is for people: a
    /// genuine report may be lost in it.
    Refused(CallbackOutline),
}

/// Why a request is not a valid notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvalidNotification {
    WrongMethod,
    Unreadable,
}

impl EndpointPurpose {
    /// Returns the allowed methods, as in the header `Allow`. Callbacks of the account updater are posted; the documents
    /// do not show how a checkout's callback is sent (A121). Browsers follow redirects with GET, but some banks' pages
    /// return the customer with a POST.
    pub(super) const fn methods(self) -> &'static str {
        match self {
            Self::UpdaterCallback => "POST",
            Self::CheckoutCallback | Self::Challenge => "GET, POST",
            Self::CheckoutReturn | Self::CheckoutCancel | Self::CardForm => "GET",
        }
    }

    /// Whether the sender repeats a notification that was not acknowledged. Browsers do not.
    pub(super) const fn waits(self) -> bool {
        matches!(self, Self::UpdaterCallback | Self::CheckoutCallback)
    }

    /// Reads a request for this purpose.
    pub(super) fn read(self, request: &Request<Bytes>) -> Result<Notification, InvalidNotification> {
        if !self.takes(request.method()) {
            return Err(InvalidNotification::WrongMethod);
        }
        let query = request.uri().query().unwrap_or_default();
        match self {
            Self::UpdaterCallback => {
                UpdaterHint::read(request).map(Notification::Updater).map_err(|_| InvalidNotification::Unreadable)
            }
            Self::CheckoutCallback => {
                CheckoutHint::read(request).map(Notification::Paid).map_err(|_| InvalidNotification::Unreadable)
            }
            Self::CheckoutReturn => {
                CheckoutHint::returned(query).map(Notification::Paid).map_err(|_| InvalidNotification::Unreadable)
            }
            Self::CheckoutCancel => Ok(Notification::CheckoutLeft),
            Self::CardForm => {
                Redirect::parse(query).map(Notification::CardForm).map_err(|_| InvalidNotification::Unreadable)
            }
            Self::Challenge => Ok(Notification::Challenged),
        }
    }

    fn takes(self, method: &Method) -> bool {
        self.methods().split(", ").any(|allowed| allowed == method.as_str())
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Received").field("notification", &self.notification).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        purpose: EndpointPurpose,
        method: &str,
        uri: &str,
        body: &'static str,
    ) -> Result<Notification, InvalidNotification> {
        let request = Request::builder().method(method).uri(uri);
        purpose.read(&request.body(Bytes::from_static(body.as_bytes())).unwrap())
    }

    #[test]
    fn each_purpose_reads_its_own() {
        let batch = r#"{"batchKey":"b1","createdOn":"2026-05-04T10:00:00+00:00","cardKeyDetails":[]}"#;
        assert!(
            matches!(read(EndpointPurpose::UpdaterCallback, "POST", "/t", batch), Ok(Notification::Updater(hint)) if hint.claimed().batch_key == "b1")
        );
        for (method, uri, body) in [
            ("POST", "/t", "tokenid=t&trans_key=abc&status=1"),
            ("POST", "/t?trans_key=abc", ""),
            ("GET", "/t?tokenid=t&trans_key=abc", ""),
            ("POST", "/t", r#"{"trans_key": "abc"}"#),
            ("POST", "/t", "<callback><trans_key>abc</trans_key></callback>"),
        ] {
            let paid = read(EndpointPurpose::CheckoutCallback, method, uri, body);
            assert!(
                matches!(&paid, Ok(Notification::Paid(hint)) if hint.trans_key() == "abc"),
                "{method} {uri} {body}: {paid:?}"
            );
        }
        let returned = read(EndpointPurpose::CheckoutReturn, "GET", "/t?trans_key=mine&order=7&trans_key=abc", "");
        assert!(matches!(returned, Ok(Notification::Paid(hint)) if hint.trans_key() == "abc"));
        assert!(matches!(read(EndpointPurpose::CheckoutCancel, "GET", "/t", ""), Ok(Notification::CheckoutLeft)));
        assert!(
            matches!(read(EndpointPurpose::CardForm, "GET", "/t?formId=card&data=x&iv=y", ""), Ok(Notification::CardForm(form)) if form.form_id == "card")
        );
        for method in ["GET", "POST"] {
            assert!(matches!(
                read(EndpointPurpose::Challenge, method, "/t?anything", "at=all"),
                Ok(Notification::Challenged)
            ));
        }
    }

    #[test]
    fn malformed_notifications_are_ignored() {
        for (purpose, method, uri, body) in [
            (EndpointPurpose::UpdaterCallback, "POST", "/t", ""),
            (EndpointPurpose::UpdaterCallback, "POST", "/t", "<serviceResponse"),
            (EndpointPurpose::UpdaterCallback, "POST", "/t", "{}"),
            (EndpointPurpose::CheckoutCallback, "POST", "/t", ""),
            (EndpointPurpose::CheckoutCallback, "POST", "/t", "trans_key="),
            (EndpointPurpose::CheckoutCallback, "POST", "/t", "trans_key=a%0Ab"),
            (EndpointPurpose::CheckoutReturn, "GET", "/t", "trans_key=abc"),
            (EndpointPurpose::CheckoutReturn, "GET", "/t?trans_key=%3Cscript%3E%20", ""),
            (EndpointPurpose::CardForm, "GET", "/t?data=x", ""),
        ] {
            assert_eq!(
                read(purpose, method, uri, body).err(),
                Some(InvalidNotification::Unreadable),
                "{purpose:?} {uri} {body}"
            );
        }
        for (purpose, method) in [
            (EndpointPurpose::UpdaterCallback, "GET"),
            (EndpointPurpose::CheckoutCallback, "PUT"),
            (EndpointPurpose::CheckoutReturn, "POST"),
            (EndpointPurpose::CheckoutReturn, "HEAD"),
            (EndpointPurpose::Challenge, "HEAD"),
        ] {
            assert_eq!(
                read(purpose, method, "/t?trans_key=a&data=x&iv=y", "").err(),
                Some(InvalidNotification::WrongMethod)
            );
        }
    }
}
