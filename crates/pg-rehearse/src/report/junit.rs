//! A `JUnit` file for continuous integration.

use std::fmt::Write as _;

use pg_model::mask::is_invisible;

use super::{Outcome, Report, Verdict};
use crate::drill::Drill;

pub(super) fn file(report: &Report) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<&Outcome> = report.outcomes.iter().collect();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "<testsuites name=\"pg rehearse\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">",
        report.outcomes.len() + report.not_run.len(),
        number(report, &all, Verdict::Failed),
        number(report, &all, Verdict::Broken) + report.not_run.len(),
        skipped(report, &all),
        seconds(report.milliseconds),
    );
    for (family, outcomes) in report.by_family() {
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">",
            escaped(family.name()),
            outcomes.len(),
            number(report, &outcomes, Verdict::Failed),
            number(report, &outcomes, Verdict::Broken),
            skipped(report, &outcomes),
            seconds(outcomes.iter().map(|one| one.milliseconds).sum()),
        );
        outcomes.iter().for_each(|outcome| case(&mut text, report, outcome));
        text.push_str("  </testsuite>\n");
    }
    not_run(&mut text, &report.not_run);
    text.push_str("</testsuites>\n");
    text
}

/// Returns the number of drills with this verdict that count for the exit code.
fn number(report: &Report, outcomes: &[&Outcome], verdict: Verdict) -> usize {
    outcomes.iter().filter(|one| one.verdict == verdict && report.counts(one)).count()
}

/// Returns the number of drills that do not apply or whose failure does not count.
fn skipped(report: &Report, outcomes: &[&Outcome]) -> usize {
    outcomes.iter().filter(|one| one.verdict == Verdict::NotApplicable || ignored(report, one).is_some()).count()
}

/// Returns why a failure does not count for the exit code: a CI service would fail the job if it were a failure here.
fn ignored(report: &Report, outcome: &Outcome) -> Option<String> {
    match outcome.verdict.is_bad() && !report.counts(outcome) {
        true if outcome.known => Some("known failure".to_owned()),
        true => Some(format!("below the threshold {}", report.threshold)),
        false => None,
    }
}

/// Reports drills that did not run because of an interruption as errors, since skipped tests do not fail a job.
fn not_run(text: &mut String, drills: &[&Drill]) {
    if drills.is_empty() {
        return;
    }
    let number = drills.len();
    let _ = writeln!(
        text,
        "  <testsuite name=\"not-run\" tests=\"{number}\" failures=\"0\" errors=\"{number}\" skipped=\"0\" time=\"0\">"
    );
    for drill in drills {
        begin_case(text, drill, 0);
        text.push_str(
            ">\n      <error type=\"interrupted\" message=\"the rehearsal was interrupted before this drill had \
             ended\"/>\n    </testcase>\n",
        );
    }
    text.push_str("  </testsuite>\n");
}

fn begin_case(text: &mut String, drill: &Drill, milliseconds: u64) {
    let _ = write!(
        text,
        "    <testcase classname=\"pg.rehearse.{}\" name=\"{} {}\" time=\"{}\"",
        escaped(drill.family.name()),
        escaped(drill.id),
        escaped(drill.title),
        seconds(milliseconds),
    );
}

fn case(text: &mut String, report: &Report, outcome: &Outcome) {
    begin_case(text, outcome.drill, outcome.milliseconds);
    let why = outcome.findings.iter().map(|finding| finding.text.as_str()).collect::<Vec<_>>().join("; ");
    let story = story(outcome);
    if let Some(ignored) = ignored(report, outcome) {
        let _ = writeln!(text, ">\n      <skipped message=\"{ignored}: {}\"/>\n    </testcase>", escaped(&why));
        return;
    }
    let inner = match outcome.verdict {
        Verdict::Passed => {
            text.push_str("/>\n");
            return;
        }
        Verdict::NotApplicable => format!("<skipped message=\"{}\"/>", escaped(&why)),
        Verdict::Warning => format!("<system-out>warning: {}\n{}</system-out>", escaped(&why), escaped(&story)),
        Verdict::Broken => format!("<error type=\"broken\" message=\"{}\">{}</error>", escaped(&why), escaped(&story)),
        Verdict::Failed => format!(
            "<failure type=\"{}\" message=\"{}\">{}</failure>",
            escaped(outcome.findings.first().map_or("failed", |finding| finding.kind)),
            escaped(&why),
            escaped(&story),
        ),
    };
    let _ = writeln!(text, ">\n      {inner}\n    </testcase>");
}

fn story(outcome: &Outcome) -> String {
    let mut text = format!("{}\nfix: {}\n", outcome.drill.imitates, outcome.drill.mend);
    for event in &outcome.events {
        let _ = writeln!(text, "{:>6} ms  {} -> {}: {}", event.at_ms, event.from.name(), event.to.name(), event.text);
    }
    text
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// Escapes a text for XML 1.0, which has no control characters.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            invisible if is_invisible(invisible) || matches!(invisible, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}')
            }
            other => out.push(other),
        }
    }
    out
}
