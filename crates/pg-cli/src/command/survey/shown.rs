//! Plans and reports, for people and for programs.

use std::fmt::Write as _;

use pg_model::Dialect;
use pg_proto::Account;
use pg_sandbox::{ASSUMPTIONS, Assumption};
use pg_survey::{Conclusion, Confidence, Ending, Finding, Plan, Planned, Report, UnusableCard, points};
use serde::Serialize;

use crate::{
    failure::{Exit, Failure},
    output::{self, Paint},
};

/// Prints a plan.
pub(super) fn plan(plan: &Plan, json: bool) -> Result<(), Failure> {
    if json {
        return output::json(plan);
    }
    let paint = Paint::of_stdout();
    let mut text = String::new();
    for (at, probe) in plan.probes.iter().enumerate() {
        let Planned { request, what, cost, .. } = probe;
        let decides = probe.assumptions.iter().map(|number| format!("A{number}")).collect::<Vec<_>>().join(", ");
        let decides = if decides.is_empty() { String::new() } else { format!(" → {decides}") };
        let cost = if cost.words() == "nothing" { String::new() } else { format!(" [{}]", cost.words()) };
        let _ = writeln!(
            text,
            "{:>3}. {} {what}{}{decides}",
            at + 1,
            paint.dim(&format!("{request:<42}")),
            paint.bold(&cost)
        );
    }
    let _ = writeln!(
        text,
        "\nAfter each new error code, session/initiate checks that the account still works: at most {} more requests.",
        plan.most_controls
    );
    let left: Vec<String> = plan.leaves_out().map(|point| point.name.to_owned()).collect();
    if !left.is_empty() {
        let _ = write!(text, "Not covered: {}.", left.join(", "));
    }
    output::page(text.trim_end())
}

/// A finding with the register's text of its assumption.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    title: &'static str,
    chosen: &'static str,
    /// The entry of a dialect file; empty if dialects have no entry for it.
    entry: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<Question>,
}

/// An entry of `docs/reference/questions.md`.
#[derive(Serialize)]
struct Question {
    number: usize,
    /// The heading's URL.
    at: String,
    text: &'static str,
}

impl Question {
    fn of(assumption: &'static Assumption) -> Option<Self> {
        let number = assumption.question_number()?;
        let plain = |c: &char| c.is_ascii_alphanumeric() || *c == ' ' || *c == '_';
        let slug = assumption.title.to_lowercase().chars().filter(plain).collect::<String>().replace(' ', "-");
        Some(Self { number, at: format!("docs/reference/questions.md#{number}-{slug}"), text: assumption.question? })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Whole<'a> {
    address: String,
    ending: String,
    requests: usize,
    unusable_cards: &'a [UnusableCard],
    compared_with: &'a str,
    errors: usize,
    differences: usize,
    findings: Vec<Told<'a>>,
    /// Assumptions on which no dialect entry and no client depends.
    other_assumptions: Vec<u16>,
    dialect: &'a str,
}

/// Prints a report, in JSON with the failure of the survey, if there is one. Returns how the survey ended.
pub(super) fn report(
    report: &Report,
    ours: &Dialect,
    written: &str,
    account: &Account,
    json: bool,
    ended: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let address = account.base_urls().next().map(ToString::to_string).unwrap_or_default();
    let told: Vec<Told<'_>> = report.findings.iter().map(told).collect();
    let others = others();
    if json {
        let whole = Whole {
            address,
            ending: report.ending.to_string(),
            requests: report.requests,
            unusable_cards: &report.unusable_cards,
            compared_with: ours.shown_name(),
            errors: report.with(Conclusion::Error).count(),
            differences: report.with(Conclusion::Differs).count(),
            findings: told,
            other_assumptions: others,
            dialect: written,
        };
        return output::result(&whole, ended);
    }
    let paint = Paint::of_stdout();
    let mut text =
        format!("Survey of {address}: {}, {}\n", output::harmless(&report.ending.to_string()), requests(report));
    for card in &report.unusable_cards {
        let _ = writeln!(text, "{}", paint.bad(&output::harmless(&card.to_string())));
    }
    if report.findings.iter().all(|finding| finding.seen.is_none()) {
        output::page(text.trim_end())?;
        return ended;
    }
    let name = ours.shown_name();
    let parts = [
        (Conclusion::Error, "Errors of the service".to_owned()),
        (Conclusion::Differs, format!("Differs from the dialect {name:?}")),
        (Conclusion::Agrees, format!("Agrees with the dialect {name:?}")),
        (Conclusion::Seen, "Seen, without an entry in any dialect".to_owned()),
        (Conclusion::NotDecided, "Not decided".to_owned()),
        (
            Conclusion::Undecidable,
            "Not decidable from outside: ask the operator (docs/reference/questions.md)".to_owned(),
        ),
    ];
    for (conclusion, head) in parts {
        let of: Vec<&Told<'_>> = told.iter().filter(|one| one.finding.conclusion == conclusion).collect();
        if !of.is_empty() {
            let _ = writeln!(text, "\n{}", paint.bold(&format!("{head} ({})", of.len())));
            of.iter().for_each(|one| entry(one, name, paint, &mut text));
        }
    }
    let others: Vec<String> = others.iter().map(|number| format!("A{number}")).collect();
    let _ = write!(
        text,
        "\nNo dialect entry depends on these assumptions, and the survey does not check them:\n  {}",
        others.join(" ")
    );
    output::page(&text)?;
    ended
}

fn told(finding: &Finding) -> Told<'_> {
    let assumption = Assumption::numbered(finding.assumption);
    let asked = Assumption::numbered(finding.point.question);
    let question = asked.and_then(Question::of);
    let (title, chosen) = assumption.map_or(("", ""), |one| (one.title, one.chosen));
    Told { finding, title, chosen, entry: finding.point.entry, question }
}

