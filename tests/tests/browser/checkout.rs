//! The hosted checkout (spec 3 §1, §3.1).

use pg_model::{
    CancelToken, CheckoutItem, CheckoutToken, Currency, Encoding, Flag, GetToken, Transaction, TransactionLookup,
};
use pg_tests::{
    shop::Shop,
    webdriver::{Browser, ENTER, Scripts, TAB},
};

use crate::{
    gallery::{DESK, PHONE},
    site::{OpenSite, Site},
};

mod impatient;

const VISA: [(&str, &str); 5] = card("4000000000001000");
const DECLINED: [(&str, &str); 5] = card("4000000000002008");
const NO_ANSWER: [(&str, &str); 5] = card("4000000000004004");
const ASKS: [(&str, &str); 5] = card("4000000000005001");

const REFERENCE: &str = "basket 7";

/// A day longer than tokens usually last, in seconds (A114).
const EIGHT_DAYS: u64 = 8 * 24 * 60 * 60;

const fn card(number: &'static str) -> [(&'static str, &'static str); 5] {
    [
        ("cardNumber", number),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "2031"),
        ("cardCV2", "987"),
        ("cardholderName", "A Holder"),
    ]
}

/// A merchant that redirects customers to the hosted checkout.
struct Merchant {
    shop: Shop,
    site: OpenSite,
}

impl Merchant {
    async fn open() -> Self {
        let shop = Shop::open(Encoding::Json).await;
        let site = Site::new().await.open(|address| {
            let thanks = address.contains("/thanks");
            format!("<h1>{}</h1>", if thanks { "Thank you" } else { "Basket" })
        });
        Self { shop, site }
    }

    /// A checkout of two things, 12.50 in all.
    fn basket(&self) -> GetToken {
        GetToken::new()
            .currency(Currency::GBP)
            .trans_reference(REFERENCE)
            .item(CheckoutItem::new("Tea", "4.50").quantity(2_u64))
            .item(CheckoutItem::new("Biscuits", "3.5"))
            .success_url(self.site.page("/thanks?order=7#end"))
            .cancel_url(self.site.page("/basket"))
    }

    async fn token(&self, token: GetToken) -> CheckoutToken {
        self.shop.client.call(&token).await.unwrap()
    }

    /// The transactions that were submitted to the bank, oldest first.
    async fn payments(&self) -> Vec<Transaction> {
        let lookup = TransactionLookup::new().merchant_reference(REFERENCE);
        self.shop.client.call(&lookup).await.unwrap().transactions
    }

    /// The status codes of the transactions that were submitted to the bank.
    async fn statuses(&self) -> Vec<String> {
        self.payments().await.iter().map(|payment| payment.transaction_status_code.as_str().to_owned()).collect()
    }
}

/// Opens the payment page and checks its inputs.
async fn open(browser: &Browser, token: &CheckoutToken) {
    browser.visit(token.token.redemption_url.as_str()).await;
    browser.see("\u{a3}12.50").await;
}

/// A browser with the payment page of a basket, its merchant, and the token.
async fn visited(scripts: Scripts) -> Option<(Browser, Merchant, CheckoutToken)> {
    let browser = Browser::open(scripts).await?;
    let merchant = Merchant::open().await;
    let token = merchant.token(merchant.basket()).await;
    open(&browser, &token).await;
    Some((browser, merchant, token))
}

async fn pay(browser: &Browser, card: &[(&str, &str)]) {
    browser.fill_all(card).await;
    browser.submit("form button").await;
}

// spec: 3 §1
#[tokio::test]
async fn a_customer_pays() {
    a_customer_pays_and_goes_on(Scripts::On).await;
}

// spec: 3 §1, A180
#[tokio::test]
async fn a_customer_pays_without_scripts() {
    a_customer_pays_and_goes_on(Scripts::Off).await;
}

