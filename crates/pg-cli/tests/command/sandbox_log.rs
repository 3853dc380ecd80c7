//! `pg sandbox --log-format json`: events on standard error.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
};

use serde_json::Value;

use crate::command::{
    pg::{Ended, pg},
    sandbox::{CARD, Running},
};

const PAN: &str = "4000000000001000";

impl Running {
    /// Stops the sandbox as a service manager does, and gives what it printed.
    pub(crate) fn stopped(self) -> Ended {
        assert!(Command::new("kill").args(["-TERM", &self.id().to_string()]).status().unwrap().success());
        self.child.ended()
    }
}

/// The members that every event has, and those of requests and of calls of the control interface.
const ALL: [&str; 3] = ["event", "level", "time"];
const REQUEST: [&str; 11] = [
    "account",
    "accountTime",
    "basis",
    "errorCode",
    "fault",
    "httpMethod",
    "method",
    "path",
    "peer",
    "status",
    "warnings",
];
const CONTROL: [&str; 4] = ["httpMethod", "path", "peer", "status"];

fn members(event: &Value, own: &[&str]) {
    let mut expected: Vec<&str> = ALL.iter().chain(own).copied().collect();
    expected.sort_unstable();
    let found: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, expected);
}

#[test]
fn each_event_is_a_line_of_json_with_the_same_members_and_no_secret() {
    let sandbox = Running::start(&["--log-format", "json", "--private-networks"]);
    sandbox.run(&format!("call transaction/auth cardNumber={PAN} cardCV2=917 {CARD} merchantReference={PAN}")).ends(0);
    sandbox.run(&format!("call transaction/auth cardNumber=4000000000002008 {CARD}")).ends(1);
    let base = sandbox.facts["baseUrl"].as_str().unwrap().to_owned();
    let key = sandbox.facts["merchants"][0]["apiKey"].as_str().unwrap().to_owned();
    pg(["sandbox", "clock", "freeze", "--sandbox", &base]).run().ends(0);
    let ended = sandbox.stopped().ends(0);
    let events: Vec<Value> = ended.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        let mut told = event.clone();
        // A time or a port may contain the digits of the CV2.
        told.as_object_mut().unwrap().retain(|name, _| !["time", "accountTime", "baseUrl"].contains(&name.as_str()));
        let told = told.to_string();
        for secret in [PAN, "917", &key, "4000000000002008"] {
            assert!(!told.contains(secret), "{secret}: {told}");
        }
    }
    let named: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    // The command reads the clock first, by which it recognises a sandbox.
    assert_eq!(named, ["warning", "started", "request", "request", "control", "control", "stopping", "stopped"]);
    members(&events[0], &["message"]);
    members(&events[1], &["baseUrl", "store"]);
    members(&events[2], &REQUEST);
    members(&events[5], &CONTROL);
    members(&events[6], &[]);
    let [paid, declined, control] = [&events[2], &events[3], &events[5]];
    assert_eq!(
        (&paid["method"], &paid["status"], &paid["account"]),
        (&"transaction/auth".into(), &200.into(), &"main".into())
    );
    assert_eq!(declined["level"], "info");
    assert_eq!((&control["path"], &control["httpMethod"]), (&"/_sandbox/clock".into(), &"POST".into()));
}

#[test]
fn no_text_of_a_caller_begins_a_line_or_steers_a_terminal() {
    let sandbox = Running::start(&["--log-format", "json"]);
    let host = sandbox.facts["baseUrl"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let tricks = ["\u{202e}", "\u{9b}31m", "\u{85}{\"event\":\"forged\"}", "\u{2028}", "%0d%0a{\"event\":\"forged\"}"];
    for path in tricks.iter().flat_map(|trick| [format!("/v3/{trick}"), format!("/_sandbox/{trick}")]) {
        let mut stream = TcpStream::connect(&host).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        assert!(reply.starts_with(b"HTTP/1.1 4"), "{path:?}: {}", String::from_utf8_lossy(&reply));
    }
    let ended = sandbox.stopped().ends(0);
    assert!(ended.err.chars().all(|letter| letter.is_ascii_graphic() || " \n…".contains(letter)), "{:?}", ended.err);
    let events: Vec<Value> = ended.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| event["event"] != "forged"), "{events:?}");
    let of_tricks = events.iter().filter(|event| event["path"].is_string()).count();
    assert!(of_tricks >= tricks.len(), "they are logged: {events:?}");
}

#[test]
fn a_start_error_is_one_line_of_json() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (arguments, says) in [
        (&["--listen", &address][..], "cannot listen on"),
        (&["--listen", "127.0.0.1:0", "--store", "/nowhere/at/all.sqlite"], "/nowhere/at does not exist; create it"),
        (&["--listen", "127.0.0.1:0", "--config", "none.toml"], "none.toml"),
        (&["--listen", "127.0.0.1:0", "--store-key", "key"], "--store-key"),
        (&["--listen", "127.0.0.1:0", "--control-from-anywhere"], "PG_CONTROL_TOKEN"),
        (&["--lisen", "127.0.0.1:0"], "--lisen"),
        (&["--listen", "nowhere"], "--listen"),
    ] {
        for log in [&["--log-format", "json"][..], &["--log-format=json"]] {
            let ended = pg([&["sandbox", "--json"], log, arguments].concat()).run().ends(2);
            let lines: Vec<&str> = ended.err.lines().collect();
            let [line] = &lines[..] else { panic!("{arguments:?}: {lines:?}") };
            let event: Value = serde_json::from_str(line).unwrap();
            members(&event, &["exitCode", "message"]);
            assert_eq!(
                (&event["event"], &event["level"], &event["exitCode"]),
                (&"failed".into(), &"error".into(), &2.into())
            );
            assert!(event["message"].as_str().unwrap().contains(says), "{event}");
            // For a program that started it, as without the log.
            let result: Value = serde_json::from_str(&ended.out).unwrap();
            assert_eq!(result["error"]["message"], event["message"]);
        }
    }
    // Events from before the failure stay whole lines.
    let ended = pg(["sandbox", "--log-format", "json", "--private-networks", "--listen", &address]).run().ends(2);
    let events: Vec<Value> = ended.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.iter().map(|event| &event["event"]).collect::<Vec<_>>(), ["warning", "failed"]);
}

#[test]
fn without_the_flag_standard_error_is_for_people() {
    let ended = Running::start(&["--private-networks"]).stopped().ends(0);
    let lines: Vec<&str> = ended.err.lines().collect();
    assert!(lines[0].starts_with("pg: warning: ") && lines[1].starts_with("pg: stopping"), "{lines:?}");
    assert_eq!(lines.len(), 2);
    pg(["sandbox", "--log-format", "xml"]).run().ends(2).says("[possible values: text, json]");
}
