//! The scorecard for a terminal.

use pg_model::mask::is_invisible;

use super::{Outcome, Report, Verdict};

/// Colours, or none.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn verdict(self, verdict: Verdict) -> String {
        let text = format!("{:<14}", verdict.name());
        match verdict {
            Verdict::Passed => self.with("32", &text),
            Verdict::Failed => self.with("31;1", &text),
            Verdict::Warning | Verdict::Broken => self.with("33", &text),
            Verdict::NotApplicable => self.with("2", &text),
        }
    }
}

/// Returns a line for one drill.
pub(super) fn line(outcome: &Outcome, colours: bool) -> String {
    let paint = Paint(colours);
    let known = if outcome.known { " (known)" } else { "" };
    let why = outcome.findings.first().map_or_else(String::new, |finding| format!(": {}", one_line(&finding.text)));
    let why = if outcome.verdict == Verdict::NotApplicable { String::new() } else { why };
    format!("{} {}  {}{known}{why}", paint.verdict(outcome.verdict), outcome.drill.id, outcome.drill.title)
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if is_invisible(letter) { ' ' } else { letter }).collect()
}

pub(super) fn scorecard(report: &Report, colours: bool) -> String {
    let paint = Paint(colours);
    let mut lines = Vec::new();
    for (family, outcomes) in report.by_family() {
        let run: Vec<_> = outcomes.iter().filter(|one| one.verdict != Verdict::NotApplicable).collect();
        let passed = run.iter().filter(|one| one.verdict == Verdict::Passed).count();
        let score =
            if run.is_empty() { "not applicable".to_owned() } else { format!("{passed} of {} passed", run.len()) };
        lines.push(format!("{:<44} {score}", paint.with("1", family.title())));
    }
    let bad = |outcome: &&Outcome| matches!(outcome.verdict, Verdict::Failed | Verdict::Broken | Verdict::Warning);
    let mut last = None;
    for outcome in report.outcomes.iter().filter(bad) {
        if last != Some(outcome.drill.family) {
            last = Some(outcome.drill.family);
            lines.push(String::new());
        }
        lines.push(format!("{} [{}]", line(outcome, colours), outcome.drill.severity));
        for finding in outcome.findings.iter().skip(1) {
            lines.push(format!("                    {}", one_line(&finding.text)));
        }
        if outcome.verdict != Verdict::Broken {
            lines.push(paint.with("2", &format!("                    fix: {}", outcome.drill.mend)));
        }
    }
    let summary = report.summary();
    let rest = if report.interrupted { format!("; interrupted, {}", report.missing()) } else { String::new() };
    lines.push(String::new());
    lines.push(format!(
        "{} passed, {} failed, {} with a warning, {} broken, {} not applicable; {:.1} s, seed {}{rest}",
        summary.passed,
        summary.failed,
        summary.warning,
        summary.broken,
        summary.not_applicable,
        std::time::Duration::from_millis(report.milliseconds).as_secs_f64(),
        report.seed,
    ));
    lines.join("\n")
}
