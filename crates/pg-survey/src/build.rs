//! Builds the requests of probes.

use bytes::Bytes;
use http::{
    HeaderValue, Method,
    header::{CONTENT_TYPE, ORIGIN},
};
use pg_proto::{Account, RawRequest, is_private};

use crate::{
    cards::{Card, Role},
    notes::Notes,
    options::Options,
    probe::{Request, Service, Spoil, Value},
    probes::{CURRENT_PAGE, NEXT_PAGE},
};

/// A card number of the right length with a wrong check digit: no bank issues it.
const NO_CARD: (&str, &str, &str) = ("4000000000001001", "12", "49");
const MANY: usize = 2_100;
const LONG: usize = 1_100_000;

/// Builds a probe's request.
///
/// # Errors
/// If an earlier probe did not return a value that this probe needs.
pub(crate) fn request(
    account: &Account,
    request: &Request,
    notes: &mut Notes,
    options: &Options,
) -> Result<http::Request<Bytes>, String> {
    match request {
        Request::Call(service, method, parameters) => {
            let raw = filled(*service, method, parameters, notes, options)?;
            account.request_raw(&raw).map_err(|misuse| misuse.to_string())
        }
        Request::Spoilt(spoil, service, method, parameters) => {
            let raw = filled(*service, method, parameters, notes, options)?;
            spoilt(account, *spoil, raw)
        }
        Request::Form(session, role) => {
            let session = notes.text(session)?;
            form(account, session, role.and_then(|role| options.cards.of(role)))
        }
        Request::Visit(page) => visit(account, notes.text(page)?),
    }
}

fn filled(
    service: Service,
    method: &str,
    parameters: &[(&'static str, Value)],
    notes: &mut Notes,
    options: &Options,
) -> Result<RawRequest, String> {
    let mut raw = match service {
        Service::Token => RawRequest::token(method),
        Service::Session => RawRequest::session(method),
        Service::Gateway => RawRequest::gateway(method),
        Service::Enterprise => RawRequest::enterprise(method),
    };
    for (name, value) in parameters {
        let Some(value) = text(*value, notes, options)? else { continue };
        if !name.is_empty() {
            raw = raw.parameter(*name, value);
        }
    }
    Ok(raw)
}

/// Returns a value as text; `None` if it is not sent.
fn text(value: Value, notes: &mut Notes, options: &Options) -> Result<Option<String>, String> {
    let card = |role: Role| options.cards.of(role).ok_or_else(|| format!("needs the test card {:?}", role.name()));
    Ok(Some(match value {
        Value::Text(text) => text.to_owned(),
        Value::Fresh(name) => notes.fresh(name),
        Value::Noted(name) => notes.text(name)?.to_owned(),
        Value::Long(letters) => "x".repeat(letters),
        Value::Currency => options.currency.clone(),
        Value::Number(role) => card(role)?.number.expose().to_owned(),
        Value::Month(role) => card(role)?.month.clone(),
        Value::Year(role) => card(role)?.year.clone(),
        Value::Cv2(role) => return Ok(card(role)?.cv2.as_ref().map(|cv2| cv2.expose().to_owned())),
    }))
}

fn spoilt(account: &Account, spoil: Spoil, raw: RawRequest) -> Result<http::Request<Bytes>, String> {
    let raw = match spoil {
        Spoil::ManyParameters => (0..MANY).fold(raw, |raw, at| raw.parameter(format!("survey{at}"), "1")),
        Spoil::LongBody => raw.parameter("survey", "x".repeat(LONG)),
        _ => raw,
    };
    let mut request = account.request_raw(&raw).map_err(|misuse| misuse.to_string())?;
    match spoil {
        Spoil::Get => {
            *request.method_mut() = Method::GET;
            *request.body_mut() = Bytes::new();
            request.headers_mut().remove(CONTENT_TYPE);
        }
        Spoil::PercentEncoding => {
            let mut body = request.body().to_vec();
            body.extend_from_slice(b"&survey=%zz");
            *request.body_mut() = body.into();
        }
        Spoil::ContentType => {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        }
        Spoil::Browser => {
            request.headers_mut().insert(ORIGIN, HeaderValue::from_static("https://survey.invalid"));
            request.headers_mut().insert("sec-fetch-site", HeaderValue::from_static("cross-site"));
        }
        Spoil::ManyParameters | Spoil::LongBody => {}
    }
    Ok(request)
}

fn form(account: &Account, session: &str, card: Option<&Card>) -> Result<http::Request<Bytes>, String> {
    let form = account.card_form(session, NEXT_PAGE, CURRENT_PAGE).form_id("survey");
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form.hidden_fields());
    let (number, month, year) = card.map_or(NO_CARD, |card| (card.number.expose(), &card.month, &card.year));
    body.append_pair("cardNumber", number).append_pair("cardExpiryMonth", month).append_pair("cardExpiryYear", year);
    if let Some(cv2) = card.and_then(|card| card.cv2.as_ref()) {
        body.append_pair("cardCV2", cv2.expose());
    }
    http::Request::post(form.action())
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(body.finish().into())
        .map_err(|error| error.to_string())
}

/// Accepts only a page of the service itself, so that no other host is called.
fn visit(account: &Account, page: &str) -> Result<http::Request<Bytes>, String> {
    let host = |address: &str| address.parse::<http::Uri>().ok().and_then(|uri| uri.authority().cloned());
    let own =
        host(page).is_some_and(|wanted| account.base_urls().any(|base| host(base.as_str()) == Some(wanted.clone())));
    if !own {
        return Err("the challenge page is on another host than the service".to_owned());
    }
    let request = http::Request::get(page).body(Bytes::new()).map_err(|error| error.to_string())?;
    if !is_private(request.uri()) {
        return Err("the challenge page is neither https nor on this machine".to_owned());
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use pg_proto::{BaseUrl, Credentials};

    use super::*;

    #[test]
    fn no_other_host_than_the_service_is_called() {
        let base = BaseUrl::parse("https://staging.example:8443/api").unwrap();
        let account = Account::new(base, Credentials::new("k", "p", "s"));
        assert!(visit(&account, "https://staging.example:8443/3ds/1").is_ok());
        for page in ["https://bank.example/3ds", "https://staging.example/3ds/1", "/3ds/1", ""] {
            let said = visit(&account, page).unwrap_err();
            assert!(said.contains("another host"), "{page}: {said}");
        }
        let said = visit(&account, "http://staging.example:8443/3ds/1").unwrap_err();
        assert!(said.contains("neither https nor on this machine"), "{said}");
    }
}
