//! Percent-encoding.

/// The value of each hexadecimal digit, and [`NONE`] for other bytes.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789abcdef"[value as usize];
        values[digit as usize] = value;
        values[digit.to_ascii_uppercase() as usize] = value;
        value += 1;
    }
    values
};
const NONE: u8 = 16;

/// Bytes without their escapes.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// Whether every `%` was followed by two hexadecimal digits. Other `%` signs are kept.
    pub(super) is_valid: bool,
}

/// Decodes escapes, and turns plus signs into spaces.
pub(super) fn decoded(written: &[u8]) -> Decoded {
    let mut bytes = Vec::with_capacity(written.len());
    let mut is_valid = true;
    let mut rest = written;
    loop {
        rest = match rest {
            [b'%', high, low, behind @ ..] if escape(*high, *low).is_some() => {
                bytes.extend(escape(*high, *low));
                behind
            }
            [b'%', behind @ ..] => {
                is_valid = false;
                bytes.push(b'%');
                behind
            }
            [b'+', behind @ ..] => {
                bytes.push(b' ');
                behind
            }
            [] => return Decoded { bytes, is_valid },
            plain => {
                let end = plain.iter().position(|byte| matches!(byte, b'%' | b'+')).unwrap_or(plain.len());
                bytes.extend_from_slice(&plain[..end]);
                &plain[end..]
            }
        };
    }
}

#[inline]
fn escape(high: u8, low: u8) -> Option<u8> {
    let (high, low) = (VALUES[usize::from(high)], VALUES[usize::from(low)]);
    (high | low < NONE).then_some(high << 4 | low)
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_are_decoded_as_by_the_url_standard(written in "([%+aA0-9gG/@`]|%[0-9a-fA-F]{2}|é|[a-z]{1,9}){0,20}") {
            let spaced = written.replace('+', " ");
            let theirs: Vec<u8> = percent_decode(spaced.as_bytes()).collect();
            let ours = decoded(written.as_bytes());
            prop_assert_eq!(&ours.bytes, &theirs);
            let escapes = written.split('%').skip(1);
            let valid = escapes.map(|rest| rest.bytes().take_while(u8::is_ascii_hexdigit).count() >= 2);
            prop_assert_eq!(ours.is_valid, valid.fold(true, |all, one| all & one));
        }
    }
}
