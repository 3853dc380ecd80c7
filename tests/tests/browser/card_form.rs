//! A session, from the merchant's own card form to the payment (spec 2 §4.2).

use pg_model::{AuthSessionKey, Encoding, ErrorCode, Initiate, SessionKey};
use pg_proto::{Account, CardForm, CardFormResult};
use pg_tests::{
    browser::VISA,
    shop::{Shop, order},
    webdriver::{Browser, ENTER, Scripts, TAB},
};

use crate::site::{OpenSite, Site};

/// A merchant with a website whose card page holds the form of a session.
struct Merchant {
    shop: Shop,
    site: OpenSite,
    session: SessionKey,
}

impl Merchant {
    async fn open(encoding: Encoding) -> Self {
        Self::open_with(encoding, |form| form).await
    }

    /// Opens the website with a modified form.
    async fn open_with(encoding: Encoding, form: impl Fn(CardPage) -> CardPage) -> Self {
        let shop = Shop::open(encoding).await;
        let site = Site::new().await;
        let session = shop.client.call(&Initiate::new(site.page("/error"))).await.unwrap().session_key;
        let account = shop.client.account().clone();
        let card_form =
            account.card_form(&session, site.page("/review?order=7#card"), site.page("/card")).form_id("card");
        let page = form(CardPage::new(&card_form));
        let site = site.open(move |address| {
            if address.contains("/card") { page.html(&account, address) } else { landing(&account, address) }
        });
        Self { shop, site, session }
    }

    fn account(&self) -> &Account {
        self.shop.client.account()
    }
}

/// The content of the merchant's card page.
struct CardPage {
    action: String,
    hidden: String,
    inputs: Vec<&'static str>,
}

impl CardPage {
    fn new(form: &CardForm) -> Self {
        let inputs = VISA.iter().map(|(name, _)| *name).collect();
        Self { action: form.action().to_owned(), hidden: form.hidden_inputs(), inputs }
    }

    /// The HTML of the page. After the service has redirected the browser back, errors are shown beside the inputs.
    fn html(&self, account: &Account, address: &str) -> String {
        let faults = match account.redirect(address) {
            Ok(CardFormResult::Invalid(data)) => data.into_inner().errors,
            _ => Default::default(),
        };
        let input = |name: &&str| {
            let fault = faults.get(name).map_or("", |fault| fault.error_code.as_str());
            format!("<label>{name} <input name=\"{name}\"></label> <em id=\"{name}\">{fault}</em><br>")
        };
        format!(
            "<h1>Your card</h1><form method=\"post\" action=\"{}\">{}{}<button>Review</button></form>",
            self.action,
            self.hidden,
            self.inputs.iter().map(input).collect::<String>()
        )
    }
}

/// The HTML of any other page: the data that the service added to the redirect.
fn landing(account: &Account, address: &str) -> String {
    match account.redirect(address) {
        Ok(CardFormResult::Accepted(data)) => format!("<h1>Review {}</h1>", data.get().card_number.expose()),
        Ok(CardFormResult::Failed(error)) => format!("<h1>Error {}</h1>", error.get().error_code.as_str()),
        Ok(other) => format!("<h1>Unexpected {other:?}</h1>"),
        Err(error) => format!("<h1>{error}</h1>"),
    }
}

#[tokio::test]
async fn a_card_is_entered_and_paid_with_xml() {
    a_card_is_entered_and_paid(Encoding::Xml, Browser::open_whole(Scripts::On).await).await;
}

// spec: 2 §1.1: The customer's browser posts the card to the service, so that the merchant never receives it.
#[tokio::test]
async fn a_card_is_entered_and_paid_with_json_and_without_scripts() {
    a_card_is_entered_and_paid(Encoding::Json, Browser::open(Scripts::Off).await).await;
}

