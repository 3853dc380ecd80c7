//! Checks whether an address may be surveyed.

use http::Uri;
use pg_model::mask;
use pg_proto::{Account, BaseUrl};

use crate::failure::Failure;

/// Rejects every address of the account that is not listed as staging, and a list that names another address.
///
/// # Errors
/// Names the address.
pub(super) fn check(account: &Account, staging: &[String]) -> Result<(), Failure> {
    if let Some(base) =
        account.base_urls().find(|base| !is_local(base) && !staging.iter().any(|named| is_named(base, named)))
    {
        return Err(Failure::misuse(format!(
            "{base} is not confirmed as a staging environment; nothing was sent; if it is one, add --staging {}",
            authority(base)
        )));
    }
    let Some(other) = staging.iter().find(|named| !account.base_urls().any(|base| is_named(base, named))) else {
        return Ok(());
    };
    let ours: Vec<&str> = account.base_urls().map(BaseUrl::as_str).collect();
    Err(Failure::misuse(format!(
        "--staging {} is no address of this account, which has {}; nothing was sent",
        mask::text(&mask::without_passwords(other)),
        ours.join(", ")
    )))
}

/// Plain HTTP on this machine means a sandbox: a payment service never uses it.
fn is_local(base: &BaseUrl) -> bool {
    base.is_private() && base.as_str().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"))
}

fn is_named(base: &BaseUrl, named: &str) -> bool {
    let named = named.trim_end_matches('/');
    named.eq_ignore_ascii_case(&authority(base)) || named.eq_ignore_ascii_case(base.as_str().trim_end_matches('/'))
}

fn authority(base: &BaseUrl) -> String {
    let uri = base.as_str().parse::<Uri>().ok();
    uri.and_then(|uri| Some(uri.authority()?.to_string())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pg_proto::Credentials;

    use super::*;

    #[test]
    fn only_the_address_that_was_named_is_staging() {
        let is = |base: &str, named: &[&str]| {
            let account = Account::new(BaseUrl::parse(base).unwrap(), Credentials::new("key", "password", "sha key"));
            check(&account, &named.iter().map(|named| (*named).to_owned()).collect::<Vec<_>>()).is_ok()
        };
        for named in ["staging.example", "STAGING.example", "https://staging.example", "https://staging.example/"] {
            assert!(is("https://staging.example", &[named]), "{named}");
        }
        for named in ["", "example", "live.example", "staging.example.evil", "https://", "staging.example:8443", "http"]
        {
            assert!(!is("https://staging.example", &[named]), "{named}");
            assert!(!is("https://staging.example", &["staging.example", named]), "{named}");
        }
        assert!(is("https://staging.example:8443/api", &["staging.example:8443"]));
        assert!(!is("https://staging.example:8443/api", &["staging.example"]));
        assert!(is("http://127.0.0.1:8480", &[]) && is("http://localhost:8480", &[]));
        assert!(!is("https://127.0.0.1:8480", &[]));
        // An account of a sandbox in the environment must not stand in for the one that was meant.
        assert!(is("http://127.0.0.1:8480", &["127.0.0.1:8480"]) && !is("http://127.0.0.1:8480", &["staging.example"]));
    }
}
