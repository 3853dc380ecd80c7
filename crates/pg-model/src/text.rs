//! Scalars: every value on the wire is text, and an empty text means "not given".

use alloc::{borrow::Cow, string::String};

/// A scalar that is read from, and written as, the text of a parameter or reply field.
pub trait Text {
    /// Replaces the value with the service's text. Never fails: an unknown value is kept unchanged.
    fn set(&mut self, text: Cow<'_, str>);

    /// Returns the value on the wire; empty if not given.
    fn text(&self) -> &str;

    /// Sets the value to a text of a reply. Returns false if it already has another one: then the reply contradicts
    /// itself (assumption A44).
    #[doc(hidden)]
    fn fill(&mut self, text: Cow<'_, str>) -> bool {
        if !self.text().is_empty() {
            return text.is_empty() || self.text() == text;
        }
        self.set(text);
        true
    }

    /// Returns the value, or `None` if not given: on the wire, absent, null and empty are the same.
    ///
    /// ```
    /// use pg_model::{Text, Transaction};
    /// let reply = Transaction::default().with(|reply| reply.transaction_key = "k".into());
    /// assert_eq!((reply.transaction_key.given(), reply.transaction_status.given()), (Some("k"), None));
    /// ```
    fn given(&self) -> Option<&str> {
        Some(self.text()).filter(|text| !text.is_empty())
    }
}

impl Text for String {
    fn set(&mut self, text: Cow<'_, str>) {
        *self = text.into_owned();
    }

    fn text(&self) -> &str {
        self
    }
}

/// Implements the traits of a wire text for a one-field struct over `String` or `Cow<'static, str>`.
///
/// With `: String` after the name it holds any text. Otherwise it holds the codes of its `KNOWN`, which are `listed` or
/// `sorted`: a text that equals one of them is read without a copy. The struct itself is always written out beside the
/// call, so that a search finds it.
macro_rules! text_traits {
    ($name:ident: listed) => {
        text_traits!($name);

        impl From<alloc::borrow::Cow<'_, str>> for $name {
            fn from(code: alloc::borrow::Cow<'_, str>) -> Self {
                let known = Self::KNOWN.iter().find(|known| known.as_str() == code);
                known.cloned().unwrap_or_else(|| Self(alloc::borrow::Cow::Owned(code.into_owned())))
            }
        }
    };
    ($name:ident: sorted) => {
        text_traits!($name);

        impl From<alloc::borrow::Cow<'_, str>> for $name {
            fn from(code: alloc::borrow::Cow<'_, str>) -> Self {
                match Self::KNOWN.binary_search_by(|known| known.as_str().cmp(&code)) {
                    Ok(at) => Self::KNOWN[at].clone(),
                    Err(_) => Self(alloc::borrow::Cow::Owned(code.into_owned())),
                }
            }
        }
    };
    ($name:ident: String) => {
        text_traits!($name);

        impl From<alloc::borrow::Cow<'_, str>> for $name {
            fn from(text: alloc::borrow::Cow<'_, str>) -> Self {
                Self(text.into_owned())
            }
        }
    };
    ($name:ident) => {
        impl $name {
            /// Returns the text on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Whether it is empty.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Returns the text, or `None` if it is empty.
            #[must_use]
            pub fn given(&self) -> Option<&str> {
                Some(self.as_str()).filter(|text| !text.is_empty())
            }
        }

        impl $crate::text::Text for $name {
            fn set(&mut self, text: alloc::borrow::Cow<'_, str>) {
                *self = Self::from(text);
            }

            fn text(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::from(alloc::borrow::Cow::Borrowed(text))
            }
        }

        impl From<alloc::string::String> for $name {
            fn from(text: alloc::string::String) -> Self {
                Self::from(alloc::borrow::Cow::<'_, str>::Owned(text))
            }
        }

        impl From<&$name> for $name {
            fn from(other: &$name) -> Self {
                other.clone()
            }
        }

        /// Never fails: any text is kept unchanged.
        impl core::str::FromStr for $name {
            type Err = core::convert::Infallible;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(Self::from(text))
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&$crate::mask::identifier(self.as_str())).finish()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }
    };
}

/// The constants of a code table, for its `KNOWN`.
macro_rules! known {
    ($($name:ident)*) => {
        &[$(Self::$name),*]
    };
}

pub(crate) use {known, text_traits};
