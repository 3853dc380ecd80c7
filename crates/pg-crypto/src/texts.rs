//! Texts for property tests.

use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

/// Any text. Miri would read proptest's pattern for it for a minute each time, so there it is any characters.
pub(crate) fn any_text() -> BoxedStrategy<String> {
    if cfg!(miri) {
        prop::collection::vec(any::<char>(), 0..12).prop_map(|letters: Vec<char>| letters.into_iter().collect()).boxed()
    } else {
        any::<String>().boxed()
    }
}
