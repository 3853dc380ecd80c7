//! The baseline: failures that are known and do not count.

use std::collections::BTreeSet;

use super::Outcome;
use crate::finding::Finding;

/// What a baseline lists.
#[derive(Debug, Default)]
pub(crate) struct Known(Vec<Line>);

/// One line: drills, and which of their failures; all of them if it names none.
pub(crate) type Line = (BTreeSet<&'static str>, Option<String>);

impl Known {
    pub(crate) fn new(lines: Vec<Line>) -> Self {
        Self(lines)
    }

    /// Whether the baseline has this drill, and all that failed in it.
    pub(crate) fn knows(&self, outcome: &Outcome) -> bool {
        let lines = || self.0.iter().filter(|(drills, _)| drills.contains(outcome.drill.id));
        let has = |failure: &String| lines().any(|(_, name)| name.as_ref().is_none_or(|name| name == failure));
        lines().next().is_some() && failures(outcome).iter().all(has)
    }
}

/// Returns the names of what failed in a drill, each once.
fn failures(outcome: &Outcome) -> BTreeSet<String> {
    outcome.findings.iter().filter(|one| one.verdict.is_bad()).map(name).collect()
}

/// Returns the kind of a failure and the part of its drill, as one word: `moved-but-denied:error-119`.
fn name(finding: &Finding) -> String {
    let words = finding.part.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let part = words.collect::<Vec<_>>().join("-");
    if part.is_empty() { finding.kind.to_owned() } else { format!("{}:{part}", finding.kind) }
}

pub(super) fn file(outcomes: &[Outcome]) -> String {
    let mut text = "# Known failures: `pg rehearse --baseline FILE` does not count them.\n".to_owned();
    for outcome in outcomes.iter().filter(|outcome| outcome.verdict.is_bad()) {
        for failure in failures(outcome) {
            text.push_str(&format!("{}:{failure} # {}\n", outcome.drill.id, outcome.drill.title));
        }
    }
    text
}
