//! Merchant accounts from a file, in TOML or JSON.
//!
//! ```toml
//! [[merchant]]
//! name = "shop"
//! apiKey = "0123456789abcdef0123456789ABCDEF"
//! apiPassword = "password"
//! shaKey = "secret"
//! currencies = ["GBP"]
//! rawCards = true
//! ```
//!
//! JSON has the same structure: `{"merchant": [{"name": "shop", …}]}`. `docs/guide/sandbox.md` explains every key.

use std::{
    collections::HashSet,
    fs,
    io::{self, Read as _},
    path::Path,
};

use serde::Deserialize;
use strsim::osa_distance;

pub use crate::config_file_error::ConfigFileError;
use crate::{
    merchants::{DEFAULT_APPLET, EnterpriseCredentials, Merchant, Redemption},
    secret::Secret,
};

/// The maximum size of a config file, in bytes: enough for 800 accounts with every key. The time to read a file grows
/// faster than its size.
pub const MAX_CONFIG_BYTES: usize = 256 << 10;

/// Reads the merchant accounts of a config file: JSON if its name ends in `.json` or its content begins with `{`, else TOML.
///
/// # Errors
/// [`ConfigFileError`] has the position and the error.
pub fn read_merchants(path: &Path) -> Result<Vec<Merchant>, ConfigFileError> {
    let unreadable = |error| ConfigFileError::Io(path.display().to_string(), error);
    let file = fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    // Checked before the encoding, since the last character may be cut.
    check_size(&bytes)?;
    // The error about the encoding is stored without the bytes, which contain credentials.
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
    let is_named_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    // No TOML begins with a brace.
    if is_named_json || text.trim_start().starts_with('{') {
        merchants_from_json(&text)
    } else {
        merchants_from_toml(&text)
    }
}

/// Reads merchant accounts from TOML.
///
/// # Errors
/// Like [`read_merchants`].
pub fn merchants_from_toml(text: &str) -> Result<Vec<Merchant>, ConfigFileError> {
    check_size(text.as_bytes())?;
    let file: File = toml::from_str(text).map_err(|error| {
        // The parser's message quotes the line, which may contain a credential.
        let before = &text[..error.span().map_or(0, |span| span.start).min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&letter| letter != '\n').count() + 1;
        syntax(line, column, error.message())
    })?;
    file.check()
}

/// Reads merchant accounts from JSON.
///
/// # Errors
/// Like [`read_merchants`].
pub fn merchants_from_json(text: &str) -> Result<Vec<Merchant>, ConfigFileError> {
    check_size(text.as_bytes())?;
    let file: File = serde_json::from_str(text).map_err(|error| {
        let full = error.to_string();
        let message = full.split(" at line ").next().unwrap_or_default();
        syntax(error.line(), error.column(), message)
    })?;
    file.check()
}

fn check_size(text: &[u8]) -> Result<(), ConfigFileError> {
    if text.len() <= MAX_CONFIG_BYTES {
        return Ok(());
    }
    let problem = format!("the file is larger than {MAX_CONFIG_BYTES} bytes; remove unused accounts");
    Err(ConfigFileError::Invalid { place: "the end of the file".to_owned(), problem })
}

fn syntax(line: usize, column: usize, problem: &str) -> ConfigFileError {
    ConfigFileError::Invalid { place: format!("line {line}, column {column}"), problem: without_quotes(problem.trim()) }
}

/// Returns the parser's message without the text that it quotes from the file. A key without quotation marks is still a
/// secret, and one without the equals sign before it is part of a name.
fn without_quotes(problem: &str) -> String {
    if let Some((before, expected)) = problem.rsplit_once("`, expected ")
        && let Some((what @ ("unknown field" | "unknown variant"), given)) = before.split_once(" `")
    {
        if what == "unknown variant" {
            return format!("unknown value, expected {expected}");
        }
        return match misspelt(given, expected) {
            Some(meant) => format!("unknown key {given:?}; did you mean {meant:?}?"),
            None => format!("unknown key, expected {expected}"),
        };
    }
    match problem.rsplit_once(", expected ") {
        Some((before, expected)) if before.starts_with("invalid ") => {
            let is_one = before.starts_with("invalid type: map");
            format!("expected {}", in_plain_words(expected, is_one))
        }
        _ => problem.replace("missing field ", "missing key "),
    }
}

