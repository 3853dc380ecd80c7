//! The order of signed parameters (spec 1 §5): by name, ignoring ASCII case. Names that differ only in case are sorted
//! by their bytes; equal names keep their order.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Up to this many parameters are sorted on the stack. No method of the service has more than about fifty.
const ON_STACK: usize = 64;

/// Bytes of a name that fit into one number.
const WINDOW: usize = 8;

/// Bytes of a slot.
const SLOT: usize = 16;

/// Bytes of a slot for the position: of a parameter on the stack, and of any other.
const SHORT: usize = 1;
const LONG: usize = 4;

/// Names with this many equal bytes are compared directly.
const DEEP: usize = 60;

/// Compares two names the way the signature orders them.
#[inline]
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    ignoring_case(a.as_bytes(), b.as_bytes()).then_with(|| a.cmp(b))
}

/// Visits `parameters` in signing order, except those that `wanted` rejects.
#[inline]
pub(crate) fn in_order<'a>(
    parameters: &[(&'a str, &'a str)],
    wanted: impl Fn(&str, &str) -> bool,
    mut visit: impl FnMut(&'a str, &'a str),
) {
    positions_in_order(parameters, wanted, |position| {
        let (name, value) = parameters[position];
        visit(name, value);
    });
}

/// Visits the positions of `parameters` in signing order, except those that `wanted` rejects. Equal names are adjacent.
#[inline]
pub(super) fn positions_in_order(
    parameters: &[(&str, &str)],
    wanted: impl Fn(&str, &str) -> bool,
    mut see: impl FnMut(usize),
) {
    let wanted = parameters.iter().enumerate().filter(|(_, (name, value))| wanted(name, value));
    if parameters.len() > ON_STACK {
        let mut slots: Vec<u128> = wanted.map(|(at, (name, _))| slot::<LONG>(name, 0, at)).collect();
        sort::<LONG>(&mut slots, parameters, 0);
        slots.iter().for_each(|slot| see(position::<LONG>(*slot)));
        return;
    }
    let mut slots = [0; ON_STACK];
    let mut used = 0;
    for (at, (name, _)) in wanted {
        slots[used] = slot::<SHORT>(name, 0, at);
        used += 1;
    }
    let slots = &mut slots[..used];
    sort::<SHORT>(slots, parameters, 0);
    slots.iter().for_each(|slot| see(position::<SHORT>(*slot)));
}

/// Returns a number that sorts by the lower-cased bytes of the name from byte `from`, and then by the position `at` in
/// the last bytes. Numbers sort several times faster than names.
#[inline]
fn slot<const POSITION: usize>(name: &str, from: usize, at: usize) -> u128 {
    (wide(&name.as_bytes()[from..]) & !mask::<POSITION>()) | at as u128
}

#[inline]
fn position<const POSITION: usize>(slot: u128) -> usize {
    (slot & mask::<POSITION>()) as usize
}

/// Returns the bits of the position.
const fn mask<const POSITION: usize>() -> u128 {
    (1 << (8 * POSITION)) - 1
}

/// Sorts slots made at byte `from`, and then each run of equal slots by the following bytes.
fn sort<const POSITION: usize>(slots: &mut [u128], parameters: &[(&str, &str)], from: usize) {
    slots.sort_unstable();
    let name = |slot| parameters[position::<POSITION>(slot)].0;
    let bits = 8 * POSITION;
    for run in slots.chunk_by_mut(|a, b| a >> bits == b >> bits) {
        let [first, _, ..] = run else { continue };
        // A zero is the end of the name, or a NUL character in it.
        let ended = (*first >> bits) & 0xff == 0;
        if ended || from >= DEEP {
            let by_position = |a: &u128, b: &u128| position::<POSITION>(*a).cmp(&position::<POSITION>(*b));
            run.sort_unstable_by(|a, b| compare(name(*a), name(*b)).then_with(|| by_position(a, b)));
        } else {
            let next = from + SLOT - POSITION;
            for each in run.iter_mut() {
                *each = slot::<POSITION>(name(*each), next, position::<POSITION>(*each));
            }
            sort::<POSITION>(run, parameters, next);
        }
    }
}

