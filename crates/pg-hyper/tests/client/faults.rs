//! The errors that a caller gets when the network or the service fails, over real loopback connections.

use std::{
    future::ready,
    io::{Read as _, Write as _},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use crate::client::server::{Answer, Server, account, unanswered_port};
use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, ClientBuilder, Error, HyperTransport, Transport as _,
    TransportError::{self, MaybeSent, NotSent},
    TransportErrorKind as Kind,
    proto::{
        EnterpriseCredentials, RawRequest,
        machine::{
            Reconcile,
            charge::{ChargeBounds, ChargeOutcome},
        },
        model::{
            ApiRequest as _, Auth, CapturePreauth, CardDetails, Currency, Dialect, EnterpriseRefund, EnterpriseResult,
            Initiate, Item, Order, Remedy, RequestAccountUpdater, TokenLookup, TransactionLookup,
        },
        parameters_of,
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// Long enough for a connection on this machine, short enough not to be noticed.
const SOON: Duration = Duration::from_millis(200);

fn payment() -> Auth {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    Auth::new(CardDetails::new("4111111111111111", "12", "30"), order)
}

fn lookup() -> TokenLookup {
    TokenLookup::new().card_key("4F2C-91")
}

fn client(server: &Server) -> Client {
    builder(server).build()
}

fn builder(server: &Server) -> ClientBuilder {
    Client::builder(server.account()).expect("loopback")
}

/// The error of a payment whose outcome is unknown. It names the lookup to make next.
async fn unknown(client: &Client) -> Error {
    let error = client.call(&payment()).await.expect_err("no payment was made");
    let lookup = TransactionLookup::new().unique_merchant_reference("order-7");
    assert!(
        matches!(&error, Error::Unknown { reconcile: Reconcile::Transaction(next), .. } if *next == lookup),
        "{error:?}"
    );
    match error {
        Error::Unknown { cause, .. } => *cause,
        other => other,
    }
}

#[tokio::test]
async fn no_server_listens() {
    let (_socket, address) = unanswered_port();
    let client = Client::new(account(&format!("http://{address}"))).expect("loopback");

    let error = client.call(&payment()).await.unwrap_err();
    assert!(matches!(error, Error::Transport(NotSent(Kind::Connect { .. }))), "{error:?}");
    assert!(!error.may_be_executed());
    assert_eq!(error.remedy(), Remedy::Retry);
    let line = error.to_string();
    assert!(line.starts_with(&format!("not sent: no connection to {address} (")), "{line}");
    assert!(line.ends_with("then send it again") && !line.contains('\n'), "{line}");
    assert!(std::error::Error::source(&error).is_some());
}

/// hyper never asks for a body without bytes, so the connection alone tells whether such a request was sent.
#[tokio::test]
async fn a_request_without_a_body_is_not_sent_if_no_connection_had_it() {
    let get = |address: &dyn std::fmt::Display, scheme: &str| {
        Request::get(format!("{scheme}://{address}/")).body(Bytes::new()).expect("a request")
    };
    let transport = HyperTransport::new().deadline(SOON);
    let (_socket, address) = unanswered_port();
    let error = transport.send(get(&address, "http")).await.unwrap_err();
    assert!(matches!(error, NotSent(Kind::Connect { .. })), "{error:?}");
    // The deadline passes in the TLS handshake.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let error = transport.send(get(&silent.local_addr().expect("an address"), "https")).await.unwrap_err();
    assert!(matches!(error, NotSent(Kind::Deadline(SOON))), "{error:?}");
    // A connection had it: it may have been executed.
    let server = Server::always(Answer::silence().then_close()).await;
    let error = transport.send(get(&server.address, "http")).await.unwrap_err();
    assert!(matches!(error, MaybeSent(Kind::Connection(_))), "{error:?}");
    let server = Server::always(Answer::silence()).await;
    let error = transport.send(get(&server.address, "http")).await.unwrap_err();
    assert!(matches!(error, MaybeSent(Kind::Deadline(SOON))), "{error:?}");
}

#[tokio::test]
async fn the_connection_is_closed_instead_of_a_reply() {
    let server = Server::always(Answer::silence().then_close()).await;
    let client = client(&server);

    let cause = unknown(&client).await;
    assert!(matches!(cause, Error::Transport(MaybeSent(Kind::Connection(_)))), "{cause:?}");
    assert_eq!(server.requests(), 1, "zero retries means zero");

    let error = client.call(&lookup()).await.unwrap_err();
    assert!(matches!(error, Error::Transport(MaybeSent(_))), "a lookup is never unknown: {error:?}");
    assert!(error.may_be_executed());
    assert_eq!(server.requests(), 2);
}

#[tokio::test]
async fn a_pooled_connection_dies_under_a_request_that_was_sent() {
    let ok = Answer::reply(
        "200 OK",
        r#"<serviceResponse><sessionKey>0123456789abcdef0123456789abcdef</sessionKey></serviceResponse>"#,
    );
    let server = Server::start(move |n| if n == 0 { ok.clone() } else { Answer::silence().then_close() }).await;
    let client = client(&server);

    client.call(&Initiate::new("https://shop.example/error")).await.expect("a session");
    unknown(&client).await;
    assert_eq!(
        (server.requests(), server.connections()),
        (2, 1),
        "the connection was used again, the payment not resent"
    );
}

/// A proxy that delivers a request twice may pass on two replies. The second one arrives while the thread is busy, for
/// example with storing a machine, so the runtime does not know of it when the next request is sent.
#[tokio::test]
async fn a_second_reply_is_not_taken_for_the_reply_to_the_next_request() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (begin, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    std::thread::spawn(move || {
        for body in ["one", "two"] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{body}");
            stream.write_all(reply.as_bytes()).unwrap();
            begun.recv().unwrap();
            stream.write_all(reply.as_bytes()).unwrap();
            end.send(()).unwrap();
        }
    });
    let transport = HyperTransport::new();
    for body in ["one", "two"] {
        let request = Request::get(&url).body(Bytes::new()).unwrap();
        assert_eq!(transport.send(request).await.unwrap().body(), body);
        begin.send(()).unwrap();
        // This blocks the thread on purpose.
        ended.recv().unwrap();
    }
}

#[tokio::test]
async fn a_reply_is_cut_off() {
    for cut in [
        "HTTP/1.1 200 OK\r\ncontent-",
        "HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\n<serviceResponse><transactionKey>0123",
    ] {
        let server = Server::always(Answer::bytes(cut).then_close()).await;
        let cause = unknown(&client(&server)).await;
        assert!(matches!(cause, Error::Transport(MaybeSent(Kind::Connection(_)))), "{cause:?}");
    }
}

#[tokio::test]
async fn the_reply_never_comes() {
    for start in ["", "HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\n<serviceResponse>"] {
        let server = Server::always(Answer::bytes(start)).await;
        let cause = unknown(&builder(&server).deadline(SOON).build()).await;
        assert!(matches!(cause, Error::Transport(MaybeSent(Kind::Deadline(SOON)))), "{cause:?}");
        assert_eq!(cause.to_string(), "maybe sent: the deadline of 200ms passed");
    }
}

/// A connection keeps its timer from one request to the next.
#[tokio::test]
async fn every_request_over_a_connection_has_its_own_deadline() {
    let ok = Answer::reply(
        "200 OK",
        r#"<serviceResponse><sessionKey>0123456789abcdef0123456789abcdef</sessionKey></serviceResponse>"#,
    );
    let server = Server::start(move |n| if n == 0 { ok.clone() } else { Answer::silence() }).await;
    let transport = HyperTransport::new();
    let patient = Client::with_transport(server.account(), transport.clone());
    patient.call(&Initiate::new("https://shop.example/error")).await.expect("a session");
    let cause = unknown(&Client::with_transport(server.account(), transport.deadline(SOON))).await;
    assert!(matches!(cause, Error::Transport(MaybeSent(Kind::Deadline(SOON)))), "{cause:?}");
    assert_eq!((server.requests(), server.connections()), (2, 1));
}

#[tokio::test]
async fn the_deadline_passes_while_connecting() {
    // It takes connections, and never answers the client's part of the TLS handshake.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let client = Client::builder(account(&format!("https://{address}"))).expect("https").deadline(SOON).build();

    let error = client.call(&payment()).await.unwrap_err();
    assert!(matches!(error, Error::Transport(NotSent(Kind::Deadline(SOON)))), "{error:?}");
}

#[tokio::test]
async fn https_to_a_server_that_does_not_speak_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("a client that reads");
        // Closed with something unread, the connection would be reset, and the answer lost.
        drop(stream.read_to_end(&mut Vec::new()).await);
    });
    let client = Client::new(account(&format!("https://{address}"))).expect("https");

    let error = client.call(&payment()).await.unwrap_err();
    assert!(matches!(error, Error::Transport(NotSent(Kind::Connect { .. }))), "{error:?}");
    let line = error.to_string();
    assert!(
        line.starts_with(&format!("not sent: no connection to {address} (the server there does not speak TLS)")),
        "{line}"
    );
    assert!(line.contains("its port for https") && !line.contains("InvalidContentType"), "{line}");
    let cause = std::error::Error::source(&error).expect("what the connector said");
    assert!(cause.to_string().contains("InvalidContentType"), "{cause}");
}

