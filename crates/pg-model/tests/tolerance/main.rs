//! What readers of replies put up with, what they refuse, and that nothing a service sends gets lost on the way.

#![cfg(feature = "xml")]
#![allow(clippy::panic, reason = "panicking is how a test fails, also in what tests share")]

mod empties;
mod errors;
mod hostile;
mod json;
mod round_trip;
mod survival;
mod xml;

use pg_model::{DecodeError, Record, decode_into};

/// Reads a body that has to be readable.
fn read<R: Record + Default>(body: &str) -> R {
    try_read(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

fn try_read<R: Record + Default>(body: &str) -> Result<R, DecodeError> {
    let mut record = R::default();
    decode_into(body.as_bytes(), &mut record)?;
    Ok(record)
}

/// A reply in XML around its children.
fn response(children: &str) -> String {
    format!("<serviceResponse>{children}</serviceResponse>")
}
