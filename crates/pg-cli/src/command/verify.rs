//! `pg verify`: checks a signature, and explains an invalid one.

use pg_crypto::{diagnose, verify};
use serde::Serialize;

use super::sign::ToSign;
use crate::{
    failure::{Exit, Failure},
    output,
};

/// Checks a signature; if it is invalid, names the common mistake that produces such a signature
///
/// The exit code is 0 if the signature is valid, and 1 if it is invalid.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg verify apiKey=@key.txt apiPassword=@password.txt currency=GBP shaSignature=9f86…
  pg verify --with-credentials cardKey=4F2C-91 shaSignature=@signature.txt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to_sign: ToSign,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let (given, key) = arguments.to_sign.read()?;
    let signature = given
        .parameters
        .get("shaSignature")
        .ok_or_else(|| Failure::misuse("no signature to check; pass it as shaSignature=…"))?;
    let pairs = given.pairs();
    let valid = verify(&pairs, &key, signature).is_ok();
    let diagnosis = diagnose(&pairs, &key, signature).to_string();
    if json {
        output::json(&Verified { valid, diagnosis: &diagnosis })?;
    } else if valid {
        output::data(&diagnosis)?;
    }
    if valid {
        return Ok(Exit::Done);
    }
    output::say(&format!("pg: the signature is invalid: {diagnosis}"));
    Ok(Exit::Refused)
}

#[derive(Serialize)]
struct Verified<'a> {
    valid: bool,
    diagnosis: &'a str,
}
