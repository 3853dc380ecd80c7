//! Request smuggling: requests whose end two servers may see in different places, followed by another request.

/// A request followed by another one.
#[derive(Debug)]
pub struct Smuggled {
    /// The part in which it differs from an ordinary request.
    pub shape: String,
    /// All bytes.
    pub bytes: Vec<u8>,
    /// Whether every server sees two requests. Otherwise the second one must not be answered.
    pub is_plain: bool,
}

/// Header lines about the length of a body. The body is the last chunk, which has five bytes.
const LENGTHS: [(&str, bool); 32] = [
    ("Content-Length: 5", true),
    ("Transfer-Encoding: chunked", true),
    ("transfer-encoding: CHUNKED", true),
    ("Content-Length: 0\r\nContent-Length: 5", false),
    ("Content-Length: 5\r\nContent-Length: 0", false),
    ("Content-Length: 5, 0", false),
    ("Content-Length: 0, 5", false),
    ("Content-Length: +5", false),
    ("Content-Length: -5", false),
    ("Content-Length: 0x5", false),
    ("Content-Length: 5 0", false),
    ("Content-Length: 5;", false),
    ("Content-Length:", false),
    ("Content-Length: 18446744073709551621", false),
    ("Content-Length : 5", false),
    ("Content-Length\t: 5", false),
    ("Content-Length: \u{b}5", false),
    ("Content-Length: 5\r\nTransfer-Encoding: chunked", false),
    ("Transfer-Encoding: chunked\r\nContent-Length: 5", false),
    ("Content-Length: 99\r\nTransfer-Encoding: chunked", false),
    ("Transfer-Encoding: chunked, identity", false),
    ("Transfer-Encoding: identity", false),
    ("Transfer-Encoding: xchunked", false),
    ("Transfer-Encoding: \u{b}chunked", false),
    ("Transfer-Encoding: chunked\u{0}", false),
    ("Transfer-Encoding: \"chunked\"", false),
    ("Transfer-Encoding : chunked", false),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", false),
    ("Transfer-Encoding:\r\n chunked", false),
    ("Content-Length: 5\r\nX-Folded: a\r\n b", false),
    ("Content-Length: 5\r\nX: a\rb", false),
    (" Content-Length: 5", false),
];

/// Bodies in chunks.
const CHUNKS: [(&str, bool); 17] = [
    ("1\r\na\r\n0\r\n\r\n", true),
    ("0;name=value\r\n\r\n", true),
    ("0\r\nContent-Length: 99\r\n\r\n", true),
    ("0\r\nTransfer-Encoding: identity\r\n\r\n", true),
    ("0\n\n", false),
    ("0\r\r\n\r\n", false),
    ("0;a\nb\r\n\r\n", false),
    ("1;a\nff\r\na\r\n0\r\n\r\n", false),
    ("1\r\na0\r\n\r\n", false),
    ("1\r\na\n0\r\n\r\n", false),
    ("+0\r\n\r\n", false),
    ("-0\r\n\r\n", false),
    ("0x0\r\n\r\n", false),
    ("0 0\r\n\r\n", false),
    (" 0\r\n\r\n", false),
    ("10000000000000000\r\n\r\n", false),
    ("\r\n0\r\n\r\n", false),
];

/// Returns requests such as `POST /path` of every shape, each followed by `hidden`.
#[must_use]
pub fn smuggled(carrier: &str, hidden: &str) -> Vec<Smuggled> {
    let lengths = LENGTHS.map(|(lengths, is_plain)| (lengths, "0\r\n\r\n", lengths, is_plain));
    let chunks = CHUNKS.map(|(body, is_plain)| ("Transfer-Encoding: chunked", body, body, is_plain));
    let all = lengths.into_iter().chain(chunks);
    all.map(|(lengths, body, shape, is_plain)| Smuggled {
        shape: format!("{shape:?}"),
        bytes: format!("{carrier} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lengths}\r\n\r\n{body}{hidden}").into_bytes(),
        is_plain,
    })
    .collect()
}
