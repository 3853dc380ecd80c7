//! The form encoding of request bodies: `application/x-www-form-urlencoded` (spec 1 §4.1, 3 §4).

/// Whether a byte stands for itself.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        plain[byte] = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_');
        byte += 1;
    }
    plain
};

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Appends a name or a value. Runs of plain bytes are copied whole: long values, such as thousands of card keys, are
/// almost nothing else.
pub(crate) fn encode(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| !PLAIN[usize::from(*byte)]) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b' ' => out.push(b'+'),
            byte => out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Appends `name=`, with `&` before it where it is not the first.
pub(crate) fn begin(out: &mut Vec<u8>, name: &str) {
    if !out.is_empty() {
        out.push(b'&');
    }
    encode(out, name);
    out.push(b'=');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body(pairs: &[(String, String)]) -> String {
        let mut out = Vec::new();
        for (name, value) in pairs {
            begin(&mut out, name);
            encode(&mut out, value);
        }
        String::from_utf8(out).expect("ASCII")
    }

    proptest! {
        #[test]
        fn it_is_what_serde_urlencoded_makes(pairs: Vec<(String, String)>) {
            prop_assert_eq!(body(&pairs), serde_urlencoded::to_string(&pairs).expect("a form"));
        }
    }

    #[test]
    fn what_means_something_in_a_form_is_escaped() {
        let pairs = [("a b".to_owned(), "1+1=2&x%ü".to_owned())];
        assert_eq!(body(&pairs), "a+b=1%2B1%3D2%26x%25%C3%BC");
    }
}
