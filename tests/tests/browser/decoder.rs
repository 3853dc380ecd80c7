//! The JavaScript decoder in a real browser, on a redirect from a real sandbox.
//!
//! A shop's page never decodes, because that would expose the key to the customer. This test shows that the package works
//! in any environment with web APIs. It uses the published key of a sandbox.

use pg_model::{Encoding, Initiate};
use pg_sandbox::{Config, DecoderPackage, Settings};
use pg_tests::{
    browser::{self, VISA},
    package,
    shop::Shop,
    webdriver::{Browser, Scripts},
};
use serde_json::{Value, json};

use crate::{gallery::judge, site::Site};

/// Decodes the page's URL with every requested option, and shows the results.
const SCRIPT: &str = r#"
    import { decodeRedirect } from "/pg-wasm/web.js";
    const apiKey = "API_KEY";
    const decoded = (change, options) => {
      const url = new URL(location.href);
      for (const [name, value] of Object.entries(change)) url.searchParams.set(name, value);
      return decodeRedirect(url, { apiKey, ...options });
    };
    const { data, iv } = Object.fromEntries(new URLSearchParams(location.search));
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const flipped = (bit) => {
      const copy = bytes.slice();
      copy[bit >> 3] ^= 1 << (bit & 7);
      return btoa(String.fromCharCode(...copy));
    };
    const other = (text) => (text[0] === "0" ? "1" : "0") + text.slice(1);
    const failures = [
      ...Array.from({ length: 128 }, (_, bit) => decoded({ data: flipped(bit) })),
      ...Array.from({ length: data.replace(/=+$/, "").length }, (_, length) => decoded({ data: data.slice(0, length) })),
      decoded({ data: "A".repeat(1e6) }),
      decoded({ iv: other(iv) }),
      decoded({}, { apiKey: other(apiKey) }),
      decoded({}, { keyDerivation: "sha256" }),
      decodeRedirect("https://shop.example/", { apiKey }),
    ];
    const shown = document.createElement("pre");
    shown.textContent = JSON.stringify({ said: decoded({}), failures: [...new Set(failures.map(JSON.stringify))] });
    document.body.append(shown);
"#;

async fn decoded(encoding: Encoding, filled_in: &[(&str, &str)]) -> Option<Value> {
    let package = package::folder()?;
    let browser = Browser::open(Scripts::On).await?;
    let shop = Shop::open(encoding).await;
    let site = Site::new().await.with_files("/pg-wasm/", package);
    let session = shop.client.call(&Initiate::new(site.page("/error"))).await.unwrap().session_key;
    let account = shop.client.account();
    let form = account.card_form(&session, site.page("/review?order=7"), site.page("/review")).form_id("card");
    let inputs: String = VISA.iter().map(|(name, _)| format!("<input name=\"{name}\">")).collect();
    let (action, hidden) = (form.action().to_owned(), form.hidden_inputs());
    let script = SCRIPT.replace("API_KEY", &shop.credentials()[0]);
    let site = site.open(move |address| {
        if address.contains("/card") {
            format!("<h1>Card</h1><form method=post action=\"{action}\">{hidden}{inputs}<button>Review</button></form>")
        } else {
            format!("<h1>Back</h1><script type=\"module\">{script}</script>")
        }
    });
    browser.visit(&site.page("/card")).await;
    browser.fill_all(filled_in).await;
    browser.click_on("Review").await;
    browser.see("Back").await;
    let shown = serde_json::from_str(&browser.read("pre").await).unwrap();
    assert_eq!(browser.complaints().await, [""; 0]);
    let loaded: Vec<String> = site.asked().into_iter().filter(|target| target.starts_with("/pg-wasm/")).collect();
    assert_eq!(loaded, ["/pg-wasm/web.js", "/pg-wasm/decoder.js", "/pg-wasm/pg_wasm.wasm"]);
    Some(shown)
}

fn one_error() -> Value {
    json!([r#"{"error":{"kind":"unreadable","message":"the redirect cannot be read"}}"#])
}

#[tokio::test]
async fn a_browser_decodes_what_the_sandbox_redirects() {
    for encoding in [Encoding::Xml, Encoding::Json] {
        let Some(shown) = decoded(encoding, &VISA).await else { return };
        let data = json!({
            "cardholderName": "A Holder",
            "cardNumber": "411111******1111",
            "cardExpiryMonth": "12",
            "cardExpiryYear": "2031",
            "cardCV2": "",
            "extra": {},
        });
        assert_eq!(shown, json!({"said": {"ok": data, "formId": "card"}, "failures": one_error()}));
    }
}

#[tokio::test]
async fn a_browser_decodes_what_is_wrong_with_the_form() {
    let mut wrong = VISA;
    wrong[0].1 = "4111111111111112";
    let Some(shown) = decoded(Encoding::Xml, &wrong).await else { return };
    assert_eq!(shown["said"]["errors"]["cardNumber"]["errorCode"], "108", "{shown}");
    assert_eq!(shown["said"]["data"]["cardholderName"], "A Holder", "{shown}");
    assert_eq!(shown["failures"], one_error());
}

#[tokio::test]
async fn the_inspector_decodes_with_the_package() {
    let Some(package) = package::folder() else { return };
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let settings = Settings::default().decoder(Some(DecoderPackage::read(&package).unwrap()));
    let shop = Shop::open_with(Config::default().settings(settings), "main", Encoding::Json).await;
    let session = shop.client.call(&Initiate::new("https://shop.example/error")).await.unwrap().session_key;
    let form = shop.client.account().card_form(&session, "https://shop.example/review", "https://shop.example/card");
    let mut filled_in = VISA;
    filled_in[4].1 = "4000 0000 0000 2008";
    let reply = browser::post(&form, &filled_in).await;
    let address = browser::location(&reply);

    browser.visit(&format!("{}/_sandbox/pages/decoder", shop.server.base_url())).await;
    browser.fill("textarea[name=address]", address).await;
    browser.click("main form button").await;
    let said = browser.read("#said pre").await;
    assert!(said.contains("\"cardNumber\": \"411111******1111\""), "{said}");
    assert!(said.contains("\"cardholderName\": \"4000 00** **** 2008\""), "{said}");
    assert!(browser.read("#said .warning").await.contains("This data is not authenticated"));
    judge(&browser, "inspector-decoder-by-package").await;

    browser.fill("textarea[name=address]", &address.replace("data=", "data=A")).await;
    browser.click("main form button").await;
    assert!(browser.read("#said .alert").await.starts_with("This cannot be decrypted."));
    assert_eq!(browser.read_all("#said pre").await, [""; 0]);
    // The browser is still on the page.
    assert!(browser.address().await.ends_with("/_sandbox/pages/decoder"));
    assert_eq!(browser.complaints().await, [""; 0]);
}
