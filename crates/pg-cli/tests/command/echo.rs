//! A service, or a proxy before it, that repeats the request in its reply: nothing of the account and of the card is shown.

use std::{
    io::Write as _,
    net::{TcpListener, TcpStream},
    path::Path,
};

use crate::command::{
    peer::{Peer, read_request, reply},
    pg::{CANARIES, Ended, pg, words, write_private},
};

const CARD: &str = "4929420573595709";
const CV2: &str = "9173";
const PAY: &str = "call transaction/auth cardExpiryMonth=12 cardExpiryYear=49 currency=GBP itemName0=Tea itemPrice0=499 \
                   uniqueMerchantReference=order-7 cardholderName=Ann";

/// The request that the account of [`CANARIES`] sends, as a service may repeat it.
fn request() -> String {
    let [(_, key), (_, password), (_, sha), ..] = CANARIES;
    format!("apiKey={key}&apiPassword={password}&cardCV2={CV2}&cardNumber={CARD}&cardholderName=Ann&key={sha}&end=1")
}

/// No secret is in the output, and the rest of the request is.
#[track_caller]
fn hidden(ended: Ended, base: &str) {
    let text = format!("{}{}", ended.out, ended.err).replace(base.trim_start_matches("http://"), "");
    shows_nothing(&text);
    assert!(!text.contains(CARD) && !text.contains(CV2), "{text}");
    assert!(text.contains("cardCV2") && text.contains("***"), "{text}");
}

