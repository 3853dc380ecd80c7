//! How the data of a redirect is encrypted and written (spec 2 §4.2).

use pg_proto::{
    Account, Redirect,
    model::{
        Dialect,
        dialect::{IvForm, KeyForm, PaddingForm, SessionData, TextForm},
    },
};

/// What the address of one redirect shows. The text form may stay open, since Base64 and its form for URLs differ in few signs.
///
/// # Errors
/// Says why, if the address is none, or no way of decryption that is known fits.
pub(crate) fn of(account: &Account, address: &str) -> Result<SessionData, String> {
    let redirect = Redirect::parse(address).map_err(|error| error.to_string())?;
    let (data, iv) = (parameter(address, "data"), parameter(address, "iv"));
    let mut form = SessionData::default();
    form.iv = match iv.len() {
        16 => Some(IvForm::Text),
        32 if iv.bytes().all(|byte| byte.is_ascii_hexdigit()) => Some(IvForm::Hex),
        _ => None,
    };
    form.text = text_form(&data);
    for key in [KeyForm::Verbatim, KeyForm::Sha256, KeyForm::Hex] {
        for padding in [PaddingForm::Pkcs7, PaddingForm::Zero] {
            (form.key, form.padding) = (Some(key), Some(padding));
            let mut dialect = Dialect::documented();
            dialect.session_data = form;
            // The API key need not fit every derivation.
            let Ok(cipher) = account.clone().with_dialect(dialect).session_cipher() else { continue };
            if redirect.open(&cipher).is_ok() {
                return Ok(form);
            }
        }
    }
    Err("the data of the redirect could not be decrypted in any of the known ways".to_owned())
}

fn parameter(address: &str, name: &str) -> String {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let found = form_urlencoded::parse(query.as_bytes()).filter(|(known, _)| known == name).last();
    found.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Whether both alphabets fit is a matter of chance: 2 of their 64 signs differ.
fn text_form(data: &str) -> Option<TextForm> {
    if !data.is_empty() && data.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Some(TextForm::Hex)
    } else if data.contains(['-', '_']) {
        Some(TextForm::Base64Url)
    } else if data.contains(['+', '/', ' ', '=']) {
        Some(TextForm::Base64)
    } else {
        None
    }
}
