//! The inspector of the sandbox, as developers use it: by links, by keyboard, and by buttons that need no script.

use pg_hyper::Error;
use pg_model::{AuthSessionKey, Encoding, Initiate, RequestAccountUpdater, TokenLookup, TokeniseTransactionKey};
use pg_tests::{
    browser::{self, VISA},
    shop::{CARD_PAGE, ERROR_PAGE, NEXT_PAGE, Shop, order},
    webdriver::{Browser, ENTER, Scripts, TAB},
};

use crate::{gallery::judge, site::Site};

mod looks;

/// An address without a listener.
const NOWHERE: &str = "http://127.0.0.1:9/callback";

async fn visit(browser: &Browser, shop: &Shop, path: &str) {
    browser.visit(&format!("{}/_sandbox/{path}", shop.server.base_url())).await;
}

#[tokio::test]
async fn from_the_overview_to_an_assumption_by_keyboard() {
    let Some(browser) = Browser::open_whole(Scripts::Off).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    shop.session_with_card(&VISA).await;
    visit(&browser, &shop, "").await;
    browser.see("Overview").await;
    browser.press(&TAB.to_string()).await;
    assert_eq!(browser.focused().await, "Skip to the content");
    browser.press(&format!("{ENTER}{TAB}")).await;
    assert_eq!(browser.focused().await, "2Requests");
    browser.submit_by_key(ENTER).await;
    browser.see("Requests").await;

    browser.submit("tbody a").await;
    browser.see("Request 2").await;
    assert!(browser.read("main").await.contains("411111******1111"));
    browser.click_on("A30 ").await;
    browser.see("A30 Key of the redirect data").await;
    for part in ["Open", "Chosen", "Why"] {
        assert!(browser.read_all("dt").await.contains(&part.to_owned()), "{part}");
    }
    browser.back().await;
    browser.see("Request 2").await;
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn the_clock_is_turned_by_a_button() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    shop.session_with_card(&VISA).await;
    visit(&browser, &shop, "pages/sessions").await;
    assert_eq!(browser.read(".badge").await, "has a card");
    visit(&browser, &shop, "pages/clock").await;
    browser.click_on("Freeze").await;
    browser.read("header .badge").await;
    browser.fill("input[name=set]", "2031-02-03 04:05").await;
    browser.click_on("Set the clock").await;
    browser.read("time[datetime='2031-02-03T04:05:00Z']").await;
    browser.click_on("+31 minutes").await;
    browser.read("time[datetime='2031-02-03T04:36:00Z']").await;
    // Reloading the page changes nothing, because the page was loaded by a redirect.
    browser.reload().await;
    assert_eq!(browser.read(".now").await, "2031-02-03 04:36:00 UTC");
    visit(&browser, &shop, "pages/sessions").await;
    assert_eq!(browser.read("td .badge").await, "expired");

    visit(&browser, &shop, "pages/clock").await;
    browser.fill("input[name=set]", "tomorrow").await;
    browser.click_on("Set the clock").await;
    assert!(browser.read("[role=alert]").await.contains("RFC 3339"));
    assert_eq!(browser.value("input[name=set]").await, "tomorrow");
}

#[tokio::test]
async fn a_fault_is_added_and_met_and_removed() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    visit(&browser, &shop, "pages/faults").await;
    browser.click("#method option[value='token/lookup']").await;
    browser.click("#kind option[value=status]").await;
    browser.fill("input[name=status]", "503").await;
    browser.click_on("Add the fault").await;
    assert!(browser.read("tbody").await.contains("1 of 1"));
    let refused = shop.client.call(&TokenLookup::new()).await.unwrap_err();
    assert!(!matches!(refused, Error::Misuse(_)), "{refused}");
    visit(&browser, &shop, "pages/faults").await;
    assert!(browser.read("tbody").await.contains("0 of 1"));
    browser.click_on("Remove").await;
    assert_eq!(browser.read(".empty").await, "There are no faults.");
    visit(&browser, &shop, "pages/requests").await;
    assert!(browser.read("tbody").await.contains("503, error 998"));
}

#[tokio::test]
async fn a_redirect_is_decoded() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let shop = Shop::open(Encoding::Xml).await;
    let session = shop.client.call(&Initiate::new(ERROR_PAGE)).await.unwrap();
    let form = shop.client.account().card_form(&session.session_key, NEXT_PAGE, CARD_PAGE);
    let reply = browser::post(&form, &VISA).await;
    visit(&browser, &shop, "pages/decoder").await;
    browser.fill("textarea", browser::location(&reply)).await;
    browser.click("#merchant option[value=other]").await;
    browser.click_on("Decode").await;
    assert!(browser.read("[role=alert]").await.starts_with("This cannot be decrypted"));
    browser.click("#merchant option[value=main]").await;
    browser.click_on("Decode").await;
    assert!(browser.read(".warning").await.contains("This data is not authenticated"));
    let said = browser.read("dl").await;
    assert!(said.contains("A Holder") && said.contains("411111******1111"), "{said}");
    assert!(!browser.address().await.contains("data="));
}

#[tokio::test]
async fn a_callback_is_sent_again() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    let session = shop.session_with_card(&VISA).await;
    let paid = shop.client.call(&AuthSessionKey::new(&session, order("order-1", 100))).await.unwrap();
    let token = shop.client.call(&TokeniseTransactionKey::new(&paid.record().transaction_key)).await.unwrap();
    let keys = [&token.card_key_details[0].card_key];
    let updater = RequestAccountUpdater::new("MainSandboxUpdaterKey00000000000", keys).callback_url(NOWHERE);
    shop.client.call(&updater).await.unwrap();
    shop.advance(121).await;
    visit(&browser, &shop, "pages/callbacks").await;
    browser.submit("tbody a").await;
    browser.click_on("Send it again").await;
    while !browser.read_all("main").await.concat().contains("twice") {
        browser.reload().await;
    }
}

#[tokio::test]
async fn no_other_page_presses_a_button() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let shop = Shop::open(Encoding::Json).await;
    let action = format!("{}/_sandbox/pages/clock", shop.server.base_url());
    let site = Site::new().await.open(move |_| {
        format!(
            "<form method=\"post\" action=\"{action}\"><input type=\"hidden\" name=\"speed\" value=\"0\">\
             <button>Win a prize</button></form>"
        )
    });
    browser.visit(&site.page("/")).await;
    browser.click_on("Win a prize").await;
    browser.see("Access to the inspector is denied").await;
    judge(&browser, "inspector-refused").await;
    visit(&browser, &shop, "pages/clock").await;
    assert!(browser.read("main").await.contains("as real time"));
}
