//! Hexadecimal text to bytes.

/// Decodes hexadecimal digits of either case into `bytes`. Returns false if the number of digits differs.
pub(crate) fn decode(text: &[u8], bytes: &mut [u8]) -> bool {
    if text.len() != 2 * bytes.len() {
        return false;
    }
    text.chunks_exact(2).zip(bytes).all(|(pair, byte)| {
        let digits = (value(pair[0]), value(pair[1]));
        if let (Some(high), Some(low)) = digits {
            *byte = high << 4 | low;
        }
        matches!(digits, (Some(_), Some(_)))
    })
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_either_case_and_nothing_else() {
        let mut bytes = [0; 3];
        assert!(decode(b"00fFa9", &mut bytes));
        assert_eq!(bytes, [0, 0xff, 0xa9]);
        for wrong in ["00ffa", "00ffa90", "00ffag", "", " 0ffa9"] {
            assert!(!decode(wrong.as_bytes(), &mut bytes), "{wrong}");
        }
    }
}
