//! Records and outcomes as serde data, for logs and stores: with wire names, in the order of the tables.
//!
//! A card number is masked to its first six and last four digits, and so is a value that looks like one in an unknown
//! field, in an input of the card form and in a field of the bank. A value whose name marks it as a secret, such as a CV2
//! or a date of birth, is written as `***`. Requests, secrets and machine states are not serialisable, on purpose.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeStruct},
};

use crate::{
    Outcome, Value, mask,
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

/// Replaces a secret.
const HIDDEN: &str = "***";

fn hides(name: &str, value: &str) -> bool {
    !value.is_empty() && mask::names_a_secret(name)
}

impl Tree {
    fn of(record: &dyn Record) -> Self {
        let mut tree = Self::default();
        record.write(&mut tree);
        tree
    }

    fn put(&mut self, name: &str, node: Node) {
        self.0.push((name.to_owned(), node));
    }
}

impl RecordWriter for Tree {
    fn text(&mut self, name: &str, value: &str) {
        let value = match name {
            _ if hides(name, value) => HIDDEN.to_owned(),
            "cardNumber" => mask::text(value),
            _ => value.to_owned(),
        };
        self.put(name, Node::Text(value));
    }

    fn named(&mut self, name: &str, value: &str) {
        let value = if hides(name, value) { HIDDEN.to_owned() } else { mask::text(value) };
        self.put(&mask::text(name), Node::Text(value));
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
        let named = records.map(|(name, record)| (name.to_owned(), Node::Record(Self::of(record))));
        self.put(name, Node::Record(Self(named.collect())));
    }

    fn value(&mut self, name: &str, value: &Value) {
        self.put(name, Node::Unknown(value.clone()));
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
            Self::Text(text) => serializer.serialize_str(&mask::text(text)),
            Self::List(values) => serializer.collect_seq(values),
            Self::Record(extra) => serializer.collect_map(extra.iter().map(|(name, value)| (mask::text(name), value))),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use crate::{
        CardKeyDetails, CheckoutToken, Dialect, Outcome, Record, RedirectData, Reply, Transaction, decode_into,
    };

    fn read<R: Record + Default>(body: &str) -> R {
        let mut reply = Reply::<R>::default();
        decode_into(body.as_bytes(), &mut reply).unwrap();
        reply.record
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
    }
}
