//! Replies in XML and JSON: reading one twice gives equal values, and the written text can be read again.

use pg_model::{
    AccountUpdaterBatch, CardKeyDetail, CheckoutToken, Encoding, METHODS, Record, RedirectData, ServiceError, Value,
    decode_into, encode,
};

use crate::{
    bounded::bounded,
    tree::{Tree, alike, has_twins},
};

/// The memory that a tree of small values may use for each byte of its text.
const BYTES_FOR_A_BYTE: u64 = 600;

/// Compares the reader and the writer of JSON with serde_json.
pub fn json(input: &[u8]) {
    let Some((record, body)) = chosen(input) else { return };
    let read = check(record, body, Encoding::Json, pg_model::json::read);
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let theirs = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    if read {
        assert!(theirs, "serde_json does not read it");
    }
    // A record without known fields keeps all fields.
    let mut ours = CardKeyDetail::default();
    if pg_model::json::read(body, &mut ours).is_ok()
        && ours == CardKeyDetail::default().with(|record| record.extra = ours.extra.clone())
        && let Ok(Tree(theirs)) = serde_json::from_slice(body)
        && !names(&theirs).any(known)
    {
        assert!(alike(&Value::Record(ours.extra.clone()), &theirs), "{:?} is not {theirs:?}", ours.extra);
    }
}

fn names(value: &Value) -> impl Iterator<Item = &str> {
    let members: Vec<&str> = match value {
        Value::Record(record) => record.iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    };
    members.into_iter()
}

fn known(name: &str) -> bool {
    !matches!(CardKeyDetail::default().slot(name), pg_model::Slot::Extra)
}

/// Compares the reader and the writer of XML with quick-xml.
pub fn xml(input: &[u8]) {
    let Some((record, body)) = chosen(input) else { return };
    if check(record, body, Encoding::Xml, pg_model::xml::read) {
        well_formed(body);
    }
}

/// Makes an empty record.
type New = fn() -> Box<dyn Record>;

/// The first byte chooses the record.
fn chosen(input: &[u8]) -> Option<(New, &[u8])> {
    let (first, body) = input.split_first()?;
    let others: [New; 4] = [
        || Box::new(RedirectData::default()),
        || Box::new(ServiceError::default()),
        || Box::new(AccountUpdaterBatch::default()),
        || Box::new(CheckoutToken::default()),
    ];
    let at = usize::from(*first) % (METHODS.len() + others.len());
    Some((METHODS.get(at).map_or_else(|| others[at - METHODS.len()], |info| info.new_reply), body))
}

type Read = fn(&[u8], &mut dyn Record) -> Result<(), pg_model::DecodeError>;

/// Whether the body was read, by the reader of this encoding.
fn check(new: New, body: &[u8], of: Encoding, read: Read) -> bool {
    let mut record = new();
    let first = bounded(body.len(), BYTES_FOR_A_BYTE, || read(body, &mut *record));
    let mut again = new();
    assert_eq!(first, read(body, &mut *again));
    let mut by_encoding = new();
    // A body that looks like the other encoding has another reader.
    if Encoding::of(body) == Some(of) {
        assert_eq!(first.is_ok(), decode_into(body, &mut *by_encoding).is_ok());
    }
    if let Err(error) = &first {
        let place = error.place().unwrap_or((1, 1));
        assert!(place.0 >= 1 && place.1 >= 1 && !error.to_string().contains('\n'), "{error}");
        return false;
    }
    for encoding in [Encoding::Json, Encoding::Xml] {
        let written = encode(&*record, encoding);
        assert_eq!(written, encode(&*again, encoding), "the same bytes are two records");
        let mut back = new();
        if let Err(error) = decode_into(written.as_bytes(), &mut *back) {
            // Thousands of empty records are shorter in the other encoding, so they may exceed the limit for that length.
            if error.to_string().contains("more records") {
                continue;
            }
            panic!("what was written is not read: {error}: {written}");
        }
        // A known field that does not fit is kept beside itself, under the same name: each reading finds it twice.
        if has_twins(&encode(&*record, Encoding::Json)) {
            continue;
        }
        let (once, twice) = (settled(encoding, &written, new), encode(&*back, encoding));
        assert_eq!(once, twice, "what was written reads as another record");
        match encoding {
            Encoding::Json => drop(serde_json::from_str::<serde::de::IgnoredAny>(&written).unwrap()),
            Encoding::Xml => well_formed(written.as_bytes()),
        }
    }
    true
}

/// JSON keeps the record. XML has no empty list and no list of one, so it is compared after one round.
fn settled(encoding: Encoding, written: &str, new: New) -> String {
    if encoding == Encoding::Json {
        return written.to_owned();
    }
    let mut record = new();
    decode_into(written.as_bytes(), &mut *record).unwrap();
    let once = encode(&*record, encoding);
    let mut record = new();
    decode_into(once.as_bytes(), &mut *record).unwrap();
    assert_eq!(once, encode(&*record, encoding), "what was written twice reads as another record");
    once
}

fn well_formed(xml: &[u8]) {
    let text = std::str::from_utf8(xml).unwrap();
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => break,
            Ok(_) => {}
            Err(error) => panic!("quick-xml does not read it: {error}: {text}"),
        }
    }
}
