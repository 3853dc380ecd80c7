//! The responses of a receiver: a few fixed texts that never repeat the request.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The owner has received the notification.
    Taken,
    NotFound,
    /// The method is not allowed. With the allowed methods.
    WrongMethod(&'static str),
    Unreadable,
    TooLarge,
    /// The notification cannot be accepted at present, or was not accepted in time.
    Busy,
}

impl Answer {
    const fn says(self) -> (StatusCode, &'static str) {
        match self {
            Self::Taken => (StatusCode::OK, "Received. This page can be closed.\n"),
            Self::NotFound => (StatusCode::NOT_FOUND, "There is nothing here.\n"),
            Self::WrongMethod(_) => (StatusCode::METHOD_NOT_ALLOWED, "This method is not allowed.\n"),
            Self::Unreadable => (StatusCode::BAD_REQUEST, "This request cannot be read.\n"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "This request is too long.\n"),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Too many requests. Try again later.\n"),
        }
    }

    pub(super) fn response(self) -> Response<Full<Bytes>> {
        let (status, text) = self.says();
        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CACHE_CONTROL, "no-store"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
            // The URL is as secret as a password.
            (header::REFERRER_POLICY, "no-referrer"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if let Self::WrongMethod(allowed) = self {
            headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
        }
        response
    }
}
