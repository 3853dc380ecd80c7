//! Decodes the parameters of a redirect (spec 2 §4.2).

use alloc::string::String;
use core::{fmt, str};

use pg_crypto::SessionCipher;
use pg_model::{RedirectData, decode_into};

use crate::{answer, choices::Choices};

/// The content of a redirect, as JSON.
#[derive(Clone, PartialEq, Eq)]
pub enum Decoded {
    /// All fields were valid.
    Accepted(String),
    /// Some fields are invalid: `errors` lists them.
    Invalid(String),
    /// The form could not be processed: `errorCode`, `traceCode` and `errorMessage` say why.
    Failed(String),
    /// The redirect cannot be read: wrong key, wrong `iv`, damaged data, or other content. The result does not say
    /// which.
    Unreadable,
}

/// The API key does not fit the key derivation. This is the caller's mistake, whatever the redirect contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyProblem;

/// Decrypts `data` with the bytes of an API key, and classifies its content.
///
/// # Errors
///
/// [`KeyProblem`] if the key is empty or has the wrong length for its derivation, should be hexadecimal and is not, or is not text.
pub fn decode(api_key: &[u8], choices: &Choices, data: &str, iv: &str) -> Result<Decoded, KeyProblem> {
    let api_key = str::from_utf8(api_key).map_err(|_| KeyProblem)?;
    let cipher = SessionCipher::with_derivation(api_key, choices.key_derivation).map_err(|_| KeyProblem)?;
    let cipher = cipher.iv_format(choices.iv_format).padding(choices.padding);
    let cipher = match choices.text_encoding {
        Some(encoding) => cipher.decode_only(encoding),
        None => cipher,
    };
    // A text that does not come from a redirect reveals as much about the key as invalid bytes. So both have the same
    // result and take the same work.
    let read = cipher.decrypt_and_read(data, iv, |text| {
        let mut read = RedirectData::default();
        decode_into(text, &mut read).is_ok().then_some(read)
    });
    Ok(read.map_or(Decoded::Unreadable, sorted))
}

fn sorted(read: RedirectData) -> Decoded {
    if read.has_invalid_fields() {
        Decoded::Invalid(answer::json(read))
    } else if read.has_failed() {
        Decoded::Failed(answer::json(read))
    } else {
        Decoded::Accepted(answer::json(read))
    }
}

impl fmt::Debug for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accepted(_) => "Accepted(…)",
            Self::Invalid(_) => "Invalid(…)",
            Self::Failed(_) => "Failed(…)",
            Self::Unreadable => "Unreadable",
        })
    }
}

#[cfg(test)]
mod tests {
    use pg_crypto::{KeyDerivation, SessionCipher};

    use super::{Choices, Decoded, KeyProblem, decode};

    const KEY: &str = "0123456789abcdef0123456789abcdef";
    const IV: &str = "fedcba9876543210";

    fn decoded(text: &str) -> Decoded {
        let data = SessionCipher::new(KEY).unwrap().encrypt(text, IV).unwrap();
        decode(KEY.as_bytes(), &Choices::default(), &data, IV).unwrap()
    }

    const NOTHING: &str =
        r#""cardholderName":"","cardNumber":"","cardExpiryMonth":"","cardExpiryYear":"","cardCV2":"""#;

    #[test]
    fn xml_and_json_say_the_same() {
        let xml = "<?xml version=\"1.0\"?><!-- by hand --><serviceResponse><cardholderName>A &amp; B</cardholderName>\
                   <collectA>1</collectA></serviceResponse>";
        let json = r#"{"cardholderName":"A & B","collectA":1}"#;
        assert_eq!(decoded(xml), decoded(json));
        let Decoded::Accepted(said) = decoded(xml) else { panic!() };
        let data = NOTHING.replacen("\"\"", "\"A & B\"", 1);
        assert_eq!(said, format!("{{{data},\"collect\":[\"collectA\",\"1\"]}}"));
    }

