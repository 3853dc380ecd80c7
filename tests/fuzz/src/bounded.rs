//! A bound on the memory that a reader takes for its input.

/// The memory that a reader may use for any input.
const FLOOR: u64 = 64 << 10;

/// Runs a reader and checks that it never held more than `times` bytes for each byte of its input.
pub(crate) fn bounded<T>(input: usize, times: u64, read: impl FnOnce() -> T) -> T {
    let mut result = None;
    let allocated = allocation_counter::measure(|| result = Some(read()));
    let most = FLOOR + times * input as u64;
    assert!(allocated.bytes_max <= most, "{} bytes held for {input} bytes of input, over {most}", allocated.bytes_max);
    result.unwrap()
}
