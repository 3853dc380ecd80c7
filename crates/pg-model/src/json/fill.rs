//! One visitor for all the places that a value of JSON can go to.

use alloc::{borrow::Cow, string::String};
use core::{fmt, marker::PhantomData};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// A place that takes any value of JSON: scalars as text, `null` as an empty one.
pub(super) trait Fill<'de>: Sized {
    /// What is left to say when it has taken the value.
    type Output;

    /// The words for `true` and `false`.
    const TRUTH: (&'static str, &'static str) = ("1", "0");

    fn scalar(self, text: Cow<'_, str>) -> Self::Output;

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Output, A::Error>;

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Self::Output, A::Error>;
}

/// Makes a place known to serde.
pub(super) struct Seed<'de, T>(T, PhantomData<&'de ()>);

impl<'de, T: Fill<'de>> Seed<'de, T> {
    pub(super) const fn of(place: T) -> Self {
        Self(place, PhantomData)
    }
}

impl<'de, T: Fill<'de>> DeserializeSeed<'de> for Seed<'de, T> {
    type Value = T::Output;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Output, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Fill<'de>> Visitor<'de> for Seed<'de, T> {
    type Value = T::Output;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_u64<E>(self, value: u64) -> Result<T::Output, E> {
        Ok(self.0.scalar(Cow::Borrowed(itoa::Buffer::new().format(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<T::Output, E> {
        Ok(self.0.scalar(Cow::Borrowed(itoa::Buffer::new().format(value))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<T::Output, E> {
        let mut buffer = zmij::Buffer::new();
        let digits = buffer.format(value);
        Ok(self.0.scalar(Cow::Borrowed(digits.strip_suffix(".0").unwrap_or(digits))))
    }

    fn visit_bool<E>(self, value: bool) -> Result<T::Output, E> {
        let (yes, no) = T::TRUTH;
        Ok(self.0.scalar(Cow::Borrowed(if value { yes } else { no })))
    }

    fn visit_unit<E>(self) -> Result<T::Output, E> {
        Ok(self.0.scalar(Cow::Borrowed("")))
    }

    fn visit_str<E>(self, value: &str) -> Result<T::Output, E> {
        Ok(self.0.scalar(Cow::Borrowed(value)))
    }

    fn visit_string<E>(self, value: String) -> Result<T::Output, E> {
        Ok(self.0.scalar(Cow::Owned(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T::Output, A::Error> {
        self.0.list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T::Output, A::Error> {
        self.0.object(object)
    }
}
