//! The whole service in a test without any runtime: `pg-proto` on one side, the sandbox on the other.
//!
//! ```text
//! cargo run -p pg-tests --example in_process_sans_io
//! ```

use std::{error::Error, time::Duration};

use pg_model::{ApiRequest, Encoding, Initiate};
use pg_proto::{Account, BaseUrl, Credentials, ReplyError};
use pg_sandbox::{InProcess, Sandbox, Timestamp};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z")?);
    let shop = sandbox.merchant("strict").ok_or("no such account")?;
    let credentials = Credentials::new(shop.api_key.expose(), shop.api_password.expose(), shop.sha_key.expose());
    let account = Account::new(BaseUrl::parse(InProcess::BASE_URL)?, credentials)
        .encoding(Encoding::Json)
        .with_dialect(pg_sandbox::dialect());

    let session = call(&account, &sandbox, &Initiate::new("https://shop.example/card-error"))?;
    println!("a session: {}", session.session_key);

    // This account may send 100 requests a minute (spec 1 §8), and here a minute takes no time.
    let mut sent = 1;
    let refused = loop {
        match call(&account, &sandbox, &Initiate::new("https://shop.example/card-error")) {
            Ok(_) => sent += 1,
            Err(error) => break error,
        }
    };
    println!("refused after {sent} requests: {refused}");
    assert!(matches!(refused.downcast_ref(), Some(ReplyError::Refused(_))));
    assert_eq!(sent, 100);
    sandbox.advance(Duration::from_secs(60));
    call(&account, &sandbox, &Initiate::new("https://shop.example/card-error"))?;
    Ok(())
}

/// A call is two pure functions, with the sandbox between them.
fn call<M: ApiRequest>(account: &Account, sandbox: &InProcess, method: &M) -> Result<M::Output, Box<dyn Error>> {
    Ok(account.reply::<M>(sandbox.send(account.request(method)?)?)?)
}
