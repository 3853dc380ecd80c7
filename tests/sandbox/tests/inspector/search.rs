//! Looking for entries of lists.

use crate::inspector::{APPROVED, Page, Shop, order};

fn entries(page: &Page) -> usize {
    page.html.matches("<th scope=\"row\"").count()
}

#[test]
fn a_transaction_is_found_by_its_key_its_reference_and_its_last_digits() {
    let mut shop = Shop::new();
    shop.call("transaction/auth", &order("123456", "basket 7"));
    shop.call("transaction/auth", &order("100", "basket 8"));
    let all = shop.control("transactions");
    let (key, number) = (all[0]["transactionKey"].as_str().unwrap(), all[0]["card"]["cardNumber"].as_str().unwrap());
    let last = &number[number.len() - 4..];
    for (asked, wanted) in [(key, 1), (&key[..12], 1), ("basket", 2), ("basket+7", 1), (last, 2), ("9999", 0), ("+", 2)]
    {
        let page = shop.shown(&format!("pages/transactions?merchant=&find={asked}"));
        assert_eq!(entries(&page), wanted, "{asked} {}", page.text());
        assert_eq!(shop.control(&format!("transactions?find={asked}")).as_array().unwrap().len(), wanted, "{asked}");
        assert_eq!(page.says("Nothing was found."), wanted == 0, "{asked}");
    }
    // What is looked for stays in the form and in the link to older entries, and a card's number does not.
    let page = shop.shown("pages/transactions?limit=1&find=basket");
    assert!(page.html.contains("name=\"find\"") && page.html.contains("value=\"basket\""), "{}", page.html);
    let older = page.paths().into_iter().find(|path| path.contains("before=")).unwrap();
    assert!(older.contains("find=basket"), "{older}");
    assert!(!shop.shown(&format!("pages/transactions?find={APPROVED}")).html.contains(APPROVED));
}

#[test]
fn requests_and_tokens_are_found_too() {
    let mut shop = Shop::new();
    shop.call("token/lookup", &[("cardKey", "wanted-1")]);
    shop.call("token/lookup", &[("cardKey", "other")]);
    assert_eq!(entries(&shop.shown("pages/requests?find=wanted")), 1);
    assert_eq!(entries(&shop.shown("pages/tokens?find=wanted")), 0);
}

#[test]
fn a_list_shows_keys_last_digits_and_amounts_in_their_column() {
    let mut shop = Shop::new();
    shop.call("transaction/auth", &order("123456", "basket 7"));
    let all = shop.control("transactions");
    let (key, number) = (all[0]["transactionKey"].as_str().unwrap(), all[0]["card"]["cardNumber"].as_str().unwrap());
    let page = shop.shown("pages/transactions");
    assert!(page.html.contains(&format!("<code class=\"key\">{key}</code>")), "{}", page.html);
    assert!(page.html.contains(&format!("</span>{}</span>", &number[number.len() - 4..])), "{}", page.html);
    assert!(
        page.html.contains("<td role=\"cell\" class=\"number\" data-head=\"Amount\"><div>1,234.56\u{a0}"),
        "{}",
        page.html
    );
}
