//! Records and outcomes as serde data, for logs and stores: with wire names, in the order of the tables.
//!
//! A card number is masked to its first six and last four digits, and so is a value that looks like one in a free text, such
//! as the cardholder's name or an error message, in an unknown field, in an input of the card form and in a field of the bank.
//! A value whose name marks it as a secret, such as a CV2 or a date of birth, is written as `***`, also within an unknown
//! field. Keys, references and telephone numbers are written whole, since people look them up; `Debug` masks those that look
//! like card numbers too. Requests, secrets and machine states are not serialisable, on purpose.

use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::any::Any;

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeStruct},
};

use crate::{
    Extra, Outcome, Value, mask,
    record::{ListShape, Record, RecordWriter},
};

pub(crate) fn record<S: Serializer>(record: &dyn Record, serializer: S) -> Result<S::Ok, S::Error> {
    Tree::of(record).serialize(serializer)
}

/// `{"outcome": "approved", "record": {…}}`.
impl<T: Record> Serialize for Outcome<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut outcome = serializer.serialize_struct("Outcome", 2)?;
        outcome.serialize_field("outcome", self.label())?;
        outcome.serialize_field("record", &Tree::of(self.record()))?;
        outcome.end()
    }
}

/// The output of a record, buffered until a serializer needs it.
#[derive(Default)]
struct Tree(Vec<(String, Node)>);

enum Node {
    Text(String),
    Record(Tree),
    List(Vec<Tree>),
    Unknown(Value),
}

/// Whether a field may contain whatever people type. Of the telephone numbers with 12 digits, one in ten has the check digit of a
/// card number.
pub(crate) fn is_free_text(name: &str, field: &dyn Any) -> bool {
    field.is::<String>() && !["obile", "phone", "msisdn"].iter().any(|telephone| name.contains(telephone))
}

impl Tree {
    fn of(record: &dyn Record) -> Self {
        let mut tree = Self::default();
        record.write(&mut tree);
        for (name, node) in &mut tree.0 {
            match node {
                Node::Text(text) if record.is_free_text(name) => *text = mask::identifier(text).into_owned(),
                _ => {}
            }
        }
        tree
    }

    fn put(&mut self, name: &str, node: Node) {
        self.0.push((name.to_owned(), node));
    }
}

impl RecordWriter for Tree {
    fn text(&mut self, name: &str, value: &str) {
        let value = match name {
            "cardNumber" => mask::masked(value),
            _ if mask::hides(name, value) => mask::HIDDEN.into(),
            _ => value.into(),
        };
        self.put(name, Node::Text(value.into_owned()));
    }

    fn named(&mut self, name: &str, value: &str) {
        self.put(&mask::masked(name), Node::Text(mask::named(name, value).into_owned()));
    }

    fn number(&mut self, name: &str, value: &str) {
        self.text(name, value);
    }

    fn record(&mut self, name: &str, record: &dyn Record) {
        self.put(name, Node::Record(Self::of(record)));
    }

    fn list(&mut self, name: &str, _item: &str, _shape: ListShape, records: &mut dyn Iterator<Item = &dyn Record>) {
        self.put(name, Node::List(records.map(Self::of).collect()));
    }

    fn map(&mut self, name: &str, records: &mut dyn Iterator<Item = (&str, &dyn Record)>) {
        let named = records.map(|(name, record)| (mask::text(name), Node::Record(Self::of(record))));
        self.put(name, Node::Record(Self(named.collect())));
    }

    fn value(&mut self, name: &str, value: &Value) {
        let (name, value) = Extra::shown_field(name, value);
        self.put(&name, Node::Unknown(value.clone()));
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, node) in &self.0 {
            map.serialize_entry(name, node)?;
        }
        map.end()
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Record(tree) => tree.serialize(serializer),
            Self::List(trees) => serializer.collect_seq(trees),
            Self::Unknown(value) => value.serialize(serializer),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(&mask::masked(text)),
            Self::List(values) => serializer.collect_seq(values),
            Self::Record(extra) => serializer.collect_map(extra.shown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::ToString as _};

    use crate::{
        CardKeyDetails, CheckoutToken, Dialect, Outcome, Record, RedirectData, Reply, SmsReply, Transaction,
        decode_into,
    };

    fn read<R: Record + Default>(body: &str) -> R {
        let mut reply = Reply::<R>::default();
        decode_into(body.as_bytes(), &mut reply).unwrap();
        reply.record
    }

