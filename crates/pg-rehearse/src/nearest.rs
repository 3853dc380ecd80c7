//! "Did you mean": the known name that is nearest to an unknown one.

/// The nearest of `known`, if at most a third of its letters are wrong.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = name.to_ascii_lowercase();
    let (distance, known) = known.into_iter().map(|known| (distance(&typed, known), known)).min()?;
    (distance * 3 <= typed.chars().count().max(3) + 1).then_some(known)
}

/// `; did you mean …?`, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}

/// Letters to insert, delete or replace, or neighbours to swap.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, a) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in to.iter().enumerate() {
            let mut least = (last[column] + usize::from(a != b)).min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *a == to[column - 1] && from[row - 1] == *b {
                least = least.min(before[column - 1] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}
