//! Customers who press twice, go back, reload, or open a second tab are charged once (spec 3 §3.1; A136).

use pg_model::GetToken;
use pg_tests::webdriver::{Browser, Scripts};

use super::{DECLINED, Merchant, VISA, open, pay, visited};

/// A browser that has just paid a basket with these changes, and its merchant.
async fn paid(change: impl FnOnce(GetToken) -> GetToken) -> Option<(Browser, Merchant)> {
    let browser = Browser::open_whole(Scripts::On).await?;
    let merchant = Merchant::open().await;
    open(&browser, &merchant.token(change(merchant.basket())).await).await;
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    Some((browser, merchant))
}

// spec: 3 §3.1, A136
#[tokio::test]
async fn a_double_click_pays_once() {
    let Some((browser, merchant, _)) = visited(Scripts::On).await else { return };
    browser.fill_all(&VISA).await;
    browser.double_click("form button").await;
    browser.see("Payment complete").await;
    assert_eq!(merchant.statuses().await, ["600"]);
}

#[tokio::test]
async fn reloading_the_receipt_pays_once() {
    let Some((browser, merchant)) = paid(|basket| basket).await else { return };
    let receipt = browser.read("dl").await;
    browser.reload().await;
    browser.see("Payment complete").await;
    assert_eq!(browser.read("dl").await, receipt);
    assert_eq!(merchant.statuses().await, ["600"]);
}

#[tokio::test]
async fn going_back_after_a_payment_shows_that_it_was_made() {
    let Some((browser, merchant)) = paid(|basket| basket.token_uses(1)).await else { return };
    browser.back().await;
    browser.see("This payment has been made").await;
    assert_eq!(merchant.statuses().await, ["600"]);
}

// spec: 3 §3.1, A136
#[tokio::test]
async fn going_back_to_the_page_of_a_reusable_token_shows_the_payment_instead_of_a_form() {
    let Some((browser, merchant)) = paid(|basket| basket).await else { return };
    let receipt = browser.read("dl").await;
    browser.back().await;
    browser.see("Payment complete").await;
    assert_eq!(browser.read("dl").await, receipt);
    assert_eq!(merchant.statuses().await, ["600"]);
    browser.click_on("Make another payment").await;
    browser.see("\u{a3}12.50").await;
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    assert_eq!(merchant.statuses().await, ["600", "600"]);
}

#[tokio::test]
async fn going_back_from_the_shop_and_sending_the_form_again_pays_once() {
    let Some((browser, merchant)) = paid(|basket| basket).await else { return };
    browser.click_on("Continue").await;
    browser.see("Thank you").await;
    // The receipt answers a form, so Chromium asks whether to send it again; this customer does.
    browser.back().await;
    browser.reload().await;
    browser.see("Payment complete").await;
    assert_eq!(merchant.statuses().await, ["600"]);
}

#[tokio::test]
async fn two_tabs_pay_once_where_one_payment_is_wanted() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let merchant = Merchant::open().await;
    let token = merchant.token(merchant.basket().token_uses(1)).await;
    let first = browser.tab().await;
    open(&browser, &token).await;
    let second = browser.new_tab().await;
    open(&browser, &token).await;
    browser.go_to_tab(&first).await;
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    browser.go_to_tab(&second).await;
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    assert_eq!(merchant.statuses().await, ["600"]);
}

#[tokio::test]
async fn two_tabs_have_one_form_which_pays_once_after_a_decline() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let merchant = Merchant::open().await;
    let token = merchant.token(merchant.basket().token_uses(2)).await;
    let first = browser.tab().await;
    open(&browser, &token).await;
    let second = browser.new_tab().await;
    open(&browser, &token).await;
    pay(&browser, &DECLINED).await;
    browser.read("[role=alert]").await;
    browser.go_to_tab(&first).await;
    pay(&browser, &VISA).await;
    assert!(browser.read("[role=alert]").await.contains("This form was already sent"));
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    browser.go_to_tab(&second).await;
    pay(&browser, &VISA).await;
    browser.see("Payment complete").await;
    assert_eq!(merchant.statuses().await, ["901", "600"]);
}
