//! Texts from people who mean no good, in every field that a page shows.

use http::Method;
use proptest::prelude::*;

use crate::hosted_checkout::{CARD, DECLINED, ORDER, PAN, Page, Shop, with};

const SCRIPT: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;";

fn is_clean(page: &Page) -> bool {
    // Escaped, the words are still there as text; tags and quotes are not.
    !page.html.contains("<script") && !page.html.contains("<img") && !page.html.contains("\"'>")
}

#[test]
fn no_script_of_a_merchant_survives_on_a_page() {
    let mut shop = Shop::new();
    for (name, length) in [
        ("item_name[0]", 128),
        ("item_reference[0]", 16),
        ("trans_reference", 50),
        ("first_name", 32),
        ("surname", 32),
        ("salutation", 10),
        ("trans_class", 32),
        ("address_1", 150),
        ("town", 100),
        ("property_name", 50),
    ] {
        let script: String = SCRIPT.chars().take(length).collect();
        let token = shop.token(&[(name, &script)]);
        let shown = shop.visit(&token);
        assert!(is_clean(&shown), "{name} {}", shown.html);
        assert!(is_clean(&shop.pay(&token, DECLINED)), "{name}");
        assert!(is_clean(&shop.pay(&token, PAN)), "{name}");
        shop.done("canceltoken", &[("tokenid", &token)]);
        assert!(is_clean(&shop.visit(&token)), "{name}");
    }
}

#[test]
fn no_script_of_a_customer_survives_on_a_page() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    let page = shop.visit(&token);
    for name in INPUTS.iter().copied().filter(|name| *name != "visit").chain(["visit<b>"]) {
        let form = with(&with(CARD, &[("cardNumber", "1")]), &[(name, SCRIPT)]);
        let shown = shop.submit(&token, &page, &form);
        assert!(is_clean(&shown) && shown.status == 200, "{name} {}", shown.html);
    }
    let form = with(CARD, &[("cardholderName", SCRIPT), ("cardNumber", DECLINED)]);
    let shown = shop.submit(&token, &page, &form);
    assert!(is_clean(&shown) && shown.value("cardholderName").starts_with("&#34;&#39;&#62;&#60;script"));
    assert!(is_clean(&shop.submit(&token, &shown, &with(CARD, &[("cardholderName", SCRIPT)]))));
    assert!(is_clean(&shop.post(&token, &with(CARD, &[("visit", SCRIPT)]))));
    for path in ["%22%27%3E%3Cscript%3E", "success?trans_key=%3Cscript%3E", "x%0d%0aSet-Cookie:a=b"] {
        let shown = Page::of(shop.ask(Method::GET, &format!("/pay/{path}"), ""));
        assert!(is_clean(&shown) && !shown.headers.contains_key("set-cookie"), "{path}");
        assert!(!shown.says("script"));
    }
}

#[test]
fn only_http_addresses_are_linked() {
    let mut shop = Shop::new();
    for name in ["success_url", "cancel_url", "redemption_redirect_url"] {
        for address in [
            "javascript:alert(1)",
            "JavaScript://shop.example/%0aalert(1)",
            "data:text/html,<script>",
            "vbscript:x",
            "file:///etc/passwd",
            "//other.example/",
            "https:other.example",
            "https:\\\\other.example",
            "https://shop.example\\.other.example/",
            "https://shop.example/\r\nLocation: https://other.example/",
            "https://shop.example/\"onmouseover=\"alert(1)",
            " https://shop.example/",
        ] {
            assert_eq!(shop.refused("gettoken", &with(ORDER, &[(name, address)])), "937", "{name} {address}");
        }
    }
    let quoted = "https://shop.example/'onmouseover='alert(1)?a=1&b=%0d%0aX:1";
    let token = shop.token(&[("cancel_url", quoted), ("success_url", quoted), ("auto_redirect", "1")]);
    let page = shop.visit(&token);
    let escaped = "href=\"https://shop.example/&#39;onmouseover=&#39;alert(1)?a=1&#38;b=%0d%0aX:1\"";
    assert!(page.says(escaped), "{}", page.html);
    let paid = shop.submit(&token, &page, CARD);
    assert!(paid.location().starts_with(&format!("{quoted}&trans_key=")));
    // No field of a customer's form changes the target.
    let elsewhere = [("success_url", "https://evil.example/"), ("redirect", "https://evil.example/")];
    let page = shop.visit(&token);
    let paid = shop.submit(&token, &page, &[CARD, &elsewhere].concat());
    assert!(paid.location().starts_with("https://shop.example/"));
}

