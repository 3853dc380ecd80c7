//! A customer's browser, as far as the card form needs one: it posts forms and follows redirects.

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use pg_hyper::{HyperTransport, Transport};
use pg_proto::CardForm;

/// The fields that a customer fills in.
pub const VISA: [(&str, &str); 5] = [
    ("cardNumber", "4111111111111111"),
    ("cardExpiryMonth", "12"),
    ("cardExpiryYear", "2031"),
    ("cardCV2", "987"),
    ("cardholderName", "A Holder"),
];

/// Posts a form with its hidden fields and the customer's input.
///
/// # Panics
/// When there is no reply.
pub async fn post(form: &CardForm, filled_in: &[(&str, &str)]) -> Response<Bytes> {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form.hidden_fields())
        .extend_pairs(filled_in)
        .finish();
    let request = Request::post(form.action())
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Bytes::from(body))
        .expect("a request");
    HyperTransport::new().send(request).await.expect("a reply")
}

/// The target of a redirect.
///
/// # Panics
/// When the reply is not a redirect as the service makes them (spec 2 §4.2).
#[must_use]
pub fn location(response: &Response<Bytes>) -> &str {
    assert_eq!(response.status(), StatusCode::SEE_OTHER, "{:?}", response.body());
    response.headers()[header::LOCATION].to_str().expect("a plain address")
}
