//! "Did you mean": the known name that is nearest to an unknown name.

/// Returns the nearest name in `known`, if it is close enough.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = name.to_ascii_lowercase();
    let distances = known.into_iter().map(|known| (strsim::osa_distance(&typed, &known.to_ascii_lowercase()), known));
    let (distance, known) = distances.min_by_key(|(distance, _)| *distance)?;
    // Up to a third of the letters may be wrong; with more, it is another word.
    (distance * 3 <= typed.chars().count().max(3)).then_some(known)
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
            // Two swapped neighbouring letters count as one mistake.
            ("crurecny", Some("currency")),
            ("crrueycn", None),
            ("merchantRef", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
    }
}
