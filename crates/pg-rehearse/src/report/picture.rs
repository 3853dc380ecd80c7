//! The time line of a drill as a sequence diagram: integration, wire, service, books.

use std::fmt::Write as _;

use super::{Event, Lane, junit::escaped};

const LEFT: usize = 90;
const APART: usize = 220;
const TOP: usize = 58;
const STEP: usize = 34;
/// Letters that fit between two lanes.
const FIT: usize = 32;
/// More are told in the table below the picture.
const MOST: usize = 60;

fn place(lane: Lane) -> usize {
    LEFT + Lane::ALL.iter().position(|one| *one == lane).unwrap_or(0) * APART
}

/// An SVG with a title and a description, in the colours of the page.
pub(super) fn svg(title: &str, events: &[Event]) -> String {
    let shown = &events[..events.len().min(MOST)];
    let height = TOP + (shown.len() + 1) * STEP;
    let width = LEFT * 2 + APART * 3;
    let mut text = String::new();
    // Writing into a text does not fail.
    let _ = write!(
        text,
        "<svg class=\"picture\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
        escaped(&format!("Sequence diagram: {title}; the table below says the same")),
    );
    for lane in Lane::ALL {
        let x = place(lane);
        let _ = write!(
            text,
            "<rect class=\"head\" x=\"{}\" y=\"6\" width=\"136\" height=\"30\" rx=\"4\"/><text class=\"lane\" x=\"{x}\" y=\"26\">{}</text>\
             <line class=\"life\" x1=\"{x}\" y1=\"36\" x2=\"{x}\" y2=\"{height}\"/>",
            x - 68,
            lane.name(),
        );
    }
    for (at, event) in shown.iter().enumerate() {
        arrow(&mut text, TOP + at * STEP + 14, event);
    }
    text.push_str("</svg>");
    text
}

fn arrow(text: &mut String, y: usize, event: &Event) {
    let (from, to) = (place(event.from), place(event.to));
    let label = label(&event.text);
    if from == to {
        let fault = if event.from == Lane::Wire { " fault" } else { "" };
        // What happens in the last lane is written to its left.
        let (anchor, x) = if event.from == Lane::Books { ("end", from - 10) } else { ("start", from + 10) };
        let _ = write!(
            text,
            "<circle class=\"dot{fault}\" cx=\"{from}\" cy=\"{y}\" r=\"5\"/><text class=\"say{fault}\" text-anchor=\"{anchor}\" x=\"{x}\" \
             y=\"{}\">{label}</text>",
            y + 4,
        );
        return;
    }
    let tip = if to > from { to - 7 } else { to + 7 };
    let _ = write!(
        text,
        "<line class=\"arrow\" x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\"/><path class=\"tip\" d=\"M{to} {y}L{tip} {}L{tip} {}Z\"/>\
         <text class=\"say\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{label}</text>",
        y - 4,
        y + 4,
        from.midpoint(to),
        y - 5,
    );
}

fn label(text: &str) -> String {
    if text.chars().count() <= FIT {
        return escaped(text);
    }
    let cut: String = text.chars().take(FIT - 1).collect();
    escaped(&format!("{cut}…"))
}