#[tokio::test]
async fn a_reply_is_too_large() {
    let announced = "HTTP/1.1 200 OK\r\ncontent-length: 65\r\n\r\n".to_owned() + &"x".repeat(65);
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned()
        + &format!("20\r\n{0}\r\n20\r\n{0}\r\n1\r\nx\r\n0\r\n\r\n", "x".repeat(32));
    for reply in [announced, chunked] {
        let server = Server::always(Answer::bytes(reply)).await;
        let cause = unknown(&builder(&server).body_limit(64).build()).await;
        assert!(matches!(cause, Error::Transport(MaybeSent(Kind::ReplyTooLarge(64)))), "{cause:?}");
    }
}

#[tokio::test]
async fn a_reply_in_pieces_is_read_whole() {
    let body = r#"<serviceResponse><sessionKey>0123456789abcdef0123456789abcdef</sessionKey></serviceResponse>"#;
    let (a, b) = body.split_at(30);
    let chunked = format!(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n",
        a.len(),
        b.len()
    );
    let server = Server::always(Answer::bytes(chunked)).await;
    let client = builder(&server).body_limit(body.len()).build();
    let session = client.call(&Initiate::new("https://shop.example/error")).await.expect("a session");
    assert_eq!(session.session_key, "0123456789abcdef0123456789abcdef");
}

