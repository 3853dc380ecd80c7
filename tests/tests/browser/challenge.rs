//! The challenge of a 3-D Secure payment: the effect of each customer answer (spec 2 §3.3).

use pg_model::{
    AuthThreeDSecure, AuthenticationKey, Encoding, GetAuthenticationStatus, InitiateThreeDSecureSessionKey, Outcome,
    ThreeDSecureInitiation,
};
use pg_tests::{
    browser::VISA,
    shop::{Shop, order},
    webdriver::{Browser, ENTER, Scripts, TAB},
};

use crate::site::{OpenSite, Site};

const ASKS: &str = "4000000000005001";
const ASKS_AND_FAILS: &str = "4000000000006009";
const DOES_NOT_ASK: &str = "4000000000007007";

/// How long a challenge waits, in seconds (A107).
const PATIENCE: u64 = 15 * 60;

/// A payment whose customer has not answered yet.
struct Payment {
    shop: Shop,
    site: OpenSite,
    begun: ThreeDSecureInitiation,
}

impl Payment {
    async fn begin(card: &'static str) -> Self {
        let shop = Shop::open(Encoding::Json).await;
        let mut entered = VISA;
        entered[0].1 = card;
        let session = shop.session_with_card(&entered).await;
        let site = Site::new().await;
        let back = site.page("/back?order=7#end");
        let order = order("order-1", 998).merchant_reference("basket 7");
        let initiate = InitiateThreeDSecureSessionKey::new(&session, order, back);
        let begun = shop.client.call(&initiate).await.unwrap();
        // The page of a shop that opens the challenge in a frame.
        let challenge = begun.authentication_url.as_str().to_owned();
        let site = site.open(move |address| {
            if address.ends_with("/checkout") {
                format!("<h1>Checkout</h1><iframe src=\"{challenge}\" width=\"400\" height=\"600\"></iframe>")
            } else {
                "<h1>Back at the shop</h1>".to_owned()
            }
        });
        Self { shop, site, begun }
    }

    fn address(&self) -> &str {
        self.begun.authentication_url.as_str()
    }

    fn key(&self) -> &AuthenticationKey {
        &self.begun.authentication_key
    }

    /// Code, ECI and liability shift of the authentication.
    async fn status(&self) -> [String; 3] {
        let status = self.shop.client.call(&GetAuthenticationStatus::new(self.key())).await.unwrap();
        let shift = status.liability_shift.as_str().to_owned();
        [status.transaction_status_code.as_str().to_owned(), status.bank_eci_value, shift]
    }

    /// The status of the payment that the merchant then makes.
    async fn pay(&self) -> String {
        let paid = self.shop.client.call(&AuthThreeDSecure::new(self.key())).await.unwrap();
        match &paid {
            Outcome::Approved(paid) => assert_eq!(paid.transaction_status_code.as_str(), "600"),
            Outcome::Declined(_) => {}
            Outcome::Other(other) => panic!("{other:?}"),
        }
        paid.record().transaction_status_code.as_str().to_owned()
    }

    /// Checks that the browser is at the merchant's return URL, with nothing added.
    async fn is_back(&self, browser: &Browser) {
        browser.see("Back at the shop").await;
        assert_eq!(browser.address().await, self.site.page("/back?order=7#end"));
        assert_eq!(self.site.asked(), ["/back?order=7"]);
        assert_eq!(browser.complaints().await, [""; 0]);
    }
}

/// Presses one of the buttons, then pays: the merchant decides whether to (A108).
async fn answered(card: &'static str, button: &str, scripts: Scripts, status: [&str; 3], paid: &str) {
    let Some(browser) = Browser::open(scripts).await else { return };
    let payment = Payment::begin(card).await;
    assert_eq!(payment.status().await, ["920", "07", "N"]);
    browser.visit(payment.address()).await;
    let shown = browser.read("dl").await;
    for wanted in ["\u{a3}9.98", "400000******", "basket 7"] {
        assert!(shown.contains(wanted), "{wanted} in {shown}");
    }
    browser.submit(&format!("button[value={button}]")).await;
    payment.is_back(&browser).await;
    assert_eq!(payment.status().await, status);
    assert_eq!(payment.pay().await, paid);
}

#[tokio::test]
async fn a_customer_who_authenticates_pays_at_the_banks_risk() {
    answered(ASKS, "authenticate", Scripts::On, ["607", "05", "Y"], "600").await;
}

