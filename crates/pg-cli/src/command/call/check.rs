//! The check of parameters before anything is built.

use pg_model::{Parameters, Rule, Violation, method::MethodInfo};

use crate::{failure::Failure, reference, suggestion};

/// Checks parameters: every rule of the method, names that it does not have, and names that come twice.
///
/// # Errors
/// All violations at once; unknown names with the nearest known one.
pub(super) fn check(info: &MethodInfo, parameters: &Parameters) -> Result<(), Failure> {
    let mut violations = info.check_parameters(parameters);
    for name in twice(parameters) {
        violations.together(name, "must be given once only", "");
    }
    if violations.is_empty() {
        return Ok(());
    }
    let count = violations.iter().count();
    let rules = if count == 1 { "one rule is" } else { &format!("{count} rules are") };
    let path = reference::path(info);
    let failure = Failure::misuse(format!("{path}: {rules} broken, nothing was sent; see `pg methods {path}`"));
    Err(violations.iter().fold(failure, |failure, violation| failure.violation(violation, meant(info, violation))))
}

fn meant(info: &MethodInfo, violation: &Violation) -> Option<String> {
    if violation.rule != Rule::Unknown {
        return None;
    }
    suggestion::nearest(&violation.name, info.fields.iter().map(|field| field.wire)).map(str::to_owned)
}

/// Names that occur more than once, each once.
fn twice(parameters: &Parameters) -> Vec<&str> {
    let mut names: Vec<&str> = parameters.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    let mut repeated: Vec<&str> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    repeated.dedup();
    repeated
}
