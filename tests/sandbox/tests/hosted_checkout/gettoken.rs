//! Setting up a checkout (spec 3 §2.1, §4.1; A14, A18, A19, A90, A114 to A118).

use http::{Method, Request};
use pg_model::CheckoutToken;
use pg_sandbox::Settings;

use crate::hosted_checkout::{Answer, CANCEL, CARD, ORDER, SUCCESS, Shop, fields::TOKEN, with};

// spec: 3 §2.1, A115, A116: The reply is XML with token, user and items.
// spec: 3 §2.1, A115: Times are ISO 8601 in UTC.
// spec: 3 §2.1, A114: Addresses are returned as sent, or defaults; the defaults of type and category are auth and
//   purchase.
// spec: 3 §2.1, A115: quantity and reference of an item are returned if they were sent.
// spec: 3 §1; 3 §4.1, A122; 3 §4.1, A116, A136; method enterprise/gettoken
#[test]
fn the_reply_says_everything_that_was_set_up() {
    let mut shop = Shop::new();
    let all = with(
        ORDER,
        &[
            ("token_start", "1777888800"),
            ("token_expiry", "1777892400"),
            ("token_uses", "3"),
            ("token_redemptions", "127"),
            ("callback_url", "http://shop.example:80/callback"),
            ("item_reference[1]", "SP-1"),
            ("salutation", "Ms"),
            ("first_name", "Ann"),
            ("surname", "O'Neill & Co <x>"),
            ("email", "ann@shop.example"),
            ("date_of_birth", "31011970"),
            ("mobile_phone", "447700900123"),
            ("home_phone", "441632960123"),
            ("property_name", "Rose Cottage"),
            ("address_1", "1 Mill Lane"),
            ("address_2", "Old Town"),
            ("town", "Testford"),
            ("county", "Testshire"),
            ("postcode", "ZZ1 1AA"),
            ("country", "GB"),
            ("trans_type", "PreAuth"),
            ("trans_cat", "donation"),
            ("trans_class", "spring"),
            ("trans_reference", "order-7"),
            ("payment_source", "moto"),
            ("terminal_key", "main-web"),
            ("applet", "main-small"),
        ],
    );
    let answer = shop.done("gettoken", &all);
    let reply: CheckoutToken = answer.record();
    let (token, user) = (&reply.token, &reply.user);
    assert_eq!(token.token_id.as_str().len(), 32);
    assert_eq!(token.redemption_url.as_str(), format!("http://127.0.0.1:8480/pay/{}", token.token_id));
    assert_eq!((token.merchant.as_str(), token.applet.as_str()), ("main", "main-small"));
    assert_eq!(token.token_start, "2026-05-04T10:00:00Z");
    assert_eq!(token.token_expiry, "2026-05-04T11:00:00Z");
    assert_eq!(token.creation, "2026-05-04T10:00:00Z");
    assert_eq!((token.uses.as_str(), token.redemptions.as_str()), ("3", "127"));
    assert_eq!((token.success_url.as_str(), token.cancel_url.as_str()), (SUCCESS, CANCEL));
    assert_eq!(token.callback_url.as_str(), "http://shop.example:80/callback");
    assert_eq!((token.trans_type.as_str(), token.trans_cat.as_str()), ("preauth", "donation"));
    assert_eq!(token.currency.as_str(), "GBP");
    assert_eq!((user.salutation.as_str(), user.surname.as_str()), ("Ms", "O'Neill & Co <x>"));
    assert_eq!((user.date_of_birth.expose(), user.country.as_str()), ("31011970", "GB"));
    assert_eq!((user.mobile_phone.as_str(), user.home_phone.as_str()), ("447700900123", "441632960123"));
    let line = |number: usize| {
        let item = &reply.items[number];
        [item.name.as_str(), item.price.as_str(), item.quantity.as_str(), item.reference.as_str()]
    };
    assert_eq!(line(0), ["Tea", "4.99", "2", ""]);
    assert_eq!(line(1), ["Spoon", "1", "", "SP-1"]);
    assert_eq!(reply.items.len(), 2);
    assert!(reply.extra.is_empty() && token.extra.is_empty() && user.extra.is_empty());
    let names = answer.names();
    let place = |name: &str| names.iter().position(|&other| other == name);
    let order =
        ["token", "cancel_url", "callback_url", "trans_type", "user", "date_of_birth", "country", "items", "item"];
    assert!(order.map(place).is_sorted() && order.iter().all(|name| place(name).is_some()), "{names:?}");
    assert_eq!(answer.basis, "3 4.1, A14, A41, A42, A114, A115, A116, A122");
}

