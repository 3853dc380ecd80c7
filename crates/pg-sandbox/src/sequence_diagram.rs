//! Sequence diagrams as SVG, for a page that has its own colours: the inspector's page of a transaction, and the reports of
//! `pg rehearse`.
//!
//! ```
//! use pg_sandbox::sequence_diagram::{Step, svg};
//!
//! let steps = [Step::new(0, 1, "transaction/auth"), Step::new(1, 1, "reply lost").fault()];
//! let picture = svg("A lost reply", &["integration", "wire"], &steps);
//! assert!(picture.starts_with("<svg class=\"picture\"") && picture.contains("reply lost"));
//! ```

pub use crate::service::Step;

/// A diagram with these lanes, for the body of an HTML page. Texts are escaped and cut to fit, and the first 60 steps are
/// drawn: a table beside it tells the rest. Its classes are `picture`, `head`, `lane`, `life`, `arrow`, `tip`, `dot`, `say`
/// and `fault`.
#[must_use]
pub fn svg(label: &str, lanes: &[&str], steps: &[Step<'_>]) -> String {
    crate::service::sequence_diagram(label, lanes, steps)
}