    /// What a service, or a proxy before it, may repeat of a request, in fields that no document lists.
    const ECHO: &str = r#"{"apiPassword":"canary-1","cardSecurityCode":"9171","echo":{"cardCV2":"9172","mccSurname":"canary-2",
        "pan":"4111111111111111","password":{"old":"canary-3"},"empty":{"cvv":""}},"list":[{"cvv":"9173"}],
        "4111111111111111":"x","bankCvv":"9174","bankNote":"4111111111111111"}"#;

    #[test]
    fn serde_and_debug_hide_secrets_in_unknown_fields_and_in_those_of_the_bank() {
        let paid = read::<Transaction>(ECHO);
        let data = serde_json::to_string(&paid).unwrap();
        let outcome = serde_json::to_string(&Outcome::Approved(paid.clone())).unwrap();
        for shown in [&data, &outcome, &format!("{paid:?}"), &format!("{:?}", (&paid.bank).into_iter())] {
            for secret in ["canary", "917", "4111111111111111"] {
                assert!(!shown.contains(secret), "{secret} in {shown}");
            }
        }
        assert!(data.contains(r#""empty":{"cvv":""}"#), "{data}");
        assert!(format!("{paid:?}").contains(r#""empty": {"cvv": ""}"#), "{paid:?}");
    }

    // spec: 2 §2.2
    #[test]
    fn serde_and_debug_hide_what_a_customer_types_into_the_wrong_input() {
        let form = read::<RedirectData>(
            r#"{"cardholderName":"4111111111111111","cardNumber":"4111111111111111","cardCV2":"9171","collectCvv":"9172",
                "collect4111111111111111":"x","errors":{"4111111111111111":{"errorMessage":"4111111111111111","cvv":"9173"},
                "cardNumber":{"errorCode":"108","errorMessage":"no 4111 1111 1111 1111"}}}"#,
        );
        for shown in [serde_json::to_string(&form).unwrap(), format!("{form:?}")] {
            for secret in ["917", "4111111111111111", "4111 1111"] {
                assert!(!shown.contains(secret), "{secret} in {shown}");
            }
            assert!(shown.contains("no 4111 11** **** 1111"), "{shown}");
        }
    }

    #[test]
    fn an_outcome_is_data_under_the_names_of_the_wire() {
        let body = r#"{"transactionStatusCode":"600","transactionKey":"k","bankAuthCode":"123456","new":{"pan":"4000 0000 0000 1000","n":[1,null]}}"#;
        let outcome = Outcome::read(read::<Transaction>(body), &Dialect::documented());
        let data = serde_json::to_value(&outcome).unwrap();
        assert_eq!(data["outcome"], "approved");
        let record = &data["record"];
        assert_eq!((&record["transactionStatusCode"], &record["bankAuthCode"]), (&"600".into(), &"123456".into()));
        assert_eq!(record["new"], serde_json::json!({ "pan": "4000 00** **** 1000", "n": ["1", ""] }));
    }

    // spec: 2 §2.2, 3 §2.1
    #[test]
    fn secrets_and_card_numbers_of_a_reply_are_hidden() {
        let token = read::<CheckoutToken>(
            "<serviceResponse><token><tokenid>t</tokenid></token><user><first_name>Ada</first_name>\
             <date_of_birth>17091873</date_of_birth></user></serviceResponse>",
        );
        let data = serde_json::to_value(&token).unwrap();
        assert_eq!((&data["user"]["date_of_birth"], &data["user"]["first_name"]), (&"***".into(), &"Ada".into()));
        let form = read::<RedirectData>(
            r#"{"cardNumber":"411111******1111","cardCV2":"123","collectCvv":"456","collectNote":"4111 1111 1111 1111",
                "collectSize":"XL","cardholderName":"Ada"}"#,
        );
        let data = serde_json::to_value(&form).unwrap();
        let text = data.to_string();
        assert!(!text.contains("123") && !text.contains("456") && !text.contains("1111 1111"), "{text}");
        assert_eq!((&data["collectNote"], &data["collectSize"]), (&"4111 11** **** 1111".into(), &"XL".into()));
        assert_eq!((&data["cardNumber"], &data["cardholderName"]), (&"411111******1111".into(), &"Ada".into()));
        // An empty value hides nothing.
        assert_eq!(serde_json::to_value(RedirectData::default()).unwrap()["cardCV2"], "");
        let paid =
            read::<Transaction>(r#"{"transactionKey":"k","bankNote":"pan 4111111111111111","bankAuthCode":"123456"}"#);
        let data = serde_json::to_value(&paid).unwrap();
        assert_eq!((&data["bankNote"], &data["bankAuthCode"]), (&"pan 411111******1111".into(), &"123456".into()));
    }

    #[test]
    fn a_record_says_what_its_json_says_and_masks_a_card_number_that_came_in_clear() {
        let body = r#"{"cardKeyDetails":{"0":{"cardKey":"a-1","cardUniqueIdentifier":4000000000001000,"card":{"cardNumber":"4000000000001000"}}}}"#;
        let data = serde_json::to_string(&read::<CardKeyDetails>(body)).unwrap();
        assert!(data.contains(r#""cardNumber":"400000******1000""#), "{data}");
        assert!(data.contains(r#""cardUniqueIdentifier":"4000000000001000""#), "identifiers stay: {data}");
        assert!(data.contains(r#""cardKey":"a-1""#));
        let reply = read::<SmsReply>(r#"{"sms":{"msisdn":"447700900122","message":"4111111111111111"}}"#);
        let data = serde_json::to_value(&reply).unwrap();
        assert_eq!(data["sms"]["msisdn"], "447700900122", "{data}");
        assert_eq!(data["sms"]["message"], "411111******1111", "{data}");
    }
}
