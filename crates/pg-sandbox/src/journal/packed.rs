//! An entry in one piece of memory. There are thousands of entries; each is written once and rarely read. If each text
//! had its own allocation, freeing an entry would cost more than writing it, because its texts would be scattered over
//! memory.

use std::{borrow::Cow, net::IpAddr};

use bytes::Bytes;
use http::{HeaderValue, Method};
use pg_model::{mask, method::MethodInfo};

use super::{
    Answered, Entry, MOST_BODY, Noted, Parameters,
    parts::{pop, pop_number, pop_option, push, push_number, push_option},
};
use crate::{basis::Basis, records::FaultKind, timestamp::Timestamp, warning::Warnings};

/// An entry of the journal.
#[derive(Debug)]
pub(crate) struct Packed {
    /// See [`Entry`].
    pub(crate) id: u64,
    /// See [`Entry`].
    pub(crate) real_at: Timestamp,
    /// See [`Entry`].
    pub(crate) info: Option<&'static MethodInfo>,
    at: Timestamp,
    peer: IpAddr,
    http_method: Method,
    fault: Option<FaultKind>,
    /// The status and the clause of the reply.
    reply: Option<(u16, &'static str)>,
    /// Everything else, as [`write`] wrote it.
    bytes: Vec<u8>,
}

/// Writes the parts of variable length, each after its length.
pub(super) fn write(noted: &Noted<'_>, bytes: &mut Vec<u8>) {
    bytes.clear();
    push_option(bytes, noted.merchant.map(str::as_bytes));
    push(bytes, noted.path.as_bytes());
    noted.parameters.write(bytes);
    let Some(reply) = &noted.reply else { return };
    push_option(bytes, reply.error_code.map(str::as_bytes));
    push_option(bytes, reply.location.map(HeaderValue::as_bytes));
    let assumptions = reply.basis.assumptions();
    push_number(bytes, assumptions.len());
    assumptions.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    let (told, left_out) = reply.warnings.parts();
    push_number(bytes, left_out);
    push_number(bytes, told.len());
    told.iter().for_each(|told| push(bytes, told.as_bytes()));
    push(bytes, &without_card_numbers(reply.body));
}

/// The longest card number, with separators: it may begin before the end of the part that is kept.
const BEYOND: usize = 64;

/// Returns the start of a body. A card number in a reference is masked before the entry is kept, not only when it is
/// shown, since memory images contain the journal.
fn without_card_numbers(body: &[u8]) -> Cow<'_, [u8]> {
    let kept = |body: &[u8]| body.len().min(MOST_BODY);
    let searched = &body[..body.len().min(MOST_BODY + BEYOND)];
    let masked = match may_hold_card_number(searched).then(|| String::from_utf8_lossy(searched)) {
        Some(text) => match mask::masked(&text) {
            Cow::Owned(masked) => masked.into_bytes(),
            Cow::Borrowed(_) => return Cow::Borrowed(&body[..kept(body)]),
        },
        None => return Cow::Borrowed(&body[..kept(body)]),
    };
    Cow::Owned(masked[..kept(&masked)].to_vec())
}

/// The fewest digits of a card number.
const DIGITS: usize = 12;

/// Whether there are twelve digits without a letter between them. Hardly any reply has such a run of digits. This check
/// takes a fraction of the time of the mask: it looks at every twelfth byte, and at the bytes around it if it is not a letter.
fn may_hold_card_number(body: &[u8]) -> bool {
    // Other scripts have digits too.
    let is_digit = |byte: &&u8| matches!(byte, b'0'..=b'9' | 0x80..);
    // No such digits begin before it.
    let mut start = 0;
    // Twelve bytes without a letter that begin at `start` or in one of the next eleven places include `byte`.
    while let Some((before, rest)) = body.get(start..).and_then(|rest| rest.split_at_checked(DIGITS - 1))
        && let Some(byte) = rest.first()
    {
        if byte.is_ascii_alphabetic() {
            start += DIGITS;
            continue;
        }
        let end = rest.iter().position(u8::is_ascii_alphabetic).unwrap_or(rest.len());
        let begin = before.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |letter| letter + 1);
        if before[begin..].iter().chain(&rest[..end]).filter(is_digit).count() >= DIGITS {
            return true;
        }
        start += DIGITS - 1 + end + 1;
    }
    false
}

impl Packed {
    /// Creates an entry from the output of [`write`]. Reuses the memory of the freed entry if the sizes are similar.
    pub(super) fn new(id: u64, noted: &Noted<'_>, written: &[u8], freed: Option<Self>) -> Self {
        let fits = |bytes: &Vec<u8>| (written.len()..=written.len() + written.len() / 4).contains(&bytes.capacity());
        let mut bytes = freed.map(|freed| freed.bytes).filter(fits).unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(written);
        Self {
            id,
            real_at: noted.real_at,
            info: noted.info,
            at: noted.at,
            peer: noted.peer,
            http_method: noted.http_method.clone(),
            fault: noted.fault,
            reply: noted.reply.as_ref().map(|reply| (reply.status, reply.basis.clause())),
            bytes,
        }
    }

    /// Returns the size in memory of an entry with this output of [`write`].
    pub(super) const fn size_of(written: &[u8]) -> usize {
        size_of::<Self>() + written.len()
    }

