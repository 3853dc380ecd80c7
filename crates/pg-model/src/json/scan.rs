//! Splits JSON into scalars, names, and the starts of lists and objects.
//!
//! A number is treated as a text and never converted to binary floating point, so that no amount is rounded.

use alloc::{borrow::Cow, string::String};

use crate::decode_error::Allowance;

/// The deepest supported nesting; the documents show five levels.
const DEPTH_LIMIT: u8 = 127;

/// Numbers up to this many digits are written without exponent; longer ones stay unchanged.
const LONGEST_NUMBER: usize = ZEROS.len();
const ZEROS: &str = "0000000000000000000000000000000000000000";

/// A syntax error, without any of the text.
pub(super) type Problem = &'static str;

/// The maximum number of values in a text: `VALUES`, plus one for every `BYTES_A_VALUE` bytes. Values of real replies
/// take about thirty bytes each. Without the limit, a text of `[],` alone would use thirty times its length of memory.
const VALUES: usize = 16_384;
const BYTES_A_VALUE: usize = 8;

const TOO_MANY: Problem = "contains too many values for its length";
const NOT_VALID: Problem = "is not valid JSON";
const CUT_SHORT: Problem = "is truncated JSON";

/// The words for `false` and `true`.
pub(super) type Truth = [&'static str; 2];

/// A value, or its start.
pub(super) enum Start<'j> {
    /// A complete scalar: text, number or boolean; `null` is an empty text.
    Scalar(Cow<'j, str>),
    /// A list. Its values come from [`Scanner::element`].
    List,
    /// An object. Its values come from [`Scanner::member`].
    Object,
}

pub(super) struct Scanner<'j> {
    text: &'j str,
    /// The start of the next token, or the position of an error.
    at: usize,
    depth: u8,
    /// Whether a list or an object has just started, so that no comma is expected.
    fresh: bool,
    values: Allowance,
    /// Counted by the reader for each record of a list or a map.
    pub(super) records: Allowance,
}

impl<'j> Scanner<'j> {
    pub(super) const fn new(text: &'j str) -> Self {
        let values = Allowance::new(VALUES + text.len() / BYTES_A_VALUE, TOO_MANY);
        Self { text, at: 0, depth: 0, fresh: false, values, records: Allowance::records(text.len()) }
    }

