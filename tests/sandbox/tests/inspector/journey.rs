//! One of everything, and what its page says.

use http::Method;

use crate::inspector::{Page, Shop, order};

fn entry(shop: &mut Shop, list: &str, key: &str) -> Page {
    let path = format!("/_sandbox/pages/{list}/{key}");
    let found = shop.shown(&format!("pages/{list}")).paths();
    assert!(found.contains(&path), "{path} in {found:?}");
    shop.shown(&format!("pages/{list}/{key}"))
}

fn assert_says(page: &Page, texts: &[&str]) {
    for text in texts {
        assert!(page.says(text), "{text}: {}", page.text());
    }
}

#[test]
fn a_request_is_explained() {
    let mut shop = Shop::new();
    shop.pay("transaction/auth", "998", "order-7");
    let id = shop.control("requests")[0]["id"].as_str().unwrap().to_owned();
    let page = entry(&mut shop, "requests", &id);
    let heading = format!("Request {} Asked", id.trim_start_matches('0'));
    assert!(pg_stores::is_shared() || heading == "Request 1 Asked", "{heading}");
    assert_says(
        &page,
        &[
            &heading,
            "Request POST /v3/transaction/auth/json",
            "Account main",
            "cardNumber 411111******1111",
            "cardCV2 (hidden)",
            "shaSignature (hidden)",
            "merchantReference order-7",
            "Answer 200",
            "Transaction approved",
            "Clause 2 §4.4 Session and gateway",
        ],
    );
    // The basis of the reply, each part with its own page.
    let basis = shop.control(&format!("requests/{id}"))["basis"].as_str().unwrap().to_owned();
    for name in basis.split(", ").skip(1) {
        let path = format!("pages/assumptions/{}", name[1..].parse::<u16>().unwrap());
        assert!(page.html.contains(&format!("<a href=\"/_sandbox/{path}\">{name} ")), "{name}");
        assert_says(&shop.shown(&path), &[name, "Open", "Chosen", "Why"]);
    }
}

#[test]
fn faults_and_refusals_are_explained() {
    let mut shop = Shop::new();
    for (kind, answer, effect) in [
        ("drop-request", "Answer nothing", "The call was not executed, and the connection was closed."),
        ("drop-reply", "Answer 200", "The call was executed and is durable"),
        ("garble", "Answer 200", "The call was executed; the reply below was damaged."),
        ("status", "Answer 503, error 998", "the reply was injected"),
    ] {
        shop.done("pages/faults", &[("method", "*"), ("kind", kind), ("times", "1"), ("status", "503")]);
        shop.send_as("main", "transaction/auth", &order("100", kind));
        let id = shop.control("requests?limit=1")[0]["id"].as_str().unwrap().to_owned();
        assert_says(&entry(&mut shop, "requests", &id), &[answer, &format!("Fault {kind}"), effect]);
    }
    shop.ask(Method::GET, "/nowhere", &[]);
    assert_says(&shop.shown("pages/requests"), &["GET /nowhere – 404"]);
}

