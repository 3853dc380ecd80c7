//! Probes and counters: the ones are open to every machine, the others are not.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use http::{Method, Request, Response};
use pg_sandbox::{Peer, Sandbox, Timestamp};

fn asked(sandbox: &mut Sandbox, method: Method, path: &str, from: Ipv4Addr) -> Response<Bytes> {
    let mut request = Request::new(Bytes::new());
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().unwrap();
    // As a container platform names an instance.
    request.headers_mut().insert("host", "10.1.2.3:8480".parse().unwrap());
    request.extensions_mut().insert(Peer(IpAddr::V4(from)));
    sandbox.handle(Timestamp::parse("2026-05-04T10:00:00Z").unwrap(), request)
}

#[test]
fn a_probe_of_another_machine_is_answered_and_learns_nothing() {
    let mut sandbox = pg_stores::sandbox();
    let elsewhere = Ipv4Addr::new(10, 9, 9, 9);
    for (path, body) in [("live", "{\n  \"status\": \"live\"\n}\n"), ("ready", "{\n  \"status\": \"ready\"\n}\n")] {
        let response = asked(&mut sandbox, Method::GET, &format!("/_sandbox/health/{path}"), elsewhere);
        assert_eq!((response.status().as_u16(), &response.body()[..]), (200, body.as_bytes()));
    }
    for (method, path) in [
        (Method::POST, "/_sandbox/health/ready"),
        (Method::GET, "/_sandbox/health/other"),
        (Method::GET, "/_sandbox/health"),
        (Method::GET, "/_sandbox/metrics"),
    ] {
        assert_eq!(asked(&mut sandbox, method, path, elsewhere).status(), 403, "{path}");
    }
    let wrong = asked(&mut sandbox, Method::POST, "/_sandbox/health/ready", Ipv4Addr::LOCALHOST);
    assert_eq!((wrong.status().as_u16(), &wrong.headers()["allow"]), (405, &"GET, HEAD".parse().unwrap()));
}

#[test]
fn a_request_without_a_reply_is_counted_without_a_status() {
    let mut sandbox = pg_stores::sandbox();
    for kind in ["drop-request", "drop-reply"] {
        let fault = format!(r#"{{"method":"token/lookup","kind":"{kind}"}}"#);
        let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
        sandbox.handle(now, Request::post("/_sandbox/faults").body(Bytes::from(fault)).unwrap());
        asked(&mut sandbox, Method::POST, "/v3/token/lookup/json", Ipv4Addr::LOCALHOST);
    }
    let response = asked(&mut sandbox, Method::GET, "/_sandbox/metrics", Ipv4Addr::LOCALHOST);
    let text = String::from_utf8(response.body().to_vec()).unwrap();
    let counted: Vec<&str> = text.lines().filter(|line| line.contains("token/lookup")).collect();
    assert_eq!(counted, ["pg_sandbox_requests_total{method=\"token/lookup\",status=\"none\"} 2"]);
}

#[test]
fn the_counters_count_what_was_answered() {
    let mut sandbox = pg_stores::sandbox();
    for _ in 0..3 {
        asked(&mut sandbox, Method::POST, "/v3/transaction/auth/json", Ipv4Addr::LOCALHOST);
    }
    asked(&mut sandbox, Method::GET, "/_sandbox/clock", Ipv4Addr::LOCALHOST);
    let response = asked(&mut sandbox, Method::GET, "/_sandbox/metrics", Ipv4Addr::LOCALHOST);
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/plain"));
    let text = String::from_utf8(response.body().to_vec()).unwrap();
    for line in [
        "# TYPE pg_sandbox_requests_total counter",
        "pg_sandbox_requests_total{method=\"transaction/auth\",status=\"400\"} 3",
        "pg_sandbox_requests_total{method=\"control\",status=\"200\"} 1",
        "pg_sandbox_groups_committed_total 4",
        "pg_sandbox_groups_undone_total 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
