//! Accounts that are made, shown and removed in the inspector.

use std::collections::BTreeSet;

use http::Method;
use pg_support::{body_of, request};
use serde_json::Value;

use crate::{
    accounts::Job,
    inspector::{CV2, HOST, Page, Shop, order},
};

const MADE: [(&str, &str); 3] = [("name", "ci-17"), ("ttlSeconds", "3600"), ("like", "strict")];

#[test]
fn an_account_is_made_and_removed() {
    let mut shop = Shop::new();
    assert!(shop.shown("pages/accounts").says("There are none."));
    let page = shop.press("pages/accounts", &MADE);
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.says("ci-17") && page.says("apiKey") && page.says("not shown again"), "{}", page.text());
    let listed = shop.control("accounts");
    assert_eq!((&listed[0]["name"], &listed[0]["expires"]), (&"ci-17".into(), &"2026-05-04T11:00:00Z".into()));
    // Its API keys begin with its id, which the list does not show either.
    assert!(!shop.shown("pages/accounts").says("apiKey"));
    let chosen = shop.press("pages/accounts", &[("name", ""), ("ttlSeconds", ""), ("like", "main")]);
    assert!(chosen.status == 200 && chosen.says("ci-"), "{}", chosen.text());
    assert!(shop.control("accounts")[1]["expires"].is_null());
    let page = shop.done("pages/accounts/ci-17/remove", &[]);
    assert!(!page.paths().contains(&"/_sandbox/pages/accounts/ci-17/remove".to_owned()), "{:?}", page.paths());
    // Twice is as good as once.
    shop.done("pages/accounts/ci-17/remove", &[]);
    assert_eq!(shop.control("accounts").as_array().unwrap().len(), 1);
}

#[test]
fn an_invalid_account_is_named_and_the_input_is_kept() {
    let mut shop = Shop::new();
    for (pairs, problem) in [
        (&[("name", "CI 1")][..], "name must be 1 to 32"),
        (&[("name", "main")], "there is already an account"),
        (&[("name", "x"), ("ttlSeconds", "soon")], "ttlSeconds must be a whole number"),
        (&[("name", "x"), ("like", "nobody")], "like must be the name of a configured account"),
    ] {
        let page = shop.press("pages/accounts", pairs);
        assert!(page.status == 400 && page.says(problem) && page.html.contains("role=\"alert\""), "{}", page.text());
        assert!(page.html.contains(&format!("value=\"{}\"", pairs[0].1)), "{}", page.html);
    }
    assert_eq!(shop.control("accounts").as_array().unwrap().len(), 0);
}

#[test]
fn other_sites_make_and_remove_nothing() {
    let mut shop = Shop::new();
    shop.press("pages/accounts", &MADE);
    for (path, pairs) in [("pages/accounts", &[("name", "theirs")][..]), ("pages/accounts/ci-17/remove", &[])] {
        for headers in [&[("host", HOST)][..], &[("host", HOST), ("origin", "https://attacker.example")]] {
            assert_eq!(shop.post(path, pairs, headers).status, 403, "{path} {headers:?}");
        }
        assert_eq!(shop.page(path).status, if pairs.is_empty() { 404 } else { 200 });
    }
    let names: Vec<_> = shop.control("accounts").as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["ci-17"]);
}

#[test]
fn the_pages_switch_to_an_account_and_back() {
    let mut shop = Shop::new();
    shop.press("pages/accounts", &MADE);
    let page = shop.shown("pages/accounts");
    assert_eq!(page.paths_below("/_sandbox/pages/clock?account="), ["/_sandbox/pages/clock?account=ci-17"]);
    let page = shop.done("pages/clock?account=ci-17", &[("advanceSeconds", "120")]);
    assert!(page.says("2026-05-04 10:02:00 UTC") && page.html.contains(">ci-17<"), "{}", page.html);
    // Every link of the menu stays at the account, and so do the buttons.
    assert!(
        page.paths_below("/_sandbox/pages/").iter().all(|path| path.ends_with("?account=ci-17")),
        "{:?}",
        page.paths()
    );
    let fault = [("method", "*"), ("kind", "drop-reply"), ("times", "2"), ("milliseconds", "1"), ("status", "500")];
    let page = shop.done("pages/faults?account=ci-17", &fault);
    assert!(page.says("drop-reply"), "{}", page.text());
    for path in page.paths_below("/_sandbox/pages/faults/") {
        assert!(path.ends_with("/remove?account=ci-17") || path.ends_with("/clear?account=ci-17"), "{path}");
    }
    assert!(shop.shown("pages/faults").says("There are no faults."));
    assert!(shop.shown("pages/clock").says("2026-05-04 10:00:00 UTC"));
    assert!(shop.shown("pages/accounts?account=ci-17").paths().contains(&"/_sandbox/pages/clock".to_owned()));
    assert!(shop.shown("pages/requests").html.contains("<option value=\"ci-17\""));
    let gone = shop.page("pages/clock?account=gone");
    assert!(gone.status == 404 && gone.says("There is no account"), "{}", gone.text());
}

