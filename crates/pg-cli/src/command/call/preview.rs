//! `--dry-run`: the request as it would be sent, masked.

use bytes::Bytes;
use serde::Serialize;

use super::{form, shown};
use crate::{
    account::Setting,
    failure::Failure,
    output::{self, Paint},
};

/// Prints a request, and marks values made from placeholders.
pub(super) fn print(request: &http::Request<Bytes>, placeholders: &[Setting], json: bool) -> Result<(), Failure> {
    let target = format!("{} {}", request.method(), request.uri());
    let parameters: Vec<Parameter> = form(request)
        .map(|(name, value)| {
            let (shown_name, shown_value) = shown(&name, &value);
            let stands_in = stands_in(&name, placeholders);
            let value = if stands_in { Setting::ApiKey.placeholder().to_owned() } else { shown_value };
            Parameter { name: shown_name, value }
        })
        .collect();
    if json {
        return output::json(&Whole { request: &target, parameters: &parameters });
    }
    let paint = Paint::of_stdout();
    let width = parameters.iter().map(|parameter| parameter.name.chars().count()).max().unwrap_or_default();
    let lines = parameters
        .iter()
        .map(|Parameter { name, value }| format!("  {:width$} = {}", output::harmless(name), output::harmless(value)));
    output::page(&std::iter::once(paint.bold(&output::harmless(&target))).chain(lines).collect::<Vec<_>>().join("\n"))
}

/// Whether a parameter's value comes from a placeholder.
fn stands_in(name: &str, placeholders: &[Setting]) -> bool {
    let setting = match name {
        "apiKey" => Setting::ApiKey,
        "apiPassword" => Setting::ApiPassword,
        "shaSignature" => Setting::ShaKey,
        "api_key" => Setting::EnterpriseApiKey,
        "api_password" => Setting::EnterpriseApiPassword,
        _ => return false,
    };
    placeholders.contains(&setting)
}

#[derive(Serialize)]
struct Whole<'a> {
    request: &'a str,
    parameters: &'a [Parameter],
}

#[derive(Serialize)]
struct Parameter {
    name: String,
    value: String,
}
