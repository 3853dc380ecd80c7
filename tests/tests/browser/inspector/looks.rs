//! The appearance of the inspector with records of every kind, and with errors.

use pg_model::{
    AuthSessionKey, CapturePreauth, CardDetails, CheckoutCustomer, CheckoutItem, Currency, Encoding, GetToken,
    Initiate, InitiateThreeDSecureSessionKey, Item, Order, Preauth, Refund, RequestAccountUpdater, Sms,
    TokeniseTransactionKey, TransactionKey,
};
use pg_tests::{
    browser::{self, VISA},
    shop::{CARD_PAGE, ERROR_PAGE, NEXT_PAGE, Shop, order},
    webdriver::{Browser, Scripts},
};

use super::{NOWHERE, visit};
use crate::gallery::judge;

/// An unusually long text without a space.
const LONG: &str =
    "https://shop.example/Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft?a=1";

/// A sandbox with records of every kind, and the key of the reservation.
async fn lived_in() -> (Shop, TransactionKey) {
    let shop = Shop::open(Encoding::Json).await;
    let client = &shop.client;
    let paid = paid(&shop).await;
    let _refund = client.call(&Refund::new(&paid).transaction_value(250)).await.unwrap();
    let token = client.call(&TokeniseTransactionKey::new(&paid)).await.unwrap();
    let keys = [&token.card_key_details[0].card_key];
    let updater = RequestAccountUpdater::new("MainSandboxUpdaterKey00000000000", keys).callback_url(NOWHERE);
    client.call(&updater).await.unwrap();
    shop.advance(125).await;
    let reserved = client.call(&preauth("4000000000001000")).await.unwrap().record().transaction_key.clone();
    let _capture = client.call(&CapturePreauth::new(&reserved).transaction_value(4_000)).await.unwrap();
    let _declined = client.call(&preauth("4000000000003006")).await.unwrap();
    client.call(&Sms::new("447700900123", "Your order is on its way: https://shop.example/t/7")).await.unwrap();
    begin_authentication(&shop).await;
    let thing = CheckoutItem::new("x".repeat(128), "1.5").quantity(9_u64);
    client.call(&GetToken::new().item(thing).trans_reference("r".repeat(50))).await.unwrap();
    let customer = CheckoutCustomer::default().first_name("Anna").surname("Holder");
    let item = CheckoutItem::new("Darjeeling, first flush, 100 g", "14.50").quantity(2_u64);
    let checkout = GetToken::new().item(item).checkout_customer(customer).success_url(LONG).trans_reference("basket 9");
    client.call(&checkout).await.unwrap();
    let _unknown = client.call(&Refund::new("nothingnothingnothingnothingnoth")).await.unwrap_err();
    (shop, reserved)
}

async fn paid(shop: &Shop) -> TransactionKey {
    let session = shop.session_with_card(&VISA).await;
    let order = order("order-1", 123_456).merchant_reference("basket 7");
    let paid = shop.client.call(&AuthSessionKey::new(&session, order)).await.unwrap();
    paid.record().transaction_key.clone()
}

fn preauth(number: &str) -> Preauth {
    let order = Order::new(Currency::GBP).item(Item::new("Tea for two", 9_950)).merchant_reference("basket 8");
    Preauth::new(CardDetails::new(number, "12", "31"), order)
}

async fn begin_authentication(shop: &Shop) {
    let mut entered = VISA;
    entered[0].1 = "4000000000005001";
    let session = shop.session_with_card(&entered).await;
    let initiate = InitiateThreeDSecureSessionKey::new(&session, order("order-2", 998), LONG);
    shop.client.call(&initiate).await.unwrap();
}