// spec: 2 §2.2; 3 §4.1; 3 §6, A120
#[test]
fn names_and_links_with_invisible_characters_are_on_the_page_as_they_were_sent() {
    let mut shop = Shop::new();
    let surname = "\u{200f}\u{64a}\u{648}\u{633}\u{641}\u{ad}";
    let cancel = "https://shop.example/\u{2764}\u{fe0f}/basket\u{e0067}";
    let token =
        shop.token(&[("surname", surname), ("cancel_url", cancel), ("item_name[0]", "\u{2764}\u{fe0f}\u{202e}")]);
    let page = shop.visit(&token);
    assert_eq!(page.value("cardholderName"), surname);
    assert!(page.says(&format!("href=\"{cancel}\"")), "{}", page.html);
    // What could hide or reorder a text is written out where people only read it.
    assert!(page.says("<bdi>\u{2764}\u{fe0f}\\u{202e}</bdi>"), "{}", page.html);
    let name = "\u{6e21}\u{9089}\u{e0100}";
    let declined = with(CARD, &[("cardNumber", DECLINED), ("cardholderName", name)]);
    let page = shop.submit(&token, &page, &declined);
    assert_eq!(page.value("cardholderName"), name);
    shop.done("canceltoken", &[("tokenid", &token)]);
    assert!(shop.visit(&token).says(&format!("href=\"{cancel}\"")));
}

#[test]
fn a_card_number_in_the_wrong_input_is_not_shown_and_not_kept() {
    let mut shop = Shop::new();
    let token = shop.token(&[("auto_redirect", "1")]);
    let page = shop.visit(&token);
    let grouped = "4000 0000 0000 1000";
    for name in ["cardExpiry", "cardExpiryMonth", "cardExpiryYear", "cardCV2", "cardholderName"] {
        for number in [PAN, grouped] {
            // The shop refuses to see a number come back.
            shop.submit(&token, &page, &with(&with(CARD, &[("cardNumber", "1")]), &[(name, number)]));
        }
    }
    let paid = shop.submit(&token, &page, &with(CARD, &[("cardholderName", grouped)])).trans_key();
    let made = shop.version_3("token/tokeniseTransactionKey", &[("transactionKey", &paid)]);
    assert_eq!(made["cardKeyDetails"]["0"]["card"]["cardholderName"], "4000 00** **** 1000");
}

const INPUTS: &[&str] =
    &["cardNumber", "cardExpiry", "cardExpiryMonth", "cardExpiryYear", "cardCV2", "cardholderName", "visit", "x"];
const FIELDS: &[&str] = &[
    "token_start",
    "token_uses",
    "success_url",
    "currency",
    "item_name[0]",
    "item_price[0]",
    "item_quantity[0]",
    "item_name[2]",
    "surname",
    "email",
    "callback_url",
    "trans_type",
    "3D_secure",
    "auto_redirect",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_card_form_gets_a_page(
        values in proptest::collection::btree_map(proptest::sample::select(INPUTS), "\\PC{0,30}|[0-9]{0,20}|.{0,40}", 0..6),
    ) {
        let mut shop = Shop::new();
        let token = shop.token(&[("auto_redirect", "1")]);
        let visit = shop.visit(&token).form_key();
        let changes: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let form = with(&with(CARD, &[("visit", &visit)]), &changes);
        let shown = shop.post(&token, &form);
        prop_assert!(shown.status == 200 || shown.status == 303, "{}", shown.html);
    }

    #[test]
    fn any_checkout_gets_a_token_or_a_code(
        values in proptest::collection::btree_map(proptest::sample::select(FIELDS), "\\PC{0,30}|[0-9]{0,20}|.{0,40}", 0..6),
    ) {
        let mut shop = Shop::new();
        let changes: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = shop.call("gettoken", &with(ORDER, &changes));
        if answer.status == 200 {
            let shown = shop.visit(&answer.text("tokenid"));
            prop_assert!(shown.status == 200 || shown.status == 410);
        } else {
            prop_assert!(answer.status == 400 && answer.code().len() == 3);
        }
    }
}
