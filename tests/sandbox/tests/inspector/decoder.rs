//! The redirect decoder.

use pg_crypto::SessionCipher;
use pg_sandbox::{DecoderPackage, Settings};

use crate::inspector::{APPROVED, PAN, Page, Shop};

fn decode(shop: &mut Shop, address: &str, merchant: &str) -> Page {
    shop.press("pages/decoder", &[("address", address), ("data", ""), ("iv", ""), ("merchant", merchant)])
}

/// `data` and `iv` for a text, as the account `main` would get them.
fn encrypted(text: &str) -> (String, String) {
    let iv = "0123456789abcdef";
    let data = SessionCipher::new("MainSandboxApiKey000000000000000").unwrap().encrypt(text, iv).unwrap();
    (data, iv.to_owned())
}

#[test]
fn a_redirect_is_read_as_unauthenticated() {
    let mut shop = Shop::new();
    let (_, location) = shop.session(APPROVED);
    assert!(location.starts_with("https://shop.example/next?order=7&"), "{location}");
    let page = decode(&mut shop, &location, "main");
    assert_eq!(page.status, 200, "{}", page.text());
    for text in [
        "This data is not authenticated",
        "cardholderName Ada Customer",
        "cardNumber 411111******1111",
        "cardExpiryMonth 12",
        "collectSize M",
        "The data contains no form errors.",
    ] {
        assert!(page.says(text), "{text}: {}", page.text());
    }
    // The query alone, and its parts alone.
    let query = location.split_once('?').unwrap().1;
    assert_eq!(decode(&mut shop, query, "main").status, 200);
    let (data, iv) = encrypted("{\"cardholderName\":\"Bo\"}");
    let page = shop.press("pages/decoder", &[("address", ""), ("data", &data), ("iv", &iv), ("merchant", "main")]);
    assert!(page.says("cardholderName Bo"), "{}", page.text());
}

#[test]
fn mistakes_in_the_form_are_named() {
    let mut shop = Shop::new();
    let (_, location) = shop.session("4111111111111112");
    let page = decode(&mut shop, &location, "main");
    assert!(page.says("cardNumber 108"), "{}", page.text());
}

#[test]
fn every_failure_to_decrypt_is_the_same() {
    let mut shop = Shop::new();
    let (_, location) = shop.session(APPROVED);
    let (data, iv) = encrypted("{\"cardholderName\":\"Bo\"}");
    let address = |data: &str, iv: &str| {
        let mut query = form_urlencoded::Serializer::new(String::from("?"));
        query.append_pair("data", data).append_pair("iv", iv).finish()
    };
    let (no_record, _) = encrypted("neither XML nor JSON");
    let attempts = [
        (location, "other"),
        (address(&data, "X123456789abcdef"), "main"),
        (address(&data, "short"), "main"),
        (address(&data[..data.len() - 8], &iv), "main"),
        (address("not base64!", &iv), "main"),
        (address("", &iv), "main"),
        (address(&no_record, &iv), "main"),
        (address(&data, &iv), "strict"),
    ];
    let alert = |page: &Page| {
        let (_, rest) = page.html.split_once("role=\"alert\">").unwrap_or_else(|| panic!("{}", page.html));
        rest.split('<').next().unwrap().to_owned()
    };
    let found: Vec<(u16, String)> = attempts
        .iter()
        .map(|(address, merchant)| decode(&mut shop, address, merchant))
        .map(|page| (page.status, alert(&page)))
        .collect();
    assert!(found[0].1.starts_with("This cannot be decrypted"), "{found:?}");
    assert!(found.iter().all(|one| *one == found[0] && one.0 == 400), "{found:?}");
}

#[test]
fn a_missing_address_or_account_is_reported() {
    let mut shop = Shop::new();
    for address in ["", "https://shop.example/next", "data=x", "iv=x", "\u{0}\u{7f}"] {
        let page = decode(&mut shop, address, "main");
        assert!(page.status == 400 && page.says("Paste an address"), "{}", page.text());
    }
    let page = decode(&mut shop, "data=x&iv=y", "nobody");
    assert!(page.status == 400 && page.says("Choose one of the accounts"), "{}", page.text());
}

#[test]
fn foreign_input_is_masked_and_stays_text() {
    let mut shop = Shop::new();
    let text = format!(
        "{{\"cardholderName\":\"<script>{PAN}\",\"cardNumber\":\"{PAN}\",\"cardCV2\":\"9173\",\"collectX\":\"{PAN}<\",\
         \"pin\":\"9173\",\"errors\":{{\"<b>\":{{\"errorCode\":\"108\",\"errorMessage\":\"<i>{PAN}\"}}}}}}"
    );
    let (data, iv) = encrypted(&text);
    let page = shop.press("pages/decoder", &[("address", ""), ("data", &data), ("iv", &iv), ("merchant", "main")]);
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.html.contains("&#60;script&#62;400000******2008"), "{}", page.html);
    assert!(!page.html.contains("<script") && !page.html.contains("<i>") && !page.html.contains("<b>"));
    assert!(page.says("pin"), "{}", page.text());
}

