//! The page that the sandbox shows itself (A79).

use http::Method;

use crate::session_and_tokens::Shop;

// spec: 2 §3.1, A79
#[test]
fn the_error_page_is_plain_html_that_loads_and_runs_nothing() {
    let mut shop = Shop::new();
    let page = shop.ask(Method::GET, "/session-error?errorCode=129", "");
    let html = String::from_utf8(page.body().to_vec()).unwrap();
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    assert_eq!((page.status().as_u16(), header("content-type")), (400, "text/html; charset=utf-8".to_owned()));
    let policy = header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("script-src") && !html.contains("<script"));
    assert_eq!((header("x-content-type-options"), header("cache-control")), ("nosniff".into(), "no-store".into()));
    for part in ["<!doctype html>", "lang=\"en\"", "name=\"viewport\"", "<h1>", "<dd>129</dd>", "Invalid session key"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn nothing_of_the_address_is_shown() {
    let mut shop = Shop::new();
    for query in ["errorCode=%3Cscript%3Ealert(1)%3C/script%3E", "errorCode=129%22%3E", "errorCode", "x=%zz", "%00"] {
        let page = shop.ask(Method::GET, &format!("/session-error?{query}"), "");
        let html = String::from_utf8(page.body().to_vec()).unwrap();
        assert!(html.contains("<dd>129</dd>") && !html.contains("script") && !html.contains("alert("), "{html}");
    }
}