    /// Its memory.
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity()
    }

    /// Returns the account that the request named, whether or not its credentials were valid.
    pub(crate) fn merchant(&self) -> Option<&str> {
        pop_option(&mut &self.bytes[..]).and_then(|name| std::str::from_utf8(name).ok())
    }

    /// Returns the entry, to show it.
    pub(crate) fn entry(&self) -> Entry {
        let mut rest = &self.bytes[..];
        let bytes = &mut rest;
        let merchant = pop_option(bytes).map(text);
        let path = text(pop(bytes));
        let parameters = Parameters::read(bytes);
        let reply = self.reply.map(|(status, clause)| {
            let error_code = pop_option(bytes).map(text);
            let location = pop_option(bytes).and_then(|location| HeaderValue::from_bytes(location).ok());
            let assumptions = (0..pop_number(bytes)).map(|_| {
                let (number, rest) = bytes.split_first_chunk::<2>().unwrap_or((&[0; 2], &[]));
                *bytes = rest;
                u16::from_le_bytes(*number)
            });
            let basis = Basis::of(clause, assumptions.collect());
            let left_out = pop_number(bytes);
            let told = (0..pop_number(bytes)).map(|_| text(pop(bytes))).collect();
            let warnings = Warnings::of(told, left_out);
            Answered { status, error_code, basis, warnings, location, body: Bytes::copy_from_slice(pop(bytes)) }
        });
        Entry {
            id: self.id,
            at: self.at,
            real_at: self.real_at,
            peer: self.peer,
            http_method: self.http_method.clone(),
            path,
            info: self.info,
            merchant,
            parameters,
            fault: self.fault,
            reply,
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http::StatusCode;
    use pg_model::Encoding;
    use proptest::prelude::*;

    use super::*;
    use crate::service::{Answer, Reply};

    fn noted<'a>(parameters: &'a Parameters, answer: Option<&'a Answer>) -> Noted<'a> {
        Noted {
            at: Timestamp::from_millis(1),
            real_at: Timestamp::from_millis(2),
            peer: Ipv4Addr::LOCALHOST.into(),
            http_method: Method::PUT,
            path: "/v3/transaction/auth",
            info: pg_model::method::method("transaction/auth"),
            merchant: Some("main"),
            parameters,
            fault: Some(FaultKind::Garble),
            reply: answer.map(Answer::remembered),
        }
    }

    fn packed(noted: &Noted<'_>, freed: Option<Packed>) -> Packed {
        let mut bytes = Vec::new();
        write(noted, &mut bytes);
        Packed::new(7, noted, &bytes, freed)
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let parameters = Parameters::of(&[("itemName0", "Tea"), ("cardCV2", "123"), ("currency", "")]);
        let mut answer = Answer::new(
            Reply::see_other(HeaderValue::from_static("/there")).with_error_code("950".to_owned()),
            Basis::new("2 §4.4"),
        );
        answer.basis.assume_all([92, 12]);
        answer.warnings.add("first");
        answer.warnings.add("second");
        answer.warnings.leave_out(3);
        let entry = packed(&noted(&parameters, Some(&answer)), None).entry();
        assert_eq!((entry.id, entry.at.millis(), entry.real_at.millis()), (7, 1, 2));
        assert_eq!((entry.path.as_str(), entry.merchant.as_deref()), ("/v3/transaction/auth", Some("main")));
        assert_eq!((entry.http_method, entry.fault), (Method::PUT, Some(FaultKind::Garble)));
        assert!(entry.info.is_some_and(|info| info.name == "auth"));
        let shown: Vec<_> = entry.parameters.iter().collect();
        assert_eq!(shown, [("itemName0", "Tea"), ("cardCV2", "(hidden)"), ("currency", "")]);
        let reply = entry.reply.unwrap();
        assert_eq!((reply.status, reply.error_code.as_deref()), (303, Some("950")));
        assert_eq!(reply.location().as_deref(), Some("/there"));
        assert_eq!((reply.basis, reply.warnings), (answer.basis, answer.warnings));
        assert_eq!(&reply.body[..], b"See other\n");
    }

    #[test]
    fn a_request_without_reply_and_account_is_read_too() {
        let parameters = Parameters::default();
        let packed = packed(&Noted { merchant: None, info: None, fault: None, ..noted(&parameters, None) }, None);
        assert_eq!(packed.merchant(), None);
        let entry = packed.entry();
        assert!(entry.reply.is_none() && entry.merchant.is_none() && entry.parameters.iter().next().is_none());
    }

    #[test]
    fn memory_is_used_again_only_by_an_entry_of_about_the_same_length() {
        let parameters = Parameters::default();
        let of = |length: usize| {
            Answer::new(Reply::encoded(StatusCode::OK, Encoding::Xml, "a".repeat(length)), Basis::default())
        };
        let (short, long) = (of(100), of(3_000));
        let first = packed(&noted(&parameters, Some(&long)), None);
        let (at, size) = (first.bytes.as_ptr(), first.bytes());
        let second = packed(&noted(&parameters, Some(&long)), Some(first));
        assert_eq!((second.bytes.as_ptr(), second.bytes()), (at, size));
        let third = packed(&noted(&parameters, Some(&short)), Some(second));
        assert!(third.bytes() < 1_000, "{}", third.bytes());
        assert_eq!(third.entry().reply.unwrap().body.len(), 100);
    }

    proptest! {
        #[test]
        fn twelve_digits_without_a_letter_between_them_are_found_wherever_they_are(
            body in "([0-9]{1,14}|[0-9]{11,12}|[ -.\"é]|[a-zA-Z]|[a-z]{9,13}){0,12}"
        ) {
            let most = body.split(|letter: char| letter.is_ascii_alphabetic()).map(|part| {
                part.bytes().filter(|byte| byte.is_ascii_digit() || !byte.is_ascii()).count()
            });
            prop_assert_eq!(may_hold_card_number(body.as_bytes()), most.max() >= Some(12));
        }
    }
}
