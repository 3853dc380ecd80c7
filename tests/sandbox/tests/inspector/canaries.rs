//! Whatever merchants and customers send, every page shows as text, and no card number, CV2 or credential with it. Card
//! numbers and CV2s are looked for in every page that the shop gets.

use http::{Method, Request};
use pg_model::METHODS;
use pg_sandbox::merchants::Merchant;

use crate::inspector::{CV2, PAN, Shop, order};

/// What would do harm as markup or inside an attribute.
const EVIL: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&lt;";
/// As much of it as a short field may hold.
const SHORT: &str = "\"'><script>";
/// As much of it as an address may hold.
const EVIL_URL: &str = "https://shop.example/?a='onx='%22%3E%3Cscript%3E&b=&lt;";

/// Every page that there is: the menu, and all links from there.
fn every_page(shop: &mut Shop) -> Vec<String> {
    let mut found = vec!["/_sandbox/".to_owned()];
    let mut at = 0;
    while at < found.len() {
        let page = shop.page(found[at].strip_prefix("/_sandbox/").unwrap());
        // Forms may take no GET.
        if page.status == 200 {
            let text = page.html.to_lowercase();
            for evil in ["<script", "<img", "onerror=alert(2)>", "'><", "\"'>"] {
                assert!(!text.contains(evil), "{}: {evil}", found[at]);
            }
            for path in page.paths_below("/_sandbox/") {
                if !found.contains(&path) && !path.contains("assumptions/") {
                    found.push(path);
                }
            }
        }
        at += 1;
    }
    found
}

#[test]
fn markup_stays_text_on_every_page() {
    let mut shop = Shop::new();
    let mut evil_order = order("100", SHORT).to_vec();
    evil_order.retain(|(name, _)| !["cardholderName", "itemName0"].contains(name));
    evil_order.extend([
        ("cardholderName", EVIL),
        ("itemName0", EVIL),
        ("merchantCustomerReference", SHORT),
        ("bankDescriptor", EVIL),
        ("customerName", EVIL),
        ("<script>", EVIL),
    ]);
    let paid = shop.call("transaction/auth", &evil_order);
    assert!(paid["transactionKey"].is_string(), "{paid}");
    let key = paid["transactionKey"].as_str().unwrap().to_owned();
    shop.call("token/tokeniseTransactionKey", &[("transactionKey", &key), ("merchantCustomerReference", SHORT)]);
    let opened = shop.call("session/initiate", &[("errorPageUrl", EVIL_URL), ("merchantCustomerReference", SHORT)]);
    let session = opened["sessionKey"].as_str().map(str::to_owned);
    let form = [
        ("sessionKey", session.as_deref().unwrap_or_default()),
        ("cardNumber", "4111111111111111"),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "2030"),
        ("cardholderName", EVIL),
        ("collectNote", EVIL),
        ("collect<b>", EVIL),
        ("nextPageUrl", "https://shop.example/next"),
        ("currentPageUrl", "https://shop.example/card"),
    ];
    shop.ask(Method::POST, "/v3/session/postform", &form);
    let evil_token = [
        ("currency", "GBP"),
        ("item_name[0]", SHORT),
        ("item_price[0]", "1"),
        ("trans_reference", SHORT),
        ("success_url", EVIL_URL),
        ("first_name", SHORT),
    ];
    shop.enterprise("gettoken", &evil_token, "tokenid");
    shop.send_enterprise("sms", &[("msisdn", "447700900123"), ("message", EVIL)]);
    shop.ask(Method::GET, "/nowhere/%3Cscript%3E'%22", &[]);
    let pages = every_page(&mut shop);
    for list in ["requests", "transactions", "tokens", "sessions", "checkouts", "sms"] {
        let start = format!("/_sandbox/pages/{list}/");
        assert!(pages.iter().any(|path| path.starts_with(&start)), "{list}: {pages:?}");
    }
    assert!(
        shop.shown(&format!("pages/transactions/{key}")).html.contains("&#60;script&#62;alert(1)&#60;/script&#62;")
    );
}

