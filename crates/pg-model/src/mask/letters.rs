//! The meaning of single characters and escapes: digits of every script, and invisible characters.

/// The zeros of the decimal digits (Unicode 16, general category Nd) beyond ASCII, and of superscripts and subscripts. The nine
/// digits after each are the others.
const ZEROS: [u32; 74] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0x2070, 0x2080,
    0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0,
    0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x11730, 0x118e0, 0x11950, 0x11bf0,
    0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8,
    0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The ones of circled, bracketed and dotted digits: the eight digits after each are the others.
const ONES: [u32; 7] = [0x2460, 0x2474, 0x2488, 0x24f5, 0x2776, 0x2780, 0x278a];

/// Single digits.
const ODD: [(u32, u8); 6] = [(0xb9, 1), (0xb2, 2), (0xb3, 3), (0x24ea, 0), (0x24ff, 0), (0x1f100, 0)];

/// Ranges of characters beyond ASCII, up to U+FFFF, that are invisible, blank, or a hyphen, or that decorate the digit before.
const SPECIAL: [(u32, u32); 22] = [
    (0x80, 0xa0),
    (0xad, 0xad),
    (0x300, 0x36f),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x2000, 0x206f),
    (0x20d0, 0x20ff),
    (0x2212, 0x2212),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfe58, 0xfe63),
    (0xfeff, 0xff0d),
    (0xffa0, 0xfffb),
];

/// Which blocks of 16 characters up to U+FFFF contain a digit or a special character, a bit each.
const BLOCKS: [u64; 64] = {
    let mut blocks = [0_u64; 64];
    let mut at = 0;
    while at < SPECIAL.len() {
        mark(&mut blocks, SPECIAL[at].0, SPECIAL[at].1);
        at += 1;
    }
    at = 0;
    while at < ZEROS.len() {
        mark(&mut blocks, ZEROS[at], ZEROS[at] + 9);
        at += 1;
    }
    at = 0;
    while at < ONES.len() {
        mark(&mut blocks, ONES[at], ONES[at] + 8);
        at += 1;
    }
    at = 0;
    while at < ODD.len() {
        mark(&mut blocks, ODD[at].0, ODD[at].0);
        at += 1;
    }
    blocks
};

/// The blocks of 16 characters up to U+FFFF that contain the ten digits of a script: from their first character on, and from their
/// seventh. There are no others.
const ZERO_BLOCKS: [[u64; 64]; 2] = {
    let mut blocks = [[0_u64; 64]; 2];
    let mut at = 0;
    while at < ZEROS.len() {
        if ZEROS[at] < 0x1_0000 {
            let first = ZEROS[at] & 0xf;
            assert!(first == 0 || first == 6, "digits in two blocks");
            mark(&mut blocks[(first != 0) as usize], ZEROS[at], ZEROS[at]);
        }
        at += 1;
    }
    blocks
};

#[inline]
const fn is_marked(blocks: &[u64; 64], block: u32) -> bool {
    blocks[(block >> 6 & 63) as usize] >> (block & 63) & 1 == 1
}

const fn mark(blocks: &mut [u64; 64], first: u32, last: u32) {
    let mut block = first >> 4;
    while block <= last >> 4 && block < 0x1000 {
        blocks[(block >> 6) as usize] |= 1 << (block & 63);
        block += 1;
    }
}

/// Whether a character beyond ASCII is certainly neither a digit, nor invisible, nor a space or a hyphen. A quick check
/// that is true for most letters and false for some.
#[inline]
pub(super) fn is_plain(letter: char) -> bool {
    let block = u32::from(letter) >> 4;
    // It replaces every byte that is not UTF-8, so it must be quick.
    letter == char::REPLACEMENT_CHARACTER || (block < 0x1000 && !is_marked(&BLOCKS, block))
}

