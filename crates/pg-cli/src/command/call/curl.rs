//! `--curl`: the same request as a command for a shell.

use bytes::Bytes;
use serde::Serialize;

use super::{form, shown};
use crate::{failure::Failure, output, shell::quoted};

/// Prints the command: with the real values, or masked for showing to others.
pub(super) fn print(request: &http::Request<Bytes>, masked: bool, json: bool) -> Result<(), Failure> {
    if !masked {
        output::warn("this command contains the real credentials and all values of the request: keep it private");
    }
    let command = command(request, masked);
    #[derive(Serialize)]
    struct Whole<'a> {
        curl: &'a str,
    }
    if json { output::json(&Whole { curl: &command }) } else { output::data(&command) }
}

/// `--include` shows the redirect with which the card form answers.
fn command(request: &http::Request<Bytes>, masked: bool) -> String {
    let mut command = format!("curl --silent --show-error --include {}", quoted(&request.uri().to_string()));
    for (name, value) in form(request) {
        let (name, value) = if masked { shown(&name, &value) } else { (name, value) };
        // curl encodes the text after the first `=`, and sends the name unchanged.
        let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        command.push_str(" \\\n  --data-urlencode ");
        command.push_str(&quoted(&format!("{name}={value}")));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_one_word() {
        let body = "itemName0=O%27Neill+%24HOME+%60x%60&item_name%5B0%5D=%40file&empty=";
        let request =
            http::Request::post("https://gateway.example/x").body(Bytes::from_static(body.as_bytes())).unwrap();
        assert_eq!(
            command(&request, false),
            "curl --silent --show-error --include 'https://gateway.example/x' \\\n  \
             --data-urlencode 'itemName0=O'\\''Neill $HOME `x`' \\\n  \
             --data-urlencode 'item_name%5B0%5D=@file' \\\n  \
             --data-urlencode 'empty='"
        );
    }

    #[test]
    fn a_card_number_as_a_name_is_masked_for_others_only() {
        let request = http::Request::post("https://gateway.example/x").body(Bytes::from("4929420573595709=x")).unwrap();
        assert!(command(&request, true).ends_with("'492942******5709=x'"), "{}", command(&request, true));
        assert!(command(&request, false).ends_with("'4929420573595709=x'"));
    }
}