#[tokio::test]
async fn a_customer_who_fails_pays_at_the_merchants_risk() {
    answered(ASKS, "fail", Scripts::On, ["608", "07", "N"], "600").await;
}

#[tokio::test]
async fn a_customer_who_leaves_pays_at_the_merchants_risk() {
    answered(ASKS, "abandon", Scripts::On, ["921", "07", "N"], "600").await;
}

#[tokio::test]
async fn a_card_whose_challenge_always_fails_pays_at_the_merchants_risk() {
    answered(ASKS_AND_FAILS, "authenticate", Scripts::Off, ["608", "07", "N"], "600").await;
}

#[tokio::test]
async fn the_buttons_need_no_scripts() {
    answered(ASKS, "authenticate", Scripts::Off, ["607", "05", "Y"], "600").await;
    answered(ASKS, "fail", Scripts::Off, ["608", "07", "N"], "600").await;
    answered(ASKS, "abandon", Scripts::Off, ["921", "07", "N"], "600").await;
}

#[tokio::test]
async fn a_card_without_3d_secure_is_back_at_once() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let payment = Payment::begin(DOES_NOT_ASK).await;
    browser.visit(payment.address()).await;
    payment.is_back(&browser).await;
    assert_eq!(payment.status().await, ["923", "07", "N"]);
    assert_eq!(payment.pay().await, "600");
}

#[tokio::test]
async fn an_answer_cannot_be_changed_by_going_back() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let payment = Payment::begin(ASKS).await;
    browser.visit(payment.address()).await;
    browser.submit("button[value=fail]").await;
    browser.see("Back at the shop").await;
    // A second request for the challenge redirects the browser away from it.
    browser.visit(payment.address()).await;
    browser.see("Back at the shop").await;
    assert_eq!(payment.status().await, ["608", "07", "N"]);
}

// spec: 2 §3.3, A110
#[tokio::test]
async fn the_first_answer_of_two_tabs_counts() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let payment = Payment::begin(ASKS).await;
    let first = browser.tab().await;
    browser.visit(payment.address()).await;
    let second = browser.new_tab().await;
    browser.visit(payment.address()).await;
    browser.see("Confirm it\u{2019}s you").await;
    browser.go_to_tab(&first).await;
    browser.submit("button[value=abandon]").await;
    browser.see("Back at the shop").await;
    browser.go_to_tab(&second).await;
    browser.submit("button[value=authenticate]").await;
    browser.see("Back at the shop").await;
    assert_eq!(payment.status().await, ["921", "07", "N"]);
}

#[tokio::test]
async fn an_answer_that_comes_too_late_does_not_count() {
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let payment = Payment::begin(ASKS).await;
    browser.visit(payment.address()).await;
    payment.shop.advance(PATIENCE).await;
    browser.submit("button[value=authenticate]").await;
    payment.is_back(&browser).await;
    assert_eq!(payment.status().await, ["922", "07", "N"]);
    assert_eq!(payment.pay().await, "600");
}

// spec: 2 §3.3, A107, A110
#[tokio::test]
async fn a_shop_may_show_the_challenge_in_a_frame() {
    let Some(browser) = Browser::open_whole(Scripts::On).await else { return };
    let payment = Payment::begin(ASKS).await;
    browser.visit(&payment.site.page("/checkout")).await;
    browser.enter_frame().await;
    browser.submit("button[value=authenticate]").await;
    browser.see("Back at the shop").await;
    browser.leave_frames().await;
    browser.see("Checkout").await;
    assert_eq!(browser.complaints().await, [""; 0]);
    assert_eq!(payment.status().await, ["607", "05", "Y"]);
}

#[tokio::test]
async fn the_challenge_is_answered_with_the_keyboard_alone() {
    let Some(browser) = Browser::open(Scripts::Off).await else { return };
    let payment = Payment::begin(ASKS).await;
    browser.visit(payment.address()).await;
    for _ in ["authenticate", "fail"] {
        browser.press(&TAB.to_string()).await;
        assert_eq!(browser.focused().await, "outcome");
    }
    browser.submit_by_key(ENTER).await;
    payment.is_back(&browser).await;
    assert_eq!(payment.status().await, ["608", "07", "N"]);
}
