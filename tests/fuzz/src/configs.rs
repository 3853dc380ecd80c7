//! Config files of the sandbox: accounts, or an error with the position and without a credential.

use pg_sandbox::{
    config_file::{merchants_from_json, merchants_from_toml},
    merchants::Merchants,
};

use crate::{
    bounded::bounded,
    dice::Dice,
    secrets::{API_KEY, API_PASSWORD, SHA_KEY, no_credentials},
};

const FILE: &str = r#"[[merchant]]
name = "shop"
apiKey = "API_KEY"
apiPassword = "API_PASSWORD"
shaKey = "SHA_KEY"
currencies = ["GBP", "EUR"]
rawCards = true
requestsPerMinute = 60
"#;

const OBJECT: &str = r#"{"merchant": [{"name": "shop", "apiKey": "API_KEY", "apiPassword": "API_PASSWORD",
"shaKey": "SHA_KEY", "currencies": ["GBP"], "accountUpdater": false, "terminals": ["t1"]}]}"#;

/// Reads any file, and a damaged valid one.
pub fn config(input: &[u8]) {
    let mut dice = Dice::new(input);
    let (as_json, whole) = (dice.flag(), dice.flag());
    let text = if whole { String::from_utf8_lossy(dice.rest()).into_owned() } else { damaged(as_json, dice) };
    let read = if as_json { merchants_from_json } else { merchants_from_toml };
    let first = bounded(text.len(), 2_000, || read(&text));
    let again = read(&text);
    assert_eq!(format!("{first:?}"), format!("{again:?}"));
    match first {
        Ok(merchants) => {
            no_credentials(&format!("{merchants:?}"));
            for merchant in &merchants {
                assert_eq!(merchant.api_key.expose().len(), 32);
                assert!(!merchant.currencies.is_empty() && (1..=32).contains(&merchant.name.len()));
            }
            drop(Merchants::with(merchants).map_err(|error| no_credentials(&error.to_string())));
        }
        Err(error) => {
            let told = error.to_string();
            assert!(!whole || told.len() < 400 + text.len());
            // If the damage turned a credential into a name, the error may show that name.
            if !whole && !named_by_a_credential(&text) {
                no_credentials(&told);
            }
        }
    }
}

fn damaged(as_json: bool, mut dice: Dice<'_>) -> String {
    let file = if as_json { OBJECT } else { FILE };
    let file = [("API_KEY", API_KEY), ("API_PASSWORD", API_PASSWORD), ("SHA_KEY", SHA_KEY)]
        .iter()
        .fold(file.to_owned(), |file, (word, secret)| file.replace(&format!("\"{word}\""), &format!("\"{secret}\"")));
    let mut letters: Vec<char> = file.chars().collect();
    while !dice.is_used_up() {
        let at = dice.below(letters.len().max(1));
        let gone = dice.below(12).min(letters.len() - at.min(letters.len()));
        let come: Vec<char> = dice.text(12).chars().collect();
        letters.splice(at..at + gone, come);
    }
    letters.into_iter().collect()
}

/// Whether the damage turned a credential into the name of an account or key.
fn named_by_a_credential(text: &str) -> bool {
    text.match_indices("cAnArY").any(|(at, _)| {
        let before = text[..at].trim_end_matches('"').trim_end().trim_end_matches(['=', ':']).trim_end();
        !["apiKey", "apiPassword", "shaKey"].iter().any(|key| before.trim_end_matches('"').ends_with(key))
    })
}
