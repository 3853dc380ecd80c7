//! Documents made of maps, lists and scalars, written as YAML or JSON.

mod yaml;

use derive_more::From;
use serde::{Serialize, Serializer};

/// A value of a document. Maps keep the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq, From)]
pub(super) enum Node {
    Map(Vec<(String, Node)>),
    List(Vec<Node>),
    #[from(String, &String, &str)]
    Text(String),
    #[from(i64, u16)]
    Number(i64),
    #[from]
    Flag(bool),
}

impl Node {
    /// An empty map.
    pub(super) const fn map() -> Self {
        Self::Map(Vec::new())
    }

    /// The same map with one more entry.
    pub(super) fn with(mut self, key: impl Into<String>, value: impl Into<Self>) -> Self {
        if let Self::Map(entries) = &mut self {
            entries.push((key.into(), value.into()));
        }
        self
    }

    /// The same map, with one more entry if there is a value.
    pub(super) fn with_some<V: Into<Self>>(self, key: &str, value: Option<V>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The same map, with one more entry unless that is an empty map or list.
    pub(super) fn with_filled(self, key: &str, value: impl Into<Self>) -> Self {
        let value = value.into();
        if value.is_empty() { self } else { self.with(key, value) }
    }

    /// The document as JSON with two blanks of indentation, without a newline at its end.
    pub(super) fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("maps with texts as keys are JSON")
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Map(entries) => entries.is_empty(),
            Self::List(items) => items.is_empty(),
            _ => false,
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Map(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
            Self::List(items) => serializer.collect_seq(items),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
        }
    }
}

impl<N: Into<Self>> From<Vec<N>> for Node {
    fn from(items: Vec<N>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Node>> FromIterator<(K, V)> for Node {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}
