//! The initialisation vector. The documents call it alphanumeric and say no more (spec 2 §4.2).

use super::hex;

/// How the `iv` parameter encodes the 16 bytes of an initialisation vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IvFormat {
    /// 16 characters are [`Text`](Self::Text), 32 are [`Hex`](Self::Hex).
    #[default]
    Detect,
    /// 16 characters, whose bytes are the vector.
    Text,
    /// 32 hexadecimal digits, of either case.
    Hex,
}

impl IvFormat {
    /// Returns the vector, or `None` if the text has another form.
    pub(crate) fn decode(self, iv: &str) -> Option<[u8; 16]> {
        let text = iv.as_bytes();
        if self != Self::Hex
            && let Ok(bytes) = text.try_into()
        {
            return Some(bytes);
        }
        let mut bytes = [0; 16];
        (self != Self::Text && hex::decode(text, &mut bytes)).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::IvFormat;

    // spec: 2 §4.2, A31
    #[test]
    fn decodes_the_configured_forms() {
        let text = "0123456789abcdef";
        let verbatim = Some(*b"0123456789abcdef");
        let hex = "ff".repeat(16);
        assert_eq!(IvFormat::Detect.decode(text), verbatim);
        assert_eq!(IvFormat::Text.decode(text), verbatim);
        assert_eq!(IvFormat::Hex.decode(text), None);
        assert_eq!(IvFormat::Detect.decode(&hex), Some([0xff; 16]));
        assert_eq!(IvFormat::Hex.decode(&hex), Some([0xff; 16]));
        assert_eq!(IvFormat::Text.decode(&hex), None);
        for wrong in ["", "short", &"g".repeat(32), &"a".repeat(31)] {
            assert_eq!(IvFormat::Detect.decode(wrong), None, "{wrong}");
        }
    }
}
