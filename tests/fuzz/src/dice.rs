//! Decisions made from the bytes of an input.

use arbitrary::Unstructured;

/// The input as a source of decisions; when it is used up, every decision is the first one.
pub(crate) struct Dice<'a>(Unstructured<'a>);

impl<'a> Dice<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self(Unstructured::new(input))
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.0.is_empty()
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.int_in_range(0..=end.saturating_sub(1)).unwrap_or(0)
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// A text of at most `longest` bytes.
    pub(crate) fn text(&mut self, longest: usize) -> String {
        String::from_utf8_lossy(self.bytes(longest)).into_owned()
    }

    pub(crate) fn bytes(&mut self, longest: usize) -> &'a [u8] {
        let length = self.below(longest + 1).min(self.0.len());
        self.0.bytes(length).unwrap_or_default()
    }

    /// The remaining bytes.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }
}
