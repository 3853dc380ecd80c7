//! `pg listen`.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    process::{ChildStdout, Command},
    sync::mpsc::{Receiver, channel},
};

use bytes::Bytes;
use http::Request;
use pg_model::{CheckoutItem, Flag, GetToken, RequestAccountUpdater};
use serde_json::Value;

use crate::command::{
    peer::{Peer, read_request},
    pg::{Ended, Pg, Started, pg, words},
    sandbox::Running,
    shop::Shop,
};

/// A listener process, ended with the test.
struct Listening {
    child: Started,
    out: BufReader<ChildStdout>,
    facts: Value,
}

impl Listening {
    fn start(pg: Pg) -> Self {
        let mut child = pg.start();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut listening = Self { child, out, facts: Value::Null };
        listening.facts = listening.next();
        listening
    }

    /// The next line of output.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn address(&self, name: &str) -> &str {
        self.facts["addresses"][name].as_str().unwrap()
    }
}

fn get(shop: &Shop, url: &str) -> u16 {
    shop.send(Request::get(url).body(Bytes::new()).unwrap()).status().as_u16()
}

/// Pays with the listener as the shop, and returns its report of the callback; it also reports the customer's return.
fn pay_on_the_hosted_page(shop: &Shop, listening: &mut Listening) -> Value {
    let urls = [listening.address("checkoutReturn"), listening.address("checkoutCallback")];
    let request = GetToken::new().item(CheckoutItem::new("Tea", "4.99")).auto_redirect(Flag::YES);
    let request = request.success_url(urls[0]).cancel_url(listening.address("checkoutCancel")).callback_url(urls[1]);
    let page = shop.client.call(&request).unwrap().token.redemption_url;
    let shown = shop.send(Request::get(page.as_str()).body(Bytes::new()).unwrap());
    let shown = String::from_utf8_lossy(shown.body()).into_owned();
    let visit = shown.split("name=\"visit\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let form = format!(
        "visit={visit}&cardNumber=4000000000001000&cardExpiryMonth=12&cardExpiryYear=49&cardCV2=123&cardholderName=Ann"
    );
    let paid = Request::post(page.as_str()).header("content-type", "application/x-www-form-urlencoded");
    let paid = shop.send(paid.body(Bytes::from(form)).unwrap());
    let told = listening.next();
    assert_eq!(get(shop, paid.headers()["location"].to_str().unwrap()), 200);
    let returned = listening.next();
    assert_eq!((&returned["what"], &returned["confirmed"]), (&"checkoutReturn".into(), &told["confirmed"]));
    told
}

