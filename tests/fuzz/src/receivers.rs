//! The receiver of callbacks and returns: its responses are fixed texts, and its events are hints.

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use pg_hyper::{EndpointPurpose, Notification, Receiver, ReceiverLimits};
use pg_proto::BaseUrl;
use tokio::runtime::Runtime;
use tower_service::Service;

use crate::dice::Dice;

const DOORS: [(EndpointPurpose, &str); 6] = [
    (EndpointPurpose::UpdaterCallback, "00000000000000000000000000000001"),
    (EndpointPurpose::CheckoutCallback, "00000000000000000000000000000002"),
    (EndpointPurpose::CheckoutReturn, "00000000000000000000000000000003"),
    (EndpointPurpose::CheckoutCancel, "00000000000000000000000000000004"),
    (EndpointPurpose::CardForm, "00000000000000000000000000000005"),
    (EndpointPurpose::Challenge, "00000000000000000000000000000006"),
];

/// The length of a body that is too long.
const BODY_BYTES: usize = 512;

thread_local! {
    static RUNTIME: Runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
}

/// Sends any request to a receiver with an endpoint of every kind.
pub fn receiver(input: &[u8]) {
    let mut dice = Dice::new(input);
    let (_, token) = dice.one_of(&DOORS);
    let path = match dice.below(8) {
        0 => "/".to_owned(),
        1 => format!("/{}", dice.text(40)),
        2 => format!("/pg/{token}/"),
        3 => format!("/{token}x"),
        _ => format!("/pg/{token}"),
    };
    let target = format!("{path}?{}", dice.text(160));
    let method = dice.one_of(&["POST", "GET", "POST", "HEAD", "PUT", "get"]);
    let content_type = dice.bytes(24).to_vec();
    let body = Bytes::copy_from_slice(dice.rest());
    let Ok(uri) = target.parse::<http::Uri>() else { return };
    let request = || {
        let mut request = Request::builder().method(method).uri(uri.clone()).body(Full::new(body.clone())).unwrap();
        if let Ok(value) = HeaderValue::from_bytes(&content_type) {
            request.headers_mut().insert("content-type", value);
        }
        request
    };
    let (first, news) = answered(request());
    let (again, news_again) = answered(request());
    assert_eq!((first.0, &first.1), (again.0, &again.1));
    assert_eq!(news.len(), news_again.len());
    fixed(&first);
    // A refused callback is handed out for people.
    let refused = news.iter().filter(|(_, said)| matches!(said, Notification::Refused(_))).count();
    assert_eq!(news.len() - refused, usize::from(first.0 == StatusCode::OK), "{first:?}");
    assert!(refused == 0 || [StatusCode::BAD_REQUEST, StatusCode::METHOD_NOT_ALLOWED].contains(&first.0), "{first:?}");
    assert!(body.len() <= BODY_BYTES || first.0 != StatusCode::OK);
    for (opened, said) in news {
        // Arbitrary text can be the token of another door.
        assert!(path.contains(&opened), "{said:?}");
        let (purpose, _) = DOORS.into_iter().find(|(_, token)| *token == opened).expect("one of the doors");
        let fits = matches!(
            (purpose, &said),
            (EndpointPurpose::UpdaterCallback, Notification::Updater(_) | Notification::Refused(_))
                | (EndpointPurpose::CheckoutCallback, Notification::Refused(_))
                | (EndpointPurpose::CheckoutCallback | EndpointPurpose::CheckoutReturn, Notification::Paid(_))
                | (EndpointPurpose::CheckoutCancel, Notification::CheckoutLeft)
                | (EndpointPurpose::CardForm, Notification::CardForm(_))
                | (EndpointPurpose::Challenge, Notification::Challenged)
        );
        assert!(fits, "{said:?} through a door for {purpose:?}");
    }
}

type Answered = (StatusCode, Bytes);

fn answered(request: Request<Full<Bytes>>) -> (Answered, Vec<(String, Notification)>) {
    let limits = ReceiverLimits::default().body_bytes(BODY_BYTES);
    let mut receiver = Receiver::nested(&BaseUrl::parse("https://shop.example/pg").unwrap(), limits);
    for (purpose, token) in DOORS {
        drop(receiver.reopen(purpose, token).unwrap());
    }
    let mut service = receiver.service();
    let mut news = Vec::new();
    let response: Response<Full<Bytes>> = RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let mut call = service.call(request);
            loop {
                tokio::select! {
                    biased;
                    response = &mut call => break response.unwrap(),
                    Some(received) = receiver.next() => {
                        received.receipt.acknowledge();
                        news.push((received.token, received.notification));
                    }
                }
            }
        })
    });
    // The events of a browser stay queued until the next poll.
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            tokio::select! {
                biased;
                Some(received) = receiver.next() => news.push((received.token, received.notification)),
                () = std::future::ready(()) => {}
            }
            let (parts, body) = response.into_parts();
            ((parts.status, body.collect().await.unwrap().to_bytes()), news)
        })
    })
}

/// Only the status of the response depends on the request.
fn fixed((status, text): &Answered) {
    let words = match status.as_u16() {
        200 => "Received. This page can be closed.\n",
        400 => "This request cannot be read.\n",
        404 => "There is nothing here.\n",
        405 => "This method is not allowed.\n",
        413 => "This request is too long.\n",
        other => panic!("status {other}"),
    };
    assert_eq!(text, words);
}
