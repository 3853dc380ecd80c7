//! `pg decrypt`: the plaintext of session data.

use clap::ValueEnum;
use pg_crypto::{IvFormat, KeyDerivation, Padding, Plaintext, SessionCipher, TextEncoding};
use pg_model::dialect::{IvForm, KeyForm, PaddingForm, SessionData, TextForm};
use pg_proto::Redirect;
use serde::Serialize;

use crate::{
    account::{AccountFlags, Details, Setting},
    argument,
    failure::{Exit, Failure},
    output,
};

/// Decrypts session data: prints the plaintext of a redirect, or of its data and iv
///
/// The data has no authentication code: the plaintext may have been altered, and is never proof of a payment.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg decrypt 'https://shop.example/review?formId=f&data=…&iv=…'
  pg decrypt --iv 0123456789abcdef 'mZ0y…=='
  pg decrypt --key-derivation sha256 --padding zero --iv … …
  pg decrypt --explain --iv … …

The key is the account's API key (PG_API_KEY).")]
pub(crate) struct Arguments {
    /// A URL with data and iv in its query, or with --iv the data itself; - reads either from standard input
    #[arg(value_name = "URL|DATA")]
    data: String,
    /// The initialisation vector, if the data is given without a URL
    #[arg(long)]
    iv: Option<String>,
    /// Prints why decryption fails. Use it on your own machine only: a server that reveals the reason lets attackers
    /// decrypt data
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    choices: Choices,
    #[command(flatten)]
    account: AccountFlags,
}

/// The choices that the documents leave open for the cipher (spec 2 §4.2).
#[derive(clap::Args)]
#[command(next_help_heading = "Cipher (not documented; flag, else session_data of the dialect, else the default)")]
struct Choices {
    /// How the key is derived from the API key; by default verbatim
    #[arg(long, value_enum)]
    key_derivation: Option<Derivation>,
    /// The text form of the iv; by default detect
    #[arg(long, value_enum)]
    iv_format: Option<Spelling>,
    /// The text form of the data; by default detect
    #[arg(long, value_enum)]
    encoding: Option<Form>,
    /// The padding of the last block; by default pkcs7
    #[arg(long, value_enum)]
    padding: Option<Filling>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Derivation {
    /// The 32 bytes of the key, unchanged
    Verbatim,
    /// SHA-256 of the key's bytes
    Sha256,
    /// The 32 bytes that the key's 64 hexadecimal digits represent
    Hex,
}

#[derive(Clone, Copy, ValueEnum)]
enum Spelling {
    /// Text or hex, depending on its length
    Detect,
    /// 16 characters
    Text,
    /// 32 hexadecimal digits
    Hex,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Hexadecimal, otherwise Base64 in either alphabet
    Detect,
    /// Standard Base64
    Base64,
    /// URL-safe Base64
    Base64url,
    /// Hexadecimal digits
    Hex,
}

#[derive(Clone, Copy, ValueEnum)]
enum Filling {
    /// PKCS#7
    Pkcs7,
    /// Zero bytes
    Zero,
    /// Nothing
    None,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let Arguments { data, iv, explain, choices, account } = arguments;
    let data = match data.as_str() {
        "-" => argument::standard_input()
            .and_then(|mut input| argument::read_text(&mut input))
            .map_err(|error| Failure::misuse(format!("cannot read standard input: {error}")))?,
        _ => data,
    };
    let details = Details::gather(account)?;
    let dialect = details.named_dialect()?;
    let form = dialect.map(|dialect| dialect.session_data).unwrap_or_default();
    let cipher = choices.cipher(details.require(Setting::ApiKey)?, form)?;
    let plaintext = decrypt(&cipher, &data, iv.as_deref(), explain)?;
    if json {
        output::json(&Decrypted { plaintext: plaintext.as_str(), authenticated: false })?;
    } else {
        output::data(plaintext.as_str())?;
    }
    Ok(Exit::Done)
}

/// Decrypts the input without its line breaks. A space at either end may be a plus sign that a query string has lost,
/// so the first attempt keeps it. The second attempt removes spaces, which may have been copied with the data.
fn decrypt(cipher: &SessionCipher, given: &str, iv: Option<&str>, explain: bool) -> Result<Plaintext, Failure> {
    let whole = given.trim_matches(['\r', '\n']);
    decrypt_exactly(cipher, whole, iv, explain).or_else(|failure| match whole.trim() {
        bare if bare == whole => Err(failure),
        bare => decrypt_exactly(cipher, bare, iv, explain),
    })
}

fn decrypt_exactly(cipher: &SessionCipher, data: &str, iv: Option<&str>, explain: bool) -> Result<Plaintext, Failure> {
    let redirect = match iv {
        Some(_) => None,
        None => Some(
            Redirect::parse(data)
                .map_err(|error| Failure::misuse(format!("{error}; data without a URL needs --iv")))?,
        ),
    };
    let iv = iv.unwrap_or_default();
    redirect.as_ref().map_or_else(|| cipher.decrypt(data, iv), |redirect| redirect.decrypt(cipher)).map_err(|error| {
        let problem = match &redirect {
            _ if !explain => None,
            Some(redirect) => redirect.explain_locally(cipher).map(|problem| problem.to_string()),
            None => cipher.explain_locally(data, iv).map(|problem| problem.to_string()),
        };
        let problem = problem.unwrap_or_else(|| "--explain shows details".to_owned());
        Failure::new(Exit::Refused, format!("{error}; the key is PG_API_KEY; {problem}"))
    })
}

/// The plaintext, marked as not authenticated.
#[derive(Serialize)]
struct Decrypted<'a> {
    plaintext: &'a str,
    authenticated: bool,
}

