//! The order in which parameters are signed (spec 1 §5): by name without regard to ASCII case. Names that
//! differ only in case are ordered by their bytes; equal names keep the order in which they came.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Up to so many parameters are ordered on the stack. No method of the service names more than about fifty.
const ON_STACK: usize = 64;

/// Bytes of a name that one comparison looks at.
const WINDOW: usize = 16;

/// Compares two names the way the signature orders them.
#[inline]
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    ignoring_case(a.as_bytes(), b.as_bytes()).then_with(|| a.cmp(b))
}

/// Visits the positions of `parameters` in signing order; those that `wanted` refuses are left out.
#[inline]
pub(crate) fn in_order<'a>(
    parameters: &[(&'a str, &'a str)],
    wanted: impl Fn(&str, &str) -> bool,
    mut visit: impl FnMut(&'a str, &'a str),
) {
    if parameters.len() > ON_STACK {
        let mut order: Vec<_> = parameters
            .iter()
            .filter(|(name, value)| wanted(name, value))
            .collect();
        order.sort_by(|a, b| compare(a.0, b.0));
        order.iter().for_each(|(name, value)| visit(name, value));
        return;
    }
    let mut slots = [0; ON_STACK];
    let mut used = 0;
    for (at, (name, value)) in parameters.iter().enumerate() {
        if wanted(name, value) {
            slots[used] = slot(name, at);
            used += 1;
        }
    }
    let order = &mut slots[..used];
    order.sort_unstable();
    settle_ties(order, parameters);
    for &slot in order.iter() {
        let (name, value) = parameters[position(slot)];
        visit(name, value);
    }
}

/// One number that orders as the first 15 bytes of a lower-cased name do, and then as the position.
#[inline]
fn slot(name: &str, at: usize) -> u128 {
    (window(name.as_bytes()) & !0xff) | at as u128
}

#[inline]
fn position(slot: u128) -> usize {
    (slot & 0xff) as usize
}

/// Names that share their first 15 bytes stand side by side by now, in the order they came.
#[inline]
fn settle_ties(order: &mut [u128], parameters: &[(&str, &str)]) {
    let name = |slot| parameters[position(slot)].0;
    let mut rest = order;
    while let Some(first) = rest.first() {
        let tied = rest
            .iter()
            .take_while(|slot| **slot >> 8 == first >> 8)
            .count();
        let (run, after) = rest.split_at_mut(tied);
        if tied > 1 {
            run.sort_unstable_by(|a, b| compare(name(*a), name(*b)).then(a.cmp(b)));
        }
        rest = after;
    }
}

#[inline]
fn ignoring_case(mut a: &[u8], mut b: &[u8]) -> Ordering {
    loop {
        let (x, y) = (window(a), window(b));
        if x != y {
            return x.cmp(&y);
        }
        // Equal so far; the shorter one comes first, also where the longer goes on with NUL characters.
        if a.len() <= WINDOW || b.len() <= WINDOW {
            return a.len().cmp(&b.len());
        }
        (a, b) = (&a[WINDOW..], &b[WINDOW..]);
    }
}

/// The first 16 bytes, lower-cased, as a number that orders as they do; zeros stand for missing bytes.
#[inline]
fn window(bytes: &[u8]) -> u128 {
    let raw = if let Some(whole) = bytes.first_chunk::<16>() {
        u128::from_be_bytes(*whole)
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        // The two reads overlap; the bytes that both see agree.
        let missing = 8 * (WINDOW - bytes.len());
        (u128::from(u64::from_be_bytes(*head)) << 64)
            | (u128::from(u64::from_be_bytes(*tail)) << missing)
    } else {
        let gathered = bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        // Two steps, as an empty name would shift by the whole width.
        gathered << 8 << (8 * (WINDOW - 1 - bytes.len()))
    };
    lower_case(raw)
}

/// Lower-cases the ASCII letters among 16 bytes at once: bit 5 is set in those between `A` and `Z`.
#[inline]
const fn lower_case(bytes: u128) -> u128 {
    const ONES: u128 = u128::MAX / 0xff;
    const HIGH: u128 = ONES * 0x80;
    let low_bits = bytes & !HIGH;
    let from_a = low_bits + ONES * (0x80 - b'A' as u128);
    let past_z = low_bits + ONES * (0x7f - b'Z' as u128);
    let letters = !bytes & (from_a ^ past_z) & HIGH;
    bytes | (letters >> 2)
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;
    use core::cmp::Ordering;

    use proptest::prelude::*;

    use super::{compare, in_order};

    /// The rule, said plainly.
    fn plain(a: &str, b: &str) -> Ordering {
        let lower = |s: &str| {
            s.bytes()
                .map(|b| b.to_ascii_lowercase())
                .collect::<Vec<_>>()
        };
        lower(a).cmp(&lower(b)).then(a.as_bytes().cmp(b.as_bytes()))
    }

    #[test]
    fn orders_as_the_worked_rule_says() {
        for (smaller, larger) in [
            ("apiKey", "apiPassword"),
            ("apikey", "apiPassword"),
            ("B", "c"),
            ("A", "a"),
            ("itemName10", "itemName2"),
            ("cardholderAddressLine1", "cardholderAddressline2"),
            ("", "a"),
            ("a", "a\0"),
            ("Z_", "za"),
            ("z", "é"),
        ] {
            assert_eq!(
                compare(smaller, larger),
                Ordering::Less,
                "{smaller} {larger}"
            );
            assert_eq!(compare(larger, smaller), Ordering::Greater);
            assert_eq!(plain(smaller, larger), Ordering::Less);
        }
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-cA-C]{0,3}",
            "(cardholderAddress|CardHolderAddress|itemName)[A-Ca-c0-9_]{0,12}",
            any::<String>(),
            "[@A-Z\\[`a-z{\u{0}\u{7f}é]{0,20}",
        ]
    }

    proptest! {
        #[test]
        fn compare_follows_the_plain_rule(a in name(), b in name()) {
            prop_assert_eq!(compare(&a, &b), plain(&a, &b));
        }

        #[test]
        fn in_order_is_a_stable_sort_of_what_is_wanted(
            names in prop::collection::vec(name(), 0..80)
        ) {
            let values: Vec<_> = (0..names.len()).map(|at| alloc::format!("{at}")).collect();
            let parameters: Vec<_> =
                names.iter().zip(&values).map(|(n, v)| (n.as_str(), v.as_str())).collect();
            let wanted = |_: &str, value: &str| !value.ends_with('7');
            let mut seen = Vec::new();
            in_order(&parameters, wanted, |name, value| seen.push((name, value)));

            let mut expected: Vec<_> =
                parameters.iter().copied().filter(|(n, v)| wanted(n, v)).collect();
            expected.sort_by(|a, b| plain(a.0, b.0));
            prop_assert_eq!(seen, expected);
        }
    }
}
