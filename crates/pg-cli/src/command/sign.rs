//! `pg sign`: the signature of parameters, and nothing else.

use pg_crypto::{ShaKey, sign};
use serde::Serialize;

use crate::{
    account::{AccountFlags, Details, Setting},
    argument::{self, Given},
    failure::Failure,
    output::{self, Exit},
};

/// Signs parameters: prints the 128 hexadecimal digits of shaSignature and nothing else
///
/// Signs exactly what is given (spec 1 §5): the order does not matter, empty values and shaSignature itself are left
/// out. Nothing is checked.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  pg sign apiKey=K apiPassword=@password.txt currency=GBP
  pg sign --with-credentials currency=GBP itemName0=Tea itemPrice0=499
  curl -d shaSignature=$(pg sign --with-credentials cardKey=4F2C-91) …

{}", argument::HELP))]
pub(crate) struct Arguments {
    /// The parameters, not URL-encoded
    #[arg(value_name = "name=value", required = true)]
    parameters: Vec<String>,
    /// Adds the account's apiKey and apiPassword, where they are not given
    #[arg(long)]
    with_credentials: bool,
    #[command(flatten)]
    account: AccountFlags,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let mut given = Given::read(&arguments.parameters)?;
    let details = Details::gather(arguments.account)?;
    given.warn_of_secrets();
    if arguments.with_credentials {
        add_credentials(&mut given, &details)?;
    }
    let key = ShaKey::new(details.require(Setting::ShaKey)?);
    let signature = sign(&given.pairs(), &key);
    if json {
        output::json(&Signed { sha_signature: signature.hex().as_str() })?;
    } else {
        output::data(signature.hex().as_str())?;
    }
    Ok(Exit::Done)
}

/// Adds the credentials that every signed request carries (spec 1 §5).
///
/// # Errors
/// When the account is not known.
pub(super) fn add_credentials(given: &mut Given, details: &Details) -> Result<(), Failure> {
    for (name, setting) in [("apiKey", Setting::ApiKey), ("apiPassword", Setting::ApiPassword)] {
        if given.parameters.get(name).is_none() {
            given.parameters.push(name, details.require(setting)?);
        }
    }
    Ok(())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Signed<'a> {
    sha_signature: &'a str,
}
