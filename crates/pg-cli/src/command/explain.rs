//! `pg explain`: how a signature is computed, and which mistake produces a different one.

use pg_crypto::{Explanation, diagnose, explain};
use serde::Serialize;

use super::sign::ToSign;
use crate::{
    failure::{Exit, Failure},
    output,
};

/// Shows how a signature is computed, with the key and all secrets masked
///
/// If a different shaSignature is given, also names the common mistake that produces such a signature.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg explain --with-credentials currency=GBP itemName0='Tea & cake'
  pg explain apiKey=@key.txt apiPassword=@password.txt cardKey=4F2C-91 shaSignature=9f86…")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to_sign: ToSign,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let (given, key) = arguments.to_sign.read()?;
    let pairs = given.pairs();
    let explanation = explain(&pairs, &key);
    let diagnosis = given.parameters.get("shaSignature").map(|theirs| diagnose(&pairs, &key, theirs).to_string());
    if json {
        output::json(&Explained::of(&explanation, diagnosis.as_deref()))?;
    } else {
        let diagnosis =
            diagnosis.map_or_else(String::new, |diagnosis| format!("\nThe given signature:\n  {diagnosis}"));
        output::data(&format!("{explanation}{diagnosis}"))?;
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Explained<'a> {
    signed: Vec<Signed<'a>>,
    left_out: Vec<LeftOut<'a>>,
    pre_image: String,
    sha_signature: String,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnosis: Option<&'a str>,
}

#[derive(Serialize)]
struct Signed<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct LeftOut<'a> {
    name: &'a str,
    reason: String,
}

impl<'a> Explained<'a> {
    fn of(explanation: &'a Explanation, diagnosis: Option<&'a str>) -> Self {
        let signed = explanation.ordered().iter();
        let left_out = explanation.dropped().iter();
        Self {
            signed: signed.map(|parameter| Signed { name: &parameter.name, value: &parameter.value }).collect(),
            left_out: left_out
                .map(|parameter| LeftOut { name: &parameter.name, reason: parameter.reason.to_string() })
                .collect(),
            pre_image: explanation.pre_image(),
            sha_signature: explanation.signature().to_string(),
            notes: explanation.suspicions(),
            diagnosis,
        }
    }
}
