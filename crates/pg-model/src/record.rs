//! Replies as records: one description of a structure serves reading and writing, in XML and in JSON.
//!
//! A reader asks a record for the [`Slot`] of each name and fills it. A [`RecordWriter`] receives the
//! fields in the order of the tables. The records themselves are generated.

use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use core::fmt;

use crate::{
    mask,
    parameters::Named,
    text::Text,
    value::{Extra, Value},
};

/// A reply, or a part of one.
pub trait Record {
    /// Returns the slot of the child with this name. Unknown names get [`Slot::Extra`].
    fn slot(&mut self, name: &str) -> Slot<'_>;

    /// Returns the unknown children.
    fn extra(&mut self) -> &mut Extra;

    /// Passes every field to `out`, in the order of the tables.
    fn write(&self, out: &mut dyn RecordWriter);

    /// Returns the first missing required field. A list that is all of its record counts as missing if it is empty: only the body
    /// says whether it is there, and [`decode`](crate::decode) looks for it.
    fn missing(&self) -> Option<&'static str> {
        None
    }

    /// Whether a field may contain a card number as people type it, so that serde masks it. Keys and references stay
    /// whole, since people look them up.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    fn is_free_text(&self, _name: &str) -> bool {
        false
    }
}

impl<R: Record + ?Sized> Record for Box<R> {
    fn slot(&mut self, name: &str) -> Slot<'_> {
        (**self).slot(name)
    }

    fn extra(&mut self) -> &mut Extra {
        (**self).extra()
    }

    fn write(&self, out: &mut dyn RecordWriter) {
        (**self).write(out);
    }

    fn missing(&self) -> Option<&'static str> {
        (**self).missing()
    }

    #[cfg(feature = "serde")]
    fn is_free_text(&self, name: &str) -> bool {
        (**self).is_free_text(name)
    }
}

/// The target of a child of a record.
pub enum Slot<'a> {
    /// A scalar.
    Text(&'a mut dyn Text),
    /// A nested record.
    Record(&'a mut dyn Record),
    /// A repeated record.
    List(&'a mut dyn RecordList),
    /// Records under names chosen by the service.
    Map(&'a mut dyn RecordMap),
    /// A scalar whose name has a known prefix.
    Named(&'a mut Named),
    /// An unknown name.
    Extra,
}

/// A repeated record.
pub trait RecordList {
    /// Adds an empty record at the end.
    fn grow(&mut self) -> &mut dyn Record;
}

impl<R: Record + Default> RecordList for Vec<R> {
    fn grow(&mut self) -> &mut dyn Record {
        self.push(R::default());
        let last = self.len() - 1;
        &mut self[last]
    }
}

/// Records under names chosen by the service.
pub trait RecordMap {
    /// Adds an empty record under a name.
    fn entry(&mut self, name: &str) -> &mut dyn Record;
}

/// Records by name, in their original order.
///
/// ```
/// use pg_model::{Keyed, ServiceError};
/// let mut errors = Keyed::default();
/// errors.push("cardNumber", ServiceError::default().with(|error| error.error_code = "108".into()));
/// for (field, error) in &errors {
///     assert_eq!((field, error.error_code.as_str()), ("cardNumber", "108"));
/// }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Keyed<R>(Vec<(String, R)>);

impl<R> Keyed<R> {
    /// Appends a record.
    pub fn push(&mut self, name: impl Into<String>, record: R) {
        self.0.push((name.into(), record));
    }

    /// Returns the first record with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&R> {
        self.iter().find(|(found, _)| *found == name).map(|(_, record)| record)
    }

    /// Returns all records.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &R)> {
        self.0.iter().map(|(name, record)| (name.as_str(), record))
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<R: fmt::Debug> fmt::Debug for Keyed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(name, record)| (mask::masked(name), record))).finish()
    }
}

impl<R> IntoIterator for Keyed<R> {
    type Item = (String, R);
    type IntoIter = alloc::vec::IntoIter<(String, R)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, R> IntoIterator for &'a Keyed<R> {
    type Item = (&'a str, &'a R);
    type IntoIter = core::iter::Map<core::slice::Iter<'a, (String, R)>, fn(&'a (String, R)) -> (&'a str, &'a R)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, record)| (name.as_str(), record))
    }
}

impl<R: Record + Default> RecordMap for Keyed<R> {
    fn entry(&mut self, name: &str) -> &mut dyn Record {
        self.push(name, R::default());
        let last = self.0.len() - 1;
        &mut self.0[last].1
    }
}

