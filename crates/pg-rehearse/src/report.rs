//! The results of a rehearsal, and their output formats.

pub(crate) mod baseline;
mod html;
mod junit;
mod terminal;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    drill::{Drill, EACH_FORM, Family, Severity},
    finding::{Event, Finding, Verdict},
};

/// A drill with its verdict.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The drill.
    pub drill: &'static Drill,
    /// Its verdict.
    pub verdict: Verdict,
    /// Whether the baseline knows all that failed.
    pub known: bool,
    /// Why the drill has this verdict.
    pub findings: Vec<Finding>,
    /// What the integration claimed in each run.
    pub claims: Vec<String>,
    /// The ledger at the end.
    pub ledger: Vec<String>,
    /// The timeline.
    pub events: Vec<Event>,
    /// How long it took.
    pub milliseconds: u64,
}

impl Outcome {
    pub(crate) fn not_applicable(drill: &'static Drill, why: String) -> Self {
        let finding = Finding::new("job-not-provided", Verdict::NotApplicable, why);
        Self { findings: vec![finding], ..Self::empty(drill, Verdict::NotApplicable) }
    }

    pub(crate) fn empty(drill: &'static Drill, verdict: Verdict) -> Self {
        Self {
            drill,
            verdict,
            known: false,
            findings: Vec::new(),
            claims: Vec::new(),
            ledger: Vec::new(),
            events: Vec::new(),
            milliseconds: 0,
        }
    }

    /// Sets the verdict to that of the worst finding.
    pub(crate) fn judged(mut self, mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        self.verdict = findings.first().map_or(Verdict::Passed, |worst| worst.verdict);
        self.findings = findings;
        self
    }

    /// Reports that the shop has ended, and how: another program may have answered in its place.
    pub(crate) fn shop_ended(&mut self, how: &str) {
        let why = format!("the shop of the plan {how}: start it manually to see why");
        match self.findings.first_mut() {
            Some(worst) if worst.verdict == Verdict::Broken => worst.text.push_str(&format!("; {why}")),
            Some(worst) if worst.verdict == Verdict::NotApplicable => {}
            _ => {
                self.findings.push(Finding::new("adapter", Verdict::Broken, why));
                self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
                self.verdict = self.verdict.max(Verdict::Broken);
            }
        }
    }

    /// Returns the order of outcomes of one drill: the worst is the last, and a new failure is worse than a known one.
    pub(crate) fn badness(&self) -> (bool, Verdict) {
        (self.verdict.is_bad() && !self.known, self.verdict)
    }

    fn value(&self) -> Value {
        json!({
            "id": self.drill.id,
            "family": self.drill.family.name(),
            "title": self.drill.title,
            "severity": self.drill.severity.name(),
            "basis": self.drill.basis,
            "verdict": self.verdict,
            "known": self.known,
            "findings": self.findings,
            "claims": self.claims,
            "ledger": self.ledger,
            "imitates": self.drill.imitates,
            "mend": self.drill.mend,
            "milliseconds": self.milliseconds,
            "events": self.events,
        })
    }
}

/// The result of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The seed: the same seed gives the same verdicts, except of a shop that works in the background.
    pub seed: u64,
    /// Failures below this do not count for the exit code.
    pub threshold: Severity,
    /// In the order of the drills' numbers.
    pub outcomes: Vec<Outcome>,
    /// Whether it was interrupted before all drills had run.
    pub interrupted: bool,
    /// The drills that did not run, or not to their end, because the run was interrupted.
    pub not_run: Vec<&'static Drill>,
    /// How long it took.
    pub milliseconds: u64,
    /// The forms of a charge: the drills use the first one, and M04 and M46 each of them. Hygiene and M67 use those that they need.
    pub charged_by: Vec<&'static str>,
}

/// The number of drills by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Summary {
    /// Verdict passed.
    pub passed: usize,
    /// Verdict failed, known failures among them.
    pub failed: usize,
    /// Verdict warning.
    pub warning: usize,
    /// Verdict not-applicable.
    pub not_applicable: usize,
    /// Verdict broken.
    pub broken: usize,
}

impl Report {
    /// Returns the number of drills by verdict.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for outcome in &self.outcomes {
            *match outcome.verdict {
                Verdict::Passed => &mut summary.passed,
                Verdict::Failed => &mut summary.failed,
                Verdict::Warning => &mut summary.warning,
                Verdict::NotApplicable => &mut summary.not_applicable,
                Verdict::Broken => &mut summary.broken,
            } += 1;
        }
        summary
    }

    /// Returns 0: no failure at or above the threshold; 1: failures; 3: no failure, but an adapter did not work; 4:
    /// interrupted.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.interrupted {
            return 4;
        }
        if self.outcomes.iter().any(|outcome| outcome.verdict == Verdict::Failed && self.counts(outcome)) {
            1
        } else if self.outcomes.iter().any(|outcome| outcome.verdict == Verdict::Broken && self.counts(outcome)) {
            3
        } else {
            0
        }
    }

    /// Whether a drill that failed, or whose adapter did not work, counts for the exit code.
    fn counts(&self, outcome: &Outcome) -> bool {
        !outcome.known && (outcome.verdict == Verdict::Broken || outcome.drill.severity >= self.threshold)
    }

    /// Returns the report as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "seed": self.seed,
            "threshold": self.threshold.name(),
            "interrupted": self.interrupted,
            "notRun": self.not_run.iter().map(|drill| drill.id).collect::<Vec<_>>(),
            "milliseconds": self.milliseconds,
            "chargedBy": self.charged_by,
            "drillsOfEachForm": EACH_FORM,
            "exitCode": self.exit_code(),
            "summary": self.summary(),
            "drills": self.outcomes.iter().map(Outcome::value).collect::<Vec<_>>(),
        })
    }

    /// For continuous integration.
    #[must_use]
    pub fn junit(&self) -> String {
        junit::file(self)
    }

    /// One self-contained page.
    #[must_use]
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// Returns the scorecard for a terminal.
    #[must_use]
    pub fn scorecard(&self, colours: bool) -> String {
        terminal::scorecard(self, colours)
    }

    /// Returns the line that is printed when one drill has ended.
    #[must_use]
    pub fn progress(outcome: &Outcome, colours: bool) -> String {
        terminal::line(outcome, colours)
    }

    /// Returns a baseline file: what fails today, by drill, kind and part. It is complete only if the run was not
    /// [`interrupted`](Self::interrupted).
    #[must_use]
    pub fn baseline(&self) -> String {
        baseline::file(&self.outcomes)
    }

    /// Returns the number of drills that did not run because of an interruption, as text.
    #[must_use]
    pub fn missing(&self) -> String {
        match self.not_run.len() {
            1 => "1 drill did not run".to_owned(),
            number => format!("{number} drills did not run"),
        }
    }

    fn by_family(&self) -> BTreeMap<Family, Vec<&Outcome>> {
        let mut families: BTreeMap<Family, Vec<&Outcome>> = BTreeMap::new();
        for outcome in &self.outcomes {
            families.entry(outcome.drill.family).or_default().push(outcome);
        }
        families
    }
}
