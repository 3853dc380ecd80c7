//! The payment page: what it shows, what it takes, and where it leads (spec 3 §1, §3.1, §4.1;
//! A119 and A120).

use http::Method;
use pg_sandbox::{
    Settings,
    merchants::{Merchants, Redemption},
};

use crate::hosted_checkout::{CANCEL, CARD, DECLINED, PAN, POOR, Page, SILENT, Shop, with};

// spec: 3 §4.1, A119: The page asks for a card, shows every error beside its input, and shows a decline above the form.
#[test]
fn the_page_shows_the_order_and_asks_for_a_card() {
    let mut shop = Shop::new();
    let token = shop.token(&[("trans_reference", "order-7"), ("first_name", "Ann"), ("surname", "Other")]);
    let page = shop.visit(&token);
    assert_eq!(page.status, 200);
    for text in [
        "<bdi>Tea</bdi> <span class=\"pieces\">\u{d7} 2</span></td><td>\u{a3}9.98</td>",
        "<bdi>Spoon</bdi></td><td>\u{a3}1.00</td>",
        "<h1>Pay \u{a3}10.98</h1>",
        "<summary>Your order: 2 items</summary>",
        "<strong>Test mode</strong>",
        "Name on card <span class=\"how\">optional</span>",
        "<link rel=\"icon\" href=\"data:image/svg+xml,",
        "<bdi>order-7</bdi>",
        "<bdi>main</bdi>",
        &format!("<a href=\"{CANCEL}\">"),
        &format!("<form method=\"post\" action=\"/pay/{token}\""),
    ] {
        assert!(page.says(text), "{text} {}", page.html);
    }
    for name in ["cardNumber", "cardExpiry", "cardExpiryMonth", "cardExpiryYear", "cardCV2", "cardholderName"] {
        assert!(page.says(&format!("<label for=\"{name}\">")) && page.says(&format!("<input id=\"{name}\"")), "{name}");
    }
    assert_eq!((page.title(), page.focus()), ("Pay \u{a3}10.98 \u{2013} main", ""));
    assert_eq!((page.value("cardholderName"), page.value("cardNumber")), ("Ann Other", ""));
    assert!(!page.says("<script"));
}

#[test]
fn pages_carry_the_headers_of_careful_pages() {
    let mut shop = Shop::new();
    let (stays, leads) = (shop.token(&[]), shop.token(&[("auto_redirect", "1")]));
    let policy = |page: &Page| page.headers["content-security-policy"].to_str().unwrap().to_owned();
    let (stays, leads) = (shop.visit(&stays), shop.visit(&leads));
    assert!(
        policy(&stays).contains("form-action 'self';") && policy(&leads).contains("form-action 'self' http: https:;")
    );
    let lost = shop.visit("nothing");
    for page in [&stays, &leads, &lost] {
        let policy = policy(page);
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("; img-src data:; ") && policy.contains("frame-ancestors 'none'; base-uri 'none'"));
        assert_eq!(page.headers["x-content-type-options"], "nosniff");
        assert_eq!(page.headers["x-frame-options"], "DENY");
        assert_eq!(page.headers["referrer-policy"], "no-referrer");
        assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
        // A policy with the hash of the style admits no other.
        assert_eq!(page.html.matches("<style>").count(), 1);
        assert!(!page.says(" style=") && !page.says(" onclick="));
    }
}

