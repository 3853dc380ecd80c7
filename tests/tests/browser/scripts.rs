//! Browsers for users who have switched scripts off.

use pg_tests::webdriver::{Browser, Scripts};

use crate::site::Site;

#[tokio::test]
async fn pages_run_scripts_only_where_they_are_on() {
    let site = Site::new().await.open(|_| {
        "<p>Without</p><noscript><i>Shown</i></noscript>\
         <script>document.querySelector('p').textContent = 'With'</script>"
            .to_owned()
    });
    for (scripts, words, shown) in [(Scripts::On, "With", 0), (Scripts::Off, "Without", 1)] {
        for browser in [Browser::open(scripts).await, Browser::open_whole(scripts).await] {
            let Some(browser) = browser else { return };
            for _ in ["first tab", "second tab"] {
                browser.visit(&site.page("/")).await;
                assert_eq!(browser.read("p").await, words);
                assert_eq!(browser.read_all("i").await.len(), shown);
                browser.new_tab().await;
            }
        }
    }
}

/// Going back is tested in a browser that has not loaded the page again, as most customers have.
#[tokio::test]
async fn the_whole_browser_goes_back_to_the_page_that_was_left() {
    let Some(browser) = Browser::open_whole(Scripts::On).await else { return };
    let site = Site::new().await.open(|_| "<a href=\"/next\">Next</a>".to_owned());
    browser.visit(&site.page("/")).await;
    browser.run("window.kept = 'kept'", &[]).await;
    browser.click_on("Next").await;
    browser.back().await;
    assert_eq!(browser.run("return window.kept", &[]).await, "kept");
}
