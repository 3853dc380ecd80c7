//! Sequence diagrams as SVG, for a page that has its own colours: the inspector's page of a transaction, and the reports of
//! `pg rehearse`.
//!
//! ```
//! use pg_sandbox::sequence_diagram::{Step, svg};
//!
//! let steps = [Step::new(0, 1, "transaction/auth"), Step::new(1, 1, "reply lost").fault()];
//! let picture = svg("A lost reply", &["integration", "wire"], &steps);
//! assert!(picture.starts_with("<svg class=\"picture\"") && picture.contains("reply lost"));
//! ```

use crate::html::Html;

/// A step of the diagram: between two parties, or at one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    from: usize,
    to: usize,
    text: &'a str,
    fault: bool,
}

impl<'a> Step<'a> {
    /// Creates a message between two lanes, counted from 0, or a note if both are the same lane.
    #[must_use]
    pub const fn new(from: usize, to: usize, text: &'a str) -> Self {
        Self { from, to, text, fault: false }
    }

    /// Marks the step as a fault.
    #[must_use]
    pub const fn fault(self) -> Self {
        Self { fault: true, ..self }
    }
}

/// From the edge to the middle of the first lane.
const LEFT: usize = 90;
const APART: usize = 220;
const TOP: usize = 58;
const STEP: usize = 34;
/// The number of letters that fit between two lanes.
const FIT: usize = 34;
const MOST: usize = 60;

const fn place(lane: usize) -> usize {
    LEFT + lane * APART
}

/// Returns a diagram with these lanes, for the body of an HTML page. Texts are escaped and cut to fit. Only the first
/// 60 steps are drawn, so show all steps in a table too. Its classes are `picture`, `head`, `lane`, `life`, `arrow`,
/// `tip`, `dot`, `say` and `fault`.
#[must_use]
pub fn svg(label: &str, lanes: &[&str], steps: &[Step<'_>]) -> String {
    draw(label, lanes, steps).into_string()
}

pub(crate) fn draw(label: &str, lanes: &[&str], steps: &[Step<'_>]) -> Html {
    let shown = &steps[..steps.len().min(MOST)];
    let height = TOP + (shown.len() + 1) * STEP;
    let width = LEFT * 2 + APART * lanes.len().saturating_sub(1);
    let columns = lanes.iter().enumerate().map(|(lane, name)| head(place(lane), height, name));
    let arrows = shown.iter().enumerate().map(|(at, step)| arrow(TOP + at * STEP + 14, step, lanes.len()));
    Html::new()
        .raw("<svg class=\"picture\" role=\"img\"")
        .attribute("viewBox", &format!("0 0 {width} {height}"))
        .attribute("aria-label", label)
        .raw(">")
        .all(columns)
        .all(arrows)
        .raw("</svg>")
}

fn head(x: usize, height: usize, name: &str) -> Html {
    Html::new()
        .raw("<rect class=\"head\" y=\"6\" width=\"136\" height=\"30\" rx=\"4\"")
        .put(number("x", x - 68))
        .raw("/><text class=\"lane\" y=\"26\" text-anchor=\"middle\"")
        .put(number("x", x))
        .raw(">")
        .text(name)
        .raw("</text><line class=\"life\" y1=\"36\"")
        .put(number("x1", x))
        .put(number("x2", x))
        .put(number("y2", height))
        .raw("/>")
}

fn number(name: &'static str, value: usize) -> Html {
    Html::new().attribute(name, &value.to_string())
}

fn arrow(y: usize, step: &Step<'_>, lanes: usize) -> Html {
    let (from, to) = (place(step.from), place(step.to));
    if from == to {
        return note(y, step, lanes);
    }
    let tip = if to > from { to - 7 } else { to + 7 };
    let (above, below) = parted(step.text);
    let below = below.map(|text| words(step, text, "middle", from.midpoint(to), y + 13)).unwrap_or_default();
    Html::new()
        .raw("<line class=\"arrow\"")
        .put(number("x1", from))
        .put(number("x2", to))
        .put(number("y1", y))
        .put(number("y2", y))
        .raw("/><path class=\"tip\"")
        .attribute("d", &format!("M{to} {y}L{tip} {}L{tip} {}Z", y - 4, y + 4))
        .raw("/>")
        .put(words(step, above, "middle", from.midpoint(to), y - 5))
        .put(below)
}

/// Returns the lines of a text. A text that is too long for one line is divided before its parentheses.
fn parted(text: &str) -> (&str, Option<&str>) {
    match text.split_once(" (") {
        Some((above, rest)) if text.chars().count() > FIT => (above, Some(rest.strip_suffix(')').unwrap_or(rest))),
        _ => (text, None),
    }
}

fn note(y: usize, step: &Step<'_>, lanes: usize) -> Html {
    let x = place(step.from);
    // A note of the last lane is to the left of the lane.
    let last = step.from + 1 == lanes;
    let (anchor, beside) = if last { ("end", x - 10) } else { ("start", x + 10) };
    let words = words(step, step.text, anchor, beside, y + 4);
    Html::new()
        .raw("<circle r=\"5\"")
        .attribute("class", if step.fault { "dot fault" } else { "dot" })
        .put(number("cx", x))
        .put(number("cy", y))
        .raw("/>")
        .put(words)
}

fn words(step: &Step<'_>, text: &str, anchor: &str, x: usize, y: usize) -> Html {
    Html::new()
        .raw("<text")
        .attribute("class", if step.fault { "say fault" } else { "say" })
        .attribute("text-anchor", anchor)
        .put(number("x", x))
        .put(number("y", y))
        .raw(">")
        .text(&cut(text))
        .raw("</text>")
}

fn cut(text: &str) -> String {
    if text.chars().count() <= FIT {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(FIT - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_cut_and_the_number_of_steps_is_bounded() {
        let long = "<".repeat(50);
        let steps = vec![Step::new(0, 1, &long); 100];
        let drawn = draw("\"a\" & b", &["one", "two"], &steps).into_string();
        assert!(drawn.contains("aria-label=\"&#34;a&#34; &#38; b\""), "{drawn}");
        assert_eq!(drawn.matches("class=\"arrow\"").count(), MOST);
        assert_eq!(drawn.matches("&#60;").count(), MOST * (FIT - 1));
        assert!(drawn.contains('…'));
    }

    #[test]
    fn text_in_parentheses_moves_below_an_arrow_without_room() {
        let step = Step::new(0, 1, "transaction/authSessionKey (order-4711-retry)");
        let drawn = draw("", &["one", "two"], &[step]).into_string();
        assert!(
            drawn.contains(">transaction/authSessionKey</text>") && drawn.contains(">order-4711-retry</text>"),
            "{drawn}"
        );
    }
}
