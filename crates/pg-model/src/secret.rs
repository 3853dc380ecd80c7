//! Card numbers, CV2s and other secrets: wiped on drop, never shown by `Debug` or `Display`.

use alloc::{borrow::Cow, string::String};
use core::fmt;
use zeroize::Zeroize;

use crate::{mask, text::Text};

/// A card number (PAN): 12 to 19 digits, or already masked by the service.
///
/// `Debug` and `Display` show the first six and last four digits; [`expose`](Self::expose) returns all digits.
///
/// ```
/// let card = pg_model::CardNumber::from("4000000000001000");
/// assert_eq!(card.to_string(), "400000******1000");
/// assert_eq!(card.expose(), "4000000000001000");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CardNumber(String);

/// The card verification value: 3 or 4 digits. `Debug` hides it, and there is no `Display`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Cv2(String);

/// Any other value that must not be shown, such as a date of birth or a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl CardNumber {
    /// Returns the number with its middle hidden: first six and last four digits (spec 2 §2.2).
    #[must_use]
    pub fn masked(&self) -> String {
        mask::card_number(&self.0)
    }
}

impl fmt::Debug for CardNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CardNumber({})", self.masked())
    }
}

impl fmt::Display for CardNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

impl fmt::Debug for Cv2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cv2(***)")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

macro_rules! secret_traits {
    ($name:ident) => {
        impl $name {
            /// Returns the secret text. Keep it out of logs, errors and stores.
            #[must_use]
            pub fn expose(&self) -> &str {
                &self.0
            }

            /// Whether the text is empty.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl Text for $name {
            fn set(&mut self, text: Cow<'_, str>) {
                self.0.zeroize();
                self.0 = text.into_owned();
            }

            fn text(&self) -> &str {
                &self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                self.0.zeroize();
            }
        }
    };
}

secret_traits!(CardNumber);
secret_traits!(Cv2);
secret_traits!(Secret);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn debug_and_display_hide_what_must_not_be_seen() {
        let number = CardNumber::from("4111111111111111");
        assert_eq!(format!("{number} {number:?}"), "411111******1111 CardNumber(411111******1111)");
        assert_eq!(format!("{:?} {:?}", Cv2::from("123"), Secret::from("19700101")), "Cv2(***) Secret(***)");
        assert_eq!(number.expose(), "4111111111111111");
    }
}