// spec: 3 §1: gettoken sets up a checkout; the customer opens its redemption URL and pays on hosted pages.
// spec: 3 §4.1, A114, A120: The customer goes to success_url after an approval, and to cancel_url after cancelling; both have
//   defaults.
// spec: 3 §4.1, A120: auto_redirect 1 redirects to success_url after approval; 0 shows the pages of the service.
// spec: 3 §6, A120: The customer is redirected to success_url, cancel_url or redemption_redirect_url.
#[test]
fn an_approval_leads_on_with_its_key() {
    let mut shop = Shop::new();
    let token = shop.token(&[("auto_redirect", "1")]);
    let page = shop.pay(&token, PAN);
    let key = page.trans_key();
    assert_eq!(
        (page.status, page.location()),
        (303, &*format!("https://shop.example/paid?order=7&trans_key={key}#end"))
    );
    assert_eq!(shop.status_of(&key), "Success");

    let token = shop.token(&[("auto_redirect", "1"), ("success_url", "")]);
    let page = shop.pay(&token, PAN);
    let own = format!("http://127.0.0.1:8480/pay/success?trans_key={}", page.trans_key());
    assert_eq!(page.location(), own);
}

// spec: 3 §4.1, A120; 3 §6, A120
#[test]
fn without_auto_redirect_there_is_a_page_with_a_button() {
    let mut shop = Shop::new();
    for auto_redirect in ["", "0"] {
        let token = shop.token(&[("auto_redirect", auto_redirect)]);
        let page = shop.pay(&token, PAN);
        assert_eq!(page.status, 200);
        let key = page.trans_key();
        let button = format!("href=\"https://shop.example/paid?order=7&#38;trans_key={key}#end\"");
        for text in ["Payment complete", "\u{a3}10.98", "Visa 400000******1000", &key, &button] {
            assert!(page.says(text), "{text} {}", page.html);
        }
    }
}

// spec: 3 §4.1, A120: The customer is redirected to redemption_redirect_url when the token is redeemed.
// spec: 3 §3.1, A119; 3 §6, A120
#[test]
fn a_visit_redeems_the_token_and_redirects_to_its_address() {
    let mut shop = Shop::new();
    let redeemed = "https://shop.example/redeemed?order=7#top";
    let token = shop.token(&[("redemption_redirect_url", redeemed), ("token_redemptions", "2")]);
    for _ in 0..2 {
        let page = shop.visit(&token);
        assert_eq!((page.status, page.location()), (303, redeemed), "{}", page.html);
    }
    // Both redemptions are used, nothing was paid, and nothing can be.
    assert_eq!(shop.visit(&token).status, 410);
    let page = shop.post(&token, CARD);
    assert_eq!((page.status, page.location()), (303, &*format!("/pay/{token}")));
    assert_eq!(shop.control("transactions"), serde_json::json!([]));
}

/// The other reading, for an account that is set so.
// spec: 3 §4.1, A120
#[test]
fn an_approval_redeems_the_token_where_the_account_says_so() {
    let mut main = Shop::new().sandbox.settings().merchants.by_name("main").unwrap().clone();
    main.redemption = Redemption::Approval;
    let mut shop = Shop::with(Settings::default().merchants(Merchants::with(vec![main]).unwrap()));
    let token = shop.token(&[("redemption_redirect_url", "https://shop.example/redeemed")]);
    let page = shop.pay(&token, PAN);
    assert!(page.says(&format!("href=\"https://shop.example/redeemed?trans_key={}\"", page.trans_key())));
    assert!(!page.says("shop.example/paid"));
    let token = shop.token(&[("redemption_redirect_url", "https://shop.example/redeemed"), ("auto_redirect", "1")]);
    assert!(shop.pay(&token, PAN).location().starts_with("https://shop.example/paid?"));
}

// spec: 3 §3.1, A119
#[test]
fn head_is_get_without_the_visit() {
    let mut shop = Shop::new();
    let token = shop.token(&[("token_redemptions", "1")]);
    for path in
        [&*format!("/pay/{token}"), "/pay/success", "/pay/cancelled", "/_sandbox/pages/clock", "/_sandbox/merchants"]
    {
        let head = shop.ask(Method::HEAD, path, "");
        assert_eq!((head.status().as_u16(), head.body().len()), (200, 0), "{path}");
        assert!(head.headers()["content-length"].to_str().unwrap().parse::<usize>().unwrap() > 2, "{path}");
        if !path.contains(&token) {
            let get = shop.ask(Method::GET, path, "");
            assert_eq!(head.headers()["content-length"], get.body().len().to_string(), "{path}");
            assert_eq!(head.headers()["content-type"], get.headers()["content-type"]);
        }
    }
    // The one visit is still there.
    assert_eq!(shop.visit(&token).status, 200);
    assert_eq!(shop.visit(&token).status, 410);
    assert_eq!(shop.ask(Method::HEAD, "/_sandbox/nothing", "").status(), 404);
    let page = |method| shop.ask(method, "/session-error", "").status();
    assert_eq!([Method::HEAD, Method::GET].map(page), [400, 400]);
}