    /// The position of the error.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The next value, or its start.
    pub(super) fn value(&mut self, truth: Truth) -> Result<Start<'j>, Problem> {
        let next = self.peek()?;
        self.values.take()?;
        match next {
            b'"' => self.string().map(Start::Scalar),
            b'{' => self.begin(Start::Object),
            b'[' => self.begin(Start::List),
            b't' => self.word("true", truth[1]),
            b'f' => self.word("false", truth[0]),
            b'n' => self.word("null", ""),
            _ => self.number().map(Start::Scalar),
        }
    }

    /// Whether the list has another value, which is then next.
    pub(super) fn element(&mut self) -> Result<bool, Problem> {
        self.goes_on(b']')
    }

    /// The name of the object's next value; `None` at its end.
    pub(super) fn member(&mut self) -> Result<Option<Cow<'j, str>>, Problem> {
        if !self.goes_on(b'}')? {
            return Ok(None);
        }
        if self.peek()? != b'"' {
            return Err(NOT_VALID);
        }
        let name = self.string()?;
        match self.peek()? {
            b':' => self.at += 1,
            _ => return Err(NOT_VALID),
        }
        Ok(Some(name))
    }

    /// Only white space may follow the value.
    pub(super) fn end(&mut self) -> Result<(), Problem> {
        if self.peek().is_ok() { Err(NOT_VALID) } else { Ok(()) }
    }

    fn begin(&mut self, start: Start<'j>) -> Result<Start<'j>, Problem> {
        if self.depth == DEPTH_LIMIT {
            return Err(NOT_VALID);
        }
        self.depth += 1;
        self.at += 1;
        self.fresh = true;
        Ok(start)
    }

    fn goes_on(&mut self, end: u8) -> Result<bool, Problem> {
        let fresh = core::mem::take(&mut self.fresh);
        let next = self.peek()?;
        if next == end {
            self.depth -= 1;
            self.at += 1;
            return Ok(false);
        }
        if fresh {
            return Ok(true);
        }
        if next != b',' {
            return Err(NOT_VALID);
        }
        self.at += 1;
        Ok(true)
    }

    /// The byte here.
    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space.
    #[inline]
    fn peek(&mut self) -> Result<u8, Problem> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(other) => return Ok(other),
                None => return Err(CUT_SHORT),
            }
        }
    }

    /// The error for an unexpected byte.
    fn wrong(&self) -> Problem {
        if self.byte().is_none() { CUT_SHORT } else { NOT_VALID }
    }

    fn word(&mut self, word: &str, meaning: &'static str) -> Result<Start<'j>, Problem> {
        for byte in word.bytes() {
            if self.byte() != Some(byte) {
                return Err(self.wrong());
            }
            self.at += 1;
        }
        Ok(Start::Scalar(Cow::Borrowed(meaning)))
    }

    /// The text from a position to the current one.
    fn since(&self, from: usize) -> &'j str {
        // Both positions are beside ASCII, so this is always valid text.
        self.text.get(from..self.at).unwrap_or_default()
    }

    /// A string, from its opening quote.
    #[inline]
    fn string(&mut self) -> Result<Cow<'j, str>, Problem> {
        self.at += 1;
        let from = self.at;
        self.skip_plain();
        if self.byte() == Some(b'"') {
            let text = self.since(from);
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        self.changed(from).map(Cow::Owned)
    }

    fn skip_plain(&mut self) {
        self.at += plain(self.text.as_bytes().get(self.at..).unwrap_or_default());
    }

    /// The rest of a string that contains escapes, from its first escape.
    fn changed(&mut self, from: usize) -> Result<String, Problem> {
        let mut text = String::from(self.since(from));
        while self.byte() == Some(b'\\') {
            self.at += 1;
            text.push(self.escape()?);
            let from = self.at;
            self.skip_plain();
            text.push_str(self.since(from));
        }
        if self.byte() != Some(b'"') {
            return Err(self.wrong());
        }
        self.at += 1;
        Ok(text)
    }

    /// The character of an escape, after its backslash.
    fn escape(&mut self) -> Result<char, Problem> {
        let character = match self.byte() {
            Some(same @ (b'"' | b'\\' | b'/')) => char::from(same),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.code_point();
            }
            _ => return Err(self.wrong()),
        };
        self.at += 1;
        Ok(character)
    }

    /// The character of one escaped UTF-16 unit, or of two.
    fn code_point(&mut self) -> Result<char, Problem> {
        let first = self.unit()?;
        if !matches!(first, 0xd800..0xdc00) {
            return char::from_u32(first).ok_or(NOT_VALID);
        }
        self.word("\\u", "")?;
        match self.unit()? {
            second @ 0xdc00..0xe000 => {
                char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or(NOT_VALID)
            }
            _ => Err(NOT_VALID),
        }
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u32, Problem> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16)).ok_or_else(|| self.wrong())?;
            unit = 16 * unit + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    /// A number as text: integers unchanged, others without exponent and trailing zeros.
    fn number(&mut self) -> Result<Cow<'j, str>, Problem> {
        let start = self.at;
        self.skip(b'-');
        let whole_from = self.at;
        let whole = self.digits()?;
        if whole.len() > 1 && whole.starts_with('0') {
            self.at = whole_from + 1;
            return Err(NOT_VALID);
        }
        if !matches!(self.byte(), Some(b'.' | b'e' | b'E')) {
            return Ok(Cow::Borrowed(self.since(start)));
        }
        let fraction = if self.skip(b'.') { self.digits()? } else { "" };
        let exponent = if self.skip(b'e') || self.skip(b'E') {
            let negative = self.skip(b'-');
            if !negative {
                self.skip(b'+');
            }
            // A larger exponent exceeds any length.
            let exponent = self.digits()?.parse().unwrap_or(i32::MAX);
            if negative { -exponent } else { exponent }
        } else {
            0
        };
        let spelt = self.since(start);
        if fraction.is_empty() && exponent == 0 {
            // An integer, or one with a redundant exponent.
            return Ok(Cow::Borrowed(spelt.get(..whole_from - start + whole.len()).unwrap_or(spelt)));
        }
        let written = written_out(whole_from > start, whole, fraction, exponent);
        Ok(written.map_or(Cow::Borrowed(spelt), Cow::Owned))
    }

    fn skip(&mut self, byte: u8) -> bool {
        let there = self.byte() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// One or more digits.
    fn digits(&mut self) -> Result<&'j str, Problem> {
        let from = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == from { Err(self.wrong()) } else { Ok(self.since(from)) }
    }
}