#[test]
fn a_request_leads_to_the_decoder() {
    let mut shop = Shop::new();
    shop.session(APPROVED);
    let newest = shop.shown("pages/requests").paths_below("/_sandbox/pages/requests/")[0].clone();
    let page = shop.shown(newest.strip_prefix("/_sandbox/").unwrap());
    assert!(page.says("Decode this redirect"), "{}", page.text());
    let (_, rest) = page.html.split_once("name=\"address\" value=\"").unwrap();
    let address = rest.split('"').next().unwrap().replace("&#38;", "&");
    assert!(decode(&mut shop, &address, "main").says("Ada Customer"));
}

#[test]
fn without_the_package_for_javascript_the_sandbox_decodes_and_says_so() {
    let mut shop = Shop::new();
    let page = shop.shown("pages/decoder");
    assert!(page.says("the package for JavaScript is not built"), "{}", page.text());
    assert!(!page.html.contains("<script"), "{}", page.html);
    assert!(!page.header("content-security-policy").contains("script-src"));
    for file in ["page.js", "web.js", "decoder.js", "pg_wasm.wasm"] {
        assert_eq!(shop.page(&format!("pages/decoder/{file}")).status, 404, "{file}");
    }
}

#[test]
fn with_it_the_page_runs_it_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    assert!(DecoderPackage::read(folder.path()).is_err());
    for file in ["web.js", "decoder.js", "pg_wasm.wasm"] {
        std::fs::write(folder.path().join(file), file).unwrap();
    }
    let package = DecoderPackage::read(folder.path()).unwrap();
    let mut shop = Shop::with(Settings::default().decoder(package));
    let page = shop.shown("pages/decoder");
    assert!(page.says("the package for JavaScript decodes the redirect in this page"), "{}", page.text());
    assert_eq!(page.html.matches("<script").count(), 1);
    assert!(page.html.contains("<script type=\"module\" src=\"/_sandbox/pages/decoder/page.js\"></script>"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval'; connect-src 'self';"), "{policy}");
    assert!(!shop.shown("pages/clock").header("content-security-policy").contains("script-src"));

    for (file, kind) in
        [("web.js", "text/javascript"), ("decoder.js", "text/javascript"), ("pg_wasm.wasm", "application/wasm")]
    {
        let served = shop.shown(&format!("pages/decoder/{file}"));
        assert!(served.header("content-type").starts_with(kind), "{file}");
        assert_eq!(served.html, file);
    }
    assert!(shop.shown("pages/decoder/page.js").html.contains("decodeRedirect"));
    assert_eq!(shop.page("pages/decoder/node.js").status, 404);
    // Where no script runs the sandbox answers the form as before.
    let (_, location) = shop.session(APPROVED);
    assert!(decode(&mut shop, &location, "main").says("cardholderName Ada Customer"));
}

#[test]
fn a_blank_at_either_end_of_the_data_is_a_plus_sign() {
    let mut shop = Shop::new();
    let edges: Vec<(String, String)> = (0..2_000)
        .map(|number| encrypted(&format!("{{\"collect\":\"{number}\",\"cardholderName\":\"Bo\"}}")))
        .filter(|(data, _)| data.starts_with('+') || data.ends_with('+'))
        .collect();
    assert!(edges.len() > 20, "{}", edges.len());
    for (data, iv) in &edges[..20] {
        let blanks = data.replace('+', " ");
        let parts = [("address", ""), ("data", blanks.as_str()), ("iv", iv.as_str()), ("merchant", "main")];
        assert!(shop.press("pages/decoder", &parts).says("cardholderName Bo"), "{data}");
        for address in [
            format!("?iv={iv}&data={blanks}"),
            format!("?iv={iv}&data={data}\r\n"),
            format!(" ?data={blanks}&iv={iv} "),
        ] {
            assert!(decode(&mut shop, &address, "main").says("cardholderName Bo"), "{address:?}");
        }
        let padded = format!(" {data} ");
        let parts = [("address", ""), ("data", padded.as_str()), ("iv", iv.as_str()), ("merchant", "main")];
        assert!(shop.press("pages/decoder", &parts).says("cardholderName Bo"), "{data}");
    }
}