// spec: 3 §4.1, A18, A19, A45, A77, A117, A122, A143: A refusal names what decides it, and nothing about a reply that is not sent.
#[test]
fn a_refusal_names_what_decides_it() {
    let mut shop = Shop::new();
    let item = [("item_name[0]", "Tea"), ("item_price[0]", "1")];
    for (name, value, wanted) in [
        ("country", "UK", "A39, A40, A45, A112, A143"),
        ("currency", "CAD", "A39, A40, A45, A112"),
        ("currency", "gbp", "A19, A39, A40, A45, A112"),
        ("applet", "zz", "A39, A40, A112, A122"),
        ("token_start", "1", "A39, A40, A45, A112, A117"),
        ("callback_url", "http://shop.example:8080/", "A18, A39, A40, A45, A112"),
        ("callback_url", "http://10.0.0.1/x", "A39, A40, A45, A77, A112"),
        ("callback_url", "https://user:p@shop.example/x", "A39, A40, A45, A77, A112"),
        ("callback_url", "foo", "A39, A40, A45, A77, A112"),
    ] {
        let answer = shop.call("gettoken", &[&item[..], &[(name, value)]].concat());
        assert_eq!((answer.status, answer.basis), (400, format!("3 7, {wanted}")), "{name} {value}");
    }
    for (url, ports) in
        [("http://127.0.0.1:9/cb", true), ("http://shop.example/cb", false), ("https://shop.example:443/", false)]
    {
        let answer = shop.done("gettoken", &[&item[..], &[("callback_url", url)]].concat());
        assert_eq!(answer.basis.contains("A18,"), ports, "{url} {}", answer.basis);
    }
}

// spec: 3 §1, A114: Missing parameters get the merchant's defaults.
// spec: 3 §4.1, A114, A117: The default of token_start is now, and of token_expiry the merchant's default, a week
//   later; token_expiry must be after token_start.
// spec: 3 §4.1, A117: token_uses and token_redemptions are -1, the default, to 127; 0 makes a token that no customer
//   can use.
// spec: 3 §4.1: The default of trans_type is Auth; PreAuth makes a reservation.
// spec: 3 §2.1, A114; 3 §2.1, A115; 3 §4.1, A114, A120; 3 §4.1, A114, A19
// spec: codes TransactionCategory purchase
#[test]
fn omitted_settings_have_their_default() {
    let mut shop = Shop::new();
    let answer = shop.done("gettoken", &[("item_name[0]", "Tea"), ("item_price[0]", "4.99")]);
    let token = answer.record::<CheckoutToken>().token;
    assert_eq!(token.token_start, "2026-05-04T10:00:00Z");
    assert_eq!(token.token_expiry, "2026-05-11T10:00:00Z");
    assert_eq!((token.uses.as_str(), token.redemptions.as_str()), ("-1", "-1"));
    assert_eq!(token.success_url.as_str(), "http://127.0.0.1:8480/pay/success");
    assert_eq!(token.cancel_url.as_str(), "http://127.0.0.1:8480/pay/cancelled");
    assert_eq!((token.currency.as_str(), token.applet.as_str()), ("GBP", "default"));
    assert_eq!((token.trans_type.as_str(), token.trans_cat.as_str()), ("auth", "purchase"));
    assert_eq!(answer.names()[2..17], TOKEN);
    assert_eq!((answer.text("callback_url"), answer.text("surname")), (String::new(), String::new()));
    for name in ["success", "cancelled"] {
        assert_eq!(shop.visit(name).status, 200);
    }
}