#[tokio::test]
async fn a_response_that_is_no_http_makes_the_outcome_unknown() {
    let server = Server::always(Answer::bytes("SSH-2.0-OpenSSH_9.6\r\n").then_close()).await;
    let cause = unknown(&client(&server)).await;
    assert!(matches!(cause, Error::Transport(MaybeSent(Kind::Connection(_)))), "{cause:?}");
}

// spec: 1 §7, A44
#[tokio::test]
async fn a_gateway_in_between_answers_in_html() {
    let server = Server::always(Answer::reply("502 Bad Gateway", "<html><body>Bad Gateway</body></html>")).await;
    let cause = unknown(&client(&server)).await;
    assert!(matches!(cause, Error::Unreadable(_)), "{cause:?}");
    let error = client(&server).call(&lookup()).await.unwrap_err();
    assert!(matches!(error, Error::Unreadable(_)), "{error:?}");
    assert!(error.to_string().contains("HTTP 502"), "{error}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let target =
        Server::always(Answer::reply("200 OK", "<serviceResponse><result>OK</result></serviceResponse>")).await;
    let redirect =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{}/\r\ncontent-length: 0\r\n\r\n", target.address);
    let server = Server::always(Answer::bytes(redirect)).await;
    let error = client(&server).call(&lookup()).await.unwrap_err();
    assert!(matches!(&error, Error::Unreadable(reply) if reply.http_status == 307), "{error:?}");
    assert_eq!((server.requests(), target.connections()), (1, 0));
}

#[tokio::test]
async fn wrong_credentials_are_refused() {
    let body = "<serviceResponse><errorCode>102</errorCode><traceCode>12345678</traceCode><errorMessage>Invalid API credentials</errorMessage></serviceResponse>";
    let server = Server::always(Answer::reply("401 Unauthorized", body)).await;
    let error = client(&server).call(&payment()).await.unwrap_err();
    assert!(matches!(&error, Error::Refused(_)), "{error:?}");
    assert_eq!(error.remedy(), Remedy::FixCredentials);
    assert!(!error.may_be_executed());
    assert_eq!(
        error.to_string(),
        "refused: 102 Invalid API credentials (trace code 12345678, HTTP 401): check the API key and password"
    );
}

// spec: 2 §7, A93
#[tokio::test]
async fn no_response_from_the_bank_leaves_a_payment_unknown() {
    let body = r#"{"errorCode":"119","traceCode":"12345678","errorMessage":"No response from bank"}"#;
    let server = Server::always(Answer::reply("400 Bad Request", body)).await;
    let error = client(&server).call(&payment()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "outcome unknown, look it up next (transaction/lookup uniqueMerchantReference=order-7): \
         refused: 119 No response from bank (trace code 12345678, HTTP 400)"
    );
    assert_eq!(error.remedy(), Remedy::LookUp);
}

// spec: 3 §7, A112: The document of version 5 shows 1 and 3 only.
#[tokio::test]
async fn a_number_of_version_3_refuses_no_refund_of_version_5() {
    let sandbox = Dialect::from_toml(include_str!("../../../pg-sandbox/dialects/sandbox.toml")).unwrap();
    for (dialect, code, refused) in [
        (Dialect::documented(), "108", false),
        (Dialect::documented(), "102", false),
        (Dialect::documented(), "3", true),
        (sandbox.clone(), "108", true),
        (sandbox, "107", false),
    ] {
        let body = format!("<serviceResponse><errorcode>{code}</errorcode></serviceResponse>");
        let server = Server::always(Answer::reply("400 Bad Request", &body)).await;
        let account = server.account().with_dialect(dialect);
        let base = account.base_urls().next().unwrap().clone();
        let account = account.enterprise(base, EnterpriseCredentials::new("k".repeat(32), "p".repeat(32)));
        let refund = EnterpriseRefund::new("7", "5.00");
        let raw = RawRequest::of(EnterpriseRefund::INFO, parameters_of(&refund));
        let client = || Client::new(account.clone()).unwrap();
        for error in [
            client().call(&refund).await.unwrap_err(),
            client().call_raw::<EnterpriseResult>(&raw).await.unwrap_err(),
            client().call_by_name(EnterpriseRefund::INFO, parameters_of(&refund)).await.err().unwrap(),
        ] {
            assert_eq!(matches!(error, Error::Refused(_)), refused, "{code}: {error:?}");
            assert_eq!(matches!(error, Error::Unknown { .. }), !refused, "{code}: {error:?}");
        }
    }
}

/// A client that took these for refusals would pay again under another reference.
// spec: 1 §7, A132
#[tokio::test]
async fn a_used_reference_and_an_unlisted_code_leave_a_payment_unknown() {
    let body = |code: &str| format!(r#"{{"errorCode":"{code}","traceCode":"12345678","errorMessage":"No"}}"#);
    for code in ["950", "125", "777"] {
        let server = Server::always(Answer::reply("400 Bad Request", &body(code))).await;
        let error = client(&server).call(&payment()).await.unwrap_err();
        let Error::Unknown { reconcile: Reconcile::Transaction(lookup), cause } = &error else {
            panic!("{code}: {error:?}")
        };
        assert_eq!(*lookup, TransactionLookup::new().unique_merchant_reference("order-7"));
        assert!(matches!(&**cause, Error::Refused(refused) if refused.code().as_str() == code));
        assert_eq!((error.remedy(), error.may_be_executed()), (Remedy::LookUp, true), "{code}");
    }
    // A capture that was done before, as the sandbox's dialect says; one that is refused for an unknown reason; and refusals
    // of a second copy, whose first one left nothing to capture, or used the account's last request.
    let sandbox = Dialect::from_toml(include_str!("../../../pg-sandbox/dialects/sandbox.toml")).unwrap();
    for (code, unknown) in [("952", true), ("777", true), ("107", true), ("121", true), ("936", true), ("102", false)] {
        let server = Server::always(Answer::reply("400 Bad Request", &body(code))).await;
        let capture = CapturePreauth::new("0123456789abcdef0123456789abcdef");
        let client = Client::new(server.account().with_dialect(sandbox.clone())).unwrap();
        let error = client.call(&capture).await.unwrap_err();
        assert_eq!(
            matches!(error, Error::Unknown { reconcile: Reconcile::AskOperator, .. }),
            unknown,
            "{code}: {error:?}"
        );
    }
    // The reason of a refusal of a payment may be that its first copy came before it.
    for (status, code, unknown) in [
        ("403 Forbidden", "777", true),
        ("429 Too Many Requests", "777", true),
        ("403 Forbidden", "121", true),
        ("400 Bad Request", "129", true),
        ("400 Bad Request", "107", false),
        ("400 Bad Request", "108", false),
        ("400 Bad Request", "109", false),
    ] {
        let server = Server::always(Answer::reply(status, &body(code))).await;
        let error = client(&server).call(&payment()).await.unwrap_err();
        assert_eq!(matches!(error, Error::Unknown { .. }), unknown, "{status} {code}: {error:?}");
    }
    // A batch that the service may have, if a proxy answered in its place.
    for (code, unknown) in [("777", true), ("timeout", true), ("180", false), ("106", false)] {
        let server = Server::always(Answer::reply("400 Bad Request", &body(code))).await;
        let error = client(&server).call(&RequestAccountUpdater::new("updater", ["4F2C-91"])).await.unwrap_err();
        assert_eq!(matches!(error, Error::Unknown { .. }), unknown, "{code}: {error:?}");
    }
    // What only reads is refused, whatever the code.
    let server = Server::always(Answer::reply("400 Bad Request", &body("777"))).await;
    assert!(matches!(client(&server).call(&lookup()).await, Err(Error::Refused(_))));
}

#[tokio::test]
async fn the_reply_to_another_request_leaves_a_payment_unknown() {
    for (field, other) in [
        ("uniqueMerchantReference", r#""uniqueMerchantReference":"order-8""#),
        ("currency", r#""currency":"USD""#),
        ("amount", r#""transactionValue":"1""#),
        ("type", r#""transactionType":"Refund""#),
    ] {
        let body = format!(
            r#"{{"transactionStatusCode":"600","transactionStatus":"Approved","transactionKey":"k-1",{other}}}"#
        );
        let server = Server::always(Answer::reply("200 OK", &body)).await;
        let by_name = parameters_of(&payment());
        for error in [
            client(&server).call(&payment()).await.map(drop).unwrap_err(),
            client(&server).call_by_name(Auth::INFO, by_name).await.map(drop).unwrap_err(),
        ] {
            let Error::Unknown { reconcile: Reconcile::Transaction(_), cause } = &error else { panic!("{error:?}") };
            assert!(matches!(&**cause, Error::OtherReply(differs, _) if *differs == field), "{field}: {error:?}");
            assert!(error.to_string().contains("the reply (transaction k-1) belongs to another request"), "{error}");
        }
    }
}

#[tokio::test]
async fn without_a_reference_only_the_operator_knows() {
    let server = Server::always(Answer::silence().then_close()).await;
    let capture = CapturePreauth::new("0123456789abcdef0123456789abcdef");
    let error = client(&server).call(&capture).await.unwrap_err();
    assert!(matches!(error, Error::Unknown { reconcile: Reconcile::AskOperator, .. }), "{error:?}");
    assert_eq!(error.remedy(), Remedy::AskOperator);
    assert!(error.to_string().contains("ask the operator"), "{error}");
}

#[tokio::test]
async fn misuse_sends_nothing() {
    let server = Server::always(Answer::silence()).await;
    let wrong = Auth::new(CardDetails::new("41", "13", "30"), Order::new("pounds").item(Item::new("Tea", 499)));
    let error = client(&server).call(&wrong).await.unwrap_err();
    let Error::Misuse(misuse) = &error else { panic!("{error:?}") };
    let names: Vec<_> = misuse.violations().into_iter().flatten().map(|violation| violation.name.as_str()).collect();
    assert_eq!(names, ["cardNumber", "cardExpiryMonth", "currency"]);
    assert_eq!(error.remedy(), Remedy::FixRequest);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_transport_of_ones_own_gets_no_request_to_an_insecure_address() {
    let passed = Arc::new(AtomicUsize::new(0));
    let over = |base: &str| {
        let passed = Arc::clone(&passed);
        Client::with_transport(account(base), move |_: Request<Bytes>| {
            passed.fetch_add(1, Ordering::SeqCst);
            ready(Err::<Response<Bytes>, _>(TransportError::maybe_sent("cut")))
        })
    };
    let once = ChargeBounds::default().attempts(1);
    for base in ["http://gateway.example", "http://127.0.0.1.gateway.example", "http://10.0.0.1:8480"] {
        let error = over(base).call(&payment()).await.unwrap_err();
        assert!(matches!(error, Error::Transport(NotSent(Kind::Insecure(_)))), "{base} {error:?}");
        let charged = over(base).charge(payment()).unwrap().bounds(once).await;
        assert_eq!(charged, ChargeOutcome::NotSent, "{base}");
    }
    assert_eq!(passed.load(Ordering::SeqCst), 0);
    for base in ["https://gateway.example", "http://127.0.0.1:9", "http://localhost:9"] {
        let before = passed.load(Ordering::SeqCst);
        assert!(over(base).call(&payment()).await.unwrap_err().may_be_executed(), "{base}");
        assert_eq!(passed.load(Ordering::SeqCst), before + 1, "{base}");
    }
}

#[tokio::test]
async fn insecure_addresses_are_refused_before_anything_is_sent() {
    let insecure = Client::new(account("http://gateway.example")).unwrap_err();
    assert!(insecure.to_string().starts_with("http://gateway.example is neither https nor"), "{insecure}");

    let client = Client::with_transport(account("http://gateway.example"), HyperTransport::new());
    let error = client.call(&payment()).await.unwrap_err();
    assert!(matches!(error, Error::Transport(NotSent(Kind::Insecure(_)))), "{error:?}");
    assert_eq!(error.remedy(), Remedy::FixRequest);
}
