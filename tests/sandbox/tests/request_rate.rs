//! The limit of requests in a minute can be changed for an account (spec 1 §8).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use http::Method;
use pg_sandbox::{Settings, Timestamp, config_file::merchants_from_toml, merchants::Merchants};
use pg_support::{request, signed_form};

/// How often an account with these lines in its configuration is let in within a minute.
fn admitted(more: &str) -> usize {
    let account = format!(
        "[[merchant]]\nname = \"shop\"\napiKey = \"0123456789abcdef0123456789ABCDEF\"\napiPassword = \"password\"\n\
         shaKey = \"secret\"\ncurrencies = [\"GBP\"]\n{more}\n"
    );
    let merchants = Merchants::with(merchants_from_toml(&account).unwrap()).unwrap();
    let settings = Settings::default().merchants(merchants);
    let body =
        signed_form(settings.merchants.by_name("shop").unwrap(), &[("errorPageUrl", "https://shop.example/error")]);
    let mut sandbox = pg_stores::sandbox_with(settings, [0; 32]);
    let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
    let calls = (0..250).map(|_| {
        let response = sandbox.handle(now, request(Method::POST, "/v3/session/initiate/json", body.clone()));
        assert!(response.status() == 200 || response.body().windows(5).any(|text| text == b"\"936\""), "{response:?}");
        response.status()
    });
    calls.filter(|status| *status == 200).count()
}

// spec: 1 §8, A54: The limit of an account can be changed.
#[test]
fn an_account_has_the_limit_that_it_is_given() {
    assert_eq!(admitted("requestsPerMinute = 3"), 3);
    assert_eq!(admitted("requestsPerMinute = 200"), 200);
    assert_eq!(admitted(""), 250, "an account of one's own has none unless it is told");
}