// spec: 3 §2.1, A115
#[test]
fn the_page_address_is_the_called_or_the_configured_one() {
    let redemption_url = |settings: Settings, host: &str| {
        let mut shop = Shop::with(settings);
        let enterprise = shop.sandbox.settings().merchants.by_name("main").unwrap().enterprise.clone().unwrap();
        let own = [
            ("api_key", enterprise.api_key.expose()),
            ("api_password", enterprise.api_password.expose()),
            ("version", "5"),
        ];
        let body = serde_urlencoded::to_string([&own, ORDER].concat()).unwrap();
        let request = Request::builder().method(Method::POST).uri("/enterprise/gettoken").header("host", host);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body.into()).unwrap();
        let xml = String::from_utf8(shop.send(request).body().to_vec()).unwrap();
        let address = Answer { status: 200, xml, basis: String::new() }.text("redemption_url");
        address.split("/pay/").next().unwrap().to_owned()
    };
    assert_eq!(redemption_url(Settings::default(), "sandbox:9000"), "http://sandbox:9000");
    assert_eq!(redemption_url(Settings::default(), "[::1]:9000"), "http://[::1]:9000");
    // No host that a server names (A195).
    assert_eq!(redemption_url(Settings::default(), "user@sandbox"), "");
    assert_eq!(redemption_url(Settings::default(), "<script>"), "");
    let told = Settings::default().public_url("https://pay.example/".to_owned());
    assert_eq!(redemption_url(told, "10.0.0.1:80"), "https://pay.example");
}

// spec: 3 §8 Limits, A117: The maximum of token_uses is 127; -1 is unlimited.
// spec: 3 §8 Limits, A117: The maximum of token_redemptions is 127; -1 is unlimited.
// spec: 3 §4.1, A117
#[test]
fn counts_are_from_minus_one_to_127() {
    let mut shop = Shop::new();
    for name in ["token_uses", "token_redemptions"] {
        for value in ["-1", "0", "1", "127"] {
            let answer = shop.done("gettoken", &with(ORDER, &[(name, value)]));
            assert_eq!(answer.basis.contains("A117"), value == "0", "{answer:?}");
        }
        for value in ["-2", "128", "1.0", "x", "99999999999999999999"] {
            assert_eq!(shop.refused("gettoken", &with(ORDER, &[(name, value)])), "937", "{name} {value}");
        }
    }
}

// spec: 3 §4.1, A114, A117
#[test]
fn a_token_ends_after_it_begins() {
    let mut shop = Shop::new();
    for (start, expiry, wanted) in [
        ("1777888800", "1777888801", None),
        ("1777888800", "1777888800", Some("937")),
        ("1777888801", "1777888800", Some("937")),
        ("", "1777888799", Some("937")),
        // It would have ended before it was made.
        ("1", "2", Some("937")),
        ("1", "", Some("937")),
        ("x", "", Some("937")),
        ("99999999999", "", Some("937")),
        ("99999999999999999999999", "", Some("937")),
        // The last second that a time can have leaves nothing of the merchant's default.
        ("32503679999", "", Some("937")),
    ] {
        let given =
            [("token_start", start), ("token_expiry", expiry)].into_iter().filter(|(_, value)| !value.is_empty());
        let answer = shop.call("gettoken", &with(ORDER, &given.collect::<Vec<_>>()));
        let code = (answer.status != 200).then(|| answer.code());
        assert_eq!(code.as_deref(), wanted, "{start} {expiry}");
    }
    // The merchant's default is a week after the start, whenever that is.
    let later = shop.done("gettoken", &with(ORDER, &[("token_start", "1777892400")]));
    assert_eq!(later.text("token_start"), "2026-05-04T11:00:00Z");
    assert_eq!(later.text("token_expiry"), "2026-05-11T11:00:00Z");
}

