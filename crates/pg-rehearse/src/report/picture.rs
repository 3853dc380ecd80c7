//! The time line of a drill as a sequence diagram: integration, wire, service, ledger.

use pg_sandbox::sequence_diagram::{self, Step};

use crate::finding::{Event, Lane};

fn place(lane: Lane) -> usize {
    Lane::ALL.iter().position(|one| *one == lane).unwrap_or(0)
}

/// An SVG in the colours of the page.
pub(super) fn svg(title: &str, events: &[Event]) -> String {
    let steps: Vec<Step<'_>> = events.iter().map(step).collect();
    let label = format!("Sequence diagram: {title}; the table below has the same content");
    sequence_diagram::svg(&label, &Lane::ALL.map(Lane::name), &steps)
}

fn step(event: &Event) -> Step<'_> {
    let step = Step::new(place(event.from), place(event.to), &event.text);
    // An event from the wire to itself is the drill's fault.
    if event.from == Lane::Wire && event.to == Lane::Wire { step.fault() } else { step }
}
