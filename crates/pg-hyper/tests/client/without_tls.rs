//! The client without the feature `tls`.

use pg_hyper::{Client, Error, TransportError, TransportErrorKind};
use pg_model::Initiate;

use crate::client::server::account;

#[tokio::test]
async fn an_https_address_is_refused_before_anything_is_sent() {
    let client = Client::new(account("https://127.0.0.1:1")).unwrap();
    let error = client.call(&Initiate::new("https://shop.example/error")).await.unwrap_err();
    let Error::Transport(TransportError::NotSent(TransportErrorKind::Connect { .. })) = &error else {
        panic!("{error}")
    };
    assert!(error.to_string().contains("without the feature tls"), "{error}");
}
