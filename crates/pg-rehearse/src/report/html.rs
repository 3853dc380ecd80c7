//! The report as one page: a summary, and the details of each drill. No scripts, no external files.

use std::fmt::Write as _;

use pg_sandbox::sequence_diagram::{self, Step};

use super::{Outcome, Report, Verdict, junit::escaped};
use crate::{
    drill::EACH_FORM,
    finding::{Event, Lane},
};

const STYLE: &str = include_str!("style.css");

pub(super) fn page(report: &Report) -> String {
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escaped(&headline(report)),
    );
    summary(&mut text, report);
    families(&mut text, report);
    for (family, outcomes) in report.by_family() {
        let _ = write!(
            text,
            "<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n",
            family.name(),
            escaped(family.title())
        );
        outcomes.iter().for_each(|outcome| drill(&mut text, outcome));
        text.push_str("</section>\n");
    }
    text.push_str("<footer><p>Written by <code>pg rehearse</code>. Card numbers, CV2s and credentials are masked.</p></footer>\n</main>\n</body>\n</html>\n");
    text
}

fn headline(report: &Report) -> String {
    let all = report.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Failed);
    let (known, new): (Vec<&Outcome>, Vec<&Outcome>) = all.partition(|outcome| outcome.known);
    match new.len() {
        _ if report.interrupted => format!("Rehearsal, interrupted: {}", report.missing()),
        0 if !known.is_empty() => format!("Rehearsal: nothing failed but {} known", known.len()),
        0 => "Rehearsal: nothing failed".to_owned(),
        1 => "Rehearsal: one drill failed".to_owned(),
        failed => format!("Rehearsal: {failed} drills failed"),
    }
}

fn summary(text: &mut String, report: &Report) {
    let summary = report.summary();
    let _ = write!(text, "<header>\n<h1>{}</h1>\n", escaped(&headline(report)));
    let seconds = std::time::Duration::from_millis(report.milliseconds).as_secs_f64();
    let by = match &report.charged_by[..] {
        [] => String::new(),
        [only] => format!(" Charged by {only}."),
        [first, others @ ..] => {
            format!(" Charged by {first}, and in {} also by {}.", EACH_FORM.join(" and "), others.join(" and "))
        }
    };
    let _ = write!(
        text,
        "<p>{} {} in {seconds:.1} seconds, seed {}. Failures of severity {} and above count.{by}</p>\n<ul class=\"score\">\n",
        report.outcomes.len(),
        if report.outcomes.len() == 1 { "drill" } else { "drills" },
        report.seed,
        report.threshold,
    );
    for (verdict, number) in [
        (Verdict::Failed, summary.failed),
        (Verdict::Warning, summary.warning),
        (Verdict::Broken, summary.broken),
        (Verdict::Passed, summary.passed),
        (Verdict::NotApplicable, summary.not_applicable),
    ] {
        let _ = writeln!(text, "<li class=\"{0}\"><b>{number}</b> {0}</li>", verdict.name());
    }
    text.push_str("</ul>\n");
    let worst: Vec<&Outcome> = report.outcomes.iter().filter(|one| one.verdict == Verdict::Failed).collect();
    if !worst.is_empty() {
        text.push_str("<h2 id=\"found\">What would have happened</h2>\n<ul class=\"found\">\n");
        for outcome in worst {
            let why = outcome.findings.first().map(|finding| finding.text.as_str()).unwrap_or_default();
            let _ = writeln!(
                text,
                "<li><a href=\"#{0}\">{0}</a> <b>{1}</b> <span class=\"severity\">{2}</span><br>{3}</li>",
                outcome.drill.id,
                escaped(outcome.drill.title),
                outcome.drill.severity,
                escaped(why),
            );
        }
        text.push_str("</ul>\n");
    }
    text.push_str("</header>\n");
}

