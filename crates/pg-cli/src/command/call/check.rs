//! Checks parameters before the request is built.

use std::collections::BTreeMap;

use pg_model::{Parameters, Rule, Violation, method::MethodInfo};

use crate::{failure::Failure, reference, suggestion};

/// Checks parameters against every rule of the method, and rejects unknown and repeated names.
///
/// # Errors
/// All violations at once; unknown names with the nearest known one.
pub(super) fn check(info: &MethodInfo, parameters: &Parameters) -> Result<(), Failure> {
    let mut violations = info.check_parameters(parameters);
    for (name, times) in twice(parameters) {
        let (rule, found) = (Rule::Together("must be given only once"), format!("{times} values"));
        violations.push(Violation::of_request(name, rule, found));
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

/// Returns names that occur more than once, and how often each does.
fn twice(parameters: &Parameters) -> impl Iterator<Item = (&str, usize)> {
    let mut times = BTreeMap::new();
    parameters.iter().for_each(|(name, _)| *times.entry(name).or_default() += 1);
    times.into_iter().filter(|(_, times)| *times > 1)
}
