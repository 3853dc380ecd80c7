//! Passes the fields of generated requests to a sink without allocating memory.

use alloc::vec::Vec;

use arrayvec::ArrayString;

use crate::{
    field::Field,
    parameters::{Named, ParameterSink},
    text::Text,
};

/// The longest name of an item's parameter: a wire name of 40 characters, which the generator checks, plus a number.
const NAME_LIMIT: usize = 64;

/// A required field.
pub(crate) fn text(sink: &mut dyn ParameterSink, field: &'static Field, value: &dyn Text) {
    sink.parameter(field, field.wire, value.text());
}

/// An optional field; an empty value that was set is sent, since it can mean "remove the stored value".
pub(crate) fn optional<T: Text>(sink: &mut dyn ParameterSink, field: &'static Field, value: &Option<T>) {
    if let Some(value) = value {
        text(sink, field, value);
    }
}

/// A whole number.
pub(crate) fn number(sink: &mut dyn ParameterSink, field: &'static Field, value: impl itoa::Integer) {
    sink.parameter(field, field.wire, itoa::Buffer::new().format(value));
}

/// An optional whole number.
pub(crate) fn optional_number(sink: &mut dyn ParameterSink, field: &'static Field, value: Option<impl itoa::Integer>) {
    if let Some(value) = value {
        number(sink, field, value);
    }
}

/// Parameters of one prefix, ordered by name.
pub(crate) fn named(sink: &mut dyn ParameterSink, field: &'static Field, values: &Named) {
    let mut ordered: Vec<(&str, &str)> = values.iter().collect();
    ordered.sort_by(|(a, _), (b, _)| order_of_names(a, b));
    for (name, value) in ordered {
        sink.parameter(field, name, value);
    }
}

/// Returns the order of parameters for signing: by name, ignoring ASCII case; equal names by their bytes (assumption
/// A02).
#[must_use]
pub fn order_of_names(a: &str, b: &str) -> core::cmp::Ordering {
    let folded = a.bytes().map(|b| b.to_ascii_lowercase()).cmp(b.bytes().map(|b| b.to_ascii_lowercase()));
    folded.then_with(|| a.cmp(b))
}

/// Returns a text field of every item, in the order of names: `0 1 10 11 2 …`, since names are compared as text. Where
/// the number is in brackets, as in version 5, that is `[0] [10] [11] [1] [2] …`.
pub(crate) fn item_texts<I, T: Text>(
    sink: &mut dyn ParameterSink,
    field: &'static Field,
    items: &[I],
    of: impl Fn(&I) -> Option<&T>,
) {
    each_item(sink.reads_item_names(), field, items, of, |name, value| sink.parameter(field, name, value.text()));
}

/// Returns a whole number of every item, in the same order.
pub(crate) fn item_numbers<I, N: itoa::Integer>(
    sink: &mut dyn ParameterSink,
    field: &'static Field,
    items: &[I],
    of: impl Fn(&I) -> Option<N>,
) {
    each_item(sink.reads_item_names(), field, items, of, |name, value| {
        sink.parameter(field, name, itoa::Buffer::new().format(value));
    });
}

fn each_item<'i, I, V>(
    with_names: bool,
    field: &Field,
    items: &'i [I],
    of: impl Fn(&'i I) -> Option<V>,
    mut visit: impl FnMut(&str, V),
) {
    if !with_names {
        return items.iter().filter_map(of).for_each(|value| visit(field.wire, value));
    }
    // A search for one character is far cheaper than a search for "{n}".
    let Some((before, after)) = field.wire.split_once('{') else { return };
    let after = after.strip_prefix("n}").unwrap_or_default();
    // The character after the number is compared with the next digit of a longer number.
    let shorter_first = after.bytes().next().is_none_or(|next| next < b'0');
    let mut name = ArrayString::<NAME_LIMIT>::from(before).unwrap_or_default();
    for first_digit in 0..items.len().min(10) {
        in_order_of_text(first_digit, items.len(), shorter_first, &mut |at| {
            let Some(value) = of(&items[at]) else { return };
            name.truncate(before.len());
            name.push_str(itoa::Buffer::new().format(at));
            name.push_str(after);
            visit(&name, value);
        });
    }
}

/// Calls `visit` with every number below `count` whose decimal text begins with that of `number`, ordered as texts are.
fn in_order_of_text(number: usize, count: usize, shorter_first: bool, visit: &mut impl FnMut(usize)) {
    if number >= count {
        return;
    }
    if shorter_first {
        visit(number);
    }
    // No number continues after a leading zero.
    if number > 0 && number <= count / 10 {
        for digit in 0..10 {
            in_order_of_text(number * 10 + digit, count, shorter_first, visit);
        }
    }
    if !shorter_first {
        visit(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};

    #[test]
    fn item_numbers_come_in_the_order_of_their_texts() {
        for (after, shorter_first) in [("", true), ("]", false)] {
            for count in [0, 1, 2, 9, 10, 11, 20, 99, 100, 101, if cfg!(miri) { 123 } else { 1234 }] {
                let mut expected: Vec<String> = (0..count).map(|n: usize| n.to_string() + after).collect();
                expected.sort();
                let mut found = Vec::new();
                for first_digit in 0..10 {
                    in_order_of_text(first_digit, count, shorter_first, &mut |n| found.push(n.to_string() + after));
                }
                assert_eq!(found, expected, "{count} items");
            }
        }
    }
}