/// The value of a decimal digit in any script, including circled and superscript digits.
///
/// ```
/// use pg_model::mask::digit;
/// assert_eq!((digit('7'), digit('７'), digit('٧'), digit('x')), (Some(7), Some(7), Some(7), None));
/// ```
#[must_use]
pub fn digit(letter: char) -> Option<u8> {
    if letter.is_ascii() {
        return letter.is_ascii_digit().then(|| letter as u8 - b'0');
    }
    let code = u32::from(letter);
    let (block, place) = (code >> 4, code & 0xf);
    if code < ZEROS[0] {
        return odd(code);
    }
    if code >= 0x1_0000 {
        let zero = ZEROS[ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?];
        return match code - zero {
            value @ 0..10 => u8::try_from(value).ok(),
            _ => odd(code),
        };
    }
    let has_zero_at =
        |zero: u32| place.wrapping_sub(zero) < 10 && is_marked(&ZERO_BLOCKS[usize::from(zero != 0)], block);
    if let Some(zero) = [0, 6].into_iter().find(|zero| has_zero_at(*zero)) {
        return u8::try_from(place - zero).ok();
    }
    odd(code)
}

/// The value of a digit that is not one of ten in a row.
fn odd(code: u32) -> Option<u8> {
    if code >= ONES[0]
        && let Some(value) = ONES.iter().filter_map(|one| code.checked_sub(*one)).find(|value| *value < 9)
    {
        return u8::try_from(value + 1).ok();
    }
    ODD.iter().find(|(known, _)| *known == code).map(|(_, value)| *value)
}

/// Whether a character is invisible, or changes how others are displayed: controls (line breaks and tabs included), zero-width
/// and bidirectional characters, fillers, variation selectors, tags.
///
/// Such a character from outside must not reach a terminal or a page: an escape sequence rewrites the screen, and U+202E reverses
/// the rest of a line.
///
/// ```
/// use pg_model::mask::is_invisible;
/// assert!(is_invisible('\u{1b}') && is_invisible('\u{202e}') && is_invisible('\u{200b}'));
/// assert!(!is_invisible(' ') && !is_invisible('é'));
/// ```
#[must_use]
pub fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}'
                | '\u{34f}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether a character between two digits leaves them adjacent: it is invisible, or only decorates the digit before.
pub(super) fn is_nothing(letter: char) -> bool {
    let decorates = matches!(letter, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}');
    decorates || (is_invisible(letter) && !letter.is_whitespace())
}

/// A space or a hyphen, of any width and script.
pub(super) fn is_blank_or_hyphen(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(letter, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}')
}

/// The character that an escape at the start of these bytes stands for, and the escape's length in bytes: percent-encoding (also
/// double), or the escapes of JSON, JavaScript and HTML.
pub(super) fn escaped(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'%', ..] => percent_encoded(bytes, b"%25").or_else(|| percent_encoded(bytes, b"%")),
        [b'\\', b'u', rest @ ..] => number(rest.get(..4)?, 16).map(|letter| (letter, 6)),
        [b'\\', b'x', rest @ ..] => number(rest.get(..2)?, 16).map(|letter| (letter, 4)),
        [b'&', b'#', b'x' | b'X', rest @ ..] => reference(rest, 16).map(|(letter, length)| (letter, length + 4)),
        [b'&', b'#', rest @ ..] => reference(rest, 10).map(|(letter, length)| (letter, length + 3)),
        [b'&', b'n', b'b', b's', b'p', b';', ..] => Some(('\u{a0}', 6)),
        _ => None,
    }
}

