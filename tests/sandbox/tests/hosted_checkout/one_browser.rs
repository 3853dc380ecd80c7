//! Customers whose reply was lost, who leave and come back, or who have several tabs: their browser has cookies, by
//! which it is shown what became of its form (A136).

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Method, Request};

use crate::hosted_checkout::{CARD, DECLINED, PAN, Page, SILENT, Shop, UNHEARD, with};

/// Its bank asks for a challenge.
const ASKS: &str = "4000000000005001";

/// A browser with its cookies.
#[derive(Default)]
struct Browser(BTreeMap<String, String>);

impl Browser {
    fn open(&mut self, shop: &mut Shop, path: &str) -> Page {
        let page = self.lose(shop, Method::GET, path, "");
        self.take(&page);
        page
    }

    /// Posts the form of a page.
    fn pay(&mut self, shop: &mut Shop, token: &str, page: &Page, number: &str) -> Page {
        let reply = self.pay_and_lose(shop, token, page, number);
        self.take(&reply);
        reply
    }

    /// Posts the form of a page; the browser does not receive the reply.
    fn pay_and_lose(&self, shop: &mut Shop, token: &str, page: &Page, number: &str) -> Page {
        let visit = page.form_key();
        let form = with(&with(CARD, &[("cardNumber", number)]), &[("visit", visit.as_str())]);
        self.lose(shop, Method::POST, &format!("/pay/{token}"), &serde_urlencoded::to_string(form).unwrap())
    }

    /// Sends a request with the cookies and ignores those of the reply.
    fn lose(&self, shop: &mut Shop, method: Method, path: &str, body: &str) -> Page {
        let cookies: Vec<_> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = Request::builder().method(method).uri(path).header("cookie", cookies.join("; "));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        Page::of(shop.send(request.body(Bytes::from(body.to_owned())).unwrap()))
    }