/// One finding: the observation and the dialect's entry, then the request that shows it, or the reason why no request
/// does.
fn entry(told: &Told<'_>, name: &str, paint: Paint, text: &mut String) {
    let finding = told.finding;
    let head = format!("A{:<4}{:<36}", finding.assumption, finding.point.name);
    let ours =
        |prefix: &str| finding.ours.as_ref().map_or_else(String::new, |ours| format!("{prefix}{name} says: {ours}"));
    match (&finding.seen, &finding.evidence) {
        (Some(seen), Some(evidence)) => {
            let seen = output::harmless(&seen.to_string()).into_owned();
            let (seen, ours) = match finding.conclusion {
                Conclusion::Differs | Conclusion::Error => (paint.bad(&seen), ours("; ")),
                Conclusion::Agrees => (paint.good(&seen), String::new()),
                _ => (seen, String::new()),
            };
            let sure = if finding.confidence == Some(Confidence::Medium) {
                ", confidence medium"
            } else {
                ", confidence high"
            };
            let _ = writeln!(text, "  {head}{seen}{ours}{sure}");
            let shown = format!(
                "{}: HTTP {} {} {}",
                evidence.request,
                evidence.http,
                output::harmless(&evidence.code),
                output::harmless(&evidence.excerpt)
            );
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(text, "       {}", paint.dim(&shown));
        }
        _ => {
            let asked = told.question.as_ref().filter(|_| finding.conclusion == Conclusion::Undecidable);
            let asked = asked.map_or_else(String::new, |question| format!("question {}: ", question.number));
            let _ = writeln!(text, "  {head}{asked}{}", output::harmless(&finding.remark));
        }
    }
    if finding.seen.is_some() && !finding.remark.is_empty() {
        let _ = writeln!(text, "       {}", output::harmless(&finding.remark));
    }
}

fn others() -> Vec<u16> {
    let known: Vec<u16> = points().map(|point| point.assumption).collect();
    ASSUMPTIONS.iter().map(|one| one.number).filter(|number| !known.contains(number)).collect()
}

fn requests(report: &Report) -> String {
    format!("{} {}", report.requests, if report.requests == 1 { "request" } else { "requests" })
}

/// Returns the dialect file, with a header that states its origin and the open points.
pub(super) fn file(dialect: &Dialect, report: &Report, account: &Account) -> String {
    let address = account.base_urls().next().map(ToString::to_string).unwrap_or_default();
    let open = |conclusion| report.with(conclusion).map(|finding| finding.point.name).collect::<Vec<_>>().join(", ");
    let line = |text: &str| output::harmless(text).into_owned();
    let partial = match &report.ending {
        Ending::Complete => String::new(),
        ending => format!("# PARTIAL: {}\n", line(&ending.to_string())),
    };
    let errors: String =
        report.with(Conclusion::Error).map(|error| format!("# ERROR: {}\n", line(&error.remark))).collect();
    let cards: String =
        report.unusable_cards.iter().map(|card| format!("# INCOMPLETE: {}\n", line(&card.to_string()))).collect();
    format!(
        "{partial}{cards}{errors}# What `pg survey` saw at {}: {}. docs/guide/dialects.md explains each key.\n\
         # After an error without `remedy = \"fix-request\"`, clients look the payment up: the code may mean a used reference.\n\
         # Not decided: {}\n\
         # Not decidable from outside (docs/reference/questions.md): {}\n\n{}",
        line(&address),
        requests(report),
        line(&open(Conclusion::NotDecided)),
        line(&open(Conclusion::Undecidable)),
        dialect.to_toml()
    )
}
