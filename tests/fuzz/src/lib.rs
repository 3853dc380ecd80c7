//! Properties of every reader, as functions of bytes. A fuzzer looks for bytes that break one; `cargo xtask fuzz` runs it.
//!
//! Each target takes any input and panics when a property is broken: a round trip that loses something, an oracle that
//! disagrees, a secret in an output, memory beyond a bound, a second reading that differs from the first. The unit test
//! of this crate replays `corpus/` and `regressions/` on the stable compiler.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a property fails by panicking")]

mod amounts;
mod bounded;
mod callbacks;
mod configs;
mod dice;
mod forms;
pub mod kinds;
mod machine;
mod masks;
mod readers;
mod receivers;
mod redirects;
#[cfg(test)]
mod replay;
mod replies;
mod requests;
mod sandboxes;
mod secrets;
mod signatures;
mod tree;
pub mod usual;

use std::io;

pub use amounts::amount;
pub use callbacks::callback;
pub use configs::config;
pub use forms::form;
pub use machine::{machines, saved};
pub use masks::mask;
pub use readers::{json, xml};
pub use receivers::receiver;
pub use redirects::{redirect, session_data};
pub use replies::reply;
pub use requests::request;
pub use sandboxes::sandbox;
pub use signatures::signing;
pub use tree::Tree;

/// A function that panics when a property is broken.
pub type Target = fn(&[u8]);

/// Every target by its name, which is that of its harness and of its folder in `corpus/` and `regressions/`.
pub const TARGETS: [(&str, Target); 16] = [
    ("amount", amount),
    ("callback", callback),
    ("config", config),
    ("form", form),
    ("json", json),
    ("machines", machines),
    ("mask", mask),
    ("receiver", receiver),
    ("redirect", redirect),
    ("reply", reply),
    ("request", request),
    ("sandbox", sandbox),
    ("saved", saved),
    ("session_data", session_data),
    ("signing", signing),
    ("xml", xml),
];

/// The program of a harness: it fuzzes a target, or replays the files named on the command line if it is not built for fuzzing.
#[macro_export]
macro_rules! harness {
    ($target:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|input: &[u8]| $crate::$target(input));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            $crate::replay_files($crate::$target)
        }
    };
}

/// Runs a target over each file named on the command line.
///
/// # Errors
/// If a file cannot be read.
pub fn replay_files(target: Target) -> io::Result<()> {
    for path in std::env::args_os().skip(1) {
        target(&std::fs::read(path)?);
    }
    Ok(())
}
