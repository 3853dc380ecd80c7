//! Lists: pages, filters and links.

use crate::inspector::{Page, Shop, order};

/// The references of the payments on a page.
fn references(page: &Page) -> String {
    page.html.split("data-head=\"Reference\"><div><bdi>").skip(1).map(|rest| &rest[..1]).collect()
}

#[test]
fn lists_come_in_pages_and_by_account() {
    let mut shop = Shop::new();
    for number in 0..6 {
        let merchant = if number == 1 { "other" } else { "main" };
        shop.call_as(merchant, "transaction/auth", &order("100", &number.to_string()));
    }
    let page = shop.shown("pages/transactions?limit=2");
    assert_eq!(references(&page), "54");
    let older = page.paths().into_iter().find(|path| path.contains("before=")).unwrap();
    let page = shop.shown(older.strip_prefix("/_sandbox/").unwrap());
    assert_eq!(references(&page), "32");
    assert!(page.says("Newest Older"), "{}", page.text());
    assert_eq!(references(&shop.shown("pages/transactions?merchant=other")), "1");
    assert_eq!(references(&shop.shown("pages/transactions?merchant=&limit=")), "543210");
    let page = shop.shown("pages/transactions?merchant=main");
    assert!(page.html.contains("<option value=\"main\" selected>"));
    assert!(!page.says("Older"));
}

#[test]
fn requests_are_found_by_method() {
    let mut shop = Shop::new();
    shop.call("token/lookup", &[]);
    shop.pay("transaction/auth", "100", "r");
    let page = shop.shown("pages/requests?merchant=&method=token/lookup");
    assert_eq!(page.paths_below("/_sandbox/pages/requests/").len(), 1);
    assert!(page.html.contains("<option value=\"token/lookup\" selected>"));
}

#[test]
fn an_invalid_query_is_named() {
    let mut shop = Shop::new();
    for query in ["limit=0", "limit=1001", "since=1", "limit=1&limit=2", "method=x", "before=%"] {
        let page = shop.page(&format!("pages/requests?{query}"));
        assert_eq!(page.status, 400, "{query}");
        assert!(page.says("This cannot be done"), "{query}");
    }
    assert_eq!(shop.page("pages/tokens?method=token/lookup").status, 400);
}

#[test]
fn a_checkout_shows_the_remaining_amount_and_its_callbacks() {
    let mut shop = Shop::new();
    let given = [
        ("item_name[0]", "Tea"),
        ("item_price[0]", "4.99"),
        ("token_uses", "2"),
        ("token_redemptions", "5"),
        ("trans_cat", "booking"),
        ("trans_class", "spring"),
        ("payment_source", "moto"),
        ("terminal_key", "main-web"),
        ("applet", "main-small"),
        ("auto_redirect", "1"),
        ("redemption_redirect_url", "https://shop.example/redeemed"),
    ];
    let token = shop.enterprise("gettoken", &given, "tokenid");
    let listed = shop.control(&format!("checkouts/{token}"));
    for (name, wanted) in [
        ("/usesLeft", 2.into()),
        ("/redemptionsLeft", 5.into()),
        ("/transCategory", "booking".into()),
        ("/applet", "main-small".into()),
        ("/autoRedirect", true.into()),
        ("/redemptionRedirectUrl", "https://shop.example/redeemed".into()),
        ("/options/trans_class", "spring".into()),
        ("/options/payment_source", "moto".into()),
        ("/options/terminal_key", "main-web".into()),
    ] {
        assert_eq!(listed.pointer(name), Some::<&serde_json::Value>(&wanted), "{name} {listed}");
    }
    let page = shop.shown(&format!("pages/checkouts/{token}"));
    for text in ["Payments left 2", "Visits left 5", "Category booking", "Applet main-small", "terminal_key main-web"] {
        assert!(page.says(text), "{text}: {}", page.text());
    }
    assert!(page.html.contains("https://shop.example/redeemed"));
}