/// Every parameter that a merchant can send, refused or not, and every call of the control interface.
#[test]
fn markup_in_any_parameter_of_any_method_stays_text_on_every_page() {
    let mut shop = Shop::new();
    for method in METHODS {
        let names: Vec<String> = method.fields.iter().map(|field| field.wire.replace("{n}", "0")).collect();
        let path = format!("{method:?}");
        for evil in [EVIL, SHORT, EVIL_URL] {
            let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), evil)).collect();
            match path.strip_prefix("enterprise/") {
                Some(name) => shop.send_enterprise(name, &pairs),
                None => shop.send_as("main", &path, &pairs),
            };
        }
    }
    let in_json = EVIL.replace('"', "\\\"");
    for (path, body) in [
        ("accounts", format!(r#"{{"name": "{in_json}"}}"#)),
        ("callbacks/destinations", format!(r#"{{"url": "{EVIL_URL}"}}"#)),
        ("callbacks/destinations", format!(r#"{{"account": "{in_json}", "url": "{EVIL_URL}"}}"#)),
        ("faults", format!(r#"{{"method": "{in_json}", "kind": "{in_json}"}}"#)),
        ("faults", r#"{"method": "token/lookup", "kind": "status", "status": 500}"#.to_owned()),
        ("cards/updater", format!(r#"{{"cardKey": "{in_json}", "response": "{in_json}"}}"#)),
    ] {
        let request = Request::post(format!("/_sandbox/{path}")).header("host", "127.0.0.1");
        shop.send(request.body(body.into()).unwrap());
    }
    let pages = every_page(&mut shop);
    assert!(pages.iter().filter(|path| path.starts_with("/_sandbox/pages/requests/")).count() > 20, "{pages:?}");
    for path in pages {
        let page = shop.page(path.strip_prefix("/_sandbox/").unwrap());
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
    }
}

#[test]
fn no_number_and_no_secret_is_on_any_page() {
    let mut shop = Shop::new();
    let spaced = "4000 0000 0000 2008";
    let mut misplaced = order("100", PAN).to_vec();
    misplaced.retain(|(name, _)| !["cardNumber", "cardholderName", "itemName0"].contains(name));
    misplaced.extend([
        ("cardNumber", PAN),
        ("cardholderName", spaced),
        ("itemName0", "for 4000-0000-0000-2008"),
        ("unknownName", PAN),
        ("cvv", CV2),
    ]);
    shop.call("transaction/auth", &misplaced);
    let (session, _) = shop.session(PAN);
    let form = [
        ("sessionKey", &*session),
        ("cardNumber", PAN),
        ("cardCV2", CV2),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "2030"),
        ("collectNote", spaced),
        ("nextPageUrl", "https://shop.example/next"),
        ("currentPageUrl", "https://shop.example/card"),
    ];
    shop.ask(Method::POST, "/v3/session/postform", &form);
    shop.ask(Method::GET, &format!("/v3/token/lookup?cardNumber={PAN}"), &[]);
    shop.ask(Method::GET, &format!("/pay/{PAN}"), &[]);
    let sms = [("msisdn", "447700900123"), ("message", spaced)];
    shop.send_enterprise("sms", &sms);
    let token = shop.token();
    shop.batch(&token);
    shop.wait(121);

    let secrets: Vec<String> = shop.sandbox.settings().merchants.all().iter().flat_map(credentials).collect();
    for path in every_page(&mut shop) {
        let page = shop.page(path.strip_prefix("/_sandbox/").unwrap());
        let published = path == "/_sandbox/";
        assert!(published || secrets.iter().all(|secret| !page.html.contains(secret.as_str())), "{path}");
    }
}

fn credentials(merchant: &Merchant) -> Vec<String> {
    let enterprise = merchant.enterprise.iter().flat_map(|held| [&held.api_key, &held.api_password]);
    let own =
        [&merchant.api_key, &merchant.api_password, &merchant.sha_key].into_iter().chain(&merchant.account_updater_key);
    own.chain(enterprise).map(|secret| secret.expose().to_owned()).collect()
}
