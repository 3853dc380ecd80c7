//! `--verbose`: status, headers and basis on standard error, masked.

use bytes::Bytes;
use http::{HeaderMap, Request, Response, header};
use pg_hyper::{Transport, TransportError};
use pg_model::mask;
use pg_sandbox::Assumption;

use super::{form, shown};
use crate::{output, transport::RedactingTransport};

/// Real HTTP that optionally prints its messages.
#[derive(Clone)]
pub(super) struct Watched {
    pub(super) http: RedactingTransport,
    pub(super) verbose: bool,
}

impl Transport for Watched {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        if self.verbose {
            request_lines(&request).iter().for_each(|line| output::say(line));
        }
        let result = self.http.send(request).await;
        if self.verbose {
            match &result {
                Ok(response) => response_lines(response).iter().for_each(|line| output::say(line)),
                Err(error) => output::say(&format!("< no response: {error}")),
            }
        }
        result
    }
}

fn request_lines(request: &Request<Bytes>) -> Vec<String> {
    let mut lines = vec![format!("> {} {}", request.method(), request.uri())];
    lines.extend(headers('>', request.headers()));
    let parameters = form(request).map(|(name, value)| shown(&name, &value));
    lines.extend(parameters.map(|(name, value)| format!(">   {name} = {value}")));
    lines
}

fn response_lines(response: &Response<Bytes>) -> Vec<String> {
    let mut lines = vec![format!("< HTTP {}", response.status())];
    lines.extend(headers('<', response.headers()));
    lines.push(format!("<   {} bytes", response.body().len()));
    let text = |name| response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    if let Some(basis) = text("pg-basis") {
        lines.extend(basis.split(',').map(|item| format!("= {}", explained(item.trim()))));
    }
    lines
}

fn headers(sign: char, headers: &HeaderMap) -> impl Iterator<Item = String> + '_ {
    headers.iter().map(move |(name, value)| {
        let secret = [header::AUTHORIZATION, header::COOKIE, header::SET_COOKIE].contains(name) || value.is_sensitive();
        let value = if secret { "***".to_owned() } else { mask::text(&String::from_utf8_lossy(value.as_bytes())) };
        format!("{sign} {}: {value}", mask::text(name.as_str()))
    })
}

/// Returns the basis of a reply: a section of the specification, or an assumption with its title.
fn explained(item: &str) -> String {
    let assumption = item.strip_prefix('A').and_then(|number| number.parse().ok()).and_then(Assumption::numbered);
    assumption.map_or_else(|| format!("spec {item}"), |assumption| format!("assumption {item}: {}", assumption.title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_the_basis_is_explained() {
        let request = Request::post("http://127.0.0.1/x").header("authorization", "Bearer canary");
        let body = "cardNumber=4929420573595709&apiPassword=canary&currency=GBP&cardnumbr=1&4929420573595709=x";
        let lines = request_lines(&request.body(Bytes::from(body)).unwrap()).join("\n");
        assert!(lines.contains("> authorization: ***") && lines.contains("currency = GBP"), "{lines}");
        assert!(!lines.contains("canary") && !lines.contains("4929420573595709"), "{lines}");
        let response =
            Response::builder().header("pg-basis", "2 4.4, A12").header("x-4929420573595709", "4929420573595709");
        let lines = response_lines(&response.body(Bytes::from("{}")).unwrap()).join("\n");
        let title = Assumption::numbered(12).unwrap().title;
        assert!(lines.contains("= spec 2 4.4\n") && lines.ends_with(&format!("= assumption A12: {title}")), "{lines}");
        assert!(
            lines.contains("< x-492942******5709: 492942******5709") && lines.starts_with("< HTTP 200 OK"),
            "{lines}"
        );
    }
}
