//! Card data travels over TLS, or not at all.

use http::Uri;
use pg_proto::{Account, BaseUrl};

/// An address to which card data may not travel: it is neither https nor on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is neither https nor on this machine, and card data may not travel there")]
pub struct InsecureAddress(String);

/// Checks every address of an account.
pub(crate) fn check_account(account: &Account) -> Result<(), InsecureAddress> {
    account.base_urls().find(|base| !base.is_private()).map_or(Ok(()), |base| Err(InsecureAddress(base.to_string())))
}

/// Checks where a request goes.
pub(crate) fn check(uri: &Uri) -> Result<(), InsecureAddress> {
    if uri.scheme_str() == Some("https") {
        return Ok(());
    }
    let origin =
        format!("{}://{}", uri.scheme_str().unwrap_or_default(), uri.authority().map_or("", |host| host.as_str()));
    match BaseUrl::parse(&origin) {
        Ok(base) if base.is_private() => Ok(()),
        _ => Err(InsecureAddress(origin)),
    }
}