#[test]
fn callbacks_are_confirmed_by_asking_the_service() {
    let sandbox = Running::start(&[]);
    let shop = Shop::of(&sandbox);
    let keys = shop.cards(3);
    let mut listening = Listening::start(sandbox.with_account(words("listen --port 0 --json"), "main"));
    let updater_key = sandbox.facts["merchants"][0]["accountUpdaterKey"].as_str().unwrap();
    let callback = listening.address("updaterCallback").to_owned();
    let request = RequestAccountUpdater::new(updater_key, keys.iter().map(String::as_str)).callback_url(&*callback);
    let batch = shop.client.call(&request).unwrap().batch_key;
    shop.control("clock", r#"{"advanceSeconds": 120}"#);
    let told = listening.next();
    assert_eq!(told["what"], "updaterCallback");
    assert_eq!(told["claims"], format!("batch {batch}, 3 cards"));
    assert_eq!(told["confirmed"]["cardKeyDetails"][0]["response"], "700");
    assert_eq!(told["confirmed"]["cardKeyDetails"][0]["card"]["cardNumber"], "400000******9003");

    // Anyone can post to a known address, so a callback counts only if the service confirms it.
    let forged =
        format!(r#"{{"batchKey":"{}","createdOn":"2026-01-01T00:00:00+00:00","cardKeyDetails":[]}}"#, "f".repeat(32));
    let post =
        |url: &str, body: String| shop.send(Request::post(url).body(Bytes::from(body)).unwrap()).status().as_u16();
    assert_eq!(post(&callback, forged), 200);
    let told = listening.next();
    assert!(told["notConfirmed"].as_str().unwrap().contains("183") && told["confirmed"].is_null(), "{told}");
    assert_eq!(post(&callback, "nonsense".to_owned()), 400);
    let told = listening.next();
    assert_eq!(told["claims"], "an unreadable callback (POST, no content type, no plain names)");
    assert_eq!(post(&format!("{callback}0"), String::new()), 404);

    let told = pay_on_the_hosted_page(&shop, &mut listening);
    assert_eq!((&told["what"], &told["confirmed"]["value"]), (&"checkoutCallback".into(), &"4.99".into()));
    assert_eq!(post(listening.address("checkoutCallback"), "trans_key=12345".to_owned()), 200);
    let told = listening.next();
    assert_eq!((&told["what"], &told["claims"]), (&"checkoutCallback".into(), &"payment 12345".into()));
    assert!(told["notConfirmed"].is_string(), "{told}");
}

// spec: 3 §6, A121: the form of the callback is not shown, so a developer has to see what the service sends
#[test]
fn checkout_callbacks_of_every_form_are_read_or_shown() {
    let sandbox = Running::start(&[]);
    let shop = Shop::of(&sandbox);
    let mut listening = Listening::start(words("listen --port 0 --json"));
    let callback = listening.address("checkoutCallback").to_owned();
    let mut send = |method: &str, query: &str, body: &'static str| {
        let request = Request::builder().method(method).uri(format!("{callback}{query}"));
        let status = shop.send(request.body(Bytes::from(body)).unwrap()).status().as_u16();
        (status, listening.next()["claims"].as_str().unwrap().to_owned())
    };
    for (method, query, body) in [
        ("POST", "", "trans_key=4711"),
        ("GET", "?trans_key=4711", ""),
        ("POST", "?trans_key=4711", ""),
        ("POST", "", r#"{"trans_key": "4711"}"#),
        ("POST", "", "<callback><trans_key>4711</trans_key></callback>"),
    ] {
        assert_eq!(send(method, query, body), (200, "payment 4711".to_owned()), "{method} {query} {body}");
    }
    // A key may contain the digits of a card number by chance. One of digits alone is a card number.
    for (key, shown) in [
        ("trans_key=984181400000000000100044f9794cdd", "payment 984181400000000000100044f9794cdd"),
        ("trans_key=4000000000001000", "payment 400000******1000"),
    ] {
        assert_eq!(send("POST", "", key), (200, shown.to_owned()));
    }
    for (method, query, body, status, shown) in [
        ("POST", "", "transactionid=4711&card=4000000000001000", 400, "fields: transactionid, card)"),
        ("POST", "?4000000000001000=x", "{", 400, "no plain names, a body that cannot be read)"),
        ("PUT", "?trans_key=4711", "", 405, "PUT, no content type, fields: trans_key)"),
    ] {
        let (said, claims) = send(method, query, body);
        assert_eq!(said, status, "{method} {query} {body}");
        assert!(claims.starts_with("an unreadable callback (") && claims.ends_with(shown), "{claims}");
    }
}

#[test]
fn returning_customers_are_decoded_and_not_believed() {
    let sandbox = Running::start(&[]);
    let shop = Shop::of(&sandbox);
    let token = "0123456789abcdef0123456789abcdef";
    let start = || {
        let command = words(&format!("listen --port 0 --token {token} --json"));
        Listening::start(sandbox.with_account(command, "main"))
    };
    let mut listening = start();
    let session = sandbox.run("call session/initiate errorPageUrl=https://shop.example/error").ends(0);
    let session: Value = serde_json::from_str(&session.out).unwrap();
    let form = format!(
        "call session/postform sessionKey={} nextPageUrl={} currentPageUrl=https://shop.example/card formId=card \
         cardExpiryDate=1249 cardCV2=123 cardNumber=4000000000001000",
        session["sessionKey"].as_str().unwrap(),
        listening.address("cardForm"),
    );
    let redirect: Value = serde_json::from_str(&sandbox.run(&form).ends(0).out).unwrap();
    assert_eq!(get(&shop, redirect["location"].as_str().unwrap()), 200);
    let told = listening.next();
    assert_eq!(
        (&told["what"], &told["unauthenticated"]["cardNumber"]),
        (&"cardForm".into(), &"400000******1000".into())
    );
    assert!(told["confirmed"].is_null() && !told.to_string().contains("4000000000001000"));
    assert_eq!(
        get(&shop, &format!("{}?formId=card&data=AAAA&iv=0123456789abcdef", listening.address("cardForm"))),
        200
    );
    assert!(listening.next()["notConfirmed"].is_string());
    assert_eq!(get(&shop, &format!("{}?order=7&trans_key=99", listening.address("checkoutReturn"))), 200);
    assert_eq!(listening.next()["claims"], "payment 99");
    assert_eq!(get(&shop, listening.address("checkoutCancel")), 200);
    assert_eq!(listening.next()["what"], "checkoutCancel");
    assert_eq!(get(&shop, listening.address("challenge")), 200);
    assert_eq!(listening.next()["what"], "challenge");
    // The same token gives the same addresses.
    let path = |listening: &Listening| listening.address("cardForm").rsplit('/').next().unwrap().to_owned();
    assert_eq!(path(&listening), path(&start()));
}

#[test]
#[cfg(unix)]
fn without_an_account_it_prints_callbacks_and_ends_on_demand() {
    let sandbox = Running::start(&[]);
    let shop = Shop::of(&sandbox);
    let mut listening = Listening::start(words("listen --port 0 --public-url https://shop.example/pg --json"));
    let public = listening.address("challenge").to_owned();
    assert!(public.starts_with("https://shop.example/pg/"), "{public}");
    let mut said = BufReader::new(listening.child.stderr.take().unwrap());
    let mut lines = String::new();
    while !lines.contains("checkouts are not confirmed") {
        assert_ne!(said.read_line(&mut lines).unwrap(), 0, "{lines}");
    }
    assert!(lines.contains("callbackUrl of token/requestAccountUpdater") && lines.contains("--token "), "{lines}");
    assert!(Command::new("kill").args(["-INT", &listening.child.id().to_string()]).status().unwrap().success());
    assert_eq!(listening.child.wait().unwrap().code(), Some(0));
    drop(shop);
}

#[test]
fn unreachable_addresses_give_a_warning() {
    let mut child = words("listen --port 0 --bind 0.0.0.0").start();
    let said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let said: Vec<String> = said.take_while(|line| !line.contains("the same URLs next time")).collect();
    assert!(
        said[0].contains("warning: these addresses contain 0.0.0.0") && said[0].contains("--public-url"),
        "{said:?}"
    );
}

#[test]
fn callbacks_are_not_swallowed_when_the_reader_is_gone() {
    let sandbox = Running::start(&[]);
    let shop = Shop::of(&sandbox);
    let Listening { child, out, facts } = Listening::start(words("listen --port 0 --json"));
    drop(out);
    let form = facts["addresses"]["cardForm"].as_str().unwrap();
    assert_eq!(get(&shop, &format!("{form}?formId=4929420573595709&data=AAAA&iv=0123456789abcdef")), 200);
    let ended =
        child.ended().ends(4).says("cardForm: a customer came back from the form").says("cannot write the result");
    ended.hides(&["4929420573595709"]);
}

/// A shop that returns these statuses to its callbacks in turn, and reports the requests.
fn shop_that_answers(statuses: &'static [&'static str]) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hooks?source=pg", listener.local_addr().unwrap());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for status in statuses {
            let (mut stream, _) = listener.accept().unwrap();
            let request = read_request(&mut stream);
            let head = "content-length: 0\r\nconnection: close";
            stream.write_all(format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n").as_bytes()).unwrap();
            tell.send(request).unwrap();
        }
    });
    (url, told)
}

