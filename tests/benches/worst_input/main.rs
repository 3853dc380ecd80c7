//! The cost of hostile input: every reader, masker and explainer on the worst known inputs, in milliseconds of
//! processor time a MiB, and how the cost grows when the input doubles.

#![allow(clippy::panic, reason = "a benchmark that cannot run fails by panicking")]

use pg_measure::{Bounds, Worst};
use sha2::{Digest as _, Sha512};

mod files;
mod replies;
mod requests;
mod shapes;
mod signatures;
mod texts;

/// The largest body that servers take.
const MIB: usize = 1 << 20;
/// Milliseconds of processor time a MiB.
const LIMITS: Bounds = Bounds::at_most(20.0, 10.0);
/// Milliseconds of processor time a call, for work that no peer can cause before it is authenticated: on a MiB with
/// [`MOST`](requests::MOST) parameters at most.
const CALL_LIMITS: Bounds = Bounds::at_most(40.0, 20.0);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let groups: [(&str, fn()); 6] = [
        ("floor", floor),
        ("texts", texts::measure),
        ("signatures", signatures::measure),
        ("replies", replies::measure),
        ("requests", requests::measure),
        ("files", files::measure),
    ];
    for (name, measure) in groups {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.starts_with(wanted.as_str())) {
            measure();
        }
    }
}

/// What the service itself has to do with every byte of a signed request: a figure of this machine to compare the others with.
fn floor() {
    let text = shapes::repeated("abcdefg ");
    Worst::of("SHA-512 alone, for comparison")
        .input("plain text", MIB, text, |text: &String| Sha512::digest(text.as_bytes()))
        .report(Bounds::none());
}