// spec: 3 §4.1, A14, A90: Items are numbered and have a name and a price; a quantity that is 0 or missing counts as 1.
#[test]
fn items_come_in_pairs_and_in_order() {
    let mut shop = Shop::new();
    for (items, wanted) in [
        (&[("item_name[0]", "Tea")][..], "107"),
        (&[("item_price[0]", "1")], "938"),
        (&[("item_quantity[0]", "1")], "938"),
        (&[("item_name[2]", "Tea"), ("item_price[2]", "1")], "937"),
        (&[("item_name[1]", "Tea"), ("item_price[1]", "1"), ("item_name[3]", "Tea"), ("item_price[3]", "1")], "937"),
        (&[("item_name[1]", "Tea"), ("item_price[1]", "x")], "107"),
        (&[("item_name[1]", "Tea")], "107"),
        (&[("item_price[1]", "1")], "938"),
        (&[("currency", "GBP"), ("item_price[]", "1")], "937"),
        (&[("item_name[0]", "Tea"), ("item_price[0]", "1"), ("item_name[2]", "Tea"), ("item_price[2]", "1")], "937"),
        (&[("item_name[0]", "Tea"), ("item_price[0]", "1.001")], "107"),
        (&[("item_name[0]", "Tea"), ("item_price[0]", "-1")], "107"),
        (&[("item_name[0]", "Tea"), ("item_price[0]", "1"), ("item_quantity[0]", "-1")], "107"),
        (&[("item_name[0]", "Tea"), ("item_price[0]", "1"), ("item_quantity[0]", "1.5")], "107"),
        (&[("item_name[0]", "Tea"), ("item_price[0]", "0")], "107"),
        (&[("item_name[0]", "Tea"), ("item_price[0]", "10000000000")], "107"),
        (&[("item_name[0]", "Tea"), ("item_price[0]", "1"), ("item_quantity[0]", "18446744073709551615")], "107"),
    ] {
        assert_eq!(shop.refused("gettoken", items), wanted, "{items:?}");
    }
    let long = "n".repeat(129);
    assert_eq!(shop.refused("gettoken", &with(ORDER, &[("item_name[0]", &long)])), "937");
    shop.done("gettoken", &with(ORDER, &[("item_name[0]", &long[1..])]));
    assert_eq!(shop.refused("gettoken", &with(ORDER, &[("item_reference[0]", &long[..17])])), "937");
}

// spec: 3 §4.1, A14, A90
#[test]
fn numbering_from_one_is_as_good_as_from_zero() {
    let mut shop = Shop::new();
    let pairs = [
        ("item_name[1]", "Tea"),
        ("item_price[1]", "4.99"),
        ("item_quantity[1]", "2"),
        ("item_name[2]", "Spoon"),
        ("item_price[2]", "1"),
    ];
    let answer = shop.done("gettoken", &pairs);
    let shown: Vec<String> = answer.record::<CheckoutToken>().items.into_iter().map(|item| item.name).collect();
    assert_eq!(shown, ["Tea", "Spoon"]);
    assert!(shop.visit(&answer.text("tokenid")).says("10.98"));
}

// spec: 3 §4.1, A14, A90
#[test]
fn no_item_is_skipped_however_its_number_is_written() {
    let mut shop = Shop::new();
    for name in [
        "item_name",
        "item_price",
        "item_price[]",
        "item_price[a]",
        "item_price[01]",
        "item_price[-1]",
        "item_price[ 1]",
        "item_price[1",
        "item_price0",
        "item_price_0",
        "Item_Price[0]",
        "itemPrice0",
        "item_quantity",
        "item_quantity[]",
        "item_reference[x]",
    ] {
        assert_eq!(shop.refused("gettoken", &with(ORDER, &[(name, "1")])), "937", "{name}");
    }
    for name in [
        "item_description[0]",
        "item_qty[0]",
        "item_quantty[0]",
        " item_quantity[0]",
        "items[0][name]",
        "quantity[0]",
        "unitPrice1",
        "Currency",
    ] {
        assert_eq!(shop.refused("gettoken", &with(ORDER, &[(name, "1")])), "964", "{name}");
    }
    // What is paid, and how often, hangs on these.
    for name in
        ["currencyCode", "curency", "transType", "Trans_Type", "Token_Uses", "3d_secure", "terminalKey", "tokenExpiry"]
    {
        assert_eq!(shop.refused("gettoken", &with(ORDER, &[(name, "1")])), "937", "{name}");
    }
    let answer = shop.call("gettoken", &with(ORDER, &[("campaign", "spring"), ("itinerary", "1")]));
    assert_eq!(answer.status, 200, "{answer:?}");
}

