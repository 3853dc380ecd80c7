//! The output of a walk: each step as it happens, and the summary. With `--json` one document at the end.

use http::{HeaderMap, header::CONTENT_TYPE};
use serde::Serialize;
use serde_json::Value;

use super::{
    fields::{self, Pair},
    page::Page,
    wire::{Exchange, Reply},
};
use crate::{
    failure::Failure,
    output::{self, Paint},
};

/// The sandbox's header with the basis of a reply.
const BASIS: &str = "pg-basis";

/// The number of characters after which a long value is cut.
const SHOWN: usize = 72;

/// One step and its result.
pub(in crate::command) struct Step {
    pub(in crate::command) title: &'static str,
    pub(in crate::command) story: &'static str,
    pub(in crate::command) exchanges: Vec<Exchange>,
    /// Findings without a request, as names and values.
    pub(in crate::command) findings: Vec<Pair>,
    /// The result, or the unexpected result.
    pub(in crate::command) seen: Result<String, String>,
}

/// The ledger at the end, for programs and for people.
pub(in crate::command) struct Ledger {
    pub(in crate::command) json: Value,
    pub(in crate::command) page: String,
}

/// Collects the steps, and prints them unless the output is for programs.
pub(in crate::command) struct Report {
    json: bool,
    paint: Paint,
    base: String,
    chapter: &'static str,
    steps: Vec<ShownStep>,
    /// The first output that could not be written.
    failure: Option<Failure>,
}

/// A step, masked, in its form for programs.
#[derive(Serialize)]
struct ShownStep {
    step: usize,
    chapter: &'static str,
    title: &'static str,
    ok: bool,
    result: String,
    exchanges: Vec<ShownExchange>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Named>,
}

#[derive(Serialize)]
struct ShownExchange {
    /// Whether the service sent the message.
    callback: bool,
    request: String,
    sent: Vec<Named>,
    status: Option<u16>,
    /// The section and the assumptions that the reply is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    basis: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    received: Vec<Named>,
}

#[derive(Serialize)]
struct Named {
    name: String,
    value: String,
}

impl Report {
    /// Creates a report of a sandbox at an address, under a title.
    pub(in crate::command) fn new(json: bool, title: &str, base: String) -> Self {
        let mut report = Self { json, paint: Paint::of_stdout(), base, chapter: "", steps: Vec::new(), failure: None };
        if !json {
            let title = report.paint.bold(title);
            let page = format!("{title}\nover HTTP to a sandbox at {}; secrets are masked\n", report.base);
            report.print(&page);
        }
        report
    }

    /// Begins a chapter with the next steps.
    pub(in crate::command) fn chapter(&mut self, title: &'static str) {
        self.chapter = title;
        if !self.json {
            let line = format!("{}\n", self.paint.bold(title));
            self.print(&line);
        }
    }

    /// Shows a step and keeps it for the summary.
    pub(in crate::command) fn add(&mut self, step: Step) {
        let number = self.steps.len() + 1;
        let (ok, result) = match step.seen {
            Ok(seen) => (true, seen),
            Err(seen) => (false, seen),
        };
        let shown = ShownStep {
            step: number,
            chapter: self.chapter,
            title: step.title,
            ok,
            result,
            exchanges: step.exchanges.iter().map(ShownExchange::of).collect(),
            findings: named(step.findings),
        };
        if !self.json {
            self.print(&shown.lines(step.story, self.paint));
        }
        self.steps.push(shown);
    }

