//! The sandbox's own dialect, and predefined ones that differ from it.

use std::sync::{Arc, OnceLock};

use pg_crypto::{IvFormat, KeyDerivation, KeyError, Padding, SessionCipher, TextEncoding};
use pg_model::{
    Dialect,
    dialect::{IvForm, KeyForm, PaddingForm, TextForm},
};

/// Returns the sandbox's default dialect (see [`Settings::dialect`](crate::Settings::dialect)). The account of a client
/// that calls the sandbox needs the same dialect.
///
/// ```
/// assert!(pg_sandbox::dialect().is_declined(&"901".into()));
/// ```
#[must_use]
pub fn dialect() -> Arc<Dialect> {
    static DIALECT: OnceLock<Arc<Dialect>> = OnceLock::new();
    let read = || Dialect::from_toml(include_str!("../dialects/sandbox.toml")).expect("a test reads the file");
    Arc::clone(DIALECT.get_or_init(|| Arc::new(read())))
}

/// Dialects, by name, for tests of a client. They differ from the sandbox's own as much as the dialects of real
/// services may.
///
/// ```
/// let (name, text) = pg_sandbox::READY[0];
/// let dialect = pg_model::Dialect::from_toml(text)?;
/// assert_eq!(dialect.name, name);
/// # Ok::<(), pg_model::dialect::DialectError>(())
/// ```
pub const READY: &[(&str, &str)] = &[
    ("six-hundreds", include_str!("../dialects/six-hundreds.toml")),
    ("not-found", include_str!("../dialects/not-found.toml")),
    ("terse", include_str!("../dialects/terse.toml")),
];

/// Returns the cipher of redirects, from a dialect (A30 to A33).
pub(crate) fn cipher(dialect: &Dialect, api_key: &str) -> Result<SessionCipher, KeyError> {
    let form = dialect.session_data;
    let derivation = match form.key {
        Some(KeyForm::Sha256) => KeyDerivation::Sha256,
        Some(KeyForm::Hex) => KeyDerivation::Hex,
        _ => KeyDerivation::Verbatim,
    };
    let iv = if form.iv == Some(IvForm::Hex) { IvFormat::Hex } else { IvFormat::Detect };
    let padding = if form.padding == Some(PaddingForm::Zero) { Padding::Zero } else { Padding::Pkcs7 };
    let text = match form.text {
        Some(TextForm::Hex) => TextEncoding::Hex,
        Some(TextForm::Base64Url) => TextEncoding::Base64Url,
        _ => TextEncoding::Base64,
    };
    Ok(SessionCipher::with_derivation(api_key, derivation)?.iv_format(iv).padding(padding).encode_as(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::{SandboxAuthenticationCode, SandboxErrorCode, SandboxStatusCode};

    #[test]
    fn the_sandboxs_own_dialect_has_every_code_that_it_invents() {
        let dialect = dialect();
        for code in SandboxErrorCode::KNOWN {
            let entry = dialect.error_for(code.situation()).unwrap();
            assert_eq!((entry.code.as_str(), entry.http), (code.as_str(), Some(code.http_status())));
            assert_eq!((entry.message.as_str(), entry.assumption), (code.message(), code.assumption()));
        }
        for code in SandboxStatusCode::KNOWN {
            assert_eq!(dialect.decline_for(code.situation()).unwrap().code.as_str(), code.as_str());
        }
        for code in SandboxAuthenticationCode::KNOWN {
            assert!(dialect.authentication_state(&code.as_str().into()).is_some());
        }
    }

    #[test]
    fn a_key_form_that_an_account_cannot_have_is_refused_at_the_start() {
        let dialect = Dialect::from_toml("[session_data]\nkey = \"hex\"\n").unwrap();
        let settings = crate::Settings { dialect: Some(Arc::new(dialect)), ..crate::Settings::default() };
        let said = crate::Sandbox::in_memory_with(settings, [0; 32]).map(|_| ()).unwrap_err().to_string();
        assert!(said.contains("[session_data] key does not fit the account") && said.contains("sha256"), "{said}");
        for (_, text) in READY {
            let dialect = Some(Arc::new(Dialect::from_toml(text).unwrap()));
            crate::Sandbox::in_memory_with(crate::Settings { dialect, ..crate::Settings::default() }, [0; 32]).unwrap();
        }
    }

    // spec: 1 §7, 2 §7: Unprocessable requests have HTTP status 400, 401 or 403; failures of the service do not (A50).
    #[test]
    fn errors_of_the_dialects_have_the_statuses_of_the_documents() {
        let ready = READY.iter().map(|(_, text)| Dialect::from_toml(text).unwrap());
        for dialect in ready.chain([(*dialect()).clone()]) {
            for error in &dialect.errors {
                let failures: &[_] = &["injected-fault", "sandbox-failure"];
                let fails = error.situations.iter().any(|situation| failures.contains(&&**situation));
                let allowed: &[u16] = if fails { &[500] } else { &[400, 401, 403] };
                assert!(error.http.is_none_or(|status| allowed.contains(&status)), "{}: {error:?}", dialect.name);
            }
        }
    }

    // spec: 2 §2.3, A87: A transactionStatusCode has 3 digits in every dialect, and a transactionStatus at most 100
    //   characters.
    // spec: 2 §2.2, A45: An errorCode has 3 digits in every dialect, and an errorMessage at most 100 characters.
    #[test]
    fn codes_and_messages_of_the_dialects_have_the_lengths_of_the_documents() {
        let ready = READY.iter().map(|(_, text)| Dialect::from_toml(text).unwrap());
        for dialect in ready.chain([(*dialect()).clone(), Dialect::documented()]) {
            let statuses = dialect.declined.iter().chain(&dialect.pending);
            let statuses = statuses.map(|entry| (entry.code.as_str(), &entry.message));
            let authentications = dialect.authentication.iter().map(|entry| (entry.code.as_str(), &entry.message));
            let errors = dialect.errors.iter().map(|entry| (entry.code.as_str(), &entry.message));
            for (code, message) in statuses.chain(authentications).chain(errors) {
                let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
                assert!(is_code && message.chars().count() <= 100, "{}: {code} {message}", dialect.name);
            }
        }
    }

    #[test]
    fn ready_dialects_can_be_read_and_differ() {
        let mut seen = vec![(*dialect()).clone()];
        for (name, text) in READY {
            let dialect = Dialect::from_toml(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(dialect.name, *name);
            for other in &seen {
                assert_ne!(dialect.lookup.nothing, other.lookup.nothing.filter(|_| other.name != "sandbox"), "{name}");
                assert_ne!(dialect.session_data, other.session_data, "{name}");
            }
            seen.push(dialect);
        }
    }
}
