//! Large texts and parameters that are expensive to read.

/// A piece of text, repeated.
pub(crate) fn repeated(piece: &'static str) -> impl Fn(usize) -> String {
    move |bytes| piece.repeat(bytes / piece.len())
}

/// The same between a prefix and a suffix.
pub(crate) fn within(before: &'static str, piece: &'static str, after: &'static str) -> impl Fn(usize) -> String {
    move |bytes| format!("{before}{}{after}", piece.repeat(bytes / piece.len()))
}

/// Pieces that differ by their number, between a prefix and a suffix.
pub(crate) fn numbered(
    before: &'static str,
    piece: impl Fn(usize) -> String,
    after: &'static str,
) -> impl Fn(usize) -> String {
    move |bytes| {
        let mut text = before.to_owned();
        for number in 0.. {
            if text.len() >= bytes {
                break;
            }
            text.push_str(&piece(number));
        }
        text + after
    }
}

/// A list without a trailing comma.
pub(crate) fn listed(before: &'static str, piece: &'static str, after: &'static str) -> impl Fn(usize) -> String {
    move |bytes| {
        let mut text = format!("{before}{}", piece.repeat(bytes / piece.len()));
        text.truncate(text.trim_end_matches(',').len());
        text + after
    }
}

/// Elements or objects within each other, as deep as they are read, again and again.
pub(crate) fn nested(
    before: &'static str,
    open: &'static str,
    close: &'static str,
    depth: usize,
    between: &'static str,
    after: &'static str,
) -> impl Fn(usize) -> String {
    move |bytes| {
        let one = open.repeat(depth) + &close.repeat(depth);
        let many = vec![one.as_str(); bytes / (one.len() + between.len())].join(between);
        format!("{before}{many}{after}")
    }
}

/// Digits without a regular pattern.
pub(crate) fn digits(bytes: usize) -> String {
    let mut state: u32 = 7;
    let mut digit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'0' + (state >> 24) as u8 % 10)
    };
    (0..bytes).map(|_| digit()).collect()
}

/// Digits in groups of four with a sign between them, so that nearly every five groups could be a card number.
pub(crate) fn groups(between: &'static str) -> impl Fn(usize) -> String {
    move |bytes| {
        let digits = digits(bytes);
        let groups = digits.as_bytes().chunks(4).map(|four| String::from_utf8_lossy(four));
        let mut text = groups.collect::<Vec<_>>().join(between);
        text.truncate(bytes);
        text
    }
}

/// Valid card numbers, separated by spaces.
pub(crate) fn cards(bytes: usize) -> String {
    "4000000000001000 5200000000000007 ".repeat(bytes / 34)
}

/// The given number of parameters.
pub(crate) fn parameters(
    name: impl Fn(usize) -> String,
    value: impl Fn(usize) -> String,
) -> impl Fn(usize) -> Vec<(String, String)> {
    move |count| (0..count).map(|number| (name(number), value(number))).collect()
}

/// One parameter with a long value.
pub(crate) fn one(name: &'static str, value: impl Fn(usize) -> String) -> impl Fn(usize) -> Vec<(String, String)> {
    move |bytes| vec![(name.to_owned(), value(bytes))]
}

/// The shortest names.
pub(crate) fn short(number: usize) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    let mut rest = number;
    let mut name = String::new();
    loop {
        name.push(char::from(LETTERS[rest % LETTERS.len()]));
        rest /= LETTERS.len();
        if rest == 0 {
            return name;
        }
        rest -= 1;
    }
}

/// Names that resemble `wire`: up to two of its letters are replaced, depending on the number.
pub(crate) fn near(wire: &'static str) -> impl Fn(usize) -> String {
    move |number| {
        let mut name = wire.as_bytes().to_vec();
        let length = name.len();
        name[number % length] = b'a' + (number / length % 26) as u8;
        name[(number / 7 + 3) % length] = b'a' + (number / 26 % 26) as u8;
        String::from_utf8_lossy(&name).into_owned()
    }
}

/// The parameters of a form, as they are sent.
pub(crate) fn encoded(parameters: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish()
}

/// As pairs of borrowed texts.
pub(crate) fn borrowed(parameters: &[(String, String)]) -> Vec<(&str, &str)> {
    parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}
