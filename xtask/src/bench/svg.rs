//! Draws a chart as SVG: both axes logarithmic, in colours that can be read on light and on dark pages.

use std::fmt::Write as _;

use super::growth::{Chart, Point};
use crate::grouped::grouped;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 55.0;

/// The page of a reader decides between dark and light.
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:13px}\
    .grid{stroke:#d0d7de}.expected{stroke:#8c959f;stroke-dasharray:4 4;fill:none}\
    .cost{stroke:#0969da;stroke-width:2;fill:none}circle{fill:#0969da}\
    @media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#30363d}.expected{stroke:#7d8590}\
    .cost{stroke:#58a6ff}circle{fill:#58a6ff}}";

/// Powers of ten that hold some values.
struct Axis {
    least: i32,
    most: i32,
    from: f64,
    to: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min).log10().floor() as i32;
        let most = values.fold(0.0, f64::max).log10().ceil() as i32;
        Self { least, most: most.max(least + 1), from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.least)) / f64::from(self.most - self.least);
        self.from + share * (self.to - self.from)
    }

    fn powers(&self) -> impl Iterator<Item = f64> {
        (self.least..=self.most).map(|power| 10_f64.powi(power))
    }
}

/// The picture of a chart.
pub(super) fn draw(chart: &Chart) -> String {
    let x = Axis::of(chart.points.iter().map(|point| point.size), LEFT, WIDTH - RIGHT);
    let y = Axis::of(chart.points.iter().map(|point| point.cost), HEIGHT - BOTTOM, TOP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         role=\"img\" aria-label=\"{title}: {cost} by {grows}\">\n<style>{STYLE}</style>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"22\">{title}</text>\n",
        title = escaped(&chart.name),
        cost = escaped(&chart.cost),
        grows = escaped(&chart.grows),
    );
    for power in x.powers() {
        let at = x.place(power);
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{:.1}\"/>", HEIGHT - BOTTOM);
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM + 18.0,
            number(power)
        );
    }
    for power in y.powers() {
        let at = y.place(power);
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/>", WIDTH - RIGHT);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            number(power)
        );
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    let _ = writeln!(
        out,
        "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        HEIGHT - 15.0,
        escaped(&chart.grows)
    );
    let side = (TOP + HEIGHT - BOTTOM) / 2.0;
    let _ = writeln!(
        out,
        "<text transform=\"translate(16 {side:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        escaped(&chart.cost)
    );
    if let Some(last) = chart.points.last() {
        // What is expected, through the largest size.
        let expected = chart.points.iter().map(|point| {
            let cost = last.cost * (point.size / last.size).powf(chart.expected);
            (x.place(point.size), y.place(cost).clamp(TOP, HEIGHT - BOTTOM))
        });
        let _ = writeln!(out, "<path class=\"expected\" d=\"{}\"/>", path(expected));
    }
    let places = || chart.points.iter().map(|Point { size, cost }| (x.place(*size), y.place(*cost)));
    let _ = writeln!(out, "<path class=\"cost\" d=\"{}\"/>", path(places()));
    for ((at, up), Point { size, cost }) in places().zip(&chart.points) {
        let told = format!("{}: {cost:.4}", number(*size));
        let _ = writeln!(out, "<circle cx=\"{at:.1}\" cy=\"{up:.1}\" r=\"3.5\"><title>{told}</title></circle>");
    }
    out + "</svg>\n"
}

fn path(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
    }
    path
}

/// A power of ten as people write it.
fn number(value: f64) -> String {
    if value < 1.0 {
        return format!("{value}");
    }
    grouped(format!("{value:.0}"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_its_title_its_axes_and_its_points_within_the_frame() {
        let points = [(10.0, 3.0), (1_000.0, 290.0), (50_000.0, 14_000.0)];
        let chart = Chart {
            name: "keys <of> a request".to_owned(),
            grows: "keys".to_owned(),
            cost: "µs".to_owned(),
            expected: 1.0,
            points: points.map(|(size, cost)| Point { size, cost }).into(),
        };
        let drawn = draw(&chart);
        assert!(drawn.starts_with("<svg xmlns=") && drawn.ends_with("</svg>\n"), "{drawn}");
        for part in [
            "keys &lt;of&gt; a request",
            ">keys<",
            ">µs<",
            ">100,000<",
            "prefers-color-scheme:dark",
            "class=\"expected\"",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert_eq!(drawn.matches("<circle").count(), 3);
        let circles = drawn.split("cx=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse::<f64>().unwrap());
        assert!(circles.clone().all(|at| (LEFT..=WIDTH - RIGHT).contains(&at)) && circles.is_sorted());
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0.01, 1.0, 1_000.0, 1e6].map(number), ["0.01", "1", "1,000", "1,000,000"]);
    }
}