async fn a_customer_pays_and_goes_on(scripts: Scripts) {
    let Some((browser, merchant, _)) = visited(scripts).await else { return };
    assert_eq!(browser.read("h1").await, "Pay \u{a3}12.50");
    let order = browser.read_all("table").await.concat();
    for wanted in [REFERENCE, "Tea", "\u{d7} 2", "\u{a3}9.00", "Biscuits", "\u{a3}3.50", "\u{a3}12.50"] {
        assert!(order.contains(wanted), "{wanted} in {order}");
    }
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    assert!(browser.read("dl").await.contains("400000******1000"));
    browser.click_on("Continue").await;
    browser.see("Thank you").await;

    let [payment] = &merchant.payments().await[..] else { panic!("not one payment") };
    let wanted = format!("/thanks?order=7&trans_key={}#end", payment.transaction_key.as_str());
    assert_eq!(browser.address().await, merchant.site.page(&wanted));
    assert_eq!(payment.transaction_status_code.as_str(), "600");
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn auto_redirect_sends_the_customer_to_the_shop_at_once() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let merchant = Merchant::open().await;
    let token = merchant.token(merchant.basket().auto_redirect(Flag::YES)).await;
    open(&browser, &token).await;
    pay(&browser, &VISA).await;
    browser.see("Thank you").await;
    assert!(browser.address().await.starts_with(&merchant.site.page("/thanks?order=7&trans_key=")));
    assert_eq!(merchant.statuses().await, ["600"]);
    assert_eq!(browser.complaints().await, [""; 0]);
}

// spec: 3 §3.2
#[tokio::test]
async fn an_amount_is_reserved() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let merchant = Merchant::open().await;
    let token = merchant.basket().trans_type("PreAuth").success_url(merchant.site.page("/thanks?reserved"));
    open(&browser, &merchant.token(token).await).await;
    browser.see("Reserve").await;
    pay(&browser, &VISA).await;
    browser.see("Amount reserved").await;
    browser.click_on("Continue").await;
    browser.see("Thank you").await;
    assert!(browser.address().await.starts_with(&merchant.site.page("/thanks?reserved&trans_key=")));
}

#[tokio::test]
async fn a_customer_whose_card_is_declined_takes_another() {
    let Some((browser, merchant, _)) = visited(Scripts::Off).await else { return };
    pay(&browser, &DECLINED).await;
    assert!(browser.read("[role=alert]").await.starts_with("Your card was declined"));
    assert_eq!(browser.value("input[name=cardNumber]").await, "");
    assert_eq!(browser.value("input[name=cardCV2]").await, "");
    assert_eq!(browser.value("input[name=cardholderName]").await, "A Holder");
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    assert_eq!(merchant.statuses().await, ["901", "600"]);
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn no_response_from_the_bank_is_shown_and_the_customer_can_try_again() {
    let Some((browser, merchant, _)) = visited(Scripts::On).await else { return };
    pay(&browser, &NO_ANSWER).await;
    assert!(browser.read("[role=alert]").await.starts_with("Your bank did not answer"));
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    assert_eq!(merchant.statuses().await, ["600"]);
}

#[tokio::test]
async fn mistakes_lead_to_their_inputs_and_are_put_right() {
    let Some((browser, merchant, _)) = visited(Scripts::On).await else { return };
    pay(&browser, &[("cardNumber", "4000000000001001"), ("cardExpiryMonth", "5"), ("cardExpiryYear", "2001")]).await;
    browser.read("[role=alert]").await;
    assert_eq!(browser.title().await, "Error: Pay \u{a3}12.50 \u{2013} main");
    assert_eq!(browser.focused().await, "cardNumber");
    browser.click("[role=alert] a[href='#cardCV2']").await;
    assert_eq!(browser.focused().await, "cardCV2");
    let invalid = browser.run("return [...document.querySelectorAll('[aria-invalid]')].map(it => it.name)", &[]).await;
    assert_eq!(invalid, serde_json::json!(["cardNumber", "cardExpiry", "cardCV2"]));
    assert_eq!(browser.read("#cardExpiry-error").await, "This card has expired");
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    assert_eq!(merchant.statuses().await, ["600"]);
}

// spec: 3 §4.1, A114, A120; 3 §6, A120
#[tokio::test]
async fn a_customer_returns_to_the_shop_and_to_the_page_again() {
    let Some((browser, merchant, token)) = visited(Scripts::Off).await else { return };
    browser.click_on("Cancel").await;
    browser.see("Basket").await;
    assert_eq!(browser.address().await, merchant.site.page("/basket"));
    assert_eq!(merchant.statuses().await, [""; 0]);
    // Returning to the shop does not cancel the token.
    open(&browser, &token).await;
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
}

// spec: 3 §3.1
#[tokio::test]
async fn nothing_is_paid_once_the_shop_has_cancelled() {
    let Some((browser, merchant, token)) = visited(Scripts::On).await else { return };
    merchant.shop.client.call(&CancelToken::new(&token.token.token_id)).await.unwrap();
    // The form is open already.
    pay(&browser, &VISA).await;
    browser.see("This payment link has expired").await;
    browser.visit(token.token.redemption_url.as_str()).await;
    browser.see("This payment link has expired").await;
    assert_eq!(merchant.statuses().await, [""; 0]);
    browser.click_on("Go back to the shop").await;
    browser.see("Basket").await;
    assert_eq!(browser.complaints().await, [""; 0]);
}

// spec: 3 §3.1, A119
#[tokio::test]
async fn nothing_is_paid_once_the_token_has_expired() {
    let Some((browser, merchant, token)) = visited(Scripts::Off).await else { return };
    merchant.shop.advance(EIGHT_DAYS).await;
    pay(&browser, &VISA).await;
    browser.see("This payment link has expired").await;
    browser.visit(token.token.redemption_url.as_str()).await;
    browser.see("This payment link has expired").await;
    assert_eq!(merchant.statuses().await, [""; 0]);
}

#[tokio::test]
async fn a_link_that_may_be_opened_once_is_opened_once() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let merchant = Merchant::open().await;
    let token = merchant.token(merchant.basket().token_redemptions(1)).await;
    open(&browser, &token).await;
    // Neither posting the form nor a declined payment counts as a visit.
    pay(&browser, &DECLINED).await;
    browser.read("[role=alert]").await;
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    // The customer who has paid still sees it, and another one sees nothing of it.
    browser.visit(token.token.redemption_url.as_str()).await;
    browser.see("Payment complete").await;
    drop(browser);
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    browser.visit(token.token.redemption_url.as_str()).await;
    browser.see("This payment link has expired").await;
}

