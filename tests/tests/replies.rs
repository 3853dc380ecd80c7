//! The replies in `vectors/replies`, written by hand from the structures in the documents: each is read as its typed
//! record, XML and JSON as the same one, and the written form of that record has the structure of the file.

#![allow(clippy::panic, reason = "panicking is how a test fails, also in what tests share")]

mod enterprise;
mod errors;
mod session;
mod token;
mod transaction;

use std::{fmt::Debug, fs, path::PathBuf};

use pg_model::{Encoding, METHODS, Record, decode, decode_into, encode, xml};

/// The expectations for one golden reply.
pub(crate) struct Golden {
    name: &'static str,
    encodings: &'static [Encoding],
    /// Whether the written form must equal the file except for white space.
    exact: bool,
}

const BOTH: &[Encoding] = &[Encoding::Xml, Encoding::Json];

/// A reply in both encodings, whose shape the documents fix.
pub(crate) const fn golden(name: &'static str) -> Golden {
    Golden { name, encodings: BOTH, exact: true }
}

/// A reply of version 5, which knows XML only.
pub(crate) const fn golden_xml(name: &'static str) -> Golden {
    Golden { name, encodings: &[Encoding::Xml], exact: true }
}

impl Golden {
    /// The reply is one of several ways to say the same.
    pub(crate) const fn one_of_several_shapes(mut self) -> Self {
        self.exact = false;
        self
    }

    /// Checks that every encoding is read as the reply `expected`, and written from it.
    pub(crate) fn is<R: Record + Default + PartialEq + Debug>(&self, expected: &R) {
        for &encoding in self.encodings {
            let body = self.body(encoding);
            let reply = decode::<R>(body.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", self.name));
            assert_eq!(reply.error, <_>::default(), "{} as {encoding:?}", self.name);
            assert_eq!(&reply.record, expected, "{} as {encoding:?}", self.name);
            self.is_written(expected, encoding, &body);
        }
    }

    /// The same for records that are not replies of their own: the error fields belong to them.
    pub(crate) fn is_record<R: Record + Default + PartialEq + Debug>(&self, expected: &R) {
        for &encoding in self.encodings {
            let body = self.body(encoding);
            assert_eq!(&read::<R>(&body), expected, "{} as {encoding:?}", self.name);
            self.is_written(expected, encoding, &body);
        }
    }

    /// The file of one encoding.
    pub(crate) fn body(&self, encoding: Encoding) -> String {
        let path = directory().join(format!("{}.{}", self.name, encoding.as_str()));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn is_written<R: Record + Default + PartialEq + Debug>(&self, record: &R, encoding: Encoding, body: &str) {
        let written = encode(record, encoding);
        assert_eq!(&read::<R>(&written), record, "{} written as {encoding:?}:\n{written}", self.name);
        if self.exact {
            assert_eq!(squeezed(&written, encoding), squeezed(body, encoding), "{} as {encoding:?}", self.name);
        }
    }
}

fn read<R: Record + Default>(body: &str) -> R {
    let mut record = R::default();
    decode_into(body.as_bytes(), &mut record).unwrap_or_else(|error| panic!("{error} in {body}"));
    record
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/replies")
}

/// A document without insignificant white space, and with one spelling of empty elements.
fn squeezed(body: &str, encoding: Encoding) -> String {
    match encoding {
        Encoding::Json => squeezed_json(body),
        Encoding::Xml => squeezed_xml(body),
    }
}

fn squeezed_json(body: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    body.chars()
        .filter(|&c| {
            let keep = inside || !c.is_whitespace();
            (inside, escaped) = (if c == '"' && !escaped { !inside } else { inside }, c == '\\' && !escaped);
            keep
        })
        .collect()
}

fn squeezed_xml(body: &str) -> String {
    let tight: String = body.split('>').map(|piece| squeeze_before_tag(piece) + ">").collect();
    let mut out = tight.trim_end_matches('>').to_owned() + ">";
    while let Some(at) = empty_element(&out) {
        let name_end = at + out[at..].find('>').expect("a tag ends");
        let close_end = name_end + 1 + out[name_end + 1..].find('>').expect("a tag ends");
        out.replace_range(name_end..=close_end, "/>");
    }
    out
}

/// Removes white space between two tags.
fn squeeze_before_tag(piece: &str) -> String {
    match piece.split_once('<') {
        Some((text, tag)) if text.trim().is_empty() => format!("<{}", tag.trim_end()),
        _ => piece.trim_end().to_owned(),
    }
}

/// Where an element begins whose end tag follows at once.
fn empty_element(xml: &str) -> Option<usize> {
    let close = xml.match_indices("></").find(|(at, _)| {
        let tag = xml[..*at].rfind('<').map(|start| &xml[start + 1..*at]);
        tag.is_some_and(|tag| xml[at + 3..].starts_with(&format!("{tag}>")))
    })?;
    xml[..close.0].rfind('<')
}

#[test]
fn every_method_has_a_golden_reply_in_every_encoding_it_speaks() {
    for info in METHODS {
        for encoding in BOTH {
            let file = directory().join(info.service.name).join(format!("{}.{}", info.name, encoding.as_str()));
            let speaks = info.service.version == 3 || *encoding == Encoding::Xml;
            assert_eq!(file.exists(), speaks, "{}: whether it exists, and should", file.display());
        }
    }
}

#[test]
fn every_golden_reply_is_read_by_the_record_that_its_method_names() {
    for info in METHODS {
        for encoding in BOTH {
            let file = directory().join(info.service.name).join(format!("{}.{}", info.name, encoding.as_str()));
            let Ok(body) = fs::read(&file) else { continue };
            let mut record = (info.new_reply)();
            decode_into(&body, &mut *record).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert_eq!(record.missing(), None, "{}", file.display());
            assert!(record.extra().is_empty(), "{} holds a field that the tables lack", file.display());
        }
    }
}

#[test]
fn squeezing_keeps_significant_whitespace() {
    assert_eq!(squeezed_json("{ \"a b\" : \" \\\" x \" }"), "{\"a b\":\" \\\" x \"}");
    let document = "<?xml version=\"1.0\"?>\n<r>\n <a> x </a>\n <b></b><c/>\n <d>\n </d>\n</r>\n";
    assert_eq!(squeezed_xml(document), "<?xml version=\"1.0\"?><r><a> x </a><b/><c/><d/></r>");
    assert_eq!(xml::ROOT, "serviceResponse");
}
