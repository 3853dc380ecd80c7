//! The lines of benchmark reports: fields separated by tabs; the first field is the kind of line.

use anyhow::{Context, Result, bail};

use super::growth::{Chart, Point};
use super::measurement::{Bound, Cost, Measurements, Ratio};

impl Measurements {
    /// Takes in one line; lines of another form are for people, and are skipped.
    pub(super) fn read(&mut self, package: &str, line: &str) -> Result<()> {
        self.parse(package, line).with_context(|| format!("in `{line}`"))
    }

    fn parse(&mut self, package: &str, line: &str) -> Result<()> {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        match fields.as_slice() {
            ["ratio", name, value, budget, moonshot] => self.ratios.push(Ratio {
                package: package.to_owned(),
                name: (*name).to_owned(),
                value: finite(value)?,
                shown: (*value).to_owned(),
                budget: bound(budget)?,
                moonshot: bound(moonshot)?,
            }),
            [kind @ ("cost" | "call"), reader, inputs, worst, bytes, a_mib, growth, a_call, budget, moonshot] => {
                self.costs.push(Cost {
                    reader: (*reader).to_owned(),
                    inputs: inputs.parse()?,
                    worst: (*worst).to_owned(),
                    bytes: bytes.parse()?,
                    milliseconds_a_mib: finite(a_mib)?,
                    growth: finite(growth)?,
                    milliseconds_a_call: finite(a_call)?,
                    is_of_a_call: *kind == "call",
                    budget: bound(budget)?,
                    moonshot: bound(moonshot)?,
                });
            }
            ["chart", name, grows, cost, exponent] => self.charts.push(Chart {
                name: (*name).to_owned(),
                grows: (*grows).to_owned(),
                cost: (*cost).to_owned(),
                expected: finite(exponent)?,
                points: Vec::new(),
            }),
            ["point", name, size, cost] => {
                let chart = self.charts.iter_mut().find(|chart| chart.name == *name);
                let point = Point { size: positive(size)?, cost: positive(cost)? };
                chart.context("a point comes after its chart")?.points.push(point);
            }
            ["ratio" | "cost" | "call" | "chart" | "point", ..] => {
                bail!("a line of this kind has another number of fields")
            }
            ["note", text @ ..] => self.notes.push(text.join(" ")),
            _ => {}
        }
        Ok(())
    }
}

fn bound(text: &str) -> Result<Option<Bound>> {
    if matches!(text, "" | "-" | "–") {
        return Ok(None);
    }
    let after = |prefixes: [&str; 2]| prefixes.into_iter().find_map(|prefix| text.strip_prefix(prefix));
    if let Some(number) = after(["<=", "≤"]) {
        return Ok(Some(Bound::AtMost(finite(number)?)));
    }
    if let Some(number) = after([">=", "≥"]) {
        return Ok(Some(Bound::AtLeast(finite(number)?)));
    }
    bail!("a bound starts with <= or >=, or is - for none, not `{text}`")
}

fn finite(text: &str) -> Result<f64> {
    let number: f64 = text.trim().parse().with_context(|| format!("`{text}` is not a number"))?;
    if !number.is_finite() {
        bail!("`{text}` is not a finite number");
    }
    Ok(number)
}

fn positive(text: &str) -> Result<f64> {
    let number = finite(text)?;
    if number <= 0.0 {
        bail!("`{text}` is not above zero, and a chart with logarithmic axes cannot show it");
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::growth::Mark;

    fn read(lines: &[&str]) -> Result<Measurements> {
        let mut measurements = Measurements::default();
        for line in lines {
            measurements.read("pg-crypto", line)?;
        }
        Ok(measurements)
    }

    #[test]
    fn benchmark_lines_are_kept_and_other_output_is_not() {
        let all = read(&[
            "Timer precision: 20 ns",
            "ratio\tsign 12\t1.18\t<=1.30\t<=1.10",
            "note\tno allocation",
            "cost\tread JSON\t21\ta list\t1048576\t12.5\t2.01\t12.5\t<=20\t<=10",
            "call\tdiagnose\t9\tmany names\t256\t9000\t2.01\t2.5\t<=3\t<=1",
            "chart\titems\titems\tµs\t1",
            "point\titems\t4\t10.5",
            "",
        ])
        .unwrap();
        assert_eq!(all.notes, ["no allocation"]);
        assert_eq!(
            all.ratios,
            [Ratio {
                package: "pg-crypto".to_owned(),
                name: "sign 12".to_owned(),
                value: 1.18,
                shown: "1.18".to_owned(),
                budget: Some(Bound::AtMost(1.30)),
                moonshot: Some(Bound::AtMost(1.10)),
            }]
        );
        assert_eq!((all.costs[0].inputs, all.costs[0].mark()), (21, Mark::Pass));
        assert_eq!((all.costs[1].is_of_a_call, all.costs[1].mark()), (true, Mark::Pass));
        assert_eq!(all.charts[0].points, [Point { size: 4.0, cost: 10.5 }]);
    }

    #[test]
    fn a_malformed_measurement_is_an_error_not_a_gap() {
        for line in [
            "ratio\tsign\t1.18",
            "ratio\tsign\tfast\t<=1\t-",
            "ratio\tsign\tNaN\t<=1\t-",
            "ratio\tsign\t1\t1.3\t-",
            "cost\tread\tmany\ta\t1\t1\t1\t1\t-\t-",
            "cost\tread\t1\ta\t1\t1\t1\t-\t-",
            "point\tof no chart\t1\t1",
        ] {
            assert!(read(&[line]).is_err(), "{line}");
        }
        assert!(read(&["chart\ta\tx\ty\t1", "point\ta\t1\t0"]).is_err());
    }

    #[test]
    fn marks_follow_the_bounds_in_both_directions() {
        let mark = |line: &str| read(&[line]).unwrap().ratios[0].mark();
        assert_eq!(mark("ratio\ta\t1.30\t<=1.30\t<=1.10"), Mark::Pass);
        assert_eq!(mark("ratio\ta\t1.31\t<=1.30\t<=1.10"), Mark::Miss);
        assert_eq!(mark("ratio\ta\t1.10\t<=1.30\t<=1.10"), Mark::Moonshot);
        assert_eq!(mark("ratio\ta\t0.91\t>=0.90\t>=0.97"), Mark::Pass);
        assert_eq!(mark("ratio\ta\t0.89\t≥0.90\t≥0.97"), Mark::Miss);
        assert_eq!(mark("ratio\ta\t0.98\t>=0.90\t>=0.97"), Mark::Moonshot);
        assert_eq!(mark("ratio\ta\t3\t-\t–"), Mark::NoBudget);
        assert_eq!(mark("ratio\ta\t3\t<=4\t-"), Mark::Pass);
    }
}