fn families(text: &mut String, report: &Report) {
    text.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Families\">\n<table class=\"families\">\n<caption>Families</caption>\n<thead><tr><th scope=\"col\">Family</th><th scope=\"col\">Passed</th>\
         <th scope=\"col\">Failed</th><th scope=\"col\">Warning</th><th scope=\"col\">Broken</th><th scope=\"col\">Not applicable</th></tr></thead>\n<tbody>\n",
    );
    for (family, outcomes) in report.by_family() {
        let of = |verdict| outcomes.iter().filter(|one| one.verdict == verdict).count();
        let _ = writeln!(
            text,
            "<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            family.name(),
            escaped(family.title()),
            of(Verdict::Passed),
            of(Verdict::Failed),
            of(Verdict::Warning),
            of(Verdict::Broken),
            of(Verdict::NotApplicable),
        );
    }
    text.push_str("</tbody>\n</table>\n</div>\n");
}

fn drill(text: &mut String, outcome: &Outcome) {
    let drill = outcome.drill;
    let open = if outcome.verdict.is_bad() { " open" } else { "" };
    let known = if outcome.known { " <span class=\"severity\">known</span>" } else { "" };
    let _ = write!(
        text,
        "<details id=\"{id}\" class=\"{verdict}\"{open}>\n<summary><span class=\"verdict\">{verdict}</span> <span class=\"id\">{id}</span> \
         {title} <span class=\"severity\">{severity}</span>{known}</summary>\n<p>{imitates}</p>\n",
        id = drill.id,
        verdict = outcome.verdict.name(),
        title = escaped(drill.title),
        severity = drill.severity,
        imitates = escaped(drill.imitates),
    );
    if !outcome.findings.is_empty() {
        text.push_str("<ul class=\"findings\">\n");
        for finding in &outcome.findings {
            let _ = writeln!(
                text,
                "<li class=\"{}\">{} <code>{}</code></li>",
                finding.verdict.name(),
                escaped(&finding.text),
                finding.kind
            );
        }
        text.push_str("</ul>\n");
    }
    let _ = write!(text, "<p><b>How to fix it:</b> {}</p>\n<dl>\n", escaped(drill.mend));
    for (name, list) in [("Claims", &outcome.claims), ("Ledger", &outcome.ledger)] {
        let value = if list.is_empty() { "nothing".to_owned() } else { list.join("; ") };
        let _ = writeln!(text, "<dt>{name}</dt><dd>{}</dd>", escaped(&value));
    }
    let _ = write!(text, "<dt>Based on</dt><dd>{}</dd>\n</dl>\n", escaped(drill.basis));
    if !outcome.events.is_empty() {
        let _ = write!(
            text,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Diagram of {}\">",
            drill.id
        );
        text.push_str(&diagram(drill.title, &outcome.events));
        text.push_str("</div>\n");
        events(text, outcome);
    }
    text.push_str("</details>\n");
}

fn events(text: &mut String, outcome: &Outcome) {
    text.push_str("<details class=\"line\"><summary>Timeline as a table</summary>\n<table>\n<thead><tr><th scope=\"col\">ms</th><th scope=\"col\">from</th><th scope=\"col\">to</th><th scope=\"col\">what</th></tr></thead>\n<tbody>\n");
    for event in &outcome.events {
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            event.at_ms,
            event.from.name(),
            event.to.name(),
            escaped(&event.text)
        );
    }
    text.push_str("</tbody>\n</table>\n</details>\n");
}

fn place(lane: Lane) -> usize {
    Lane::ALL.iter().position(|one| *one == lane).unwrap_or(0)
}

/// Returns the timeline of a drill as a sequence diagram: integration, wire, service, ledger.
fn diagram(title: &str, events: &[Event]) -> String {
    let steps: Vec<Step<'_>> = events.iter().map(step).collect();
    let label = format!("Sequence diagram: {title}; the table below has the same content");
    sequence_diagram::svg(&label, &Lane::ALL.map(Lane::name), &steps)
}

fn step(event: &Event) -> Step<'_> {
    let step = Step::new(place(event.from), place(event.to), &event.text);
    // An event from the wire to itself is the fault of the drill.
    if event.from == Lane::Wire && event.to == Lane::Wire { step.fault() } else { step }
}