#[test]
fn callbacks_are_forwarded_and_acknowledged_as_the_shop_answers() {
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    let (target, came) = shop_that_answers(&["503 Service Unavailable", "204 No Content", "200 OK"]);
    let command = words(&format!("listen --port 0 --json --forward-to {target}"));
    let mut listening = Listening::start(sandbox.with_account(command, "main"));
    let names: Vec<&String> = listening.facts["addresses"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["checkoutCallback", "updaterCallback"]);
    let callback = listening.address("checkoutCallback").to_owned();
    let trigger =
        |scenario: &str, url: &str| pg(["trigger", scenario, "--sandbox", base, "--callback-url", url, "--json"]).run();
    trigger("checkout", &callback).ends(1).prints("the callback was not acknowledged");
    let told = listening.next();
    let id = told["forwarded"]["callback"].as_str().unwrap().to_owned();
    assert_eq!((&told["what"], &told["confirmed"]["value"]), (&"checkoutCallback".into(), &"9.98".into()));
    assert_eq!((&told["forwarded"]["status"], &told["forwarded"]["acknowledged"]), (&503.into(), &false.into()));
    let first = came.recv().unwrap();
    assert!(first.starts_with("POST /hooks?source=pg HTTP/1.1"), "{first}");
    assert!(first.contains(&format!("pg-callback: {id}")) && first.contains("trans_key="), "{first}");
    assert!(
        first.contains("content-type: application/x-www-form-urlencoded") && first.contains("user-agent: pg-sandbox")
    );
    let journal = || -> Value {
        let ended = pg(["sandbox", "callbacks", "show", &id, "--json", "--sandbox", base]).run().ends(0);
        serde_json::from_str(&ended.out).unwrap()
    };
    assert_eq!((&journal()["status"], &journal()["lastResult"]["status"]), (&"failed".into(), &503.into()));

    // The same callback again, and the shop takes it.
    pg(["sandbox", "callbacks", "redeliver", &id, "--sandbox", base]).run().ends(0).prints("HTTP 204");
    assert_eq!(listening.next()["forwarded"]["acknowledged"], true);
    let body = |request: &str| request.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(body(&came.recv().unwrap()), body(&first));
    assert_eq!(journal()["status"], "delivered");

    trigger("updater-batch", listening.address("updaterCallback")).ends(0);
    let told = listening.next();
    assert_eq!((&told["what"], &told["forwarded"]["status"]), (&"updaterCallback".into(), &200.into()));
    assert_eq!(told["confirmed"]["cardKeyDetails"].as_array().unwrap().len(), 3);

    // The shop is gone: the service gets an error.
    pg(["sandbox", "callbacks", "redeliver", &id, "--sandbox", base]).run().ends(1).prints("HTTP 502");
    let told = listening.next();
    assert!(
        told["forwarded"]["error"].as_str().unwrap().starts_with("no connection to 127.0.0.1")
            && told["forwarded"]["acknowledged"] == false,
        "{told}"
    );
    let shop = Shop::of(&sandbox);
    let post = |url: &str| shop.send(Request::post(url).body(Bytes::from("x")).unwrap()).status().as_u16();
    assert_eq!(post(&format!("{callback}0")), 404);
    assert_eq!(post(&callback), 502);
    assert_eq!(listening.next()["claims"], "an unreadable callback (POST, no content type, no plain names)");
}

