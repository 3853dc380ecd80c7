//! The front end of docs/examples, in Node, tested from a customer's browser.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use bytes::Bytes;
use http::Request;
use pg_hyper::Transport;
use pg_model::Encoding;
use pg_tests::{
    browser::VISA,
    package,
    shop::Shop,
    webdriver::{Browser, Scripts},
};
use serde_json::Value;
use tempfile::TempDir;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples/front-end");

/// The shop's server, in a separate folder that contains only the package. Dropping it stops the process.
struct FrontEnd {
    process: Child,
    address: String,
    _output: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl FrontEnd {
    /// Returns `None` if Node or the package is missing, with one message for all tests.
    fn start(shop: &Shop, encoding: &str) -> Option<Self> {
        let package = package::folder()?;
        let node = package::node()?;
        let folder = tempfile::tempdir().unwrap();
        copy(Path::new(EXAMPLE), folder.path());
        let installed = folder.path().join("node_modules/pg-wasm");
        fs::create_dir_all(&installed).unwrap();
        copy(&package, &installed);
        let [api_key, api_password, sha_key] = shop.credentials();
        let mut process = Command::new(node)
            .arg("server.mjs")
            .current_dir(folder.path())
            .envs([("PG_BASE_URL", shop.server.base_url()), ("PG_API_KEY", api_key), ("PG_API_PASSWORD", api_password)])
            .envs([("PG_SHA_KEY", sha_key), ("PG_ENCODING", encoding.to_owned()), ("PORT", "0".to_owned())])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        Some(Self { process, address: address.trim_end().to_owned(), _output: output, _folder: folder })
    }

    fn page(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }
}

impl Drop for FrontEnd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let file = entry.unwrap().path();
        if file.is_file() {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
}

/// A browser, a sandbox, and the example between them.
async fn open(encoding: &str) -> Option<(Browser, Shop, FrontEnd)> {
    open_in(Browser::open(Scripts::Off).await?, encoding).await
}

async fn open_in(browser: Browser, encoding: &str) -> Option<(Browser, Shop, FrontEnd)> {
    let shop = Shop::open(Encoding::Json).await;
    let front_end = FrontEnd::start(&shop, encoding)?;
    browser.visit(&front_end.page("/")).await;
    browser.see("Your card").await;
    Some((browser, shop, front_end))
}

/// The payments that the sandbox has recorded.
async fn payments(shop: &Shop) -> Vec<Value> {
    let address = format!("{}/_sandbox/transactions", shop.server.base_url());
    let reply = shop.client.transport().send(Request::get(address).body(Default::default()).unwrap()).await.unwrap();
    let list: Value = serde_json::from_slice(reply.body()).unwrap();
    list.as_array().or_else(|| list["transactions"].as_array()).unwrap().clone()
}

#[tokio::test]
async fn a_card_is_entered_reviewed_and_paid_once() {
    for encoding in ["json", "xml"] {
        let Some((browser, shop, front_end)) = open(encoding).await else { return };
        browser.fill_all(&VISA).await;
        browser.click_on("Review").await;
        browser.see("Review your order").await;
        assert_eq!(browser.read("#card").await, "411111******1111, A Holder, 12/2031");
        let address = browser.address().await;
        assert!(address.starts_with(&front_end.page("/review?formId=")), "{address}");

        browser.click_on("Pay").await;
        browser.see("Thank you").await;
        let paid = browser.read("#message").await;
        // The customer opens the same address again.
        browser.visit(&address).await;
        browser.see("Thank you").await;
        assert_eq!(browser.read("#message").await, paid);
        let payments = payments(&shop).await;
        assert_eq!(payments.len(), 1, "{payments:?}");
        // What is bought next is another order.
        browser.click_on("Buy more tea").await;
        pay(&browser, VISA[0].1).await;
        browser.see("Thank you").await;
        assert_eq!(approved(&shop).await, 2);
        assert_eq!(browser.complaints().await, [""; 0]);
    }
}

/// Enters this card, and returns the address of its review page.
async fn review(browser: &Browser, number: &str) -> String {
    browser.see("Your card").await;
    browser.fill_all(&VISA).await;
    browser.fill("input[name=cardNumber]", number).await;
    browser.click_on("Review").await;
    browser.see("Review your order").await;
    browser.address().await
}

/// Enters this card, and pays.
async fn pay(browser: &Browser, number: &str) {
    review(browser, number).await;
    browser.click_on("Pay").await;
}

/// Pays on the review page of this masked card, and checks that this card was charged, and no other.
async fn pays_what_it_shows(browser: &Browser, shop: &Shop, card: &str) {
    browser.see("Review your order").await;
    assert!(browser.read("#card").await.starts_with(card), "{}", browser.read("#card").await);
    browser.click_on("Pay").await;
    browser.see("Thank you").await;
    let payments = payments(shop).await;
    let charged: Vec<_> = payments.iter().map(|payment| payment["card"]["cardNumber"].as_str().unwrap()).collect();
    assert_eq!(charged, [card]);
}

const FIRST: &str = "4111111111111111";
const SECOND: &str = "4000000000001000";
const FIRST_MASKED: &str = "411111******1111";

/// The second card is entered in the same tab after "Another card", in another tab, or the first address is opened again later.
#[tokio::test]
async fn a_review_page_pays_the_card_that_it_shows() {
    let Some(browser) = Browser::open_whole(Scripts::Off).await else { return };
    let Some((browser, shop, _front_end)) = open_in(browser, "json").await else { return };
    review(&browser, FIRST).await;
    browser.click_on("Another card").await;
    review(&browser, SECOND).await;
    browser.back().await;
    browser.see("Your card").await;
    browser.back().await;
    pays_what_it_shows(&browser, &shop, FIRST_MASKED).await;

    let Some((browser, shop, front_end)) = open("json").await else { return };
    review(&browser, FIRST).await;
    let tab = browser.tab().await;
    browser.new_tab().await;
    browser.visit(&front_end.page("/card")).await;
    review(&browser, SECOND).await;
    browser.go_to_tab(&tab).await;
    pays_what_it_shows(&browser, &shop, FIRST_MASKED).await;

    let Some((browser, shop, front_end)) = open("json").await else { return };
    let address = review(&browser, FIRST).await;
    browser.visit(&front_end.page("/card")).await;
    review(&browser, SECOND).await;
    browser.visit(&address).await;
    browser.reload().await;
    pays_what_it_shows(&browser, &shop, FIRST_MASKED).await;
}

/// Some browsers show the form of the previous page again, so one form can be posted with two cards.
#[tokio::test]
async fn after_two_cards_from_one_form_no_review_page_of_it_pays() {
    let Some((browser, shop, front_end)) = open("json").await else { return };
    let form = browser.run("return document.querySelector('form').outerHTML", &[]).await;
    let first = review(&browser, FIRST).await;
    let tab = browser.tab().await;
    browser.new_tab().await;
    browser.visit(&front_end.page("/error")).await;
    browser.run("document.body.innerHTML = '<h1>Your card</h1>' + arguments[0]", &[form]).await;
    browser.fill_all(&VISA).await;
    browser.fill("input[name=cardNumber]", SECOND).await;
    browser.click_on("Review").await;
    browser.see("Another card was entered").await;
    browser.go_to_tab(&tab).await;
    browser.click_on("Pay").await;
    browser.see("This page is out of date").await;
    browser.visit(&first).await;
    assert_eq!(payments(&shop).await, [Value::Null; 0]);
    pay(&browser, FIRST).await;
    browser.see("Thank you").await;
    assert_eq!(approved(&shop).await, 1);
}

#[tokio::test]
async fn a_review_page_of_an_earlier_order_pays_nothing_and_leads_on() {
    for has_card in [false, true] {
        let Some((browser, shop, _front_end)) = open("json").await else { return };
        let address = review(&browser, FIRST).await;
        let old = browser.tab().await;
        browser.new_tab().await;
        browser.visit(&address).await;
        browser.click_on("Pay").await;
        browser.see("Thank you").await;
        browser.click_on("Buy more tea").await;
        browser.see("Your card").await;
        if has_card {
            review(&browser, SECOND).await;
        }
        let new = browser.tab().await;
        browser.go_to_tab(&old).await;
        browser.see("Review your order").await;
        browser.click_on("Pay").await;
        browser.see("This page is out of date").await;
        assert_eq!(payments(&shop).await.len(), 1, "{has_card}");
        // Either tab pays the new order.
        if has_card {
            browser.go_to_tab(&new).await;
            browser.click_on("Pay").await;
        } else {
            browser.click_on("Enter a card").await;
            pay(&browser, SECOND).await;
        }
        browser.see("Thank you").await;
        assert_eq!(approved(&shop).await, 2, "{has_card}");
    }
}

/// A form pays once, so that a second click after a decline asks no bank.
#[tokio::test]
async fn a_review_page_pays_once_whatever_the_outcome() {
    for (card, heading) in [(FIRST, "Thank you"), ("4000000000002008", "Not paid")] {
        let Some((browser, shop, _front_end)) = open("json").await else { return };
        let address = review(&browser, card).await;
        let old = browser.tab().await;
        browser.new_tab().await;
        browser.visit(&address).await;
        browser.double_click("button").await;
        browser.see(heading).await;
        browser.go_to_tab(&old).await;
        browser.click_on("Pay").await;
        browser.see(heading).await;
        browser.visit(&address).await;
        browser.see(heading).await;
        assert_eq!(payments(&shop).await.len(), 1, "{card}");
    }
}

#[tokio::test]
async fn a_payment_that_never_arrived_is_sent_again_under_its_reference() {
    let Some((browser, shop, _front_end)) = open("json").await else { return };
    shop.control("faults", r#"{"method": "transaction/authSessionKey", "kind": "drop-request"}"#).await;
    pay(&browser, FIRST).await;
    browser.see("Thank you").await;
    assert_eq!(approved(&shop).await, 1);
}

/// Only the customer's own forms say what was wrong with them.
#[tokio::test]
async fn the_address_of_another_customers_mistakes_shows_an_empty_form() {
    let Some((browser, shop, front_end)) = open("json").await else { return };
    browser.fill_all(&VISA).await;
    browser.fill("input[name=cardNumber]", "4111111111111112").await;
    browser.click_on("Review").await;
    assert!(!browser.read("em#cardNumber-error").await.is_empty());
    let address = browser.address().await;
    let request = Request::get(address).body(Bytes::new()).unwrap();
    let page = shop.client.transport().send(request).await.unwrap();
    let page = String::from_utf8(page.body().to_vec()).unwrap();
    assert!(page.contains("Your card") && !page.contains("A Holder") && !page.contains("Invalid"), "{page}");
    for path in ["/card", "/order"] {
        let request = Request::head(front_end.page(path)).body(Bytes::new()).unwrap();
        assert_ne!(shop.client.transport().send(request).await.unwrap().status(), 404, "{path}");
    }
}

async fn approved(shop: &Shop) -> usize {
    payments(shop).await.iter().filter(|payment| payment["approved"] == true).count()
}

// spec: 2 §7, A93; codes ErrorCode 119
#[tokio::test]
async fn a_payment_with_an_open_outcome_is_looked_up_and_never_shown_as_not_paid() {
    for (card, fault) in [
        ("4000000000011009", None),
        ("4111111111111111", Some("drop-reply")),
        ("4111111111111111", Some("garble")),
        ("4111111111111111", Some("no-response-charged")),
    ] {
        let Some((browser, shop, front_end)) = open("json").await else { return };
        if let Some(kind) = fault {
            let fault = format!(r#"{{"method": "transaction/authSessionKey", "kind": "{kind}"}}"#);
            shop.control("faults", &fault).await;
        }
        // The first lookup finds nothing out either.
        shop.control("faults", r#"{"method": "transaction/lookup", "kind": "garble"}"#).await;
        pay(&browser, card).await;
        browser.see("We do not know yet").await;
        // No other payment is begun meanwhile.
        browser.visit(&front_end.page("/card")).await;
        browser.see("Thank you").await;
        assert_eq!(approved(&shop).await, 1, "{card} {fault:?}");
    }
}

// spec: 2 §7, A132; codes ErrorCode 136
#[tokio::test]
async fn after_a_decline_and_after_an_expired_session_the_customer_can_pay() {
    let Some((browser, shop, front_end)) = open("json").await else { return };
    pay(&browser, "4000000000002008").await;
    browser.see("Not paid").await;
    // Reloaded, it asks no bank.
    browser.reload().await;
    browser.see("Not paid").await;
    assert_eq!(payments(&shop).await.len(), 1);

    // The session expires before the card is entered, and after it was.
    browser.visit(&front_end.page("/card")).await;
    browser.see("Your card").await;
    shop.advance(1_860).await;
    browser.fill_all(&VISA).await;
    browser.click_on("Review").await;
    browser.see("Your card could not be accepted").await;
    browser.click_on("Enter a card").await;
    browser.see("Your card").await;
    browser.fill_all(&VISA).await;
    browser.click_on("Review").await;
    browser.see("Review your order").await;
    shop.advance(1_860).await;
    browser.click_on("Pay").await;
    browser.see("Not paid").await;
    browser.click_on("Enter a card").await;
    pay(&browser, VISA[0].1).await;
    browser.see("Thank you").await;
    assert_eq!(approved(&shop).await, 1);
}

#[tokio::test]
async fn the_secret_of_a_customer_is_in_their_cookie_only() {
    let Some((_browser, shop, front_end)) = open("json").await else { return };
    let send = |request: Request<Bytes>| shop.client.transport().send(request);
    let card = send(Request::get(front_end.page("/card")).body(Bytes::new()).unwrap()).await.unwrap();
    let cookie = card.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    // Before a card was entered, nothing is sent for the order.
    let form = String::from_utf8(card.body().to_vec()).unwrap();
    let form = form.split("name=\"formId\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    for path in ["/pay".to_owned(), format!("/pay?formId={form}")] {
        let pay = Request::post(front_end.page(&path)).header("Cookie", cookie).header("Origin", &front_end.address);
        let page = send(pay.body(Bytes::new()).unwrap()).await.unwrap();
        assert!(String::from_utf8_lossy(page.body()).contains("This page is out of date"));
    }
    let journal = Request::get(format!("{}/_sandbox/requests", shop.server.base_url())).body(Bytes::new()).unwrap();
    let journal = String::from_utf8(send(journal).await.unwrap().body().to_vec()).unwrap();
    assert!(journal.contains("session/initiate") && !journal.contains("transaction/"), "{journal}");
    assert!(!journal.contains(cookie.strip_prefix("order=").unwrap()), "{journal}");
}

// spec: 2 §4.2, A135
#[tokio::test]
async fn redirects_that_are_longer_than_node_reads_by_default_are_read() {
    let Some((_browser, shop, front_end)) = open("json").await else { return };
    let address = front_end.page(&format!("/review?formId=x&data={}&iv=x", "%2B".repeat(21_000)));
    let reply = shop.client.transport().send(Request::get(address).body(Default::default()).unwrap()).await.unwrap();
    assert_eq!(reply.status(), 303);
}

#[tokio::test]
async fn mistakes_stand_beside_their_fields_and_can_be_put_right() {
    let Some((browser, _shop, _front_end)) = open("xml").await else { return };
    browser.fill_all(&VISA).await;
    browser.fill("input[name=cardNumber]", "4111111111111112").await;
    browser.fill("input[name=cardholderName]", "<b>\"&").await;
    browser.click_on("Review").await;
    assert!(!browser.read("em#cardNumber-error").await.is_empty());
    // A screen reader says it with the page and with the input, which has the focus.
    assert_eq!(browser.title().await, "Error: Your card");
    assert_eq!(browser.focused().await, "cardNumber");
    let marked = "return [...document.querySelectorAll('[aria-invalid=true]')].map((at) => `${at.name} ${at.getAttribute('aria-describedby')}`)";
    assert_eq!(browser.run(marked, &[]).await, serde_json::json!(["cardNumber cardNumber-error"]));
    assert_eq!(browser.value("input[name=cardholderName]").await, "<b>\"&");
    assert_eq!(browser.value("input[name=cardNumber]").await, "");
    browser.fill_all(&VISA).await;
    browser.click_on("Review").await;
    browser.see("Review your order").await;
}

/// The customer can alter the address, so the server treats it as untrusted.
#[tokio::test]
async fn altered_data_leads_back_to_the_card_page_without_secrets() {
    let Some((browser, shop, front_end)) = open("json").await else { return };
    browser.fill_all(&VISA).await;
    browser.click_on("Review").await;
    browser.see("Review your order").await;
    let address = browser.address().await;
    let [key, password, sha_key] = shop.credentials();
    let page = "return document.documentElement.outerHTML + document.cookie";
    for altered in ["/review?data=AAAA&iv=AAAA".to_owned(), "/review".to_owned(), format!("/card?{}", "x=1&data=A")] {
        let shown = browser.run(page, &[]).await.to_string();
        assert!([&key, &password, &sha_key].iter().all(|secret| !shown.contains(*secret)));
        browser.visit(&front_end.page(&altered)).await;
        browser.see("Your card").await;
    }
    let cut = &address[..address.find("&iv=").unwrap() - 8];
    browser.visit(&format!("{cut}{}", &address[address.find("&iv=").unwrap()..])).await;
    browser.see("Your card").await;
    // No request made a payment.
    assert_eq!(payments(&shop).await.len(), 0);
}