    /// Prints the summary, and the ledger if it is given. Returns whether every step went as expected.
    ///
    /// # Errors
    /// If the output could not be written.
    pub(in crate::command) fn finish(mut self, ledger: Option<&Ledger>) -> Result<bool, Failure> {
        let ok = self.steps.iter().all(|step| step.ok);
        if self.json {
            #[derive(Serialize)]
            #[serde(rename_all = "camelCase")]
            struct Whole<'a> {
                ok: bool,
                base_url: &'a str,
                steps: &'a [ShownStep],
                #[serde(skip_serializing_if = "Option::is_none")]
                ledger: Option<&'a Value>,
            }
            let ledger = ledger.map(|ledger| &ledger.json);
            output::json(&Whole { ok, base_url: &self.base, steps: &self.steps, ledger })?;
        } else {
            let summary = self.summary(ok);
            self.print(&summary);
            if let Some(ledger) = ledger {
                let ledger = format!("\n{}\n{}", self.paint.bold("Ledger"), ledger.page);
                self.print(&ledger);
            }
        }
        self.failure.map_or(Ok(ok), Err)
    }

    fn summary(&self, ok: bool) -> String {
        let paint = self.paint;
        let width = self.steps.iter().map(|step| step.title.len()).max().unwrap_or_default();
        let mut lines = vec![paint.bold("Summary")];
        let mut chapter = "";
        for step in &self.steps {
            if step.chapter != chapter {
                chapter = step.chapter;
                lines.push(format!("  {chapter}"));
            }
            lines.push(format!("  {:>4}  {}  {:width$}  {}", step.step, mark(step.ok, paint), step.title, step.result));
        }
        let good = self.steps.iter().filter(|step| step.ok).count();
        let line = format!("{good} of {} steps went as expected", self.steps.len());
        lines.push(String::new());
        lines.push(if ok { paint.good(&line) } else { paint.bad(&line) });
        lines.join("\n")
    }

    fn print(&mut self, text: &str) {
        if let Err(failure) = output::page(text) {
            self.failure.get_or_insert(failure);
        }
    }
}

impl ShownStep {
    fn lines(&self, story: &str, paint: Paint) -> String {
        let mut lines =
            vec![paint.bold(&format!("{:>2}  {}", self.step, self.title)), paint.dim(&format!("    {story}"))];
        for exchange in &self.exchanges {
            let (there, here) = (paint.out("→"), paint.back("←"));
            let (first, second) = if exchange.callback { (here, there) } else { (there, here) };
            lines.push(format!("    {first} {}", exchange.request));
            lines.extend(table(&exchange.sent, cut));
            let status = exchange.status.map_or_else(|| "no reply".to_owned(), |status| format!("HTTP {status}"));
            let basis =
                exchange.basis.as_ref().map_or_else(String::new, |basis| paint.dim(&format!("  (spec {basis})")));
            lines.push(format!("    {second} {status}{basis}"));
            if let Some(location) = &exchange.location {
                lines.push(format!("        Location: {}", cut(location)));
            }
            lines.extend(table(&exchange.received, cut));
        }
        if !self.findings.is_empty() {
            lines.push(format!("    {}", paint.back("=")));
            lines.extend(table(&self.findings, str::to_owned));
        }
        lines.push(format!("    {} {}", mark(self.ok, paint), self.result));
        lines.push(String::new());
        lines.join("\n")
    }
}

impl ShownExchange {
    fn of(exchange: &Exchange) -> Self {
        let preview = pg_proto::Preview::of(&exchange.request);
        let sent = if is(exchange.request.headers(), "application/json")
            || is(exchange.request.headers(), "application/xml")
        {
            fields::of_body(exchange.request.body())
        } else {
            preview.parameters
        };
        let reply = exchange.reply.as_ref();
        Self {
            callback: exchange.callback,
            request: preview.target,
            sent: named(sent),
            status: reply.map(|reply| reply.status.as_u16()),
            basis: reply.and_then(|reply| reply.header(BASIS)),
            location: reply.and_then(|reply| reply.header("location")),
            received: reply.map(|reply| named(received(reply))).unwrap_or_default(),
        }
    }
}

/// Returns the fields of a reply, or the content of a page.
fn received(reply: &Reply) -> Vec<Pair> {
    if is(&reply.headers, "text/html") {
        Page::read(&String::from_utf8_lossy(&reply.body)).shown()
    } else {
        fields::of_body(&reply.body)
    }
}

fn is(headers: &HeaderMap, kind: &str) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|given| given.as_bytes().starts_with(kind.as_bytes()))
}

fn named(pairs: Vec<Pair>) -> Vec<Named> {
    pairs.into_iter().map(|(name, value)| Named { name, value }).collect()
}

fn table(pairs: &[Named], value: fn(&str) -> String) -> impl Iterator<Item = String> + '_ {
    let width = pairs.iter().map(|pair| pair.name.chars().count()).max().unwrap_or_default();
    pairs.iter().map(move |pair| format!("        {:width$}  {}", pair.name, value(&pair.value)))
}

fn cut(value: &str) -> String {
    let characters = value.chars().count();
    if characters <= SHOWN {
        return value.to_owned();
    }
    format!("{}… ({characters} characters)", value.chars().take(SHOWN).collect::<String>())
}

fn mark(ok: bool, paint: Paint) -> String {
    if ok { paint.good("✓") } else { paint.bad("✗") }
}
