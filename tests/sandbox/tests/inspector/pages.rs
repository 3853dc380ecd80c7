//! Pages that are always there, and addresses that lead nowhere.

use bytes::Bytes;
use http::{Method, Request};

use crate::inspector::{HOST, Shop};

#[test]
fn every_page_of_the_menu_is_there_and_marked() {
    let mut shop = Shop::new();
    let overview = shop.shown("");
    let menu = overview.paths_below("/_sandbox/");
    assert!(menu.len() > 14, "{menu:?}");
    for path in &menu {
        let page = shop.shown(path.strip_prefix("/_sandbox/").unwrap());
        assert!(page.html.contains("<html lang=\"en\">") && page.html.contains("href=\"#content\""), "{path}");
        assert_eq!(page.html.matches("<h1>").count(), 1, "{path}");
        let here = format!("<a href=\"{path}\" aria-current=\"page\">");
        assert!(page.html.contains(&here), "{path}");
    }
    assert_eq!(shop.page("pages/").status, 200);
    assert_eq!(shop.page("pages").status, 200);
}

#[test]
fn unknown_paths_get_404() {
    let mut shop = Shop::new();
    for path in [
        "pages/nothing",
        "pages/requests/7",
        "pages/requests/x",
        "pages/transactions/nothing",
        "pages/tokens/nothing",
        "pages/sessions/nothing",
        "pages/authentications/nothing",
        "pages/checkouts/nothing",
        "pages/batches/nothing",
        "pages/callbacks/nothing",
        "pages/sms/nothing",
        "pages/assumptions/0",
        "pages/assumptions/x",
        "pages/clock/nothing",
        "pages/transactions/a/b",
        "pages//",
        "pages/transactions/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    ] {
        let page = shop.page(path);
        assert_eq!(page.status, 404, "{path}");
        assert!(page.says("There is no such page") && page.html.contains("<nav"), "{path}");
        assert!(!page.html.contains("script"), "{path}");
    }
}

#[test]
fn other_methods_are_refused() {
    let mut shop = Shop::new();
    for method in [Method::DELETE, Method::PUT, Method::OPTIONS] {
        let request = Request::builder().method(method.clone()).uri("/_sandbox/pages/clock");
        assert_eq!(shop.send(request.body(Bytes::new()).unwrap()).status, 405, "{method}");
    }
    for path in ["", "pages/requests", "pages/nothing", "pages/callbacks/x/y", "pages/assumptions"] {
        assert_eq!(shop.press(path, &[]).status, 405, "{path}");
    }
    assert_eq!(shop.press("pages/batches/nothing/spoil", &[]).status, 404);
    assert_eq!(shop.press("pages/callbacks/nothing/redeliver", &[]).status, 404);
}

#[test]
fn programs_find_what_they_found_before() {
    let mut shop = Shop::new();
    for path in ["clock", "merchants", "cards", "requests", "faults", "callbacks/behaviour"] {
        assert!(!shop.control(path).is_null(), "{path}");
    }
}

#[test]
fn the_overview_has_what_a_test_needs() {
    let mut shop = Shop::new();
    let page = shop.shown("");
    for text in [
        "MainSandboxApiKey000000000000000",
        "StrictSandboxShaKey0000000000000",
        "OtherSandboxV5ApiPassword0000000",
        "GBP, EUR, USD, JPY, BHD",
        "4000000000001000",
        "insufficient-funds",
        "ZZ1 1AA",
        "1 Sandbox Street, Testford, Testshire",
    ] {
        assert!(page.says(text), "{text}");
    }
    assert!(page.says(&format!("Version 3 http://{HOST} Version 5 http://{HOST}/enterprise")), "{}", page.text());
    for card in shop.control("cards").as_array().unwrap() {
        let scenario = card["scenario"].as_str().unwrap();
        let words = ["Payments", "The", "3-D"].map(|first| format!("{scenario} {first}"));
        assert!(words.iter().any(|words| page.says(words)), "{scenario}: {}", page.text());
    }
    for number in 0..101 {
        shop.call("token/lookup", &[("cardKey", &number.to_string())]);
    }
    shop.pay("transaction/auth", "998", "order-1");
    let page = shop.shown("");
    assert!(page.says("100+ Requests") && page.says("1 Transactions") && page.says("0 Sessions"), "{}", page.text());
    assert!(page.says("transaction/auth main 200"), "{}", page.text());
}

#[test]
fn assumptions_have_their_whole_text() {
    let mut shop = Shop::new();
    let list = shop.shown("pages/assumptions");
    let found = list.paths_below("/_sandbox/pages/assumptions/");
    assert_eq!(found.len(), pg_sandbox::ASSUMPTIONS.len());
    for assumption in pg_sandbox::ASSUMPTIONS.iter() {
        let page = shop.shown(&format!("pages/assumptions/{}", assumption.number));
        // As it is written in HTML.
        let escaped = |text: &str| {
            text.replace('&', "&#38;")
                .replace('<', "&#60;")
                .replace('>', "&#62;")
                .replace('"', "&#34;")
                .replace('\'', "&#39;")
        };
        for text in [assumption.title, assumption.open, assumption.chosen, assumption.why, assumption.change] {
            assert!(page.html.contains(&escaped(text)), "A{:02}", assumption.number);
        }
    }
}
