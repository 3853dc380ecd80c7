//! The text that is read in place of invalid bytes, so that a rejection takes as much work as an answer.

/// Overwrites bytes with a JSON object that fills them. Its white space is read byte by byte, which takes about as long
/// as names and values, and leaves no data behind.
pub(super) fn fill(bytes: &mut [u8]) {
    bytes.fill(b' ');
    if let [first, .., last] = bytes {
        (*first, *last) = (b'{', b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn a_decoy_is_json_of_every_length() {
        let mut bytes = [0xff; 16];
        fill(&mut bytes);
        assert_eq!(&bytes, b"{              }");
        fill(&mut []);
    }
}
