//! Settings of `pg sandbox`: its public URL, access to the control interface, and allowed callback targets.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::Value;

use crate::command::{
    peer::{Peer, reply},
    pg::pg,
    sandbox::{CARD, Running},
};

impl Running {
    /// Asks the control interface over a plain connection, by this host name. Returns the whole reply.
    fn control(&self, host: &str, path: &str, body: &str) -> String {
        let address = self.facts["baseUrl"].as_str().unwrap().strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let (method, length) = (if body.is_empty() { "GET" } else { "POST" }, body.len());
        let head = format!("{method} /_sandbox/{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Asks the account updater about a new card key, with this address for the callback.
    fn request_update(&self, callback_url: &str) -> crate::command::pg::Ended {
        let paid = self.run(&format!("call transaction/auth cardNumber=4000000000001000 {CARD}")).ends(0);
        let paid: Value = serde_json::from_str(&paid.out).unwrap();
        let stored = self.run(&format!(
            "call token/tokeniseTransactionKey transactionKey={}",
            paid["transactionKey"].as_str().unwrap()
        ));
        let stored: Value = serde_json::from_str(&stored.ends(0).out).unwrap();
        let card = stored.pointer("/cardKeyDetails/0/cardKey").unwrap().as_str().unwrap();
        let key = self.facts["merchants"][0]["accountUpdaterKey"].as_str().unwrap();
        self.run(&format!(
            "call token/requestAccountUpdater accountUpdaterKey={key} cardKey={card} callbackUrl={callback_url}"
        ))
    }
}

#[test]
fn browsers_are_sent_to_the_public_address() {
    let sandbox = Running::start(&["--public-url", "https://pay.shop.test/"]);
    assert_eq!(sandbox.facts["publicUrl"], "https://pay.shop.test");
    sandbox.run("call checkout/gettoken item_name[0]=Tea item_price[0]=1").ends(0).prints("https://pay.shop.test/pay/");
    let sandbox = Running::start(&[]);
    assert_eq!(sandbox.facts.get("publicUrl"), None);
    let own = format!("{}/pay/", sandbox.facts["baseUrl"].as_str().unwrap());
    sandbox.run("call checkout/gettoken item_name[0]=Tea item_price[0]=1").ends(0).prints(&own);
}

#[test]
fn only_an_address_without_a_path_is_a_public_one() {
    for (given, problem) in [
        ("pay.shop.test", "scheme"),
        ("ftp://pay.shop.test", "neither http nor https"),
        ("https://pay.shop.test?a=b", "query"),
        ("https://pay.shop.test/sandbox", "it has a path"),
    ] {
        pg(["sandbox", "--listen", "127.0.0.1:0", "--public-url", given])
            .run()
            .ends(2)
            .says("--public-url")
            .says(problem);
    }
}

#[test]
fn private_networks_are_reached_only_with_the_flag() {
    // No callback is sent: the batch never finishes here.
    let address = "http://10.11.12.13/updated";
    Running::start(&[]).request_update(address).ends(1).says("184");
    Running::start(&["--private-networks"]).request_update(address).ends(0).prints("batchKey");
    Running::start(&["--private-networks"]).request_update("http://169.254.169.254/").ends(1).says("184");
}

#[test]
fn letting_others_control_it_needs_a_token() {
    for token in [None, Some("0123456789abcde")] {
        let mut command = pg(["sandbox", "--listen", "127.0.0.1:0", "--control-from-anywhere"]);
        if let Some(token) = token {
            command = command.env("PG_CONTROL_TOKEN", token);
        }
        command.run().ends(2).says("set PG_CONTROL_TOKEN to at least 16 characters");
    }
    #[cfg(unix)]
    pg(["sandbox", "--listen", "127.0.0.1:0", "--control-from-anywhere"])
        .env_bytes("PG_CONTROL_TOKEN", b"\xff123456789abcdef")
        .run()
        .ends(2)
        .says("the environment variable PG_CONTROL_TOKEN is not valid UTF-8");
}

#[test]
fn the_control_interface_accepts_the_configured_names() {
    let sandbox = Running::start(&["--control-host", "sandbox.test"]);
    assert!(sandbox.control("sandbox.test", "clock", "").starts_with("HTTP/1.1 200"));
    assert!(sandbox.control("evil.test", "clock", "").starts_with("HTTP/1.1 403"));
    for wrong in ["http://sandbox.test", "sandbox.test:8480", "sandbox test", "sandbox.test/", ""] {
        pg(["sandbox", "--listen", "127.0.0.1:0", "--control-host", wrong]).run().ends(2).says("a host name only");
    }
}

#[test]
fn callbacks_trust_an_authority_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let (receiver, certificate) = Peer::answering_over_tls(&reply("200 OK", "text/plain", ""));
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, certificate.pem()).unwrap();
    let sandbox = Running::start(&["--certificate-authority", file.to_str().unwrap()]);
    sandbox.request_update(&format!("{}/updated", receiver.base)).ends(0);
    assert!(sandbox.control("localhost", "clock", r#"{"advanceSeconds": 120}"#).starts_with("HTTP/1.1 200"));
    let callback = receiver.request();
    assert!(callback.starts_with("POST /updated HTTP/1.1\r\n") && callback.contains("oldCardKey"), "{callback}");
}

#[test]
fn an_invalid_certificate_authority_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    let sandbox =
        || pg(["sandbox", "--listen", "127.0.0.1:0", "--certificate-authority", file.to_str().unwrap()]).run();
    sandbox().ends(2).says("ca.pem");
    std::fs::write(&file, "no certificate").unwrap();
    sandbox().ends(2).says("ca.pem: it contains no certificate");
    std::fs::write(&file, "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n").unwrap();
    sandbox().ends(2).says("is invalid").says("--certificate-authority");
}

#[test]
fn an_invalid_javascript_decoder_is_named_and_a_valid_one_runs_in_the_inspector() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().to_str().unwrap();
    pg(["sandbox", "--listen", "127.0.0.1:0", "--wasm-package", package]).run().ends(2).says("contains no decoder");
    for file in ["web.js", "decoder.js", "pg_wasm.wasm"] {
        std::fs::write(folder.path().join(file), file).unwrap();
    }
    let sandbox = Running::start(&["--wasm-package", package]);
    let script = sandbox.control("localhost", "pages/decoder/decoder.js", "");
    assert!(script.ends_with("decoder.js"), "{script}");
}
