//! "Did you mean": the known name that is nearest to one that is not known.

/// The nearest name in `known`, if it is close enough.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = name.to_ascii_lowercase();
    let distances = known.into_iter().map(|known| (distance(&typed, &known.to_ascii_lowercase()), known));
    let (distance, known) = distances.min_by_key(|(distance, _)| *distance)?;
    // A third of the letters may be wrong; beyond that it is another word.
    (distance * 3 <= typed.chars().count().max(3)).then_some(known)
}

/// Letters to insert, delete or replace, or neighbours to swap, to get from one text to the other (Damerau).
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, a) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in to.iter().enumerate() {
            let replace = last[column] + usize::from(a != b);
            let mut least = replace.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *a == to[column - 1] && from[row - 1] == *b {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["cardNumber", "cardCV2", "currency", "merchantReference"];
        for (typed, meant) in [
            ("cardnumber", Some("cardNumber")),
            ("carNdumber", Some("cardNumber")),
            ("cardCvv", Some("cardCV2")),
            ("curency", Some("currency")),
            ("merchantRef", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
    }

    #[test]
    fn swapped_neighbours_count_once() {
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