/// Returns the first 16 bytes in lower case as a number with the same order. Missing bytes are zero.
#[inline]
fn wide(bytes: &[u8]) -> u128 {
    let (head, tail) = if let Some(whole) = bytes.first_chunk::<SLOT>() {
        let whole = u128::from_be_bytes(*whole);
        ((whole >> 64) as u64, whole as u64)
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<WINDOW>(), bytes.last_chunk::<WINDOW>()) {
        // The two reads overlap by the missing bytes. Two shifts, since a full-width shift is invalid.
        let overlap = SLOT - bytes.len();
        (u64::from_be_bytes(*head), u64::from_be_bytes(*tail) << (4 * overlap) << (4 * overlap))
    } else {
        return u128::from(window(bytes)) << 64;
    };
    u128::from(lower_case(head)) << 64 | u128::from(lower_case(tail))
}

#[inline]
fn ignoring_case(mut a: &[u8], mut b: &[u8]) -> Ordering {
    loop {
        let (x, y) = (window(a), window(b));
        if x != y {
            return x.cmp(&y);
        }
        // Equal so far. The shorter name comes first, even if the longer one continues with NUL characters.
        if a.len() <= WINDOW || b.len() <= WINDOW {
            return a.len().cmp(&b.len());
        }
        (a, b) = (&a[WINDOW..], &b[WINDOW..]);
    }
}

/// Returns the first 8 bytes in lower case as a number with the same order. Missing bytes are zero.
#[inline]
fn window(bytes: &[u8]) -> u64 {
    let raw = if let Some(whole) = bytes.first_chunk::<8>() {
        u64::from_be_bytes(*whole)
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The two reads overlap; the shared bytes are equal.
        let missing = 8 * (WINDOW - bytes.len());
        (u64::from(u32::from_be_bytes(*head)) << 32) | (u64::from(u32::from_be_bytes(*tail)) << missing)
    } else {
        let gathered = bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        // Two shifts, since an empty name would shift by the full width.
        gathered << 8 << (8 * (WINDOW - 1 - bytes.len()))
    };
    lower_case(raw)
}

/// Lower-cases the ASCII letters among 8 bytes at once: sets bit 5 of those between `A` and `Z`.
#[inline]
const fn lower_case(bytes: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES * 0x80;
    let low_bits = bytes & !HIGH;
    let from_a = low_bits + ONES * (0x80 - b'A' as u64);
    let past_z = low_bits + ONES * (0x7f - b'Z' as u64);
    let letters = !bytes & (from_a ^ past_z) & HIGH;
    bytes | (letters >> 2)
}

/// The start of a name, so that debug builds can check the order of the next one without allocating.
#[cfg(debug_assertions)]
pub(crate) struct NameStart {
    bytes: [u8; Self::KEPT],
    len: usize,
}

#[cfg(debug_assertions)]
impl NameStart {
    const KEPT: usize = 64;

    pub(crate) fn new(name: &str) -> Self {
        // `str::floor_char_boundary` is newer than the minimum compiler version of this crate.
        let fits = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= Self::KEPT);
        let len = fits.last().unwrap_or(0);
        let mut bytes = [0; Self::KEPT];
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        Self { bytes, len }
    }

    /// Whether `next` may follow, judged by the stored part.
    pub(crate) fn may_precede(&self, next: &str) -> bool {
        ignoring_case(&self.bytes[..self.len], next.as_bytes()).is_le()
    }
}

#[cfg(debug_assertions)]
impl Default for NameStart {
    fn default() -> Self {
        Self::new("")
    }
}

#[cfg(debug_assertions)]
impl core::fmt::Display for NameStart {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(core::str::from_utf8(&self.bytes[..self.len]).unwrap_or("?"))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;
    use core::cmp::Ordering;

    use proptest::prelude::*;

    use super::{compare, in_order};

    /// The rule in its plain form.
    fn plain(a: &str, b: &str) -> Ordering {
        let lower = |s: &str| s.bytes().map(|b| b.to_ascii_lowercase()).collect::<Vec<_>>();
        lower(a).cmp(&lower(b)).then(a.as_bytes().cmp(b.as_bytes()))
    }

    // spec: 1 §5, A02, A29
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
            assert_eq!(compare(smaller, larger), Ordering::Less, "{smaller} {larger}");
            assert_eq!(compare(larger, smaller), Ordering::Greater);
            assert_eq!(plain(smaller, larger), Ordering::Less);
        }
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-cA-C]{0,3}",
            "(cardholderAddress|CardHolderAddress|itemName)[A-Ca-c0-9_]{0,12}",
            crate::texts::any_text(),
            "[aA]{50,64}[bB]?",
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
            names in prop::collection::vec(name(), 0..if cfg!(miri) { 6 } else { 80 })
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
