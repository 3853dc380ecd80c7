//! `--dry-run` and `--curl` of every method, with values made from the tables.

use pg_model::{
    METHODS,
    field::Field,
    format::Format,
    method::{AuthScheme, MethodInfo},
};

use crate::command::pg::{CANARIES, pg, words};

const PAN: &str = "4929420573595709";
const CV2: &str = "9876";
/// Values of sensitive fields, none of which may be seen.
const HIDDEN: [&str; 5] = [PAN, CV2, "canary", "19700131", "31011970"];

/// A value that a field takes, which must be hidden if it is sensitive.
fn sample(field: &Field) -> String {
    match field.format {
        Format::Text | Format::Alphanumeric if field.sensitive => "canary".to_owned(),
        Format::CardNumber => PAN.to_owned(),
        Format::Cv2 => CV2.to_owned(),
        _ => pg_support::sample(field),
    }
}

/// Every parameter of a method, the first item's and one of each open-ended name.
fn parameters(info: &MethodInfo) -> Vec<String> {
    let name = |field: &Field| field.wire.replace("{n}", "0").replace('*', "Colour");
    info.fields.iter().map(|field| format!("{}={}", name(field), sample(field))).collect()
}

fn arguments(info: &MethodInfo, flags: &[&str]) -> Vec<String> {
    let path = format!("{}/{}", info.service.name, info.name);
    let flags = flags.iter().map(ToString::to_string);
    ["call".to_owned(), path].into_iter().chain(parameters(info)).chain(flags).collect()
}

#[test]
fn every_method_can_be_rehearsed_without_an_account() {
    for info in METHODS {
        let ended = pg(arguments(info, &["--dry-run"])).run().ends(0).hides(&HIDDEN).says("using placeholders");
        let (host, encoding) = match info.credentials {
            AuthScheme::Enterprise => ("https://enterprise.invalid", ""),
            _ => ("https://gateway.invalid", "/json"),
        };
        let target = format!("POST {host}{}{}{encoding}\n", info.service.prefix, info.name);
        assert!(ended.out.starts_with(&target), "{}", ended.out);
        for parameter in parameters(info) {
            let name = parameter.split('=').next().unwrap();
            assert!(ended.out.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))), "{name}");
        }
        let credential = match info.credentials {
            AuthScheme::Signed => "shaSignature",
            AuthScheme::Session => continue,
            AuthScheme::Enterprise => "api_password",
        };
        assert!(ended.out.lines().any(|line| line.contains(credential) && line.ends_with("(placeholder)")));
    }
}

#[test]
fn no_rehearsal_shows_a_secret() {
    for info in METHODS {
        for flags in [&["--dry-run"][..], &["--dry-run", "--json"], &["--dry-run", "--curl"], &["--dry-run", "--xml"]] {
            let ended = pg(arguments(info, flags)).account("https://gateway.example").run().ends(0).hides(&HIDDEN);
            for (_, canary) in CANARIES {
                assert!(!ended.out.contains(canary) && !ended.err.contains(canary), "{info:?} {flags:?} {canary}");
            }
            assert!(!ended.err.contains("placeholder"), "{}", ended.err);
        }
    }
}

#[test]
fn mistyped_names_of_secrets_hide_their_values_too() {
    for (cv2, number) in [
        ("cardcv2", "CARDNUMBER"),
        ("card_cv2", "card_number"),
        ("security-code", "Card-Number"),
        ("cvn", "card.number"),
    ] {
        words(&format!("call transaction/auth {cv2}=9876 {number}=4929420573595709 --dry-run --unchecked"))
            .run()
            .ends(0)
            .hides(&[CV2, PAN]);
    }
}

#[test]
fn programs_can_read_a_dry_run() {
    let out = words("call token/lookup cardKey=4F2C-91 --dry-run --json").run().ends(0).out;
    let request: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(request["request"], "POST https://gateway.invalid/v3/token/lookup/json");
    assert!(
        request["parameters"].as_array().unwrap().contains(&serde_json::json!({"name": "cardKey", "value": "4F2C-91"}))
    );
}

#[test]
fn a_card_number_as_a_name_is_masked() {
    for flags in ["--dry-run", "--json --dry-run", "--curl --dry-run"] {
        words(&format!("call token/lookup cardKey=k {PAN}=x --unchecked {flags}"))
            .account("https://gateway.example")
            .run()
            .ends(0)
            .hides(&[PAN])
            .prints("492942******5709");
    }
}

#[test]
fn xml_is_asked_for_in_the_path() {
    words("call token/lookup cardKey=4F2C-91 --dry-run --xml").run().ends(0).prints("/v3/token/lookup/xml");
}

#[test]
fn curl_holds_the_real_values_and_says_so() {
    let ended = words("call transaction/auth currency=GBP itemName0=Tea itemPrice0=499 cardNumber=4929420573595709")
        .run()
        .ends(2);
    assert!(ended.err.contains("cardExpiryMonth"), "{}", ended.err);
    let ended = pg(["call", "enterprise/address", "property_name=O'Neill's", "postcode=SW1A 1AA", "--curl"])
        .account("https://gateway.example")
        .run()
        .ends(0)
        .says("keep it private")
        .prints("curl ")
        .prints("'https://gateway.example/enterprise/address'")
        .prints(r"'property_name=O'\''Neill'\''s'")
        .prints("'postcode=SW1A 1AA'")
        .prints("'version=5'");
    assert!(ended.out.contains(CANARIES[4].1), "{}", ended.out);
    words("call token/lookup cardKey=4F2C-91 --curl").run().ends(2).says("PG_BASE_URL");
}
