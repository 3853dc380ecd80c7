//! A generic mock server with `docs/reference/openapi.yaml` replies like the service: every method accepts the request
//! in the document, and the readers of `pg-proto` read its reply.
//!
//! The mock is Prism, which `cargo xtask test` installs into `target/openapi-mock/` as `tests/openapi/` says.

use std::{
    env,
    io::{BufRead, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use pg_model::{
    ApiRequest, AuthCardKey, AuthSessionKey, Currency, Encoding, EnterpriseTransactionLookup, Initiate, Item, METHODS,
    Order, Outcome, RetrieveAccountUpdater, TokenLookup,
};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials};
use pg_support::left_out;
use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The path of Prism, which is required on CI.
fn prism() -> Option<PathBuf> {
    // The program of a test is in `target/debug/deps/`.
    let target = env::current_exe().ok()?.ancestors().nth(3)?.to_path_buf();
    let program = target.join("openapi-mock/node_modules/.bin/prism");
    if program.is_file() {
        return Some(program);
    }
    left_out("the mock server from docs/reference/openapi.yaml is not installed (`cargo xtask test` does, with Node)");
    None
}

/// A running mock server, on a port of its choice.
struct Mock {
    process: Child,
    /// `127.0.0.1:41234`.
    authority: String,
}

impl Mock {
    fn start(program: PathBuf) -> Self {
        let mut command = Command::new(program);
        command.args(["mock", "--host", "127.0.0.1", "--port", "0", "docs/reference/openapi.yaml"]).current_dir(root());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Node runs Prism");
        let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let found = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, address) = line.split_once("listening on http://")?;
            Some(address.trim().to_owned())
        });
        // The rest of its output must be read.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { process, authority: found.expect("Prism takes the document and listens") }
    }

    /// An account at the mock service.
    fn account(&self) -> Account {
        let base = || BaseUrl::parse(&format!("http://{}", self.authority)).expect("it is an address");
        let signed = Credentials::new("0123456789abcdef0123456789abcdef", "examplePassword", "secret");
        Account::new(base(), signed)
            .enterprise(base(), EnterpriseCredentials::new("exampleKey", "examplePassword"))
            .encoding(Encoding::Json)
    }

    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (parts, body) = request.into_parts();
        let mut head =
            format!("POST {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", parts.uri.path(), self.authority);
        head += &format!("content-length: {}\r\n", body.len());
        for (name, value) in parts.headers.iter().filter(|(name, _)| *name != "host" && *name != "content-length") {
            head += &format!("{name}: {}\r\n", value.to_str().expect("it is text"));
        }
        let mut stream = TcpStream::connect(&self.authority).expect("it listens");
        stream.write_all(format!("{head}\r\n").as_bytes()).expect("it takes the head");
        stream.write_all(&body).expect("it takes the body");
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).expect("it answers");
        response(&reply)
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads a reply whose body ends when the connection closes.
fn response(reply: &[u8]) -> Response<Bytes> {
    let end = reply.windows(4).position(|window| window == b"\r\n\r\n").expect("a head ends with an empty line");
    let head = std::str::from_utf8(&reply[..end]).expect("a head is text");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status");
    let response = Response::builder().status(status);
    let headers = lines.filter_map(|line| line.split_once(": "));
    let response = headers.fold(response, |response, (name, value)| response.header(name, value));
    response.body(Bytes::copy_from_slice(&reply[end + 4..])).expect("the head is right")
}

/// Changes a request to the paths of the document: the header `Accept` selects the encoding, not the path.
fn as_documented(mut request: Request<Bytes>) -> Request<Bytes> {
    if let Some(path) = request.uri().path().strip_suffix("/json").map(str::to_owned) {
        *request.uri_mut() = path.parse().expect("it is a path");
        request.headers_mut().insert("accept", "application/json".parse().expect("it is text"));
    }
    request
}

