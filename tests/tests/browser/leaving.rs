//! Slow navigation: after a press, tests read the next page and not the old one.

use pg_tests::webdriver::{Browser, ENTER, Scripts, TAB};

use crate::site::{OpenSite, Site};

/// Two pages with the same elements; the first navigates to the second some time after its button is pressed.
async fn site() -> OpenSite {
    Site::new().await.open(|address| {
        let new = address.ends_with("/new");
        let leave = if new { "" } else { "setTimeout(() => location.assign('/new'), 100)" };
        let words = if new { "New" } else { "Old" };
        format!("<h1>A page</h1><p>{words}</p><input value=\"{words}\"><button onclick=\"{leave}\">Leave</button>")
    })
}

#[tokio::test]
async fn a_read_after_a_click_returns_the_new_page() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let site = site().await;
    for words in [true, false] {
        browser.visit(&site.page("/")).await;
        if words {
            browser.click_on("Leave").await
        } else {
            browser.submit("button").await
        }
        assert_eq!(browser.read("p").await, "New");
        assert_eq!(browser.value("input").await, "New");
    }
}

#[tokio::test]
async fn a_read_after_a_key_returns_the_new_page() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    browser.visit(&site().await.page("/")).await;
    browser.press(&format!("{TAB}{TAB}")).await;
    browser.submit_by_key(ENTER).await;
    assert_eq!(browser.read("p").await, "New");
}

#[tokio::test]
async fn an_element_whose_page_is_left_is_found_on_the_next() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let site = site().await;
    browser.visit(&site.page("/")).await;
    browser.click("button").await;
    // One of these commands runs during the navigation; none may fail.
    while browser.read("p").await != "New" {}
}