/// The JSON form of a repeated record (spec 1 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListShape {
    /// An object keyed by index from zero.
    Indexed,
    /// An array.
    Array,
}

/// Writes the fields of a record in one encoding.
pub trait RecordWriter {
    /// A scalar.
    fn text(&mut self, name: &str, value: &str);
    /// A scalar whose name only begins as the documents say, such as an input of the card form.
    fn named(&mut self, name: &str, value: &str) {
        self.text(name, value);
    }
    /// A scalar that JSON writes as a number if its text is a number.
    fn number(&mut self, name: &str, value: &str);
    /// A nested record.
    fn record(&mut self, name: &str, record: &dyn Record);
    /// A repeated record; `item` names each one in XML.
    fn list(&mut self, name: &str, item: &str, shape: ListShape, records: &mut dyn Iterator<Item = &dyn Record>);
    /// Records by name.
    fn map(&mut self, name: &str, records: &mut dyn Iterator<Item = (&str, &dyn Record)>);
    /// An unknown field.
    fn value(&mut self, name: &str, value: &Value);
}

/// A reply as received: the record, and the error fields that the service may send instead (spec 2 §7, 3 §7).
#[derive(Clone, Debug, Default)]
pub struct Reply<R> {
    /// The record; empty if the service refused.
    pub record: R,
    /// The error; its code is empty if the service did not refuse.
    pub error: crate::ServiceError,
}

impl<R: Record> Record for Reply<R> {
    fn slot(&mut self, name: &str) -> Slot<'_> {
        match name {
            "errorCode" | "errorcode" => Slot::Text(&mut self.error.error_code),
            "traceCode" => Slot::Text(&mut self.error.trace_code),
            "errorMessage" => Slot::Text(&mut self.error.error_message),
            _ => self.record.slot(name),
        }
    }

    fn extra(&mut self) -> &mut Extra {
        self.record.extra()
    }

    fn write(&self, out: &mut dyn RecordWriter) {
        if self.error.error_code.is_empty() { self.record.write(out) } else { self.error.write(out) }
    }
}

/// Fills a scalar from a reply.
///
/// # Errors
/// If it already has another value.
pub(crate) fn set(text: &mut dyn Text, value: Cow<'_, str>) -> Result<(), &'static str> {
    if value.is_empty() || text.fill(value) { Ok(()) } else { Err("has a field twice, with different values") }
}

#[cfg(test)]
mod tests {
    use alloc::{borrow::Cow, format};
    use core::fmt::Debug;

    use super::*;
    use crate::{
        EnterpriseResult, EnterpriseTransaction, ServiceError, SmsResult, ThreeDSecureInitiation, Transaction,
    };

    const CARD: &str = "4111111111111111";

    /// A service, or a proxy before it, may repeat the card number of a request in any field.
    fn hides<R: Record + Default + Debug>(names: &[&str]) {
        for name in names {
            let mut record = R::default();
            match record.slot(name) {
                Slot::Text(text) => text.set(Cow::Borrowed(CARD)),
                _ => panic!("{name} is no text"),
            }
            for shown in [format!("{record:?}"), format!("{record:#?}")] {
                assert!(!shown.contains(CARD) && shown.contains("411111******1111"), "{name}: {shown}");
            }
        }
    }

    #[test]
    fn debug_masks_card_numbers_in_every_text_of_a_reply() {
        hides::<Transaction>(&[
            "transactionStatusCode",
            "transactionStatus",
            "transactionType",
            "transactionKey",
            "merchantReference",
            "uniqueMerchantReference",
            "merchantCustomerReference",
            "currency",
            "transactionValue",
            "originalTransactionKey",
            "createdOn",
        ]);
        hides::<EnterpriseResult>(&["trans_type", "trans_value", "prev_trans_key", "trans_class", "system_action"]);
        hides::<EnterpriseResult>(&["status", "trans_key", "auth_code"]);
        hides::<EnterpriseTransaction>(&["status", "token", "value", "currency"]);
        hides::<ThreeDSecureInitiation>(&[
            "transactionStatus",
            "bankECIValue",
            "authenticationKey",
            "authenticationUrl",
        ]);
        hides::<SmsResult>(&["msisdn", "message", "status", "messid"]);
        hides::<ServiceError>(&["errorCode", "traceCode", "errorMessage"]);
    }

    #[test]
    fn debug_shows_numeric_keys_that_are_no_card_numbers() {
        let result = EnterpriseResult::default().with(|result| result.trans_key = "202611229998".into());
        assert!(format!("{result:?}").contains("202611229998"));
    }
}