async fn a_card_is_entered_and_paid(encoding: Encoding, browser: Option<Browser>) {
    let Some(browser) = browser else { return };
    let merchant = Merchant::open(encoding).await;
    browser.visit(&merchant.site.page("/card")).await;
    browser.fill_all(&VISA).await;
    browser.click_on("Review").await;

    browser.see("Review 411111******1111").await;
    let address = browser.address().await;
    assert!(address.starts_with(&merchant.site.page("/review?order=7&formId=card&data=")), "{address}");
    assert!(address.ends_with("#card"), "{address}");
    let CardFormResult::Accepted(data) = merchant.account().redirect(&address).unwrap() else { panic!("not accepted") };
    assert_eq!(data.get().cardholder_name, "A Holder");
    assert!(data.get().card_cv2.is_empty());
    let secrets = ["4111111111111111", "cardCV2"];
    assert!(merchant.site.asked().iter().all(|target| secrets.iter().all(|secret| !target.contains(secret))));

    let auth = AuthSessionKey::new(&merchant.session, order("order-1", 998));
    assert!(merchant.shop.client.call(&auth).await.unwrap().is_approved());
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn mistakes_are_shown_on_the_card_page_and_can_be_put_right() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let merchant = Merchant::open(Encoding::Json).await;
    browser.visit(&merchant.site.page("/card")).await;
    browser.fill_all(&VISA).await;
    browser.fill_all(&[("cardNumber", "4111111111111112"), ("cardExpiryYear", "2001"), ("cardCV2", "9")]).await;
    browser.click_on("Review").await;

    assert_eq!(browser.read("em:not(:empty)").await, "108");
    assert_eq!(browser.read_all("em").await, ["108", "", "109", "110", ""]);
    assert!(browser.address().await.starts_with(&merchant.site.page("/card?formId=card&data=")));

    browser.fill_all(&VISA).await;
    browser.click_on("Review").await;
    browser.see("Review 411111******1111").await;
    let auth = AuthSessionKey::new(&merchant.session, order("order-1", 998));
    assert!(merchant.shop.client.call(&auth).await.unwrap().is_approved());
}

#[tokio::test]
async fn a_form_that_lacks_a_field_leads_to_the_merchants_error_page() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let without_number = |mut page: CardPage| {
        page.inputs.retain(|name| *name != "cardNumber");
        page
    };
    let merchant = Merchant::open_with(Encoding::Json, without_number).await;
    browser.visit(&merchant.site.page("/card")).await;
    browser.fill_all(&VISA[1..]).await;
    browser.click_on("Review").await;
    browser.see("Error 108").await;
    assert!(browser.address().await.starts_with(&merchant.site.page("/error?")));
}

#[tokio::test]
async fn an_unknown_session_leads_to_the_error_page_of_the_service() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let of_another_session = |page: CardPage| {
        let hidden = page.hidden.replace("name=\"sessionKey\" value=\"", "name=\"sessionKey\" value=\"0");
        CardPage { hidden, ..page }
    };
    let merchant = Merchant::open_with(Encoding::Json, of_another_session).await;
    browser.visit(&merchant.site.page("/card")).await;
    browser.fill_all(&VISA).await;
    browser.click_on("Review").await;
    browser.see("This page cannot be shown").await;
    let address = browser.address().await;
    let code = ErrorCode::INVALID_SESSION_KEY;
    let wanted = format!("{}/session-error?errorCode={}", merchant.shop.server.base_url(), code.as_str());
    assert_eq!(address, wanted);
    assert!(browser.read("dl").await.contains(code.as_str()));
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn a_card_is_entered_with_the_keyboard_alone() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let merchant = Merchant::open(Encoding::Xml).await;
    browser.visit(&merchant.site.page("/card")).await;
    for (name, value) in VISA {
        browser.press(&TAB.to_string()).await;
        assert_eq!(browser.focused().await, name);
        browser.press(value).await;
    }
    browser.submit_by_key(ENTER).await;
    browser.see("Review 411111******1111").await;
}