#[tokio::test]
async fn of_what_happened() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let (shop, reserved) = lived_in().await;
    visit(&browser, &shop, "").await;
    browser.click("summary").await;
    browser.read("details[open]").await;
    judge(&browser, "inspector-overview").await;
    for list in [
        "requests",
        "transactions",
        "tokens",
        "sessions",
        "authentications",
        "checkouts",
        "batches",
        "callbacks",
        "sms",
    ] {
        visit(&browser, &shop, &format!("pages/{list}")).await;
        browser.read("tbody a").await;
        judge(&browser, &format!("inspector-{list}")).await;
        browser.submit("tbody a").await;
        browser.read("main dl").await;
        if list != "transactions" {
            judge(&browser, &format!("inspector-{list}-one")).await;
        }
    }
    visit(&browser, &shop, "pages/checkouts").await;
    browser.submit("tbody tr:nth-child(2) a").await;
    browser.see("Checkout").await;
    judge(&browser, "inspector-checkouts-long").await;
    visit(&browser, &shop, &format!("pages/transactions/{}", reserved.as_str())).await;
    browser.see("Transaction").await;
    judge(&browser, "inspector-transactions-one").await;
}

#[tokio::test]
async fn of_what_happens_next() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    visit(&browser, &shop, "pages/clock").await;
    browser.click_on("Freeze").await;
    browser.read("header .badge").await;
    judge(&browser, "inspector-clock").await;
    visit(&browser, &shop, "pages/faults").await;
    browser.click_on("Add the fault").await;
    browser.read("tbody tr").await;
    browser.click("#kind option[value=delay]").await;
    browser.click("#method option[value='token/requestAccountUpdater']").await;
    browser.click_on("Add the fault").await;
    browser.read("tbody tr + tr").await;
    browser.fill("input[name=times]", "0").await;
    browser.click_on("Add the fault").await;
    browser.read("[role=alert]").await;
    judge(&browser, "inspector-faults").await;
    visit(&browser, &shop, "pages/updater").await;
    judge(&browser, "inspector-updater").await;
}

#[tokio::test]
async fn of_what_it_means() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    let session = shop.client.call(&Initiate::new(ERROR_PAGE)).await.unwrap();
    let form = shop.client.account().card_form(&session.session_key, NEXT_PAGE, CARD_PAGE);
    let mut wrong = VISA;
    wrong[0].1 = "4111111111111112";
    let reply = browser::post(&form, &wrong).await;
    visit(&browser, &shop, "pages/decoder").await;
    browser.fill("textarea", browser::location(&reply)).await;
    browser.click_on("Decode").await;
    browser.read(".warning").await;
    judge(&browser, "inspector-decoder").await;
    for (path, name) in [
        ("pages/assumptions", "assumptions"),
        ("pages/assumptions/107", "assumptions-one"),
        ("pages/nothing", "missing"),
        ("pages/requests?limit=x", "wrong"),
    ] {
        visit(&browser, &shop, path).await;
        browser.read("h1").await;
        judge(&browser, &format!("inspector-{name}")).await;
    }
}

#[tokio::test]
async fn of_a_sandbox_in_which_nothing_has_happened() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    for page in [
        "",
        "pages/requests",
        "pages/transactions",
        "pages/transactions?find=nothing",
        "pages/tokens",
        "pages/sessions",
        "pages/authentications",
        "pages/checkouts",
        "pages/batches",
        "pages/callbacks",
        "pages/sms",
        "pages/clock",
        "pages/faults",
        "pages/updater",
        "pages/decoder",
    ] {
        visit(&browser, &shop, page).await;
        browser.read("h1").await;
        let name = page.trim_start_matches("pages/").replace(['?', '='], "-");
        judge(&browser, &format!("inspector-empty-{name}")).await;
    }
}

#[tokio::test]
async fn of_the_menu_on_a_phone() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    browser.look(crate::gallery::PHONE, false).await;
    visit(&browser, &shop, "").await;
    assert!(!browser.read("nav").await.contains("Assumptions"));
    browser.click("nav label").await;
    assert!(browser.read("nav").await.contains("Assumptions"));
    browser.click_on("Redirect decoder").await;
    browser.see("Redirect decoder").await;
}
