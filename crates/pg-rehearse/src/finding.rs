//! The findings of a drill: verdicts, and the events of its timeline.

use serde::{Serialize, Serializer};

/// How a drill ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// Correct.
    Passed,
    /// The integration does not do this job.
    NotApplicable,
    /// The integration works, but could be better.
    Warning,
    /// The adapter itself failed; the drill proves nothing about payments.
    Broken,
    /// Money or secrets would have been lost.
    Failed,
}

impl Verdict {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotApplicable => "not-applicable",
            Self::Warning => "warning",
            Self::Broken => "broken",
            Self::Failed => "failed",
        }
    }

    /// Whether a report shows the details without a click.
    pub(crate) const fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Broken)
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A party of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Lane {
    /// The program under test.
    Integration,
    /// The network, with its faults.
    Wire,
    /// The service.
    Service,
    /// Its ledger.
    Ledger,
}

impl Lane {
    pub(crate) const ALL: [Self; 4] = [Self::Integration, Self::Wire, Self::Service, Self::Ledger];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Integration => "integration",
            Self::Wire => "wire",
            Self::Service => "service",
            Self::Ledger => "ledger",
        }
    }
}

/// One line of a timeline; masked.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Event {
    /// Milliseconds since the drill began.
    pub at_ms: u64,
    /// Who acts.
    pub from: Lane,
    /// The other party; the same party for a local event.
    pub to: Lane,
    /// The event.
    pub text: String,
}

/// A finding of the judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Its kind, for programs, as `charged-twice`.
    pub kind: &'static str,
    /// The part of the drill, such as `HTTP 502 of a gateway`; empty if it is about the whole drill.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// The finding; masked.
    pub text: String,
}

impl Finding {
    pub(crate) fn new(kind: &'static str, verdict: Verdict, text: String) -> Self {
        Self { kind, part: String::new(), verdict, text }
    }

    /// Says of which part of a drill it is; a drill with one part has no name for it.
    pub(crate) fn of_part(self, part: &str) -> Self {
        if part.is_empty() {
            return self;
        }
        Self { part: part.to_owned(), text: format!("{part}: {}", self.text), ..self }
    }
}