#[test]
fn the_methods_of_an_address_are_listed() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    for (method, path, status, allow) in [
        (Method::DELETE, &*format!("/pay/{token}"), 405, "GET, HEAD, POST"),
        (Method::POST, "/pay/success", 405, "GET, HEAD"),
        (Method::PUT, "/3ds/abc", 405, "GET, HEAD, POST"),
        (Method::POST, "/session-error", 405, "GET, HEAD"),
        (Method::PUT, "/_sandbox/clock", 405, "GET, HEAD, POST"),
        (Method::POST, "/_sandbox/merchants", 405, "GET, HEAD"),
        (Method::GET, "/_sandbox/faults/1", 405, "DELETE"),
        (Method::DELETE, "/_sandbox/", 405, "GET, HEAD, POST"),
        (Method::GET, "/enterprise/gettoken", 400, "POST"),
        (Method::HEAD, "/v3/transaction/auth", 400, "POST"),
    ] {
        let response = shop.ask(method, path, "");
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()["allow"], allow, "{path}");
    }
}

#[test]
fn the_address_of_the_sandbox_leads_browsers_to_the_inspector() {
    let mut shop = Shop::new();
    for method in [Method::GET, Method::HEAD] {
        let page = Page::of(shop.ask(method, "/", ""));
        assert_eq!((page.status, page.location()), (303, "/_sandbox/"));
    }
    assert_eq!(shop.ask(Method::POST, "/", "").status(), 404);
}

// spec: 3 §3.2; 3 §4.1
#[test]
fn a_reservation_is_called_one() {
    let mut shop = Shop::new();
    let token = shop.token(&[("trans_type", "PreAuth")]);
    assert!(shop.visit(&token).says("Reserve \u{a3}10.98"));
    let page = shop.pay(&token, PAN);
    assert!(page.says("Amount reserved"));
    let captured = shop.done("capture", &[("prev_trans_key", &page.trans_key()), ("trans_value", "10.98")]);
    assert_eq!(captured.text("status"), "1");
}