/// The shop has acknowledged them, so the service does not send them again.
#[test]
#[cfg(unix)]
fn forwarded_callbacks_that_wait_to_be_confirmed_are_shown_at_the_end() {
    let sandbox = Running::start(&[]);
    let shop = Shop::of(&sandbox);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (target, _came) = shop_that_answers(&["200 OK", "200 OK"]);
    let command = words(&format!("listen --port 0 --json --forward-to {target}"));
    let service = format!("http://{}", silent.local_addr().unwrap());
    let command = sandbox.with_account(command, "main").env("PG_ENTERPRISE_BASE_URL", &service);
    let mut listening = Listening::start(command.env("PG_BASE_URL", &service));
    let callback = listening.address("checkoutCallback").to_owned();
    for body in ["trans_key=1", "trans_key=2"] {
        assert_eq!(shop.send(Request::post(&callback).body(Bytes::from(body)).unwrap()).status(), 200);
    }
    // The first one is being confirmed.
    let _asked = silent.accept().unwrap();
    assert!(Command::new("kill").args(["-INT", &listening.child.id().to_string()]).status().unwrap().success());
    for claims in ["payment 1", "payment 2"] {
        let event = listening.next();
        assert_eq!((&event["claims"], &event["notConfirmed"]), (&claims.into(), &"pg listen was stopped".into()));
        assert_eq!(event["forwarded"]["acknowledged"], true);
    }
    assert_eq!(listening.child.wait().unwrap().code(), Some(0));
}

