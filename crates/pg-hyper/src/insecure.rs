//! Refuses to send card data without TLS.

use http::Uri;
use pg_proto::{Account, is_private};

/// An address to which card data must not be sent: it is neither https nor on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is neither https nor on this machine: card data must not be sent to it")]
pub struct InsecureAddress(String);

/// Checks every address of an account.
pub(crate) fn check_account(account: &Account) -> Result<(), InsecureAddress> {
    account.base_urls().find(|base| !base.is_private()).map_or(Ok(()), |base| Err(InsecureAddress(base.to_string())))
}

/// Checks the destination of a request.
pub(crate) fn check(uri: &Uri) -> Result<(), InsecureAddress> {
    if is_private(uri) {
        return Ok(());
    }
    // The path, and credentials before the host, are not shown.
    Err(InsecureAddress(format!("{}://{}", uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default())))
}
