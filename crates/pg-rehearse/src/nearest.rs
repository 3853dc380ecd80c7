//! "Did you mean": the known name that is nearest to an unknown one.

/// Returns the nearest of `known`, if at most a third of its letters are wrong.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = name.to_ascii_lowercase();
    let (distance, known) = known.into_iter().map(|known| (strsim::osa_distance(&typed, known), known)).min()?;
    (distance * 3 <= typed.chars().count().max(3) + 1).then_some(known)
}

/// `; did you mean …?`, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}

/// `; did you mean …?`, or the list of known names.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("; did you mean {meant}?"),
        None => format!("; known: {}", known.join(", ")),
    }
}