#[tokio::test]
async fn a_challenge_comes_before_the_payment_where_3d_secure_is_wanted() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let merchant = Merchant::open().await;
    let token = merchant.basket().three_d_secure(Flag::YES).auto_redirect(Flag::YES);
    open(&browser, &merchant.token(token).await).await;
    pay(&browser, &ASKS).await;
    browser.submit("button[value=fail]").await;
    assert!(browser.read("[role=alert]").await.starts_with("Your bank could not confirm that it was you"));
    pay(&browser, &ASKS).await;
    browser.submit("button[value=abandon]").await;
    assert!(browser.read("[role=alert]").await.starts_with("You left before confirming"));
    pay(&browser, &ASKS).await;
    browser.submit("button[value=authenticate]").await;
    browser.see("Thank you").await;
    let paid: Vec<_> = merchant.statuses().await.into_iter().filter(|code| code == "600").collect();
    assert_eq!(paid.len(), 1);
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn names_from_outside_are_shown_as_they_are() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let merchant = Merchant::open().await;
    let name = "<script>document.title='run'</script><b onmouseover=alert(1)>\"'&amp;";
    let token = merchant.basket().item(CheckoutItem::new(name, "0"));
    open(&browser, &merchant.token(token).await).await;
    assert!(browser.read_all("table").await.concat().contains(name));
    assert_eq!(browser.title().await, "Pay \u{a3}12.50 \u{2013} main");
    assert_eq!(browser.read_all("table b").await, [""; 0]);
    assert_eq!(browser.complaints().await, [""; 0]);
}

// spec: 3 §1, A180
#[tokio::test]
async fn a_card_is_entered_with_the_keyboard_alone() {
    let Some((browser, merchant, _)) = visited(Scripts::Off).await else { return };
    // The visible form has one expiry input; the other two are for programs.
    let typed = [VISA[0], ("cardExpiry", "1231"), VISA[3], VISA[4]];
    for (name, value) in typed {
        browser.press(&TAB.to_string()).await;
        assert_eq!(browser.focused().await, name);
        browser.press(value).await;
    }
    browser.press(&TAB.to_string()).await;
    assert!(browser.focused().await.starts_with("Pay"));
    browser.submit_by_key(ENTER).await;
    browser.see("Payment complete").await;
    assert_eq!(browser.title().await, "Payment complete \u{2013} main");
    browser.press(&TAB.to_string()).await;
    assert_eq!(browser.focused().await, "Continue");
    browser.submit_by_key(ENTER).await;
    browser.see("Thank you").await;
    assert_eq!(merchant.statuses().await, ["600"]);
}

