//! Accounts that are made, shown and removed in the inspector.

use crate::inspector::shop::{HOST, Shop};

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
fn an_account_that_cannot_be_made_is_named_and_what_was_entered_stays() {
    let mut shop = Shop::new();
    for (pairs, problem) in [
        (&[("name", "CI 1")][..], "name must be 1 to 32"),
        (&[("name", "main")], "there is an account"),
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
    assert!(shop.shown("pages/faults").says("Nothing goes wrong."));
    assert!(shop.shown("pages/clock").says("2026-05-04 10:00:00 UTC"));
    assert!(shop.shown("pages/accounts?account=ci-17").paths().contains(&"/_sandbox/pages/clock".to_owned()));
    assert!(shop.shown("pages/requests").html.contains("<option value=\"ci-17\""));
    let gone = shop.page("pages/clock?account=gone");
    assert!(gone.status == 404 && gone.says("There is no account"), "{}", gone.text());
}
