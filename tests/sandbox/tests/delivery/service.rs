//! A sandbox server, and a merchant that calls it with plain sockets.

use pg_sandbox::{Config, Server, Settings};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// How often a callback that is on its way is looked at before a test gives up.
const LOOKS: usize = 100_000;

pub(crate) struct Service(Server);

impl Service {
    pub(crate) async fn start(config: Config) -> Self {
        Self(Server::start(config).await.unwrap())
    }

    pub(crate) async fn stop(self) {
        self.0.shutdown().await.unwrap();
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(self.0.address()).await.unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path} {answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    async fn call(&self, method: &str, pairs: &[(&str, &str)]) -> Value {
        let settings = Settings::default();
        let merchant = settings.merchants.by_name("main").unwrap();
        self.send("POST", &format!("/v3/{method}/json"), &pg_support::signed_form(merchant, pairs)).await
    }

    pub(crate) async fn control(&self, path: &str, body: &str) -> Value {
        self.send("POST", &format!("/_sandbox/{path}"), body).await
    }

    pub(crate) async fn turn(&self, change: &str) {
        self.control("clock", change).await;
    }

    pub(crate) async fn callbacks(&self) -> Value {
        self.send("GET", "/_sandbox/callbacks", "").await
    }

    /// The newest callback once it is on its way no more.
    pub(crate) async fn settled(&self) -> Value {
        for _ in 0..LOOKS {
            let newest = self.callbacks().await[0].take();
            if !newest.is_null() && newest["status"] != "pending" {
                return newest;
            }
        }
        panic!("the callback is still pending");
    }

    /// A batch of one new token.
    pub(crate) async fn request_batch(&self, callback_url: &str) -> String {
        let paid = self.call("transaction/auth", &pg_support::payment("")[..6]).await;
        let transaction = [("transactionKey", paid["transactionKey"].as_str().unwrap())];
        let tokens = self.call("token/tokeniseTransactionKey", &transaction).await;
        let settings = Settings::default();
        let updater = settings.merchants.by_name("main").unwrap().account_updater_key.as_ref().unwrap();
        let request = [
            ("accountUpdaterKey", updater.expose()),
            ("cardKey", tokens["cardKeyDetails"]["0"]["cardKey"].as_str().unwrap()),
            ("callbackUrl", callback_url),
        ];
        let requested = self.call("token/requestAccountUpdater", &request).await;
        requested["batchKey"].as_str().unwrap().to_owned()
    }

    /// The same, and the clock is turned until it has finished.
    pub(crate) async fn finish_batch(&self, callback_url: &str) -> String {
        let batch = self.request_batch(callback_url).await;
        self.turn(r#"{"advanceSeconds": 120}"#).await;
        batch
    }
}
