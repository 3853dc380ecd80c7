//! A redirect with encrypted data (spec 2 §4.2).

use http::HeaderValue;
use pg_model::{ApiRequest as _, Dialect, Encoding, PostForm, Record, dialect::IvForm};

use super::{Context, PageUrl, Refusal, unreadable};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed,
    card_numbers::{self, Search},
    dialect::cipher,
    form::{Form, FormError},
    key::RandomSource,
    merchants::Merchant,
    secret::Secret,
    service::method::assumed_of_encoding,
};

/// The maximum number of bytes of text in a redirect (A135).
const MOST_TEXT: usize = 64 << 10;

/// Writes the redirects of one request.
pub(super) struct Redirect<'a> {
    merchant: &'a Merchant,
    encoding: Encoding,
    form_id: Option<String>,
}

impl<'a> Redirect<'a> {
    /// Creates a writer for an account, in the encoding of the request's path. The form's name is returned if it is
    /// valid, even if the rest of the body is not; a card number in it is masked, since this part of the URL is not
    /// encrypted.
    pub(super) fn new(merchant: &'a Merchant, encoding: Encoding, form: &Result<Form, FormError>, body: &[u8]) -> Self {
        let (form_id, numbers) = match form {
            Ok(form) => (form.given("formId").map(str::to_owned), vec![form.given("cardNumber").map(str::to_owned)]),
            Err(error) => (unreadable::only(error, body, "formId"), unreadable::all(error, body, "cardNumber")),
        };
        let numbers: Vec<String> = numbers.iter().flatten().map(|number| card_numbers::digits(number)).collect();
        let masked = |id: String, number: Option<&str>| card_numbers::masked(&id, number, Search::Likely).into_owned();
        let shown = |id| numbers.iter().map(|number| Some(&**number)).chain([None]).fold(id, masked);
        Self { merchant, encoding, form_id: form_id.filter(|id| is_form_id(id)).map(shown) }
    }

    /// Returns the address of a page with `formId`, `data` and `iv`. The data may contain collect inputs.
    pub(super) fn to(
        &self,
        context: &mut Context<'_>,
        page: &PageUrl,
        data: &dyn Record,
        collected: &[(String, String)],
    ) -> Result<HeaderValue, Refusal> {
        let text = pg_model::encode(data, self.encoding);
        if text.len() > MOST_TEXT {
            return Err(Refusal::from(SandboxErrorCode::BODY_TOO_LARGE).assuming(assumed::HOW_LONG_A_REDIRECT_MAY_BE));
        }
        context.basis.assume_all(assumed_of_encoding(self.encoding, text.as_bytes()));
        let is_renamed = |(name, _): &(String, String)| !text.contains(&format!("<{name}>"));
        if self.encoding == Encoding::Xml && collected.iter().any(is_renamed) {
            context.basis.assume(assumed::CHARACTERS_THAT_XML_CANNOT_CONTAIN);
        }
        let dialect = context.settings.spoken();
        let (data, iv) = encrypted(&self.merchant.api_key, &dialect, context.keys.dice(), &text)?;
        context.basis.assume_all([
            assumed::KEY_OF_THE_REDIRECT_DATA,
            assumed::FORM_OF_THE_IV,
            assumed::PADDING_OF_THE_REDIRECT_DATA,
            assumed::TEXT_ENCODING_OF_THE_REDIRECT_DATA,
            assumed::TEXT_OF_THE_REDIRECT_DATA,
            assumed::HOW_REDIRECT_PARAMETERS_ARE_APPENDED,
        ]);
        let form_id = self.form_id.as_deref().map(|id| ("formId", id));
        let parameters: Vec<_> = form_id.into_iter().chain([("data", &*data), ("iv", &*iv)]).collect();
        page.with(&parameters).map_err(|_| failure())
    }
}

/// Returns `data` and `iv` for a text (A30 to A33).
fn encrypted(
    api_key: &Secret,
    dialect: &Dialect,
    dice: &mut dyn RandomSource,
    text: &str,
) -> Result<(String, String), Refusal> {
    let iv = if dialect.session_data.iv == Some(IvForm::Hex) { hexadecimal_iv(dice) } else { fresh_iv(dice) };
    let cipher = cipher(dialect, api_key.expose()).map_err(|_| failure())?;
    let data = cipher.encrypt(text, &iv).map_err(|_| failure())?;
    Ok((data, iv))
}

/// The account's key does not give an AES key, or the URL does not fit a header. Both were checked earlier.
fn failure() -> Refusal {
    SandboxErrorCode::SANDBOX_FAILURE.into()
}

fn is_form_id(id: &str) -> bool {
    PostForm::INFO.field("formId").is_some_and(|field| field.broken_rule(id).is_none())
}

/// Returns 16 random bytes in hexadecimal digits, for a dialect that requires this form (A31).
fn hexadecimal_iv(dice: &mut dyn RandomSource) -> String {
    let mut bytes = [0_u8; 16];
    dice.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns 16 random letters and digits (A31).
fn fresh_iv(dice: &mut dyn RandomSource) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut iv = String::with_capacity(16);
    let mut pool = [0_u8; 32];
    while iv.len() < 16 {
        dice.fill(&mut pool);
        // Six bits choose one of 64 values; 62 and 63 are discarded, so that all characters are equally likely.
        let chosen = pool.iter().filter_map(|byte| ALPHABET.get(usize::from(byte & 63)));
        iv.extend(chosen.take(16 - iv.len()).map(|&byte| char::from(byte)));
    }
    iv
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::key::SeededRandom;

    // spec: 2 §4.2, A31: The initialisation vector is iv, made of letters and digits, new each time.
    #[test]
    fn vectors_are_16_letters_and_digits_and_do_not_repeat() {
        let mut dice = SeededRandom::new([5; 32]);
        let vectors: HashSet<String> = (0..1000).map(|_| fresh_iv(&mut dice)).collect();
        assert_eq!(vectors.len(), 1000);
        assert!(vectors.iter().all(|iv| iv.len() == 16 && iv.bytes().all(|byte| byte.is_ascii_alphanumeric())));
        let letters: HashSet<char> = vectors.iter().flat_map(|iv| iv.chars()).collect();
        assert_eq!(letters.len(), 62);
    }

    // spec: 2 §4.2, A32: data is AES-256 in CBC mode.
    #[test]
    fn the_data_is_what_openssl_makes_of_the_text() {
        // printf %s "$TEXT" | openssl enc -aes-256-cbc -a -A \
        //     -K $(printf %s "$KEY" | xxd -p -c 64) -iv $(printf %s "$IV" | xxd -p)
        let key = Secret::new("MainSandboxApiKey000000000000000");
        let text = r#"{"cardholderName":"Zoë Other","cardCV2":""}"#;
        let (data, iv) = encrypted(&key, &crate::dialect(), &mut SeededRandom::new([5; 32]), text).unwrap();
        assert_eq!(iv, "18kVirFTp6xfsvxb");
        assert_eq!(data, "4NPwkImH8aJfqgOMbghulf+hN5ZBTYDyBjc0h9xnRmoVebAKhLHdB2HeFDZr1iPw");
    }
}