/// A shop whose merchant is an account that was created at run time, with an entry in every list.
fn busy() -> (Shop, Entries) {
    let mut shop = Shop::new();
    let made = shop.handle(request(Method::POST, "/_sandbox/accounts", r#"{"name":"ci-17"}"#));
    shop.merchant = Job::of(&serde_json::from_slice(made.body()).unwrap()).merchant;
    let call = |shop: &mut Shop, method: &str, pairs: &[(&str, &str)]| -> Value {
        let response = shop.version_3(&format!("{method}/json"), pairs);
        assert_eq!(response.status(), 200, "{method}: {response:?}");
        serde_json::from_slice(response.body()).unwrap()
    };
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
    let paid = text(&call(&mut shop, "transaction/auth", &order("100", "order-1"))["transactionKey"]);
    call(&mut shop, "transaction/refund", &[("transactionKey", &paid), ("transactionValue", "40")]);
    let tokens = call(&mut shop, "token/tokeniseTransactionKey", &[("transactionKey", &paid)]);
    let updater = shop.merchant.account_updater_key.as_ref().unwrap().expose().to_owned();
    let batch = [
        ("accountUpdaterKey", &*updater),
        ("cardKey", &text(&tokens["cardKeyDetails"]["0"]["cardKey"])),
        ("callbackUrl", "https://shop.example/callback"),
    ];
    let batch = text(&call(&mut shop, "token/requestAccountUpdater", &batch)["batchKey"]);
    let session = [("errorPageUrl", "https://shop.example/error")];
    let session = text(&call(&mut shop, "session/initiate", &session)["sessionKey"]);
    let form = [
        ("sessionKey", &*session),
        ("cardNumber", "4000000000005001"),
        ("cardCV2", CV2),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "2030"),
        ("cardholderName", "Ada Customer"),
        ("nextPageUrl", "https://shop.example/next"),
        ("currentPageUrl", "https://shop.example/card"),
    ];
    let posted = shop.handle(request(Method::POST, "/v3/session/postform", body_of(&form)));
    let location = posted.headers()["location"].to_str().unwrap().to_owned();
    let mut check = vec![("sessionKey", &*session), ("returnUrl", "https://shop.example/back")];
    check.extend_from_slice(&order("998", "order-3")[5..]);
    call(&mut shop, "transaction/initiate3DSecureSessionKey", &check);
    let items = [("currency", "GBP"), ("item_name[0]", "Tea"), ("item_price[0]", "4.99")];
    assert_eq!(shop.version_5("gettoken", &items).status(), 200);
    assert_eq!(shop.version_5("sms", &[("msisdn", "447700900123"), ("message", "Hello")]).status(), 200);
    shop.done("pages/clock?account=ci-17", &[("advanceSeconds", "121")]);
    let callback = shop.due().remove(0).id;
    (shop, Entries { batch, callback, location })
}

struct Entries {
    batch: String,
    callback: String,
    /// Where the customer's browser was sent.
    location: String,
}

const LISTS: [&str; 9] =
    ["requests", "transactions", "tokens", "sessions", "authentications", "checkouts", "batches", "callbacks", "sms"];

/// The values of an attribute of all elements that begin like this.
fn attributes(page: &Page, element: &str, name: &str) -> Vec<String> {
    let tags = page.html.split(element).skip(1).map(|rest| rest.split('>').next().unwrap());
    let values = tags.filter_map(|tag| tag.split_once(&format!("{name}=\""))?.1.split('"').next());
    values.map(|value| value.replace("&#38;", "&")).collect()
}

#[test]
fn the_links_and_buttons_of_an_accounts_pages_stay_at_it() {
    let (mut shop, _) = busy();
    let mut seen = BTreeSet::new();
    let mut next =
        ["/_sandbox/?account=ci-17", "/_sandbox/pages/requests?limit=2&account=ci-17"].map(str::to_owned).to_vec();
    while let Some(path) = next.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = shop.shown(path.strip_prefix("/_sandbox/").unwrap());
        assert!(page.html.contains(">ci-17</"), "{path}: the account is named");
        let is_own = |link: &String| link.contains("?account=ci-17") || link.contains("&account=ci-17");
        for link in attributes(&page, "<a", "href").into_iter().filter(|link| link.starts_with("/_sandbox/")) {
            if path.starts_with("/_sandbox/pages/accounts") && link == "/_sandbox/pages/clock" {
                continue;
            }
            assert!(is_own(&link), "{path} leads to {link}");
            next.push(link);
        }
        let buttons = attributes(&page, "<form method=\"post\"", "action");
        assert!(buttons.iter().all(is_own), "{path}: {buttons:?}");
        let asks = page.html.matches("<form method=\"get\"").count();
        assert_eq!(
            page.html.matches("<input type=\"hidden\" name=\"account\" value=\"ci-17\">").count(),
            asks,
            "{path}"
        );
    }
    for list in LISTS {
        let entry = format!("/_sandbox/pages/{list}/");
        assert!(seen.iter().any(|path| path.starts_with(&entry)), "no entry of {list} in {seen:?}");
    }
    assert!(seen.iter().any(|path| path.contains("before=")), "{seen:?}");
}