/// A character of one to four bytes, each with `sign` and two hexadecimal digits.
fn percent_encoded(bytes: &[u8], sign: &[u8]) -> Option<(char, usize)> {
    let width = sign.len() + 2;
    let byte = |at: usize| {
        let digits = bytes.get(at * width..(at + 1) * width)?.strip_prefix(sign)?;
        number(digits, 16).and_then(|letter| u8::try_from(letter).ok())
    };
    let first = byte(0)?;
    let length = match first {
        0..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let mut letter = [first, 0, 0, 0];
    for (at, place) in letter.iter_mut().enumerate().take(length).skip(1) {
        *place = byte(at)?;
    }
    let letter = core::str::from_utf8(&letter[..length]).ok()?.chars().next()?;
    Some((letter, length * width))
}

/// The number of a reference of HTML, up to its semicolon, and its length.
fn reference(bytes: &[u8], radix: u32) -> Option<(char, usize)> {
    let length = bytes.iter().take(8).position(|byte| *byte == b';')?;
    number(&bytes[..length], radix).map(|letter| (letter, length))
}

/// The character with the number that these digits write.
fn number(digits: &[u8], radix: u32) -> Option<char> {
    let value = |code: Option<u32>, byte: &u8| Some(code? * radix + char::from(*byte).to_digit(radix)?);
    digits.iter().fold(Some(0).filter(|_| !digits.is_empty()), value).and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_script_are_digits() {
        assert!(ZEROS.is_sorted());
        for (text, value) in [
            ("0", 0),
            ("９", 9),
            ("٣", 3),
            ("۴", 4),
            ("४", 4),
            ("๔", 4),
            ("⁴", 4),
            ("₄", 4),
            ("④", 4),
            ("⓪", 0),
            ("𝟺", 4),
        ] {
            assert_eq!(digit(text.chars().next().unwrap()), Some(value), "{text}");
        }
        for other in ['a', 'é', '一', '½', '\u{66a}', '\u{65f}', '⑩'] {
            assert_eq!(digit(other), None, "{other}");
        }
    }

    #[test]
    fn plain_letters_are_neither_digits_nor_special() {
        let step = if cfg!(miri) { 997 } else { 1 };
        for letter in ('\u{80}'..=char::MAX).step_by(step).filter(|letter| is_plain(*letter)) {
            assert!(!is_nothing(letter) && !is_blank_or_hyphen(letter), "{letter:?}");
            let code = u32::from(letter);
            let in_script = ZEROS.iter().any(|zero| (*zero..zero + 10).contains(&code));
            let circled = ONES.iter().any(|one| (*one..one + 9).contains(&code));
            assert!(!in_script && !circled && ODD.iter().all(|(odd, _)| *odd != code), "{letter:?}");
        }
        assert!(
            ['é', 'ß', '€', 'я', '一', '가', '\u{fffd}'].into_iter().filter(|letter| is_plain(*letter)).count() == 7
        );
    }

    #[test]
    fn escapes_are_read() {
        for (text, read) in [
            ("%34x", Some(('4', 3))),
            ("%2534", Some(('4', 5))),
            (r"\u0034", Some(('4', 6))),
            (r"\x34", Some(('4', 4))),
            ("&#52;", Some(('4', 5))),
            ("&#0000052;", Some(('4', 10))),
            ("&#x34;", Some(('4', 6))),
            ("%3D4", Some(('=', 3))),
            ("%2f", Some(('/', 3))),
            ("%25204", Some((' ', 5))),
            ("%25%20", Some(('%', 3))),
            ("%C2%A0", Some(('\u{a0}', 6))),
            ("%EF%BC%94", Some(('\u{ff14}', 9))),
            ("%25EF%25BC%2594", Some(('\u{ff14}', 15))),
            ("%F0%9D%9F%BA", Some(('\u{1d7fa}', 12))),
            (r"\u00a0", Some(('\u{a0}', 6))),
            ("&#160;", Some(('\u{a0}', 6))),
            ("&nbsp;", Some(('\u{a0}', 6))),
            ("%3", None),
            ("%C2%20", None),
            ("%C2", None),
            ("%80", None),
            ("%G0", None),
            (r"\ud800", None),
            (r"\u+034", None),
            ("&#x34", None),
            ("&#;", None),
            ("&#99999999;", None),
            ("&#xffffff;", None),
            ("4", None),
            ("", None),
        ] {
            assert_eq!(escaped(text.as_bytes()), read, "{text}");
        }
    }
}