#[test]
fn bodies_that_do_not_arrive_delay_no_other_callback() {
    let sandbox = Running::start(&[]);
    let shop = Shop::of(&sandbox);
    // The last one is no answer: nothing was upgraded.
    let (target, _came) = shop_that_answers(&["200 OK", "200 OK", "101 Switching Protocols"]);
    let listening = Listening::start(words(&format!("listen --port 0 --json --forward-to {target}")));
    let callback = listening.address("updaterCallback");
    let (address, path) = callback.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let begin = |rest: &str| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(format!("POST /{path} HTTP/1.1\r\nhost: {address}\r\n{rest}").as_bytes()).unwrap();
        stream
    };
    let status_line = |stream: &std::net::TcpStream| {
        let mut said = String::new();
        BufReader::new(stream).read_line(&mut said).unwrap();
        said
    };
    let stalled: Vec<_> = (0..16)
        .map(|_| begin("content-length: 4194304\r\nexpect: 100-continue\r\n\r\n"))
        .chain((0..16).map(|_| begin("transfer-encoding: chunked\r\n\r\n5\r\nkey")))
        .collect();
    for stream in &stalled[..16] {
        let said = status_line(stream);
        assert!(said.starts_with("HTTP/1.1 100"), "{said}");
    }
    let post = |url: &str| shop.send(Request::post(url).body(Bytes::from("trans_key=1")).unwrap()).status().as_u16();
    assert_eq!(post(listening.address("checkoutCallback")), 200);
    assert_eq!(post(callback), 200);
    assert_eq!(post(callback), 502);
    let said = status_line(&begin("transfer-encoding: chunked\r\n\r\nno length\r\n"));
    assert!(said.starts_with("HTTP/1.1 400"), "{said}");
}