// spec: 3 §4.1, A119
#[test]
fn each_mistake_is_shown_beside_its_input() {
    let mut shop = Shop::new();
    let token = shop.token(&[("token_uses", "1"), ("token_redemptions", "1")]);
    let page = shop.visit(&token);
    let empty = shop.submit(&token, &page, &[]);
    assert_eq!((empty.status, empty.faults()), (200, vec!["cardNumber", "cardExpiry", "cardCV2"]));
    for (name, value, wanted) in [
        ("cardNumber", "4000000000001001", "cardNumber"),
        ("cardNumber", "40000", "cardNumber"),
        ("cardNumber", "none", "cardNumber"),
        ("cardExpiryMonth", "13", "cardExpiry"),
        ("cardExpiryYear", "203", "cardExpiry"),
        ("cardExpiryYear", "2025", "cardExpiry"),
        ("cardExpiryYear", "2999", "cardExpiry"),
        ("cardExpiry", "13 / 30", "cardExpiry"),
        ("cardExpiry", "next year", "cardExpiry"),
        ("cardCV2", "12", "cardCV2"),
        ("cardCV2", "12345", "cardCV2"),
        ("cardholderName", "a\nb", "cardholderName"),
    ] {
        let shown = shop.submit(&token, &page, &with(CARD, &[(name, value)]));
        assert_eq!((shown.status, shown.faults()), (200, vec![wanted]), "{name} {value}");
        assert_eq!((shown.value("cardNumber"), shown.value("cardCV2")), ("", ""));
        assert_eq!(shown.form_key(), page.form_key());
        assert!(
            shown.says("role=\"alert\"") && shown.says(&format!("<a href=\"#{wanted}\">{}</a>", shown.fault(wanted)))
        );
    }
    // What was right is still there, and posting counts as no visit.
    let shown = shop.submit(&token, &page, &with(CARD, &[("cardNumber", "")]));
    assert_eq!((shown.value("cardExpiryMonth"), shown.value("cardExpiryYear")), ("12", "2030"));
    assert_eq!((shown.value("cardExpiry"), shown.value("cardholderName")), ("", "A Customer"));
    let together = with(CARD, &[("cardExpiryMonth", ""), ("cardExpiryYear", ""), ("cardExpiry", "1230")]);
    let shown = shop.submit(&token, &page, &with(&together, &[("cardNumber", "")]));
    assert_eq!((shown.value("cardExpiry"), shown.value("cardExpiryMonth")), ("12 / 30", ""));
    let grouped =
        with(CARD, &[("cardNumber", "4000 0000 0000-1000"), ("cardExpiryYear", "30"), ("cardExpiryMonth", "9")]);
    assert!(shop.submit(&token, &page, &with(&grouped, &[("cardholderName", "")])).says("Payment complete"));
}

// spec: 3 §1, A180: The page takes the expiry date in one input or in two, and refuses impossible years.
#[test]
fn an_expiry_is_taken_in_one_input_or_in_two() {
    let mut shop = Shop::new();
    let apart = ["cardExpiryMonth", "cardExpiryYear"];
    for text in ["12/30", "12 / 2030", "1230", "2030-12"] {
        let token = shop.token(&[("auto_redirect", "1")]);
        let page = shop.visit(&token);
        let form = with(CARD, &[("cardExpiry", text), (apart[0], ""), (apart[1], "")]);
        let key = shop.submit(&token, &page, &form).trans_key();
        let paid = shop.control(&format!("transactions/{key}"));
        assert_eq!(paid["card"]["cardExpiryMonth"], "12", "{text}");
        assert_eq!(paid["card"]["cardExpiryYear"], "2030", "{text}");
    }
}

// spec: 3 §4.1, A119
#[test]
fn after_a_mistake_title_and_focus_point_at_it() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    let page = shop.visit(&token);
    let shown = shop.submit(&token, &page, &with(CARD, &[("cardCV2", ""), ("cardExpiryMonth", "13")]));
    assert_eq!((shown.title(), shown.focus()), ("Error: Pay \u{a3}10.98 \u{2013} main", "cardExpiry"));
    let declined = shop.submit(&token, &page, &with(CARD, &[("cardNumber", DECLINED)]));
    assert_eq!((declined.title(), declined.focus()), ("Your card was declined \u{2013} main", "alert"));
    assert!(declined.says("<p>Visa ending in 2008. Nothing was charged."), "{}", declined.html);
}

// spec: 3 §4.1, A119
#[test]
fn each_mistake_in_a_card_number_has_its_own_message() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    let page = shop.visit(&token);
    let mut told =
        |number| shop.submit(&token, &page, &with(CARD, &[("cardNumber", number)])).fault("cardNumber").to_owned();
    let words = [told(""), told("4000 0000"), told("4000000000001001"), told("40000000000010000000"), told("four")];
    let all: std::collections::BTreeSet<_> = words.iter().collect();
    assert_eq!(all.len(), words.len(), "{words:?}");
}