/// Returns the known key that a key with at most two typing errors means. With more errors, the text may be part of a
/// secret.
fn misspelt<'a>(given: &str, expected: &'a str) -> Option<&'a str> {
    let given = given.to_ascii_lowercase();
    // The parser's message has the keys in backquotes.
    let known = expected.split('`').skip(1).step_by(2);
    known.min_by_key(|known| distance(&given, known)).filter(|known| distance(&given, known) <= 2)
}

fn distance(given: &str, known: &str) -> usize {
    osa_distance(given, &known.to_ascii_lowercase())
}

/// Returns what the parser expects, in words for users; `is_one` says whether it found a table instead.
fn in_plain_words(expected: &str, is_one: bool) -> String {
    let words = match expected {
        "u32" => "a whole number",
        "a boolean" => "true or false",
        "a string" => "a text in quotation marks",
        "a sequence" if is_one => "a list; in TOML, [[merchant]] begins each account",
        "a sequence" => "a list in square brackets",
        "struct File" => "the list `merchant`",
        "struct Row" => "an account, which has a key and a value for each setting",
        other => other,
    };
    words.to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    merchant: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Row {
    name: String,
    api_key: String,
    api_password: String,
    sha_key: String,
    account_updater_key: Option<String>,
    enterprise_api_key: Option<String>,
    enterprise_api_password: Option<String>,
    currencies: Vec<String>,
    #[serde(default)]
    raw_cards: bool,
    #[serde(default)]
    account_updater: bool,
    requests_per_minute: Option<u32>,
    #[serde(default)]
    divisible_preauths: bool,
    #[serde(default)]
    unsigned_retrieval: bool,
    #[serde(default)]
    duplicates_as_error: bool,
    #[serde(default)]
    terminals: Vec<String>,
    #[serde(default)]
    applets: Vec<String>,
    #[serde(default)]
    redemption: Redemption,
}

impl File {
    fn check(self) -> Result<Vec<Merchant>, ConfigFileError> {
        let mut merchants: Vec<Merchant> = Vec::with_capacity(self.merchant.len());
        let mut names = HashSet::new();
        for (at, row) in self.merchant.into_iter().enumerate() {
            let merchant = row.check(at + 1)?;
            if !names.insert(merchant.name.clone()) {
                let place = format!("merchant {} (\"{}\"), name", at + 1, merchant.name);
                let problem = "an earlier merchant of this file has the same name".to_owned();
                return Err(ConfigFileError::Invalid { place, problem });
            }
            merchants.push(merchant);
        }
        Ok(merchants)
    }
}

impl Row {
    fn check(self, number: usize) -> Result<Merchant, ConfigFileError> {
        let rules: [(&str, bool, &str); 9] = [
            ("name", is_name(&self.name), NAME),
            ("apiKey", is_key(&self.api_key), "must be exactly 32 letters and digits"),
            ("apiPassword", is_plain(&self.api_password), PLAIN),
            ("shaKey", is_plain(&self.sha_key), PLAIN),
            (
                "accountUpdaterKey",
                self.account_updater_key.as_deref().is_none_or(is_plain)
                    && (self.account_updater_key.is_some() || !self.account_updater),
                "must be 1 to 128 printable ASCII characters, and is needed with accountUpdater = true",
            ),
            (
                "enterpriseApiKey",
                self.enterprise_api_key.as_deref().is_none_or(is_key)
                    && self.enterprise_api_key.is_some() == self.enterprise_api_password.is_some(),
                "must be exactly 32 letters and digits, and needs enterpriseApiPassword",
            ),
            (
                "enterpriseApiPassword",
                self.enterprise_api_password.as_deref().is_none_or(is_key),
                "must be exactly 32 letters and digits",
            ),
            (
                "currencies",
                !self.currencies.is_empty() && self.currencies.iter().all(|code| is_currency(code)),
                "must be one or more codes of three upper-case letters, such as GBP",
            ),
            ("requestsPerMinute", self.requests_per_minute != Some(0), "must be at least 1"),
        ];
        if let Some((member, _, problem)) = rules.iter().find(|(_, holds, _)| !holds) {
            // The name is the only value that is not secret, and the reader searches for it.
            let place = format!("merchant {number} ({:?}), {member}", self.name);
            return Err(ConfigFileError::Invalid { place, problem: (*problem).to_owned() });
        }
        Ok(self.accept())
    }

    fn accept(self) -> Merchant {
        let enterprise = self.enterprise_api_key.zip(self.enterprise_api_password);
        Merchant {
            name: self.name,
            api_key: Secret::new(self.api_key),
            api_password: Secret::new(self.api_password),
            sha_key: Secret::new(self.sha_key),
            account_updater_key: self.account_updater_key.map(Secret::new),
            enterprise: enterprise.map(|(key, password)| EnterpriseCredentials {
                api_key: Secret::new(key),
                api_password: Secret::new(password),
            }),
            currencies: self.currencies,
            raw_cards: self.raw_cards,
            account_updater: self.account_updater,
            requests_per_minute: self.requests_per_minute,
            divisible_preauths: self.divisible_preauths,
            unsigned_retrieval: self.unsigned_retrieval,
            duplicates_as_error: self.duplicates_as_error,
            terminals: self.terminals,
            applets: if self.applets.is_empty() { vec![DEFAULT_APPLET.to_owned()] } else { self.applets },
            redemption: self.redemption,
        }
    }
}

const PLAIN: &str = "must be 1 to 128 printable ASCII characters";

/// The rule for account names.
pub(crate) const NAME: &str = "must be 1 to 32 lower-case letters, digits and hyphens";

/// Whether an account may have this name.
pub(crate) fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=32).contains(&text.len()) && text.bytes().all(plain)
}