/// A shop behind a certificate of its own authority.
#[test]
fn a_shop_whose_authority_is_trusted_gets_its_callbacks() {
    let sandbox = Running::start(&[]);
    let shop = Shop::of(&sandbox);
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("ca.pem");
    for (trusts, told) in [(true, 204), (false, 502)] {
        let (peer, certificate) = Peer::answering_over_tls("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
        if trusts {
            std::fs::write(&authority, certificate.pem()).unwrap();
        }
        let command = words(&format!("listen --port 0 --json --forward-to {}/hook", peer.base));
        let mut listening = Listening::start(command.env("SSL_CERT_FILE", authority.to_str().unwrap()));
        let callback = Request::post(listening.address("checkoutCallback")).body(Bytes::from("trans_key=1")).unwrap();
        assert_eq!(shop.send(callback).status().as_u16(), told);
        let event = listening.next();
        assert_eq!(event["forwarded"]["acknowledged"], trusts, "{event}");
        if trusts {
            assert!(peer.request().starts_with("POST /hook HTTP/1.1"));
        } else {
            assert!(event["forwarded"]["error"].as_str().unwrap().contains("SSL_CERT_FILE names"), "{event}");
        }
    }
}

/// The requests name another address: the listener has registered its own, and gets each callback again until its shop takes it.
#[test]
#[cfg(unix)]
fn a_registered_listener_gets_all_callbacks() {
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    let (target, came) = shop_that_answers(&["503 Service Unavailable", "204 No Content"]);
    let command = words(&format!("listen --port 0 --json --register --sandbox {base} --forward-to {target}"));
    let mut listening = Listening::start(sandbox.with_account(command, "main"));
    let control = |command: &str| -> Value {
        let ended = pg(command.split(' ').chain(["--json", "--sandbox", base])).run().ends(0);
        serde_json::from_str(&ended.out).unwrap()
    };
    let registered = control("sandbox callbacks destinations");
    assert_eq!(registered.as_array().unwrap().len(), 2, "{registered}");
    let elsewhere = "http://127.0.0.1:9/elsewhere";
    pg(["trigger", "checkout", "--sandbox", base, "--callback-url", elsewhere, "--json"]).run().ends(1);
    let told = listening.next();
    assert_eq!((&told["forwarded"]["status"], &told["forwarded"]["acknowledged"]), (&503.into(), &false.into()));
    let pending = control("sandbox callbacks")[0].clone();
    assert_eq!((&pending["status"], &pending["retriesLeft"]), (&"pending".into(), &4.into()));
    assert_eq!(pending["requestedUrl"], elsewhere);
    // The pause before the retry passes on the sandbox's clock.
    control("sandbox clock advance 10s");
    assert_eq!(listening.next()["forwarded"]["acknowledged"], true);
    let body = |request: String| request.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(body(came.recv().unwrap()), body(came.recv().unwrap()));
    assert!(Command::new("kill").args(["-INT", &listening.child.id().to_string()]).status().unwrap().success());
    assert_eq!(listening.child.wait().unwrap().code(), Some(0));
    assert_eq!(control("sandbox callbacks destinations"), serde_json::json!([]));
    // An account that was created at run time has destinations of its own.
    control("sandbox account new job-1");
    let command = words(&format!("listen --port 0 --json --register job-1 --sandbox {base} --forward-to {target}"));
    let command = sandbox.with_account(command, "main");
    #[cfg(target_os = "linux")]
    let command = command.in_a_terminal();
    let mut listening = Listening::start(command);
    assert_eq!(control("sandbox callbacks destinations --account job-1").as_array().unwrap().len(), 2);
    // A closed terminal.
    let signal = if cfg!(target_os = "linux") { "-HUP" } else { "-TERM" };
    assert!(Command::new("kill").args([signal, &listening.child.id().to_string()]).status().unwrap().success());
    assert_eq!(listening.child.wait().unwrap().code(), Some(0));
    assert_eq!(control("sandbox callbacks destinations --account job-1"), serde_json::json!([]));
    words("listen --port 0 --register no-such-account --sandbox").arg(base).run().ends(2).says("name of an account");
    words("listen --port 0 --retries 3").run().ends(2).says("--register");
    for flag in ["--forward-to", "--public-url"] {
        let address = "https://user:canary@shop.example/";
        pg(["listen", flag, address]).run().ends(2).says("shop.example").hides(&["canary"]);
    }
}

#[test]
#[cfg(unix)]
fn a_callback_that_is_being_confirmed_at_an_interruption_is_sent_again() {
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    // It never answers the lookup that confirms the payment.
    let (service, asked) = Peer::silent();
    let command = words(&format!("listen --port 0 --json --register --sandbox {base}")).account(&service.base);
    let mut listening = Listening::start(command);
    let _trigger =
        pg(["trigger", "checkout", "--sandbox", base, "--callback-url", "http://127.0.0.1:9/", "--json"]).start();
    asked.recv().unwrap();
    assert!(Command::new("kill").args(["-INT", &listening.child.id().to_string()]).status().unwrap().success());
    assert_eq!(listening.child.wait().unwrap().code(), Some(0));
    let callback = loop {
        let ended = pg(["sandbox", "callbacks", "--json", "--sandbox", base]).run().ends(0);
        let callbacks: Value = serde_json::from_str(&ended.out).unwrap();
        if !callbacks[0]["lastResult"].is_null() {
            break callbacks[0].clone();
        }
    };
    assert_eq!(callback["status"], "pending", "{callback}");
}

#[test]
fn a_listen_error_is_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let ended: Ended = words(&format!("listen --port {port}")).run();
    ended.ends(2).says("cannot listen on").says("--port");
    words("listen --port 0 --token short").run().ends(2).says("--token");
    words("listen --public-url nonsense").run().ends(2);
    words("listen --forward-to localhost:8000").run().ends(2).says("expected an address such as");
    words("listen --forward-to http://shop.example/hook").run().ends(2).says("use https");
}