/// Encodes a text for a form; every byte that is not plain becomes `%..`.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[test]
fn every_method_answers_what_the_document_shows() {
    let Some(program) = prism() else { return };
    let mock = Mock::start(program);
    let account = mock.account();
    let text = std::fs::read_to_string(root().join("docs/reference/openapi.yaml")).expect("the document exists");
    let document: Value = yaml_serde::from_str(&text).expect("it is YAML");
    for method in METHODS {
        let path = format!("{}{}", method.service.prefix, method.name);
        let form = &document["paths"][&path]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"];
        for (name, example) in form["examples"].as_object().expect("each method has examples") {
            let pairs = example["value"].as_object().expect("a form is an object").iter().map(|(name, value)| {
                let value = match value {
                    Value::String(text) => text.clone(),
                    Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                    other => other.to_string(),
                };
                format!("{}={}", encoded(name), encoded(&value))
            });
            let request = |accept: &str, body: String| {
                let request = Request::post(&path).header("content-type", "application/x-www-form-urlencoded");
                request.header("accept", accept).body(Bytes::from(body)).expect("it is a request")
            };
            let body = pairs.collect::<Vec<_>>().join("&");
            if method.reply == "RedirectData" {
                let sent_on = mock.send(request("*/*", body));
                assert_eq!(sent_on.status(), StatusCode::SEE_OTHER, "{method:?}, {name}");
                assert!(sent_on.headers()["location"].to_str().is_ok_and(|to| to.contains("?formId=")), "{method:?}");
                continue;
            }
            let encodings: &[&str] = if method.service.version == 5 {
                &["application/xml"]
            } else {
                &["application/json", "application/xml"]
            };
            for encoding in encodings {
                let reply = mock.send(request(encoding, body.clone()));
                let said = String::from_utf8_lossy(reply.body()).into_owned();
                assert_eq!(reply.status(), StatusCode::OK, "{method:?}, {name}: {:?} {said}", reply.headers());
                assert!(reply.headers()["content-type"].to_str().is_ok_and(|found| found == *encoding), "{method:?}");
                // Prism cannot read XML and reports that for every reply.
                let judged = *encoding == "application/json";
                assert!(!judged || !reply.headers().contains_key("sl-violations"), "{method:?}: {:?}", reply.headers());
                let record =
                    account.reply_of(method, &reply).unwrap_or_else(|error| panic!("{method:?}: {error}\n{said}"));
                assert_eq!(record.missing(), None, "{method:?}: {said}");
            }
        }
        let empty = Request::post(&path).header("content-type", "application/x-www-form-urlencoded");
        let refused = mock.send(empty.body(Bytes::new()).expect("it is a request"));
        assert!(refused.status().is_client_error(), "{method:?} takes a form with nothing in it: {}", refused.status());
    }
}

#[test]
fn a_client_of_the_service_is_a_client_of_the_mock() {
    let Some(program) = prism() else { return };
    let mock = Mock::start(program);
    let account = mock.account();
    fn call<M: ApiRequest>(mock: &Mock, account: &Account, method: &M) -> Result<M::Output, String> {
        let request = account.request(method).expect("the request is valid");
        account.reply::<M>(mock.send(as_documented(request))).map_err(|error| error.to_string())
    }
    let order = || Order::new(Currency::GBP).item(Item::new("Tea", 499).quantity(2)).unique_merchant_reference("7");

    let cards = call(&mock, &account, &TokenLookup::new().card_key("k")).expect("a list of cards");
    assert_eq!(cards.card_key_details.len(), 1);
    assert!(!cards.card_key_details[0].card_key.is_empty());
    let batch =
        call(&mock, &account, &RetrieveAccountUpdater::new("e4d3c2b1a0f9e8d7c6b5a4938271605f")).expect("a batch");
    assert!(!batch.card_key_details.is_empty());
    let session = call(&mock, &account, &Initiate::new("https://shop.example/error")).expect("a session");
    assert_eq!(session.session_key.as_str().len(), 32);
    for outcome in [
        call(&mock, &account, &AuthSessionKey::new(session.session_key, order())),
        call(&mock, &account, &AuthCardKey::new("k", order())),
    ] {
        let Ok(Outcome::Approved(payment)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(payment.transaction_key.as_str().len(), 32);
    }
    let payment = call(&mock, &account, &EnterpriseTransactionLookup::new("7d1e6f0a2b3c4d5e6f708192a3b4c5d6"))
        .expect("a transaction");
    assert!(!payment.value.is_empty(), "{payment:?}");

    let refused = account.request_unchecked(&AuthCardKey::new("", order())).expect("it can be written");
    let refused = account.reply::<AuthCardKey>(mock.send(as_documented(refused))).expect_err("the key is required");
    assert!(refused.to_string().contains("101"), "{refused}");
}