impl Choices {
    /// Returns the cipher with these choices; a dialect has those that are missing.
    fn cipher(&self, api_key: &str, form: SessionData) -> Result<SessionCipher, Failure> {
        let derivation = match self.key_derivation.unwrap_or(match form.key {
            Some(KeyForm::Sha256) => Derivation::Sha256,
            Some(KeyForm::Hex) => Derivation::Hex,
            _ => Derivation::Verbatim,
        }) {
            Derivation::Verbatim => KeyDerivation::Verbatim,
            Derivation::Sha256 => KeyDerivation::Sha256,
            Derivation::Hex => KeyDerivation::Hex,
        };
        let cipher = SessionCipher::with_derivation(api_key, derivation)
            .map_err(|error| {
                Failure::misuse(format!("{error} (PG_API_KEY; --key-derivation changes which key is needed)"))
            })?
            .iv_format(
                match self.iv_format.unwrap_or(match form.iv {
                    Some(IvForm::Text) => Spelling::Text,
                    Some(IvForm::Hex) => Spelling::Hex,
                    _ => Spelling::Detect,
                }) {
                    Spelling::Detect => IvFormat::Detect,
                    Spelling::Text => IvFormat::Text,
                    Spelling::Hex => IvFormat::Hex,
                },
            )
            .padding(
                match self.padding.unwrap_or(match form.padding {
                    Some(PaddingForm::Zero) => Filling::Zero,
                    _ => Filling::Pkcs7,
                }) {
                    Filling::Pkcs7 => Padding::Pkcs7,
                    Filling::Zero => Padding::Zero,
                    Filling::None => Padding::None,
                },
            );
        // A reader of Base64 takes both alphabets, as an account does.
        Ok(
            match self.encoding.unwrap_or(match form.text {
                Some(TextForm::Hex) => Form::Hex,
                _ => Form::Detect,
            }) {
                Form::Detect => cipher,
                Form::Base64 => cipher.decode_only(TextEncoding::Base64),
                Form::Base64url => cipher.decode_only(TextEncoding::Base64Url),
                Form::Hex => cipher.decode_only(TextEncoding::Hex),
            },
        )
    }
}