// spec: 3 §4.1, A118: A request may have no item parameters; then there is nothing to pay.
#[test]
fn a_token_without_items_is_made_and_there_is_nothing_to_pay() {
    let mut shop = Shop::new();
    let answer = shop.done("gettoken", &[("success_url", SUCCESS), ("cancel_url", CANCEL), ("auto_redirect", "1")]);
    assert!(answer.basis.contains("A118") && answer.record::<CheckoutToken>().items.is_empty(), "{answer:?}");
    let token = answer.text("tokenid");
    let page = shop.visit(&token);
    assert!(page.status == 200 && page.says("There is nothing to pay") && page.says(CANCEL), "{}", page.html);
    assert!(!page.says("<form") && !page.says("shop.example/paid"));
    // A card that is posted anyway is not charged.
    let posted = shop.post(&token, CARD);
    assert_eq!((posted.status, posted.location()), (303, &*format!("/pay/{token}")));
    assert_eq!(shop.control("transactions"), serde_json::json!([]));
}

// spec: 3 §4.1, A14, A90
#[test]
fn twelve_items_keep_their_order() {
    let mut shop = Shop::new();
    let names: Vec<[String; 2]> = (0..12).map(|n| [format!("item_name[{n}]"), format!("item_price[{n}]")]).collect();
    let titles: Vec<String> = (0..12).map(|n| format!("Item {n}")).collect();
    let mut pairs = Vec::new();
    for (names, title) in names.iter().zip(&titles).rev() {
        pairs.extend([(names[0].as_str(), title.as_str()), (names[1].as_str(), "1.50")]);
    }
    let answer = shop.done("gettoken", &pairs);
    let shown: Vec<String> = answer.record::<CheckoutToken>().items.into_iter().map(|item| item.name).collect();
    assert_eq!(shown, titles);
    let page = shop.visit(&answer.text("tokenid"));
    assert!(page.says("Pay \u{a3}18.00") && page.html.find("Item 2<").unwrap() < page.html.find("Item 11<").unwrap());
}

// spec: 3 §4.1, A14, A90
#[test]
fn sums_follow_the_currency() {
    let mut shop = Shop::new();
    for (currency, price, quantity, wanted) in [
        ("GBP", "4.99", "2", "\u{a3}9.98"),
        ("GBP", "5", "", "\u{a3}5.00"),
        ("GBP", "5.95", "0", "\u{a3}5.95"),
        ("EUR", "1000", "1", "\u{20ac}1,000.00"),
        ("JPY", "1500", "2", "\u{a5}3,000"),
        ("JPY", "1500.0", "", "\u{a5}1,500"),
        ("BHD", "1.234", "3", "BHD\u{a0}3.702"),
        ("BHD", "0.001", "", "BHD\u{a0}0.001"),
        ("GBP", "9999999999.99", "", "\u{a3}9,999,999,999.99"),
    ] {
        let items = [("item_name[0]", "Tea"), ("item_price[0]", price), ("item_quantity[0]", quantity)];
        let order = with(&items, &[("currency", currency), ("item_quantity[0]", quantity)]);
        let answer = shop.done("gettoken", &order);
        assert_eq!(answer.basis.contains("A90"), quantity == "0", "{answer:?}");
        assert!(shop.visit(&answer.text("tokenid")).says(wanted), "{currency} {price} {quantity}");
    }
    for (currency, price) in [("JPY", "1500.5"), ("BHD", "1.2345"), ("GBP", "4.995")] {
        let order = with(ORDER, &[("currency", currency), ("item_price[0]", price)]);
        assert_eq!(shop.refused("gettoken", &order), "107", "{currency} {price}");
    }
}

