//! Who may see the inspector, who may press its buttons, and the headers of its pages.

use bytes::Bytes;
use http::Request;
use pg_sandbox::{Peer, Settings, secret::Secret};

use crate::inspector::Shop;

const PAGES: [&str; 5] = ["", "pages/requests", "pages/clock", "pages/decoder", "pages/nothing"];

#[test]
fn pages_forbid_browsers_whatever_they_do_not_need() {
    let mut shop = Shop::new();
    for path in PAGES {
        let page = shop.page(path);
        let policy = page.header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "style-src 'sha256-",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(rule), "{path} {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http:"), "{policy}");
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(page.header(name), value, "{path} {name}");
        }
        // The icon is a part of the page.
        let icon = |line: &&str| line.starts_with("<link rel=\"icon\" href=\"data:image/svg+xml,");
        assert_eq!(page.html.lines().filter(icon).count(), 1, "{path}");
        let rest: Vec<&str> = page.html.lines().filter(|line| !icon(line)).collect();
        let rest = rest.join("\n");
        for forbidden in
            ["<script", "<img", "<link", "<iframe", " style=", " src=", "\"http", "'http", "(http", "javascript:"]
        {
            assert!(!rest.contains(forbidden), "{path} {forbidden}");
        }
    }
}

#[test]
fn only_loopback_clients_may_call_it() {
    let mut shop = Shop::new();
    for path in PAGES {
        let mut request = Request::get(format!("/_sandbox/{path}")).body(Bytes::new()).unwrap();
        request.extensions_mut().insert(Peer("192.0.2.7".parse().unwrap()));
        let page = shop.send(request);
        assert_eq!(page.status, 403, "{path}");
        assert!(page.says("this machine only") && !page.html.contains("<nav"), "{}", page.html);
    }
    let mut open = Settings::default();
    open.control.token = Some(Secret::new("opaque"));
    let mut shop = Shop::with(open);
    for (given, status) in [("Basic eDpvcGFxdWU=", 200), ("Bearer opaque", 200), ("Bearer other", 401), ("", 401)] {
        let request = Request::get("/_sandbox/").header("host", "192.0.2.1:8480").header("authorization", given);
        let mut request = request.body(Bytes::new()).unwrap();
        request.extensions_mut().insert(Peer("192.0.2.7".parse().unwrap()));
        assert_eq!(shop.send(request).status, status, "{given}");
    }
}

#[test]
fn no_page_reaches_it_through_a_name_of_its_own() {
    let mut shop = Shop::new();
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "127.0.0.1.evil.example:8480"),
        ("origin", "http://evil.example"),
        ("pg-callback", "1"),
    ] {
        let request = Request::get("/_sandbox/").header(name, value);
        let request = if name == "host" { request } else { request.header("host", "127.0.0.1:8480") };
        assert_eq!(shop.send(request.body(Bytes::new()).unwrap()).status, 403, "{name}: {value}");
    }
}

#[test]
fn only_its_own_pages_press_its_buttons() {
    let mut shop = Shop::new();
    let (host, own) = (("host", "127.0.0.1:8480"), ("origin", "http://127.0.0.1:8480"));
    let freeze = [("speed", "0")];
    for headers in [
        &[host][..],
        &[host, ("origin", "http://evil.example")],
        &[host, ("origin", "null")],
        &[host, ("origin", "http://127.0.0.1:8481")],
        &[host, own, ("sec-fetch-site", "cross-site")],
        &[host, own, ("sec-fetch-site", "same-site")],
        &[host, own, ("sec-fetch-site", "none")],
        &[("host", "evil.example"), ("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")],
        &[host, own, ("pg-callback", "1")],
    ] {
        let page = shop.post("pages/clock", &freeze, headers);
        assert_eq!(page.status, 403, "{headers:?}");
        assert_eq!(shop.control("clock")["frozen"], false, "{headers:?}");
    }
    for headers in
        [&[host, own][..], &[host, own, ("sec-fetch-site", "same-origin")], &[host, ("sec-fetch-site", "same-origin")]]
    {
        assert_eq!(shop.post("pages/clock", &freeze, headers).status, 303, "{headers:?}");
        assert_eq!(shop.control("clock")["frozen"], true);
        shop.done("pages/clock", &[("speed", "1")]);
    }
}

#[test]
fn the_inspector_only_reads() {
    let mut shop = Shop::new();
    shop.shown("");
    shop.done("pages/clock", &[("advanceSeconds", "30")]);
    assert!(shop.shown("pages/requests").says("No requests yet."));
}

/// Every call of the control interface and every form of the inspector.
#[test]
fn no_page_of_another_site_makes_any_call() {
    let mut shop = Shop::new();
    let token = shop.token();
    let batch = shop.batch(&token);
    let spoil = format!("batches/{batch}/spoil");
    let changing = [
        ("POST", "accounts"),
        ("DELETE", "accounts/strict"),
        ("POST", "cards/updater"),
        ("DELETE", "cards/updater"),
        ("POST", "clock"),
        ("POST", "faults"),
        ("DELETE", "faults"),
        ("DELETE", "faults/1"),
        ("POST", &*spoil),
        ("POST", "callbacks/behaviour"),
        ("DELETE", "callbacks/behaviour"),
        ("POST", "callbacks/destinations"),
        ("DELETE", "callbacks/destinations"),
        ("DELETE", "callbacks/destinations/1"),
        ("POST", "callbacks/1/redeliver"),
        ("POST", "pages/accounts"),
        ("POST", "pages/batches"),
        ("POST", "pages/callbacks"),
        ("POST", "pages/clock"),
        ("POST", "pages/decoder"),
        ("POST", "pages/faults"),
        ("POST", "pages/updater"),
    ];
    let reading = [
        "merchants",
        "accounts",
        "accounts/main",
        "cards",
        "cards/updater",
        "clock",
        "faults",
        "callbacks/behaviour",
        "callbacks/destinations",
        "addresses",
        "metrics",
        "requests",
        "transactions",
        "tokens",
        "sessions",
        "batches",
        "callbacks",
        "sms",
    ];
    let calls = changing.into_iter().chain(reading.map(|path| ("GET", path)));
    let (host, evil) = (("host", "127.0.0.1:8480"), ("origin", "https://evil.example"));
    for (method, path) in calls {
        for headers in [
            &[host, evil][..],
            &[host, ("origin", "null")],
            &[host, ("origin", "http://127.0.0.1:8480"), evil],
            &[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors")],
            &[host, ("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")],
            &[("host", "rebound.example:8480")],
            &[host, ("x-forwarded-for", "127.0.0.1")],
        ] {
            let request = Request::builder().method(method).uri(format!("/_sandbox/{path}"));
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            // A page can send this type of content without being asked for permission.
            let request = request.header("content-type", "text/plain");
            let page = shop.send(request.body(Bytes::from_static(b"{}")).unwrap());
            assert_eq!(page.status, 403, "{method} {path} {headers:?}");
            assert_eq!(page.header("access-control-allow-origin"), "", "{method} {path} {headers:?}");
        }
    }
}
