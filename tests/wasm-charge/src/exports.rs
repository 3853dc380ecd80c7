//! The functions for the host: numbers in, numbers out, and JSON through one buffer.
//!
//! It needs an exception from the ban on unsafe code only for the names of its functions: a name that two modules export
//! would be undefined behaviour, and here there is one module. There is no unsafe block.
#![expect(unsafe_code, reason = "exported names; there is no unsafe block")]

use std::{
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{Charging, Event, Wants};

struct Desk {
    input: Vec<u8>,
    output: String,
    charging: Option<Charging>,
}

static DESK: Mutex<Desk> = Mutex::new(Desk { input: Vec::new(), output: String::new(), charging: None });

fn desk() -> MutexGuard<'static, Desk> {
    DESK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates this many bytes for input, and returns their address.
#[unsafe(no_mangle)]
extern "C" fn input(bytes: usize) -> *mut u8 {
    let mut desk = desk();
    desk.input = vec![0; bytes];
    desk.input.as_mut_ptr()
}

/// Begins with the JSON that the input holds. 0 when it has; else the output says why not.
#[unsafe(no_mangle)]
extern "C" fn begin() -> u32 {
    let mut desk = desk();
    match Charging::begin(&mem::take(&mut desk.input)) {
        Ok(charging) => {
            desk.charging = Some(charging);
            0
        }
        Err(error) => {
            desk.output = error.to_string();
            1
        }
    }
}

/// One step. Events: 0 begin, 1 a reply with this status and the input as its body, 2 not sent, 3 maybe sent, 4 woken.
/// Gives 0 to send, 1 to wait, 2 when it is over, with JSON as the output; 3 when it was called out of turn.
#[unsafe(no_mangle)]
extern "C" fn step(event: u32, status: u32, now: u64, random: u64) -> u32 {
    let mut desk = desk();
    let body = mem::take(&mut desk.input);
    let event = match event {
        0 => Event::Begin,
        1 => Event::Reply(u16::try_from(status).unwrap_or_default(), body),
        2 => Event::NotSent,
        3 => Event::MaybeSent,
        _ => Event::Woken,
    };
    let Some(charging) = desk.charging.as_mut() else { return 3 };
    let (wants, output) = charging.step(event, now, random);
    desk.output = output.to_string();
    match wants {
        Wants::Send => 0,
        Wants::Wait => 1,
        Wants::Nothing => 2,
    }
}

/// Where the output is.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    desk().output.as_ptr()
}

/// How many bytes it has.
#[unsafe(no_mangle)]
extern "C" fn output_bytes() -> usize {
    desk().output.len()
}