// spec: 3 §4.1, A114, A19: The default of currency is the merchant's; it must be configured.
// spec: 3 §4.1, A143: Listed words are accepted in any letter case; a country is a code of ISO 3166-1 in upper case.
// spec: 3 §4.1, A91, A122: terminal_key chooses a terminal of the account.
// spec: codes SandboxErrorCode 971
#[test]
fn options_have_their_codes() {
    let mut shop = Shop::new();
    for (name, value, wanted) in [
        ("currency", "SEK", "111"),
        ("currency", "gbp", "111"),
        ("currency", "pounds", "111"),
        ("callback_url", "https://shop.example:8443/", "184"),
        ("callback_url", "ftp://shop.example/", "184"),
        ("callback_url", "https://192.168.0.1/", "184"),
        ("callback_url", "http://169.254.169.254/", "184"),
        ("callback_url", "https://user:secret@shop.example/", "184"),
        ("success_url", "javascript:alert(1)", "937"),
        ("cancel_url", "//shop.example", "937"),
        ("redemption_redirect_url", "/here", "937"),
        ("terminal_key", "nobody", "957"),
        ("applet", "nothing", "971"),
        ("trans_type", "authorise", "937"),
        ("trans_cat", "gift", "937"),
        ("payment_source", "web", "937"),
        ("auto_redirect", "2", "937"),
        ("3D_secure", "yes", "937"),
        ("email", "a\nb", "937"),
        ("date_of_birth", "19700131", "937"),
        ("mobile_phone", "07700900123", "937"),
        ("country", "GBR", "937"),
        ("postcode", "1234567890123456", "937"),
        ("trans_reference", "123456789012345678901234567890123456789012345678901", "125"),
    ] {
        assert_eq!(shop.refused("gettoken", &with(ORDER, &[(name, value)])), wanted, "{name} {value}");
    }
    let answer = shop.call("gettoken", &with(ORDER, &[("trans_type", "reserve")]));
    assert!(answer.code() == "937" && answer.basis.ends_with(", A143"), "{answer:?}");
    for (name, word) in [("trans_type", "preauth"), ("trans_cat", "Debt"), ("payment_source", "MOTO")] {
        let answer = shop.done("gettoken", &with(ORDER, &[(name, word)]));
        assert!(name == "payment_source" || answer.text(name) == word.to_lowercase(), "{answer:?}");
    }
    // Char and no more.
    for email in ["nobody", "a@b@c", "ann.o'neill+shop@shop.example", &"e".repeat(500)] {
        shop.done("gettoken", &with(ORDER, &[("email", email)]));
    }
    for country in ["gb", "UK", "ZZ"] {
        assert_eq!(shop.refused("gettoken", &with(ORDER, &[("country", country)])), "937", "{country}");
    }
    let long = format!("https://shop.example/{}", "a".repeat(9_000));
    assert_eq!(shop.refused("gettoken", &with(ORDER, &[("success_url", &long)])), "937");
    for callback in ["https://shop.example/", "http://127.0.0.1:9999/callback", "http://localhost:3000"] {
        shop.done("gettoken", &with(ORDER, &[("callback_url", callback)]));
    }
    shop.become_merchant("strict");
    assert_eq!(shop.refused("gettoken", &with(ORDER, &[("currency", "EUR")])), "111");
    assert_eq!(shop.refused("gettoken", &with(ORDER, &[("terminal_key", "main-web")])), "957");
}

// spec: 3 §4.1, A117: A token cannot end after the year 2999, also by default.
#[test]
fn a_token_cannot_end_after_the_last_year() {
    let mut shop = Shop::new();
    for (now, is_accepted) in [("2999-12-24T12:00:00Z", true), ("2999-12-25T12:00:00Z", false)] {
        shop.ask(Method::POST, "/_sandbox/clock", format!(r#"{{"set":"{now}"}}"#));
        let answer = shop.call("gettoken", ORDER);
        assert_eq!(answer.status == 200, is_accepted, "{now} {answer:?}");
        if !is_accepted {
            assert_eq!(answer.code(), "937");
        }
    }
}