#[test]
fn entries_of_an_account_are_shown_on_its_clock_from_the_lists_of_all() {
    let (mut shop, _) = busy();
    for list in LISTS {
        let page = shop.shown(&format!("pages/{list}"));
        let entries = attributes(&page, "<a", "href");
        let entries: Vec<_> =
            entries.iter().filter(|path| path.starts_with(&format!("/_sandbox/pages/{list}/"))).collect();
        assert!(!entries.is_empty() && entries.iter().all(|path| path.ends_with("?account=ci-17")), "{entries:?}");
    }
    shop.done("pages/clock?account=ci-17", &[("advanceSeconds", "1800")]);
    let page = shop.shown("pages/sessions");
    let session = attributes(&page, "<a", "href").into_iter().find(|path| path.contains("/sessions/")).unwrap();
    let page = shop.shown(session.strip_prefix("/_sandbox/").unwrap());
    assert!(page.says("State expired"), "{}", page.text());
    // The entries of configured accounts have one clock, and no account in their path.
    shop.pay("transaction/auth", "100", "order-2");
    let first = attributes(&shop.shown("pages/transactions"), "<a", "href");
    let first = first.into_iter().find(|path| path.contains("/transactions/")).unwrap();
    assert!(!first.contains("account="), "{first}");
}

#[test]
fn an_entry_of_another_account_is_no_page_of_this_one() {
    let (mut shop, Entries { batch, callback, .. }) = busy();
    let other = shop.press("pages/accounts", &[("name", "ci-18"), ("ttlSeconds", ""), ("like", "strict")]);
    assert_eq!(other.status, 200);
    for entry in [format!("pages/batches/{batch}"), format!("pages/callbacks/{callback}")] {
        assert_eq!(shop.page(&format!("{entry}?account=ci-17")).status, 200);
        assert_eq!(shop.page(&format!("{entry}?account=ci-18")).status, 404);
    }
    for button in [format!("pages/batches/{batch}/spoil"), format!("pages/callbacks/{callback}/redeliver")] {
        assert_eq!(shop.press(&format!("{button}?account=ci-18"), &[]).status, 404);
        assert_eq!(shop.press(&format!("{button}?account=ci-17"), &[]).status, 303);
    }
}

#[test]
fn buttons_of_an_accounts_entries_lead_back_to_them() {
    let (mut shop, Entries { batch, callback, location }) = busy();
    for path in [format!("pages/batches/{batch}/spoil"), format!("pages/callbacks/{callback}/redeliver")] {
        let page = shop.press(&format!("{path}?account=ci-17"), &[]);
        let entry = path.rsplit_once('/').unwrap().0;
        assert_eq!((page.status, page.header("location")), (303, &*format!("/_sandbox/{entry}?account=ci-17")));
    }
    let decode = [("address", &*location), ("merchant", "ci-17")];
    let page = shop.press("pages/decoder?account=ci-17", &decode);
    assert!(page.status == 200 && page.says("Ada Customer"), "{}", page.text());
    assert!(shop.shown("pages/decoder?account=ci-17").html.contains("<option value=\"ci-17\" selected>"));
    shop.press("pages/accounts?account=ci-17", &[("name", "ci-18"), ("ttlSeconds", ""), ("like", "main")]);
    let page = shop.press("pages/accounts/ci-18/remove?account=ci-17", &[]);
    assert_eq!(page.header("location"), "/_sandbox/pages/accounts?account=ci-17");
    let page = shop.press("pages/accounts/ci-17/remove?account=ci-17", &[]);
    assert_eq!(page.header("location"), "/_sandbox/pages/accounts");
    assert_eq!(shop.page("pages/clock?account=ci-17").status, 404);
}

#[test]
fn the_overview_of_an_account_shows_its_requests_alone() {
    let (mut shop, _) = busy();
    shop.pay("transaction/auth", "100", "order-2");
    let rows = |page: &Page| page.html.matches("data-head=\"Account\"><div><bdi>main<").count();
    assert_eq!(rows(&shop.shown("")), 1);
    let page = shop.shown("?account=ci-17");
    assert_eq!(rows(&page), 0);
    assert!(page.says("sms ci-17 200"), "{}", page.text());
}
