//! Checks whether an address may be surveyed.

use http::Uri;
use pg_proto::{Account, BaseUrl};

use crate::failure::Failure;

/// Rejects every address of the account that is not listed as staging.
///
/// # Errors
/// Names the address.
pub(super) fn check(account: &Account, staging: &[String]) -> Result<(), Failure> {
    match account.base_urls().find(|base| !is_staging(base, staging)) {
        None => Ok(()),
        Some(base) => {
            let host = base.as_str().parse::<Uri>().ok().and_then(|uri| Some(uri.authority()?.to_string()));
            let host = host.unwrap_or_default();
            Err(Failure::misuse(format!(
                "{base} is not confirmed as a staging environment; nothing was sent; if it is one, add --staging {host}"
            )))
        }
    }
}

/// Plain HTTP on this machine means a sandbox: a payment service never uses it.
fn is_staging(base: &BaseUrl, staging: &[String]) -> bool {
    let Ok(uri) = base.as_str().parse::<Uri>() else { return false };
    let is_local = uri.scheme_str() == Some("http") && base.is_private();
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    let same = |named: &String| {
        let named = named.trim_end_matches('/');
        named.eq_ignore_ascii_case(&authority) || named.eq_ignore_ascii_case(base.as_str().trim_end_matches('/'))
    };
    is_local || staging.iter().any(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_that_was_named_is_staging() {
        let is = |base: &str, named: &str| is_staging(&BaseUrl::parse(base).unwrap(), &[named.to_owned()]);
        for named in ["staging.example", "STAGING.example", "https://staging.example", "https://staging.example/"] {
            assert!(is("https://staging.example", named), "{named}");
        }
        for named in ["", "example", "live.example", "staging.example.evil", "https://", "staging.example:8443", "http"]
        {
            assert!(!is("https://staging.example", named), "{named}");
        }
        assert!(is("https://staging.example:8443/api", "staging.example:8443"));
        assert!(!is("https://staging.example:8443/api", "staging.example"));
        assert!(is("http://127.0.0.1:8480", "") && is("http://localhost:8480", ""));
        assert!(!is("https://127.0.0.1:8480", ""));
    }
}
