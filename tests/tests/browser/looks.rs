//! The appearance of the hosted pages in each of their states.

use pg_model::{
    CancelToken, CheckoutCustomer, CheckoutItem, CheckoutToken, Encoding, Flag, GetToken,
    InitiateThreeDSecureSessionKey,
};
use pg_tests::{
    browser::VISA,
    shop::{Shop, order},
    webdriver::{Browser, Scripts},
};

use crate::{gallery::judge, site::Site};

/// A Unix time in the far future.
const YEAR_2096: u64 = 4_000_000_000;

fn basket() -> GetToken {
    GetToken::new()
        .trans_reference("basket 7")
        .item(CheckoutItem::new("Darjeeling, first flush, 100 g", "14.50").quantity(2_u64))
        .item(CheckoutItem::new("Biscuits", "3.5"))
        .item(CheckoutItem::new("Delivery", "0.99"))
}

async fn token(shop: &Shop, token: GetToken) -> CheckoutToken {
    shop.client.call(&token).await.unwrap()
}

/// Opens a payment page and checks its appearance.
async fn look(browser: &Browser, token: &CheckoutToken, name: &str) {
    browser.visit(token.token.redemption_url.as_str()).await;
    browser.read("h1").await;
    judge(browser, name).await;
}

async fn pay(browser: &Browser, number: &str) {
    browser.fill_all(&VISA).await;
    browser.fill("input[name=cardNumber]", number).await;
    browser.submit("form button").await;
}

/// The pages need no script, fit the smallest screens, and pass the accessibility rules of axe: no document asks for it.
#[tokio::test]
async fn of_the_checkout() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    let customer = CheckoutCustomer::default().first_name("Anna").surname("Holder");
    look(&browser, &token(&shop, basket().checkout_customer(customer)).await, "checkout").await;
    browser.submit("form button").await;
    browser.see("Pay").await;
    browser.read("[role=alert]").await;
    judge(&browser, "checkout-mistakes").await;
    pay(&browser, "4000000000003006").await;
    assert!(browser.read("[role=alert]").await.contains("funds"));
    judge(&browser, "checkout-declined").await;
    pay(&browser, "4000000000004004").await;
    assert!(browser.read("[role=alert]").await.starts_with("Your bank did not answer"));
    judge(&browser, "checkout-not-answered").await;
    pay(&browser, "4000000000001000").await;
    browser.see("Payment complete").await;
    judge(&browser, "checkout-paid").await;

    look(&browser, &token(&shop, basket().trans_type("PreAuth")).await, "checkout-reserve").await;
    pay(&browser, "5200000000001005").await;
    browser.see("Amount reserved").await;
    judge(&browser, "checkout-reserved").await;
}

#[tokio::test]
async fn of_a_checkout_of_many_long_things() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    let long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
    let mut many = GetToken::new().currency("JPY").trans_reference("x".repeat(50));
    for number in 1..=12_u64 {
        let item = CheckoutItem::new(format!("{long} {number}"), "12345678").quantity(number * 111);
        many = many.item(item);
    }
    look(&browser, &token(&shop, many.item(CheckoutItem::new("سجادة صلاة", "9000"))).await, "checkout-long").await;
}

// spec: 3 §1
#[tokio::test]
async fn of_a_checkout_after_a_challenge() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    let token = token(&shop, basket().three_d_secure(Flag::YES)).await;
    browser.visit(token.token.redemption_url.as_str()).await;
    for (button, words) in [
        ("fail", "Your bank could not confirm that it was you"),
        ("abandon", "You left before confirming that it was you"),
        ("too-late", "The time to confirm that it was you has run out"),
    ] {
        pay(&browser, "4000000000005001").await;
        browser.see("Confirm it\u{2019}s you").await;
        if button == "too-late" {
            shop.advance(15 * 60).await;
            browser.submit("button[value=authenticate]").await;
        } else {
            browser.submit(&format!("button[value={button}]")).await;
        }
        assert!(browser.read("[role=alert]").await.starts_with(words), "{button}");
        judge(&browser, &format!("checkout-challenge-{button}")).await;
    }
}

// spec: 3 §1
#[tokio::test]
async fn of_a_checkout_that_is_over() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    let expires = token(&shop, basket()).await;
    let cancelled = token(&shop, basket()).await;
    shop.client.call(&CancelToken::new(&cancelled.token.token_id)).await.unwrap();
    look(&browser, &cancelled, "checkout-cancelled").await;
    let once = token(&shop, basket().token_uses(1)).await;
    browser.visit(once.token.redemption_url.as_str()).await;
    pay(&browser, "4000000000001000").await;
    browser.see("Payment complete").await;
    look(&browser, &once, "checkout-used").await;
    shop.advance(8 * 24 * 60 * 60).await;
    look(&browser, &expires, "checkout-expired").await;
    look(&browser, &token(&shop, basket().token_start(YEAR_2096)).await, "checkout-not-begun").await;
    let base = shop.server.base_url();
    for (path, name) in [
        ("/pay/unknown-key", "checkout-unknown"),
        ("/pay/success", "checkout-success"),
        ("/pay/cancelled", "checkout-given-up"),
    ] {
        browser.visit(&format!("{base}{path}")).await;
        browser.read("h1").await;
        judge(&browser, name).await;
    }
}

// spec: 3 §1
#[tokio::test]
async fn of_the_challenge() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    let mut entered = VISA;
    entered[0].1 = "4000000000005001";
    let session = shop.session_with_card(&entered).await;
    let order = order("order-1", 123_456).merchant_reference("basket 7");
    let initiate = InitiateThreeDSecureSessionKey::new(&session, order, "https://shop.example/back");
    let begun = shop.client.call(&initiate).await.unwrap();
    browser.visit(begun.authentication_url.as_str()).await;
    browser.read("button").await;
    judge(&browser, "challenge").await;
    // A form that the page does not send.
    browser.run("document.querySelector('button').value = 'something'", &[]).await;
    browser.submit("button").await;
    browser.read("[role=alert]").await;
    assert_eq!(browser.title().await, "Error: Confirm it\u{2019}s you \u{2013} main");
    judge(&browser, "challenge-again").await;
    browser.visit(&format!("{}/3ds/unknown-key", shop.server.base_url())).await;
    browser.read("h1").await;
    judge(&browser, "challenge-unknown").await;
}

// spec: 3 §1
#[tokio::test]
async fn of_what_went_wrong() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    browser.visit(&format!("{}/session-error?errorCode=136", shop.server.base_url())).await;
    browser.see("This page cannot be shown").await;
    judge(&browser, "session-error").await;

    // A form with a duplicate parameter.
    let token = token(&shop, basket()).await;
    let action = token.token.redemption_url.as_str().to_owned();
    let site = Site::new().await.open(move |_| {
        format!(
            "<form method=\"post\" action=\"{action}\"><input name=\"a\"><input name=\"a\"><button>Go</button></form>"
        )
    });
    browser.visit(&site.page("/")).await;
    browser.click_on("Go").await;
    browser.see("This page cannot be shown").await;
    judge(&browser, "failure").await;
}