    fn take(&mut self, page: &Page) {
        for cookie in page.headers.get_all("set-cookie") {
            let (name, value) = cookie.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap();
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// The address of "Make another payment".
fn another(page: &Page) -> String {
    let (before, _) = page.html.split_once("\">Make another payment").unwrap();
    before.rsplit('"').next().unwrap().to_owned()
}

/// How many payments were approved.
fn charges(shop: &mut Shop) -> usize {
    let listed = shop.control("transactions");
    listed.as_array().unwrap().iter().filter(|row| row["transactionStatusCode"] == "600").count()
}

// spec: 3 §3.1, A136
#[test]
fn a_payment_whose_reply_was_lost_is_shown_when_the_link_is_opened_again() {
    for auto_redirect in ["0", "1"] {
        let mut shop = Shop::new();
        let mut browser = Browser::default();
        let token = shop.token(&[("auto_redirect", auto_redirect)]);
        let link = format!("/pay/{token}");
        let form = browser.open(&mut shop, &link);
        let lost = browser.pay_and_lose(&mut shop, &token, &form, PAN);
        let receipt = browser.open(&mut shop, &link);
        assert!(receipt.says("Payment complete") && receipt.trans_key() == lost.trans_key(), "{}", receipt.html);
        // The same for a payment after that one.
        let form = browser.open(&mut shop, &another(&receipt));
        let lost = browser.pay_and_lose(&mut shop, &token, &form, PAN);
        for path in [link, another(&receipt)] {
            assert_eq!(browser.open(&mut shop, &path).trans_key(), lost.trans_key());
        }
        assert_eq!(charges(&mut shop), 2);
    }
}

// spec: 3 §3.1, A136
#[test]
fn a_bank_that_did_not_answer_is_named_also_if_the_reply_was_lost() {
    let mut shop = Shop::new();
    let mut browser = Browser::default();
    let token = shop.token(&[]);
    let form = browser.open(&mut shop, &format!("/pay/{token}"));
    browser.pay_and_lose(&mut shop, &token, &form, SILENT);
    assert!(browser.open(&mut shop, &format!("/pay/{token}")).says("It is unknown whether your card was charged"));
}

// spec: 3 §3.1, A136
#[test]
fn the_page_for_another_payment_shows_that_payment_once_it_is_made() {
    let mut shop = Shop::new();
    let mut browser = Browser::default();
    let token = shop.token(&[]);
    let form = browser.open(&mut shop, &format!("/pay/{token}"));
    let first = browser.pay(&mut shop, &token, &form, PAN);
    let mut receipt = browser.open(&mut shop, &format!("/pay/{token}"));
    assert_eq!(receipt.trans_key(), first.trans_key());
    for payments in 2..4 {
        let page = another(&receipt);
        let form = browser.open(&mut shop, &page);
        // Until it is made, the link shows the payment before it.
        assert_eq!(browser.open(&mut shop, &format!("/pay/{token}")).trans_key(), receipt.trans_key());
        let paid = browser.pay(&mut shop, &token, &form, PAN);
        receipt = browser.open(&mut shop, &page);
        assert!(receipt.says("Payment complete") && receipt.trans_key() == paid.trans_key(), "{}", receipt.html);
        assert_eq!(charges(&mut shop), payments);
    }
    // The link of older versions names no payment.
    assert_eq!(browser.open(&mut shop, &format!("/pay/{token}?again")).trans_key(), receipt.trans_key());
}

// spec: 3 §3.1, A136
#[test]
fn all_tabs_of_a_browser_have_the_same_form() {
    let mut shop = Shop::new();
    let mut browser = Browser::default();
    let token = shop.token(&[]);
    let link = format!("/pay/{token}");
    let tabs = [(); 3].map(|()| browser.open(&mut shop, &link));
    let declined = browser.pay(&mut shop, &token, &tabs[0], DECLINED);
    // After a decline it is the next one.
    assert_eq!(browser.open(&mut shop, &link).form_key(), declined.form_key());
    let paid = browser.pay(&mut shop, &token, &declined, PAN);
    for page in &tabs {
        let other = browser.pay(&mut shop, &token, page, "5200000000001005");
        assert_eq!(other.trans_key(), paid.trans_key());
        assert!(other.says("Nothing was charged now"), "{}", other.html);
        assert_eq!(browser.open(&mut shop, &another(&other)).status, 200);
        assert!(!browser.pay(&mut shop, &token, page, PAN).says("Nothing was charged"), "{}", other.html);
    }
    assert_eq!(charges(&mut shop), 1);
    let other = Browser::default().open(&mut shop, &link);
    assert!(tabs.iter().all(|page| page.form_key() != other.form_key()));
}

// spec: 3 §3.1, A136
#[test]
fn a_challenge_that_was_left_goes_on_when_the_link_is_opened_again() {
    for answer in ["authenticate", "abandon"] {
        let mut shop = Shop::new();
        let mut browser = Browser::default();
        let token = shop.token(&[("3D_secure", "1")]);
        let link = format!("/pay/{token}");
        let form = browser.open(&mut shop, &link);
        let challenge = browser.pay(&mut shop, &token, &form, ASKS).location().to_owned();
        assert_eq!(browser.open(&mut shop, &link).location(), challenge);
        let back = browser.lose(&mut shop, Method::POST, &challenge, &format!("outcome={answer}"));
        let back = back.location().to_owned();
        // The reply of the last step is lost too.
        browser.lose(&mut shop, Method::GET, &back, "");
        let page = browser.open(&mut shop, &link);
        let paid = answer == "authenticate";
        assert_eq!((page.says("Payment complete"), page.says("<form")), (paid, !paid), "{}", page.html);
        assert_eq!(charges(&mut shop), usize::from(paid));
        // The tab that was left shows the same result.
        let restored = browser.open(&mut shop, &challenge);
        assert_eq!(browser.open(&mut shop, restored.location()).says("Payment complete"), paid);
        assert_eq!(charges(&mut shop), usize::from(paid));
    }
}

// spec: 3 §3.1, A136
#[test]
fn payments_of_an_older_version_are_shown_by_their_cookie() {
    let mut shop = Shop::new();
    let mut browser = Browser::default();
    let token = shop.token(&[]);
    let link = format!("/pay/{token}");
    let form = browser.open(&mut shop, &link);
    // An older version sets the cookie of the result only, and shows a form at each visit.
    browser.0.clear();
    let paid = browser.pay(&mut shop, &token, &form, PAN);
    assert_eq!(browser.0.keys().collect::<Vec<_>>(), ["sent"]);
    let receipt = browser.open(&mut shop, &link);
    assert_eq!(receipt.trans_key(), paid.trans_key());
    let form = browser.open(&mut shop, &another(&receipt));
    let earlier = Browser::default().open(&mut shop, &link);
    let paid = browser.pay(&mut shop, &token, &form, PAN);
    // Two forms of such a version are two payments; each can be followed by another one.
    let last = browser.pay(&mut shop, &token, &earlier, PAN);
    assert_ne!(paid.trans_key(), last.trans_key());
    let mut page = browser.open(&mut shop, &link);
    for _ in 0..2 {
        if !page.says("<form") {
            page = browser.open(&mut shop, &another(&page));
        }
    }
    assert!(page.says("<form"), "{}", page.html);
}

// spec: 3 §3.1, A119, A136: Without visits left, the browser is shown what became of its form.
#[test]
fn a_limit_of_visits_hides_no_payment_from_the_browser_that_made_it() {
    let mut shop = Shop::new();
    for auto_redirect in ["0", "1"] {
        let mut browser = Browser::default();
        let token = shop.token(&[("token_redemptions", "1"), ("auto_redirect", auto_redirect)]);
        let link = format!("/pay/{token}");
        let form = browser.open(&mut shop, &link);
        let lost = browser.pay_and_lose(&mut shop, &token, &form, PAN);
        for path in [&link, &format!("{link}?again={}", lost.trans_key())] {
            let receipt = browser.open(&mut shop, path);
            assert!(receipt.status == 200 && receipt.says("Payment complete"), "{}", receipt.html);
            assert!(receipt.trans_key() == lost.trans_key() && !receipt.says("another payment"), "{}", receipt.html);
        }
        let other = Browser::default().open(&mut shop, &link);
        assert!(other.status == 410 && other.says("has expired") && !other.says(&lost.trans_key()), "{}", other.html);
    }
}

// spec: 3 §3.1, A119, A136: While a payment can still be made, no page says that it cannot.
#[test]
fn a_limit_of_visits_leaves_an_open_form_and_a_challenge_payable() {
    let mut shop = Shop::new();
    let mut browser = Browser::default();
    let token = shop.token(&[("token_redemptions", "1"), ("3D_secure", "1")]);
    let link = format!("/pay/{token}");
    let form = browser.open(&mut shop, &link);
    let over = browser.open(&mut shop, &link);
    assert!(over.status == 410 && over.says("still open"), "{}", over.html);
    assert!(!over.says("no longer") && !over.says("No further"), "{}", over.html);
    let challenge = browser.pay(&mut shop, &token, &form, ASKS).location().to_owned();
    assert_eq!(browser.open(&mut shop, &link).location(), challenge);
    let back = browser.lose(&mut shop, Method::POST, &challenge, "outcome=authenticate");
    assert!(browser.open(&mut shop, back.location()).says("Payment complete"));
    assert!(browser.open(&mut shop, &link).says("Payment complete"));
}

// spec: 2 §7, A93; 3 §3.1, A119, A136: Limits of visits and of uses together do not tell a charge whose answer was lost from none.
#[test]
fn limits_of_visits_and_uses_do_not_tell_an_unheard_charge_from_none() {
    for (visits, wanted) in [("1", [410, 410, 410]), ("2", [200, 410, 410]), ("3", [200, 200, 410])] {
        for card in [SILENT, UNHEARD] {
            let mut shop = Shop::new();
            let mut browser = Browser::default();
            let token = shop.token(&[("token_redemptions", visits), ("token_uses", "1")]);
            let link = format!("/pay/{token}");
            let form = browser.open(&mut shop, &link);
            browser.pay_and_lose(&mut shop, &token, &form, card);
            let pages = [(); 3].map(|()| browser.open(&mut shop, &link));
            assert_eq!(pages.each_ref().map(|page| page.status), wanted, "{card} {visits}");
            assert!(
                pages.iter().all(|page| page.says("It is unknown whether your card was charged")),
                "{card} {visits}"
            );
            let left = shop.control(&format!("checkouts/{token}"))["redemptionsLeft"].clone();
            assert_eq!(left, 0, "{card} {visits}");
        }
    }
}