#[test]
fn a_transaction_lists_its_possible_operations() {
    let mut shop = Shop::new();
    let key = shop.pay("transaction/preauth", "1000", "order-1");
    let until = "until 2026-05-09 10:00:00 UTC";
    let page = entry(&mut shop, "transactions", &key);
    assert_says(&page, &[&format!("capture up to 10.00 GBP {until}"), &format!("cancel up to 10.00 GBP {until}")]);
    shop.call("transaction/cancelpreauth", &[("transactionKey", &key), ("transactionValue", "100")]);
    assert_says(&entry(&mut shop, "transactions", &key), &["capture up to 9.00 GBP", "Cancelled 1.00 GBP"]);
    let captured = shop.call("transaction/capturepreauth", &[("transactionKey", &key), ("transactionValue", "400")]);
    let captured = captured["transactionKey"].as_str().unwrap().to_owned();
    let refund = shop.call("transaction/refund", &[("transactionKey", &captured), ("transactionValue", "150")]);
    let refund = refund["transactionKey"].as_str().unwrap().to_owned();
    let page = entry(&mut shop, "transactions", &key);
    assert_says(
        &page,
        &["Nothing: the reservation", "Captured 4.00 GBP", "itemName0 Tea", "Cancelled 1.00 GBP", "History"],
    );
    assert!(page.html.contains(&format!("/_sandbox/pages/transactions/{captured}\"")));
    let page = entry(&mut shop, "transactions", &captured);
    assert_says(&page, &["refund up to 2.50 GBP", &format!("Came from {key}")]);
    assert_says(
        &entry(&mut shop, "transactions", &refund),
        &["Nothing: it gave back the money of another transaction."],
    );
    shop.wait(5 * 24 * 60 * 60);
    assert_says(
        &entry(&mut shop, "transactions", &key),
        &["Nothing: the reservation is used up, cancelled or expired."],
    );
    let mut poor = order("100", "order-2");
    poor[0].1 = "4000000000003006";
    let declined = shop.call("transaction/auth", &poor)["transactionKey"].as_str().unwrap().to_owned();
    assert_says(&entry(&mut shop, "transactions", &declined), &["Nothing: the bank did not accept it."]);
}

#[test]
fn sessions_tokens_and_batches() {
    let mut shop = Shop::new();
    let (session, _) = shop.session("4111111111111111");
    let page = entry(&mut shop, "sessions", &session);
    assert_says(
        &page,
        &["State has a card", "Number 411111******1111", "collectSize M", "errorPageUrl https://shop.example/error"],
    );
    shop.wait(31 * 60);
    assert_says(&entry(&mut shop, "sessions", &session), &["State expired"]);

    let token = shop.token();
    let page = entry(&mut shop, "tokens", &token);
    assert_says(&page, &["State enabled", "Number 411111******1111", "Expires 12/2030", "Came from"]);
    let batch = shop.batch(&token);
    shop.wait(120);
    let page = entry(&mut shop, "batches", &batch);
    assert_says(&page, &["State finished", &format!("{token} 706"), "Calls back https://shop.example/callback"]);
    let callback = shop.control("callbacks")[0]["id"].as_str().unwrap().to_owned();
    let page = entry(&mut shop, "callbacks", &callback);
    assert_says(
        &page,
        &["State pending", &format!("About {batch}"), "Goes to https://shop.example/callback", "Sent never"],
    );
    assert!(page.html.contains("<pre") && page.html.contains(&batch));
}

#[test]
fn checkouts_authentications_and_messages() {
    let mut shop = Shop::new();
    let token = shop.enterprise(
        "gettoken",
        &[
            ("currency", "GBP"),
            ("item_name[0]", "Tea"),
            ("item_price[0]", "4.99"),
            ("item_quantity[0]", "2"),
            ("success_url", "https://shop.example/paid"),
            ("first_name", "Ada"),
        ],
        "tokenid",
    );
    let page = entry(&mut shop, "checkouts", &token);
    assert_says(&page, &["State open", "Amount 9.98 GBP", "Tea 4.99 2", "After success https://shop.example/paid"]);
    assert!(page.html.contains(&format!("<a href=\"/pay/{token}\">")));

    let (session, _) = shop.session("4000000000005001");
    let mut begin = vec![("sessionKey", &*session), ("returnUrl", "https://shop.example/back")];
    begin.extend_from_slice(&order("998", "order-3")[5..]);
    let begun = shop.call("transaction/initiate3DSecureSessionKey", &begin);
    let key = begun["authenticationKey"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let page = entry(&mut shop, "authentications", &key);
    assert_says(&page, &["State pending", "Leads back to https://shop.example/back", &format!("/3ds/{key}")]);

    shop.enterprise("sms", &[("msisdn", "447700900123"), ("message", "Hello")], "messid");
    let id = shop.control("sms")[0]["id"].as_str().unwrap().to_owned();
    assert_says(&entry(&mut shop, "sms", &id), &["State accepted", "To 447700900123", "Message Hello"]);
}