#[track_caller]
fn shows_nothing(text: &str) {
    for secret in CANARIES.iter().map(|(_, canary)| *canary).chain(["canary0"]) {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

fn pays(how: &str, peer_says: &str) -> (Ended, String) {
    let folder = tempfile::tempdir().unwrap();
    let secret = |name: &str, text: &str| {
        let file = folder.path().join(name);
        write_private(&file, text);
        format!("{name}=@{}", file.display())
    };
    let peer = Peer::answering(peer_says);
    let mut pay: Vec<String> = PAY.split_whitespace().chain(how.split_whitespace()).map(str::to_owned).collect();
    pay.extend([secret("cardNumber", CARD), secret("cardCV2", CV2)]);
    let ended = pg(pay).account(&peer.base).run();
    let base = peer.base.clone();
    assert!(peer.request().contains(&format!("cardCV2={CV2}")));
    (ended, base)
}

#[test]
fn a_call_shows_nothing_of_the_request_that_a_reply_repeats() {
    let request = request();
    let encoded = request.replace('=', "%3D").replace('&', "%26");
    let quoted = format!(r#"{{\"cardCV2\": \"{CV2}\", \"request\": \"{request}\"}}"#);
    let fields = format!(r#"{{"cardCV2":"{CV2}","cv":{CV2},"all":["{request}","{encoded}"]}}"#);
    let xml = request.replace('&', "&amp;");
    let (json, html) = ("application/json", "text/html");
    let long = " ".repeat(110);
    for (code, said) in [
        (4, reply("500 Internal Server Error", html, &format!("<html>Error processing {request}</html>"))),
        (4, reply("502 Bad Gateway", html, &format!("<p>cardCV2{long}{request}"))),
        (4, reply("200 OK", json, &format!("{fields} and more"))),
        (4, reply("500 Internal Server Error", json, &fields)),
        (1, reply("400 Bad Request", json, &format!(r#"{{"errorCode":"109","errorMessage":"bad: {quoted}"}}"#))),
        (
            1,
            reply(
                "400 Bad Request",
                "text/xml",
                &format!(
                    "<serviceResponse><errorCode>109</errorCode><errorMessage>{xml}</errorMessage></serviceResponse>"
                ),
            ),
        ),
        (
            0,
            reply(
                "200 OK",
                json,
                &format!(r#"{{"transactionStatusCode":"600","transactionKey":"k","echo":{fields}}}"#),
            ),
        ),
        (
            1,
            reply(
                "200 OK",
                json,
                &format!(r#"{{"transactionStatusCode":"901","transactionStatus":"{request}","transactionKey":"k"}}"#),
            ),
        ),
    ] {
        for how in ["", "--json", "--verbose", "--xml"] {
            let (ended, base) = pays(how, &said);
            hidden(ended.ends(code), &base);
        }
    }
}

#[test]
fn a_header_shows_nothing_of_the_request_either() {
    let head = format!("HTTP/1.1 400 Bad Request\r\nx-request: {}\r\nconnection: close\r\n\r\n", request());
    let (ended, base) = pays("--verbose", &head);
    hidden(ended.ends(4).says("< x-request: apiKey=***&apiPassword=***&cardCV2=***"), &base);
}

#[test]
fn a_status_that_is_equal_to_the_cv2_is_a_status() {
    let paid =
        r#"{"transactionStatusCode":"600","transactionStatus":"Approved","transactionKey":"k","bankAuthCode":"600"}"#;
    let peer = Peer::answering(&reply("200 OK", "application/json", paid));
    let ended = words(PAY).arg("cardNumber=4000000000001000").arg("cardCV2=600").account(&peer.base).run().ends(0);
    let shown: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&shown["transactionStatusCode"], &shown["bankAuthCode"]), (&"600".into(), &"600".into()));
    peer.request();
}

/// Opens sessions, and refuses everything else with the request in the message. Returns its address.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || answer(stream.unwrap()));
        }
    });
    base
}

fn answer(mut stream: TcpStream) {
    let request = read_request(&mut stream);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let said = if head.contains("/session/initiate") && body.contains("apiPassword=canary0") {
        reply("200 OK", "application/json", r#"{"sessionKey":"0123456789abcdef0123456789abcdef"}"#)
    } else {
        let message = format!(r#"{{"errorCode":"109","errorMessage":"{body}&sha={}"}}"#, CANARIES[2].1);
        reply("400 Bad Request", "application/json", &message)
    };
    stream.write_all(said.as_bytes()).unwrap();
}

#[test]
fn a_survey_writes_nothing_of_its_requests() {
    let base = echo();
    for how in ["", " --json"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.toml");
        let ended = words(&format!("survey --write {}{how}", file.display()))
            .env("PG_BASE_URL", &base)
            .env(CANARIES[0].0, CANARIES[0].1)
            .env(CANARIES[1].0, CANARIES[1].1)
            .env(CANARIES[2].0, CANARIES[2].1)
            .run()
            .ends(0);
        let text = format!("{}{}", ended.out, ended.err);
        assert!(text.contains("apiKey=***"), "{text}");
        shows_nothing(&text);
        files_show_nothing(folder.path());
    }
}

#[test]
fn an_update_of_cards_shows_and_writes_nothing_of_its_requests() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.txt");
    std::fs::write(&keys, "4F2C-91\n").unwrap();
    for how in ["", " --json"] {
        let command = format!("update-cards {} --restart{how}", keys.display());
        let ended = words(&command).account(&echo()).run();
        let text = format!("{}{}", ended.out, ended.err);
        assert!(text.contains("accountUpdaterKey=***"), "{text}");
        shows_nothing(&text);
        files_show_nothing(folder.path());
    }
}

/// The documents say that the service masks card numbers and sends no CV2. A reply that does not keep to it is shown masked, and the
/// new card keys stay usable.
#[test]
fn card_numbers_and_cv2s_of_replies_are_masked() {
    let batch = format!(
        r#"{{"batchKey":"{}","createdOn":"2026-01-01T00:00:00+00:00","cardKeyDetails":[{{"oldCardKey":"4F2C-91",
        "cardKey":"0d5c4929-4205-4735-9570-494111111111","response":"700","merchantCustomerReference":"{CARD}",
        "newPan":"{CARD}","serial":{CARD},"note":"was {CARD}","card":{{"cardNumber":"{CARD}","cardExpiryMonth":"12",
        "cardExpiryYear":"49","previousNumber":"4929 4205 7359 5709","cardCV2":"{CV2}","securityCode":917}}}}]}}"#,
        "a".repeat(32)
    );
    let peer = Peer::answering(&reply("200 OK", "application/json", &batch));
    let ended = words(&format!("call token/retrieveAccountUpdater batchKey={}", "a".repeat(32)))
        .account(&peer.base)
        .run()
        .ends(0);
    let ended = ended.hides(&[CARD, CV2, "917", "4929 4205 7359 5709"]);
    let shown: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let card = &shown["cardKeyDetails"][0];
    assert_eq!(card["cardKey"], "0d5c4929-4205-4735-9570-494111111111");
    assert_eq!((&card["newPan"], &card["serial"]), (&"492942******5709".into(), &"492942******5709".into()));
    assert_eq!((&card["card"]["cardExpiryYear"], &card["card"]["cardCV2"]), (&"49".into(), &"***".into()));
    let paid = format!(
        r#"{{"transactionStatusCode":"600","transactionKey":"k","cardNumber":"{CARD}","cardCV2":"{CV2}","transactionValue":"499"}}"#
    );
    let peer = Peer::answering(&reply("200 OK", "application/json", &paid));
    let refund = words("call transaction/refund transactionKey=4F2C91AA4F2C91AA4F2C91AA4F2C91AA transactionValue=499")
        .account(&peer.base);
    refund.run().ends(0).hides(&[CARD, CV2]).prints("\"transactionKey\": \"k\"").prints("\"499\"");
}

#[track_caller]
fn files_show_nothing(folder: &Path) {
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty());
    files.iter().for_each(|file| shows_nothing(&std::fs::read_to_string(file).unwrap()));
}