    #[test]
    fn each_value_of_a_repeated_input_is_kept() {
        let xml = "<serviceResponse><collectA>1</collectA><collectB/><collectA>2</collectA></serviceResponse>";
        let Decoded::Accepted(said) = decoded(xml) else { panic!() };
        assert_eq!(
            said,
            format!("{{{NOTHING},\"collect\":[\"collectA\",\"1\",\"collectB\",\"\",\"collectA\",\"2\"]}}")
        );
    }

    #[test]
    fn invalid_fields_and_failures_are_distinguished() {
        let Decoded::Invalid(said) = decoded(r#"{"errors":{"cardNumber":{"errorCode":"108","new":[1]}}}"#) else {
            panic!()
        };
        let errors = r#""errors":{"cardNumber":{"errorCode":"108","extra":{"new":["1"]}}}"#;
        assert_eq!(said, format!("{{{NOTHING},{errors}}}"));
        let Decoded::Failed(said) = decoded(r#"{"errorCode":136,"traceCode":"12345678","errorMessage":"No"}"#) else {
            panic!()
        };
        let error = r#""errorCode":"136","traceCode":"12345678","errorMessage":"No""#;
        assert_eq!(said, format!("{{{NOTHING},{error}}}"));
    }

    // spec: 2 §2.2: Errors are present only if a field is invalid.
    #[test]
    fn errors_of_another_shape_are_errors() {
        let xml =
            |errors: &str| format!("<serviceResponse><cardholderName>A</cardholderName>{errors}</serviceResponse>");
        for text in [
            r#"{"errors":[{"field":"cardNumber","errorCode":"108"}]}"#.to_owned(),
            r#"{"errors":"108"}"#.to_owned(),
            r#"{"errors":{"cardNumber":"108"}}"#.to_owned(),
            xml("<errors>108</errors>"),
        ] {
            assert!(matches!(decoded(&text), Decoded::Invalid(_)), "{text}");
        }
        for text in [r#"{"errorCode":["136"]}"#, r#"{"errorCode":{"0":"136"}}"#] {
            assert!(matches!(decoded(text), Decoded::Failed(_)), "{text}");
        }
        for text in
            [r#"{"errors":[]}"#, r#"{"errors":{}}"#, r#"{"errors":null,"errorCode":null}"#, r#"{"errorCode":[]}"#]
        {
            assert!(matches!(decoded(text), Decoded::Accepted(_)), "{text}");
        }
    }

    /// A redirect that decrypts may still be forged; a field with the type text stays a text.
    #[test]
    fn forged_shapes_become_unknown_values() {
        let forged = r#"{"cardNumber":{"toString":1},"collectA":[1],"cardCV2":"123","extra":2}"#;
        let Decoded::Accepted(said) = decoded(forged) else { panic!() };
        let extra = r#"{"cardNumber":{"toString":"1"},"collectA":["1"],"extra":"2"}"#;
        assert_eq!(said, format!("{{{NOTHING},\"extra\":{extra}}}"));
        let Decoded::Accepted(said) = decoded(r#"{"cardNumber":"4111111111111111"}"#) else { panic!() };
        assert!(said.contains("\"cardNumber\":\"411111******1111\""), "{said}");
    }

    #[test]
    fn unreadable_redirects_are_indistinguishable() {
        for text in ["", "plain text", "{", "[]", "<html/>", "{}}", "<serviceResponse a='1'>"] {
            assert_eq!(decoded(text), Decoded::Unreadable, "{text}");
        }
        assert_eq!(decode(KEY.as_bytes(), &Choices::default(), "AAAA", IV), Ok(Decoded::Unreadable));
        assert_eq!(format!("{:?}", decoded("{}")), "Accepted(…)");
    }

    #[test]
    fn a_key_of_another_form_is_misuse() {
        let hex = Choices { key_derivation: KeyDerivation::Hex, ..Choices::default() };
        let sha256 = Choices { key_derivation: KeyDerivation::Sha256, ..Choices::default() };
        for (key, choices) in
            [(&b"short"[..], Choices::default()), (&[b'g'; 64], hex), (&[0xff; 32], hex), (b"", sha256)]
        {
            assert_eq!(decode(key, &choices, "", ""), Err(KeyProblem));
        }
    }
}
