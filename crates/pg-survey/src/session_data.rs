//! The cipher and encoding of redirect data (spec 2 §4.2).

use pg_proto::{
    Account, CardFormResult, Redirect,
    model::{
        Dialect,
        dialect::{IvForm, KeyForm, PaddingForm, SessionData, TextForm},
    },
};

/// Reads the parameters of the cipher from one redirect, and its content. The text form may remain open, since Base64 and
/// Base64url differ in only two characters. So may the padding.
///
/// # Errors
/// If the URL is invalid, or no known cipher parameters fit.
pub(crate) fn of(account: &Account, address: &str) -> Result<(SessionData, CardFormResult), String> {
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
            let Ok(content) = redirect.open(&cipher) else { continue };
            // A text that fills whole blocks has no zeros, and spaces at the end of JSON or XML are not an error.
            let text = redirect.decrypt(&cipher).map_err(|error| error.to_string())?;
            let text = text.as_str();
            let has_zeros = text.len() % 16 != 0 && text.trim_end() == text;
            form.padding = form.padding.filter(|padding| *padding != PaddingForm::Zero || has_zeros);
            return Ok((form, content));
        }
    }
    Err("the redirect's data could not be decrypted with any known key, iv and padding".to_owned())
}

/// Returns the errors with which a card form was returned, such as `error 108 on cardNumber`; empty if there are none.
pub(crate) fn errors(content: &CardFormResult) -> String {
    match content {
        CardFormResult::Accepted(_) => String::new(),
        CardFormResult::Failed(error) => format!("error {}", error.get().error_code.as_str()),
        CardFormResult::Invalid(data) => {
            let errors = data.get().errors.iter();
            errors
                .map(|(field, error)| format!("error {} on {field}", error.error_code.as_str()))
                .collect::<Vec<_>>()
                .join(", ")
        }
    }
}

fn parameter(address: &str, name: &str) -> String {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let found = form_urlencoded::parse(query.as_bytes()).filter(|(known, _)| known == name).last();
    found.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Both alphabets may fit by chance, since only 2 of their 64 characters differ.
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

#[cfg(test)]
mod tests {
    use pg_proto::{BaseUrl, Credentials, crypto::Padding};

    use super::*;

    /// Returns the redirect of a service with this padding, for a text of the given length.
    fn read(padding: Padding, length: usize, end: &str) -> SessionData {
        let base = BaseUrl::parse("https://staging.example").unwrap();
        let account = Account::new(base, Credentials::new("k".repeat(32), "password", "sha key"));
        let text = format!("{{\"sessionKey\":\"{}\"}}{end}", "s".repeat(length - end.len() - 17));
        let iv = "0123456789abcdef";
        let cipher = account.session_cipher().unwrap().padding(padding);
        let data = cipher.encrypt(&text, iv).unwrap();
        let data: String = form_urlencoded::byte_serialize(data.as_bytes()).collect();
        of(&account, &format!("https://shop.example/next?data={data}&iv={iv}")).unwrap().0
    }

    // spec: 2 §4.2, A32
    #[test]
    fn only_zeros_show_that_the_padding_is_zero() {
        assert_eq!(read(Padding::Zero, 60, "").padding, Some(PaddingForm::Zero));
        assert_eq!(read(Padding::Pkcs7, 64, "").padding, Some(PaddingForm::Pkcs7));
        // Blanks up to a whole block, and a text that needs no padding.
        for (padding, end) in [(Padding::None, "    "), (Padding::None, ""), (Padding::Zero, ""), (Padding::None, "\n")]
        {
            let form = read(padding, 64, end);
            assert_eq!((form.padding, form.key), (None, Some(KeyForm::Verbatim)), "{end:?}");
        }
    }
}
