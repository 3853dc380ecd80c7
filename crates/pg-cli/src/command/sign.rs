//! `pg sign`: the signature of parameters, and nothing else.

use pg_crypto::{ShaKey, form_arrays, sign};
use serde::Serialize;

use crate::{
    account::{AccountFlags, Details, Setting},
    argument::{self, Given},
    failure::{Exit, Failure},
    output,
};

/// Signs parameters: prints the 128 hexadecimal digits of shaSignature and nothing else
///
/// Signs the parameters as given (spec 1 §5). Their order does not matter. Empty values and shaSignature are left out, and
/// name[]=a name[]=b is an array. The parameters are not checked.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  pg sign apiKey=@key.txt apiPassword=@password.txt currency=GBP
  pg sign --with-credentials currency=GBP itemName0=Tea itemPrice0=499
  curl -d shaSignature=$(pg sign --with-credentials cardKey=4F2C-91) …

{}", argument::HELP))]
pub(crate) struct Arguments {
    #[command(flatten)]
    to_sign: ToSign,
}

/// Arguments of `sign`, `verify` and `explain`.
#[derive(clap::Args)]
pub(super) struct ToSign {
    /// The parameters, not URL-encoded
    #[arg(value_name = "name=value", required = true)]
    parameters: Vec<String>,
    /// Adds the account's apiKey and apiPassword if they are not given
    #[arg(long)]
    with_credentials: bool,
    #[command(flatten)]
    account: AccountFlags,
}

impl ToSign {
    /// Returns the parameters and the key.
    ///
    /// # Errors
    /// If a parameter is invalid, shaSignature is given twice, or a required setting of the account is missing.
    pub(super) fn read(self) -> Result<(Given, ShaKey), Failure> {
        let mut given = Given::read(&self.parameters)?;
        // A receiver may read either one.
        if given.parameters.iter().filter(|(name, _)| *name == "shaSignature").count() > 1 {
            return Err(Failure::misuse("shaSignature is given more than once"));
        }
        let details = Details::gather(self.account)?;
        given.warn_of_secrets();
        if self.with_credentials {
            for (name, setting) in [("apiKey", Setting::ApiKey), ("apiPassword", Setting::ApiPassword)] {
                if given.parameters.get(name).is_none() {
                    given.parameters.push(name, details.require(setting)?);
                }
            }
        }
        // `name[]=a name[]=b` is an array, which is signed as its JSON (spec 1 §5).
        let signed =
            form_arrays(&given.pairs()).into_iter().map(|(name, value)| (name.into_owned(), value.into_owned()));
        given.parameters = signed.collect();
        Ok((given, ShaKey::new(details.require(Setting::ShaKey)?)))
    }
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let (given, key) = arguments.to_sign.read()?;
    let signature = sign(&given.pairs(), &key).hex();
    if json {
        output::json(&Signed { sha_signature: signature.as_str() })?;
    } else {
        output::data(signature.as_str())?;
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Signed<'a> {
    sha_signature: &'a str,
}