// spec: 3 §1, A182: Pages are in English, and format amounts as English does.
#[test]
fn amounts_are_written_in_the_language_of_the_page() {
    let mut shop = Shop::new();
    for (currency, price, wanted) in [
        ("GBP", "1036.4", "\u{a3}2,073.80"),
        ("EUR", "1036.4", "\u{20ac}2,073.80"),
        ("USD", "0.05", "$1.10"),
        ("JPY", "1234", "\u{a5}2,469"),
        ("BHD", "1234.567", "BHD\u{a0}2,470.134"),
    ] {
        let token = shop.token(&[("currency", currency), ("item_price[0]", price)]);
        let page = shop.visit(&token);
        assert!(page.says(&format!("<h1>Pay {wanted}</h1>")), "{currency} {}", page.html);
    }
}

#[test]
fn a_card_that_expires_this_month_is_good() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    let page = shop.visit(&token);
    let month = |month: &'static str| with(CARD, &[("cardExpiryMonth", month), ("cardExpiryYear", "2026")]);
    assert_eq!(shop.submit(&token, &page, &month("04")).faults(), ["cardExpiry"]);
    assert!(shop.submit(&token, &page, &month("05")).says("Payment complete"));
}

// spec: 3 §4.1, A119
#[test]
fn a_decline_shows_the_form_again() {
    let mut shop = Shop::new();
    let token = shop.token(&[("token_uses", "1"), ("token_redemptions", "1")]);
    let mut page = shop.visit(&token);
    for (number, words, also) in [
        (DECLINED, "Your card was declined<", "Nothing was charged"),
        (POOR, "not enough funds", "Nothing was charged"),
        (SILENT, "Your bank did not answer", "It is unknown whether your card was charged"),
    ] {
        let next = shop.submit(&token, &page, &with(CARD, &[("cardNumber", number)]));
        assert_eq!((next.status, next.says(words), next.says(also)), (200, true, true), "{}", next.html);
        assert_ne!(next.form_key(), page.form_key());
        assert_eq!((next.value("cardholderName"), next.value("cardNumber")), ("A Customer", ""));
        page = next;
    }
    assert!(shop.submit(&token, &page, CARD).says("Payment complete"));
}

#[test]
fn invalid_forms_and_other_methods_get_a_page() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    let path = format!("/pay/{token}");
    for (body, code) in [(&b"a=%"[..], "930"), (b"\xff=1", "930"), (b"cardCV2=1&cardCV2=2", "935")] {
        let page = Page::of(shop.ask(Method::POST, &path, body.to_vec()));
        assert_eq!((page.status, page.says(&format!("<dd>{code}</dd>"))), (400, true), "{}", page.html);
    }
    // The list of error codes of documents 1 and 2 says nothing about this page.
    let twice = Page::of(shop.ask(Method::POST, &path, "cardNumber=1&cardNumber=2"));
    assert_eq!(twice.headers["pg-basis"], "3 3.1, A40, A48, A119, A182");
    let large = Page::of(shop.ask(Method::POST, &path, vec![b'a'; (1 << 20) + 1]));
    assert!(large.says("<dd>931</dd>"));
    for method in [Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
        let page = Page::of(shop.ask(method, &path, ""));
        assert!(page.status == 405 && page.says("<dd>934</dd>"));
    }
    assert_eq!(shop.visit(&format!("{token}/")).status, 200);
    for path in ["", "x", "../..", "%00", "success/x", "<script>"] {
        assert!([404, 410].contains(&shop.visit(&path.replace(['<', '>'], "%3C")).status), "{path}");
    }
}

#[test]
fn a_page_names_its_basis() {
    let mut shop = Shop::new();
    let token = shop.token(&[]);
    let basis = |page: &Page| String::from_utf8(page.headers["pg-basis"].as_bytes().to_vec()).unwrap();
    assert_eq!(basis(&shop.visit(&token)), "3 3.1, A119, A182");
    assert_eq!(basis(&shop.pay(&token, PAN)), "3 3.1, A83, A88, A101, A119, A120, A136, A180, A182");
    assert!(basis(&shop.pay(&token, SILENT)).contains("A93"));
}