/// How many bytes of a text need no escape; eight at once, except on WebAssembly, where code size matters.
fn plain(rest: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // Sets the highest bit of each byte below a limit, and possibly of some after the first of these.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let (eights, tail) = if cfg!(target_arch = "wasm32") { (&[][..], rest) } else { rest.as_chunks::<8>() };
    for (at, eight) in eights.iter().enumerate() {
        let word = u64::from_le_bytes(*eight);
        // This bit moves the quote, and no other character, below the blank.
        let control_or_quote = below(word ^ (ONES * 2), b' ' + 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let special = (control_or_quote | backslash) & (ONES << 7);
        if special != 0 {
            return 8 * at + special.trailing_zeros() as usize / 8;
        }
    }
    let in_tail = tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' ')).unwrap_or(tail.len());
    rest.len() - tail.len() + in_tail
}

/// A number without its exponent; `None` if that would take too many zeros.
fn written_out(negative: bool, whole: &str, fraction: &str, exponent: i32) -> Option<String> {
    let point = i32::try_from(whole.len()).ok()?.checked_add(exponent)?;
    let count = whole.len() + fraction.len();
    let (before, from) = (usize::try_from(point).unwrap_or(0), usize::try_from(-point).unwrap_or(0));
    if before > LONGEST_NUMBER || from + count > LONGEST_NUMBER {
        return None;
    }
    let (whole, whole_behind) = whole.split_at(before.min(whole.len()));
    let (fraction, fraction_behind) = fraction.split_at((before - whole.len()).min(fraction.len()));
    let whole_before = whole.trim_start_matches('0');
    let fraction_before = if whole_before.is_empty() { fraction.trim_start_matches('0') } else { fraction };
    let is_zero = whole_before.is_empty() && fraction_before.is_empty();
    let zeros = if is_zero { 1 } else { before - whole.len() - fraction.len() };
    let fraction_behind = fraction_behind.trim_end_matches('0');
    let whole_behind = if fraction_behind.is_empty() { whole_behind.trim_end_matches('0') } else { whole_behind };
    let behind = whole_behind.len() + fraction_behind.len();
    let (point, from) = if behind == 0 { ("", 0) } else { (".", from) };
    let sign = if negative { "-" } else { "" };
    let length = sign.len() + whole_before.len() + fraction_before.len() + zeros + point.len() + from + behind;
    // A list of such numbers is the most expensive JSON of its length. Each is written in pieces, into memory of
    // exactly its length.
    let mut out = String::with_capacity(length);
    let zeros = ZEROS.get(..zeros).unwrap_or_default();
    let from = ZEROS.get(..from).unwrap_or_default();
    for piece in [sign, whole_before, fraction_before, zeros, point, from, whole_behind, fraction_behind] {
        out.push_str(piece);
    }
    Some(out)
}
