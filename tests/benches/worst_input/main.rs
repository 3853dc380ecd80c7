//! The cost of hostile input: every reader, masker and explainer on the worst known inputs, in milliseconds of
//! processor time a MiB, and how the cost grows when the input doubles.

#![allow(clippy::panic, reason = "a benchmark that cannot run fails by panicking")]

use pg_measure::Bounds;

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

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let groups: [(&str, fn()); 5] = [
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