fn is_key(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_plain(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_currency(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_lists_every_key_of_an_account() {
        let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/sandbox.md")).unwrap();
        let (_, keys) = guide.split_once("\n## The config file\n").unwrap();
        let error = merchants_from_toml("[[merchant]]\nunknown = 1\n").unwrap_err().to_string();
        let (_, expected) = error.split_once("expected one of ").unwrap();
        for key in expected.split('`').skip(1).step_by(2) {
            assert!(keys.contains(&format!("`{key}`")) || keys.contains(&format!("`{key} = true`")), "{key}");
        }
    }

    const GOOD: &str = r#"
[[merchant]]
name = "shop"
apiKey = "0123456789abcdef0123456789ABCDEF"
apiPassword = "password"
shaKey = "secret"
currencies = ["GBP", "EUR"]
rawCards = true
"#;

    #[test]
    fn reads_toml_and_json_alike() {
        let json = r#"{"merchant": [{"name": "shop", "apiKey": "0123456789abcdef0123456789ABCDEF",
            "apiPassword": "password", "shaKey": "secret", "currencies": ["GBP", "EUR"],
            "rawCards": true}]}"#;
        for merchants in [merchants_from_toml(GOOD), merchants_from_json(json)] {
            let merchants = merchants.unwrap();
            assert_eq!(merchants[0].view()["currencies"], serde_json::json!(["GBP", "EUR"]));
            assert!(merchants[0].raw_cards && !merchants[0].account_updater);
            assert!(merchants[0].enterprise.is_none());
        }
    }

    #[test]
    fn reads_by_the_name_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("merchants.toml");
        fs::write(&path, GOOD).unwrap();
        assert_eq!(read_merchants(&path).unwrap().len(), 1);
        let missing = read_merchants(&folder.path().join("none.json")).unwrap_err();
        assert!(matches!(missing, ConfigFileError::Io(..)));
    }

    #[test]
    fn json_is_recognised_without_the_name_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("accounts");
        fs::write(&path, "\n  {\"merchant\": []}").unwrap();
        assert!(read_merchants(&path).unwrap().is_empty());
        fs::write(&path, GOOD).unwrap();
        assert_eq!(read_merchants(&path).unwrap().len(), 1);
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["merchants.toml", "merchants.json"] {
            let path = folder.path().join(name);
            let mut text = if name.ends_with("toml") { GOOD.to_owned() } else { r#"{"merchant": []}"#.to_owned() };
            text += &" ".repeat(MAX_CONFIG_BYTES - text.len());
            fs::write(&path, &text).unwrap();
            assert!(read_merchants(&path).is_ok());
            // The first byte too many begins a longer character.
            fs::write(&path, text + "é").unwrap();
            let error = read_merchants(&path).unwrap_err().to_string();
            assert!(error.contains("the file is larger than 262144 bytes"), "{error}");
        }
    }

    #[test]
    fn errors_name_the_place() {
        for (from, to, place, problem) in [
            ("\"shop\"", "\"Shop\"", "merchant 1 (\"Shop\"), name", "must be 1 to 32"),
            ("ABCDEF\"", "ABCDE\"", "merchant 1 (\"shop\"), apiKey", "exactly 32"),
            ("\"secret\"", "\"\"", "merchant 1 (\"shop\"), shaKey", "1 to 128"),
            ("[\"GBP\", \"EUR\"]", "[]", "merchant 1 (\"shop\"), currencies", "such as GBP"),
            ("rawCards = true", "accountUpdater = true", "accountUpdaterKey", "needed"),
            ("rawCards = true", "enterpriseApiKey = \"k\"", "enterpriseApiKey", "exactly 32"),
            ("rawCards = true", "requestsPerMinute = 0", "requestsPerMinute", "at least 1"),
            ("rawCards = true", "requestsPerMinute = -1", "line 8, column 21", "expected a whole number"),
            (
                "rawCards = true",
                "rawCard = true",
                "line 8, column 1",
                "unknown key \"rawCard\"; did you mean \"rawCards\"?",
            ),
            ("apiKey", "apikey", "line 4, column 1", "unknown key \"apikey\"; did you mean \"apiKey\"?"),
            ("rawCards = true", "raw = true", "line 8, column 1", "unknown key, expected one of `name`"),
            ("[\"GBP\", \"EUR\"]", "\"GBP\"", "line 7, column 14", "expected a list in square brackets"),
            ("[[merchant]]", "[merchant]", "line 2", "expected a list; in TOML, [[merchant]] begins each account"),
            ("rawCards = true", "rawCards = 1", "line 8", "expected true or false"),
            ("\"secret\"", "7", "line 6", "expected a text in quotation marks"),
            ("rawCards = true", "rawCards = ", "line 8", ""),
            ("name = \"shop\"", "", "line 2, column 1", "missing key `name`"),
        ] {
            let error = merchants_from_toml(&GOOD.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(place) && error.contains(problem), "{to}: {error}");
        }
        let json = merchants_from_json("{\"merchant\": [\n{]}").unwrap_err().to_string();
        assert!(json.starts_with("line 2, column 2: "), "{json}");
        let twice = merchants_from_toml(&format!("{GOOD}{GOOD}")).unwrap_err().to_string();
        assert!(twice.contains("merchant 2") && twice.contains("same name"), "{twice}");
    }

    #[test]
    fn errors_quote_no_line_of_the_file() {
        for (from, to) in [
            ("\"secret\"", "\"canary\" oops"),
            ("shaKey = \"secret\"", "shaKey\"canary\" = 1"),
            ("shaKey = \"secret\"", "shaKeycanary = 1"),
            ("shaKey = \"secret\"", "enterpriseApiPasswordcanary = 1"),
            ("\"secret\"", "{ a = \"expected canary\" }"),
            ("rawCards = true", "rawCards = \"x, expected canary\""),
            ("shaKey = \"secret\"", "\"shaKey`, expected canary\" = 1"),
            ("rawCards = true", "redemption = \"canary\""),
            ("rawCards = true", "rawCards = canary"),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            let error = merchants_from_toml(&text).unwrap_err().to_string();
            assert!(!error.contains("canary"), "{to}: {error}");
        }
        for member in ["\"shaKeycanary\": 1", "\"shaKey\": {\"canary\": 1}", "\"redemption\": \"canary\""] {
            let error = merchants_from_json(&format!("{{\"merchant\": [{{{member}}}]}}")).unwrap_err().to_string();
            assert!(!error.contains("canary"), "{member}: {error}");
        }
    }
}
