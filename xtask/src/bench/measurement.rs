//! The lines by which benchmarks report: `ratio NAME VALUE BUDGET MOONSHOT` and `note TEXT`, tabs between the fields.

use anyhow::{Context, Result, bail};

/// Everything that the benchmarks of one run reported, in the order they did.
#[derive(Default)]
pub(super) struct Measurements {
    pub(super) ratios: Vec<Ratio>,
    pub(super) notes: Vec<String>,
}

/// One line of the table: how much of its floor a piece of work costs.
#[derive(Debug, PartialEq)]
pub(super) struct Ratio {
    pub(super) package: String,
    pub(super) name: String,
    pub(super) value: f64,
    /// The value as the benchmark printed it: it knows how many digits mean something.
    pub(super) shown: String,
    pub(super) budget: Option<Bound>,
    pub(super) moonshot: Option<Bound>,
}

/// A limit that a value is held against, inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// How a value stands against its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Moonshot,
    Pass,
    Miss,
    NoBudget,
}

impl Measurements {
    /// Takes in one line; lines that are neither `ratio` nor `note` are for people and passed over.
    pub(super) fn read(&mut self, package: &str, line: &str) -> Result<()> {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        match fields.as_slice() {
            ["ratio", name, value, budget, moonshot] => self.ratios.push(Ratio {
                package: package.to_owned(),
                name: (*name).to_owned(),
                value: finite(value).with_context(|| format!("in `{line}`"))?,
                shown: (*value).to_owned(),
                budget: Bound::parse(budget).with_context(|| format!("in `{line}`"))?,
                moonshot: Bound::parse(moonshot).with_context(|| format!("in `{line}`"))?,
            }),
            ["ratio", ..] => {
                bail!("a ratio line has four fields after the word, tabs between them: `{line}`")
            }
            ["note", text @ ..] => self.notes.push(text.join(" ")),
            _ => {}
        }
        Ok(())
    }
}

impl Ratio {
    pub(super) fn mark(&self) -> Mark {
        let keeps = |bound: Option<Bound>| bound.map(|bound| bound.holds(self.value));
        match (keeps(self.budget), keeps(self.moonshot)) {
            (Some(false), _) => Mark::Miss,
            (_, Some(true)) => Mark::Moonshot,
            (Some(true), _) => Mark::Pass,
            (None, _) => Mark::NoBudget,
        }
    }
}

impl Bound {
    fn parse(text: &str) -> Result<Option<Self>> {
        if matches!(text, "" | "-" | "–") {
            return Ok(None);
        }
        let after = |prefixes: [&str; 2]| prefixes.into_iter().find_map(|prefix| text.strip_prefix(prefix));
        if let Some(number) = after(["<=", "≤"]) {
            return Ok(Some(Self::AtMost(finite(number)?)));
        }
        if let Some(number) = after([">=", "≥"]) {
            return Ok(Some(Self::AtLeast(finite(number)?)));
        }
        bail!("a bound starts with <= or >=, or is - for none, not `{text}`")
    }

    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }
}

fn finite(text: &str) -> Result<f64> {
    let number: f64 = text.trim().parse().with_context(|| format!("`{text}` is no number"))?;
    if !number.is_finite() {
        bail!("`{text}` is no finite number");
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<Measurements> {
        let mut measurements = Measurements::default();
        for line in lines {
            measurements.read("pg-crypto", line)?;
        }
        Ok(measurements)
    }

    #[test]
    fn ratios_and_notes_are_kept_and_chatter_is_not() {
        let all = read(&["Timer precision: 20 ns", "ratio\tsign 12\t1.18\t<=1.30\t<=1.10", "note\tno allocation", ""])
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
    }

    #[test]
    fn a_malformed_measurement_is_an_error_not_a_gap() {
        for line in
            ["ratio\tsign\t1.18", "ratio\tsign\tfast\t<=1\t-", "ratio\tsign\tNaN\t<=1\t-", "ratio\tsign\t1\t1.3\t-"]
        {
            assert!(read(&[line]).is_err(), "{line}");
        }
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