/// Where an element is on the page: left, top, right, bottom.
async fn place(browser: &Browser, css: &str) -> [f64; 4] {
    let script = "const it = document.querySelector(arguments[0]).getBoundingClientRect();
                  return [it.left, it.top + scrollY, it.right, it.bottom + scrollY]";
    let found = browser.run(script, &[css.into()]).await;
    [0, 1, 2, 3].map(|at| found[at].as_f64().unwrap())
}

async fn is_shown(browser: &Browser, css: &str) -> bool {
    let script = "return document.querySelector(arguments[0]).getClientRects().length > 0";
    browser.run(script, &[css.into()]).await == true
}

// spec: 3 §1
#[tokio::test]
async fn the_card_comes_first_on_a_phone_however_long_the_order_is() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let merchant = Merchant::open().await;
    let token = (0..20)
        .fold(merchant.basket(), |token, number| token.item(CheckoutItem::new(format!("Thing number {number}"), "1")));
    browser.look(PHONE, false).await;
    browser.visit(merchant.token(token).await.token.redemption_url.as_str()).await;
    browser.see("\u{a3}32.50").await;
    let [_, _, _, bottom] = place(&browser, "input[name=cardNumber]").await;
    assert!(bottom < f64::from(PHONE.height), "{bottom}");
    // The order opens on demand, by keyboard too.
    browser.press(&TAB.to_string()).await;
    assert_eq!(browser.focused().await, "Your order: 22 items");
    browser.press(&ENTER.to_string()).await;
    assert!(browser.read("table").await.contains("Thing number 19"));

    browser.look(DESK, false).await;
    browser.reload().await;
    browser.see("\u{a3}32.50").await;
    let (order, form) = (place(&browser, "table").await, place(&browser, "form").await);
    assert!(order[2] < form[0] && order[3] - order[1] > 500.0, "{order:?} {form:?}");
    assert!(!is_shown(&browser, "summary").await);
}

// spec: 3 §1
#[tokio::test]
async fn in_forced_colours_buttons_have_edges_and_mistakes_marks() {
    let Some((browser, _merchant, _)) = visited(Scripts::Off).await else { return };
    browser.look_in_forced_colours(DESK).await;
    pay(&browser, &[("cardNumber", "4"), ("cardExpiryMonth", "12"), ("cardExpiryYear", "31")]).await;
    browser.read("[role=alert]").await;
    let edge = "const it = getComputedStyle(document.querySelector(arguments[0])); return it.borderTopStyle + it.borderTopWidth";
    for (css, wanted) in [("button", "solid1px"), ("#cardNumber", "double4px"), ("#cardExpiry", "solid1px")] {
        assert_eq!(browser.run(edge, &[css.into()]).await, wanted, "{css}");
    }
    let mark = "return getComputedStyle(document.querySelector('.error'), '::before').content";
    assert!(browser.run(mark, &[]).await.as_str().unwrap().contains('\u{26a0}'));
}

#[tokio::test]
async fn pay_shows_that_it_was_pressed() {
    let Some((browser, _merchant, _)) = visited(Scripts::Off).await else { return };
    let wheel = "return getComputedStyle(document.querySelector('form button'), '::after').opacity";
    assert_eq!(browser.run(wheel, &[]).await, "0");
    browser.hold("form button").await;
    assert_eq!(browser.run(wheel, &[]).await, "1");
}

#[tokio::test]
async fn the_order_is_printed_and_the_form_is_not() {
    let Some((browser, _merchant, _)) = visited(Scripts::Off).await else { return };
    browser.look_on_paper(DESK).await;
    assert!(browser.read_all("table").await.concat().contains("Biscuits"));
    assert!(is_shown(&browser, "table").await && !is_shown(&browser, "form").await);
}
