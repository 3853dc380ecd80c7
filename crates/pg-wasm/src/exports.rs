//! Functions for the JavaScript: numbers in, numbers out, and bytes through one buffer.
//!
//! This is the only file of the workspace with an exception from the ban on unsafe code, and only for the names of its
//! functions: two modules with the same exported name would be undefined behaviour, and this is the only module. There
//! is no unsafe block: Rust owns the buffer, and JavaScript learns its address and writes into it between two calls.
#![expect(unsafe_code, reason = "exported names; there is no unsafe block")]

use alloc::{string::String, vec, vec::Vec};
use core::{mem, str};

use atomic_refcell::AtomicRefCell;

use crate::{Choices, Decoded, decode};

/// The input of a decoding, and its result.
struct Desk {
    input: Vec<u8>,
    output: String,
}

static DESK: AtomicRefCell<Desk> = AtomicRefCell::new(Desk { input: Vec::new(), output: String::new() });

/// The results of [`decode`], as `package/decoder.js` knows them.
const ACCEPTED: u32 = 0;
const INVALID: u32 = 1;
const FAILED: u32 = 2;
const UNREADABLE: u32 = 3;
const KEY_PROBLEM: u32 = 4;

/// Allocates this many bytes of input, and returns their address.
#[unsafe(no_mangle)]
extern "C" fn input(bytes: usize) -> *mut u8 {
    let mut desk = DESK.borrow_mut();
    desk.input = vec![0; bytes];
    desk.input.as_mut_ptr()
}

/// Decodes the input: the bytes of the key, of `data` and of `iv`, one after the other.
#[unsafe(no_mangle)]
extern "C" fn decode_input(
    key_bytes: usize,
    data_bytes: usize,
    iv_bytes: usize,
    key_derivation: u32,
    iv_format: u32,
    text_encoding: u32,
    padding: u32,
) -> u32 {
    let mut desk = DESK.borrow_mut();
    let input = mem::take(&mut desk.input);
    let answer = Choices::numbered(key_derivation, iv_format, text_encoding, padding).and_then(|choices| {
        let (key, rest) = input.split_at_checked(key_bytes)?;
        let (data, rest) = rest.split_at_checked(data_bytes)?;
        let iv = rest.get(..iv_bytes)?;
        Some(decode(key, &choices, str::from_utf8(data).ok()?, str::from_utf8(iv).ok()?))
    });
    let (number, output) = match answer {
        Some(Ok(Decoded::Accepted(json))) => (ACCEPTED, json),
        Some(Ok(Decoded::Invalid(json))) => (INVALID, json),
        Some(Ok(Decoded::Failed(json))) => (FAILED, json),
        Some(Ok(Decoded::Unreadable)) | None => (UNREADABLE, String::new()),
        Some(Err(_)) => (KEY_PROBLEM, String::new()),
    };
    desk.output = output;
    number
}

/// Returns the address of the decoded JSON.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    DESK.borrow().output.as_ptr()
}

/// Returns the length of the decoded JSON in bytes.
#[unsafe(no_mangle)]
extern "C" fn output_bytes() -> usize {
    DESK.borrow().output.len()
}

/// Drops everything: the allocator overwrites freed memory.
#[unsafe(no_mangle)]
extern "C" fn clear() {
    let mut desk = DESK.borrow_mut();
    desk.input = Vec::new();
    desk.output = String::new();
}
