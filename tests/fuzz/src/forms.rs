//! Forms: compares the sandbox's reader with that of the URL standard, and the client's writer with both.

use form_urlencoded::parse;
use pg_proto::{Preview, RawRequest};
use pg_sandbox::form::{Form, FormLimits};

use crate::{bounded::bounded, replies::account, secrets::no_credentials};

/// The memory that a pair of small texts may use for each byte of its form.
const BYTES_FOR_A_BYTE: u64 = 300;

/// Reads any form, and writes the parameters that the input lists line by line.
pub fn form(input: &[u8]) {
    read(input);
    write(input);
}

fn read(body: &[u8]) {
    let limits = FormLimits::default();
    let first = bounded(body.len(), BYTES_FOR_A_BYTE, || Form::parse(body, &limits));
    let again = Form::parse(body, &limits);
    assert_eq!(format!("{first:?}"), format!("{again:?}"));
    let Ok(form) = first else { return };
    let theirs: Vec<_> = parse(body).collect();
    let arrays = theirs.iter().filter(|(name, _)| name.ends_with("[]")).count();
    if arrays == 0 {
        assert!(form.iter().eq(theirs.iter().map(|(name, value)| (&**name, &**value))), "{form:?} is not {theirs:?}");
    }
    for (name, value) in form.iter().filter(|(name, _)| !name.ends_with("[]")) {
        assert_eq!(form.get(name), Some(value), "{name:?} is there once");
    }
}

/// Writes one parameter for each line: its name, a tab, its value.
fn write(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let pairs = text.split('\n').map(|line| line.split_once('\t').unwrap_or((line, "")));
    let raw = pairs.fold(RawRequest::gateway("auth"), |raw, (name, value)| raw.parameter(name, value));
    let request = account().request_raw(&raw).unwrap();
    let body = request.body();
    let theirs: Vec<_> = parse(body).collect();
    let given: Vec<_> = raw.parameters().iter().collect();
    let own = theirs.iter().map(|(name, value)| (&**name, &**value)).filter(|pair| given.contains(pair));
    assert!(own.eq(given.iter().copied()), "{theirs:?} is not {given:?}");
    assert!(body.iter().all(|byte| byte.is_ascii_graphic()), "{body:?}");
    if let Ok(form) = Form::parse(body, &FormLimits::default())
        && !given.iter().any(|(name, _)| name.ends_with("[]"))
    {
        assert!(form.iter().eq(theirs.iter().map(|(name, value)| (&**name, &**value))), "{form:?} is not {theirs:?}");
    }
    if !given.iter().any(|(name, value)| [name, value].iter().any(|text| text.contains("cAnArY"))) {
        no_credentials(&Preview::of(&request).to_string());
    }
}
