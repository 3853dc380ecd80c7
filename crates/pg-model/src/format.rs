//! The formats of parameters, apart from their lengths.

use core::fmt;

/// The format of a value. Lengths are a separate rule, see [`Length`](crate::field::Length).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Any characters except control characters.
    Text,
    /// [`Text`](Self::Text) that may have line breaks.
    Lines,
    /// ASCII letters and digits.
    Alphanumeric,
    /// ASCII digits.
    Digits,
    /// A whole number of at most 64 bits, with `-` in front when it is negative.
    Integer,
    /// A whole number of the currency's smallest unit.
    Minor,
    /// An amount in units of the currency, such as `5.95`.
    Decimal,
    /// An absolute `http` or `https` URL.
    Url,
    /// An ISO 4217 code: three ASCII letters.
    Currency,
    /// An ISO 3166-1 alpha-2 code: two ASCII letters.
    Country,
    /// A month in two digits, `01` to `12`.
    Month,
    /// A year in two or four digits.
    Year,
    /// A year in two digits.
    Year2,
    /// Month and year: `MMYY` or `MMYYYY`.
    Expiry,
    /// A date as `YYYYMMDD`.
    DateYmd,
    /// A date as `DDMMYYYY`.
    DateDmy,
    /// Seconds since 1970.
    UnixTime,
    /// Digits of a card number; the length is a separate rule.
    CardNumber,
    /// Three or four digits.
    Cv2,
    /// One of a list of values, see [`Field::values`](field@crate::field::Field::values).
    OneOf,
    /// `1` or `0`.
    Flag,
    /// Card keys separated by commas: at most 5,000, none twice.
    CardKeys,
    /// A telephone number in international format: `+`, `00` or the country code in front.
    Msisdn,
    /// Digits with the country code, without a leading zero.
    Phone,
}

/// Maximum number of card keys in one account updater request (spec 1 §4.8).
pub const MAX_CARD_KEYS: usize = 5_000;

/// Whether the digits end in a valid check digit (ISO/IEC 7812, Luhn).
#[must_use]
pub fn luhn_valid(number: &str) -> bool {
    let mut sum = 0;
    for (position, byte) in number.bytes().rev().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            _ => return false,
        };
        sum += match digit * 2 {
            _ if position % 2 == 0 => digit,
            doubled if doubled > 9 => doubled - 9,
            doubled => doubled,
        };
    }
    !number.is_empty() && sum.is_multiple_of(10)
}

impl Format {
    /// Whether a non-empty value has the format.
    #[must_use]
    pub fn admits(self, value: &str) -> bool {
        let bytes = value.as_bytes();
        match self {
            Self::Text => is_text(value),
            Self::Lines => value.split(['\r', '\n']).all(is_text),
            Self::Alphanumeric => bytes.iter().all(u8::is_ascii_alphanumeric),
            Self::Digits | Self::UnixTime | Self::CardNumber => are_digits(bytes),
            Self::Minor => are_digits(bytes) && value.parse::<u64>().is_ok(),
            Self::Integer => !value.starts_with('+') && (value.parse::<i64>().is_ok() || value.parse::<u64>().is_ok()),
            Self::Decimal => is_decimal(bytes),
            Self::Url => is_url(value),
            Self::Currency => bytes.len() == 3 && bytes.iter().all(u8::is_ascii_uppercase),
            Self::Country => bytes.len() == 2 && bytes.iter().all(u8::is_ascii_alphabetic),
            Self::Month => is_month(bytes),
            Self::Year => matches!(bytes.len(), 2 | 4) && are_digits(bytes),
            Self::Year2 => bytes.len() == 2 && are_digits(bytes),
            Self::Expiry => matches!(bytes.len(), 4 | 6) && are_digits(bytes) && is_month(&bytes[..2]),
            Self::DateYmd => bytes.len() == 8 && are_digits(bytes) && is_date(&bytes[..4], &bytes[4..6], &bytes[6..]),
            Self::DateDmy => bytes.len() == 8 && are_digits(bytes) && is_date(&bytes[4..], &bytes[2..4], &bytes[..2]),
            Self::Cv2 => matches!(bytes.len(), 3 | 4) && are_digits(bytes),
            // The field has the list of values, and checks it.
            Self::OneOf => true,
            Self::Flag => matches!(bytes, b"0" | b"1"),
            Self::CardKeys => are_card_keys(value),
            Self::Msisdn => are_digits(value.strip_prefix('+').unwrap_or(value).as_bytes()),
            Self::Phone => are_digits(bytes) && bytes[0] != b'0',
        }
    }

    /// Whether an optional value of the format may be sent empty. A service that drops empty values would use the
    /// default of an amount, a number or a choice, which the sender did not choose.
    pub(crate) const fn may_be_empty(self) -> bool {
        !matches!(
            self,
            Self::Integer | Self::Minor | Self::Decimal | Self::Currency | Self::UnixTime | Self::OneOf | Self::Flag
        )
    }

    /// Returns the words that complete "must be …".
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Text => "text without control characters",
            Self::Lines => "text without control characters but line breaks",
            Self::Alphanumeric => "letters and digits only",
            Self::Digits => "digits only",
            Self::Integer => "a whole number",
            Self::Minor => "a whole number of the currency's smallest unit",
            Self::Decimal => "a decimal amount in units of the currency, such as 5.95",
            Self::Url => "an absolute http or https URL",
            Self::Currency => "a currency code of three capital letters (ISO 4217)",
            Self::Country => "a country code of two letters (ISO 3166-1)",
            Self::Month => "a month in two digits, 01 to 12",
            Self::Year => "a year in two or four digits",
            Self::Year2 => "a year in two digits",
            Self::Expiry => "an expiry date as MMYY or MMYYYY",
            Self::DateYmd => "a date that exists, as YYYYMMDD",
            Self::DateDmy => "a date that exists, as DDMMYYYY",
            Self::UnixTime => "a Unix timestamp in seconds",
            Self::CardNumber => "a card number: digits only, no separators",
            Self::Cv2 => "a CV2 of three or four digits",
            Self::OneOf => "one of the allowed values",
            Self::Flag => "1 or 0",
            Self::CardKeys => "1 to 5,000 card keys separated by commas, none twice",
            Self::Msisdn => "a telephone number in international format",
            Self::Phone => "a telephone number in digits with the country code, without a leading zero",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

fn are_digits(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

fn is_text(value: &str) -> bool {
    // Without an early exit, the loop compares many bytes at once. The second check is needed for few texts.
    let plain = value.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'));
    plain || !value.chars().any(char::is_control)
}

fn is_month(bytes: &[u8]) -> bool {
    matches!(bytes, [b'0', b'1'..=b'9'] | [b'1', b'0'..=b'2'])
}

/// Returns a day of the calendar, in digits.
fn is_date(year: &[u8], month: &[u8], day: &[u8]) -> bool {
    let number = |digits: &[u8]| digits.iter().fold(0_u16, |number, digit| number * 10 + u16::from(digit - b'0'));
    let year = number(year);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match number(month) {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    is_month(month) && (1..=days).contains(&number(day))
}

fn is_decimal(bytes: &[u8]) -> bool {
    let mut parts = bytes.split(|b| *b == b'.');
    let whole = parts.next().is_some_and(are_digits);
    let fraction = parts.next().is_none_or(are_digits);
    whole && fraction && parts.next().is_none()
}

fn is_url(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
        && !host.is_empty()
        && !host.starts_with(':')
        && !value.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\\'))
}

fn are_card_keys(value: &str) -> bool {
    let keys: alloc::vec::Vec<&str> = value.split(',').collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    keys.len() <= MAX_CARD_KEYS
        && keys.iter().all(|key| !key.is_empty())
        && sorted.windows(2).all(|pair| pair[0] != pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luhn_refuses_a_changed_digit_and_what_is_no_digit() {
        assert!(luhn_valid("4111111111111111"));
        assert!(!luhn_valid("4111111111111112"));
        assert!(!luhn_valid("4111 1111 1111 1111"));
        assert!(!luhn_valid(""));
    }

    // spec: 3 §4.1: A telephone number consists of digits with the country code and no leading zero; a date of birth is
    //   DDMMYYYY; a country is two letters.
    #[test]
    fn each_format_takes_what_it_names_and_nothing_else() {
        let cases: &[(Format, &[&str], &[&str])] = &[
            (Format::Text, &["O'Neill", "Grüße 7"], &["a\nb", "a\u{85}b", "\0"]),
            (Format::Lines, &["two\nlines", "\r\n", "one"], &["a\tb", "a\u{85}b", "\n\0"]),
            (Format::Alphanumeric, &["aZ09"], &["a-b", "é", "a b"]),
            (Format::Integer, &["0", "-1", "127", "18446744073709551615"], &["+1", "1.0", "x", "18446744073709551616"]),
            (Format::Minor, &["0", "499"], &["4.99", "-1", "18446744073709551616", "1e3"]),
            (Format::Decimal, &["5.95", "5", "0.95"], &[".5", "5.", "1.2.3", "-1", "1,5"]),
            (
                Format::Url,
                &["https://shop.example/a?b=c#d", "http://127.0.0.1:80/"],
                &["shop.example", "ftp://a/", "https://", "javascript://a b", "https:///x", "https://:80/"],
            ),
            (Format::Currency, &["GBP"], &["GB", "GB1", "GBPX", "gbp", "Gbp"]),
            (Format::Month, &["01", "12"], &["1", "13", "00", "1a"]),
            (Format::Year, &["26", "2026"], &["026", "202a"]),
            (Format::Expiry, &["1226", "122026"], &["1326", "12262", "126"]),
            (
                Format::DateYmd,
                &["19700131", "20000229", "20240229"],
                &["19701301", "19700132", "19700100", "1970131", "19000229", "20250229", "20250431"],
            ),
            (Format::DateDmy, &["31011970", "29022024"], &["19700131", "31021970", "29021970", "31061970"]),
            (Format::Cv2, &["123", "1234"], &["12", "12345", "12a"]),
            (Format::Flag, &["0", "1"], &["2", "true"]),
            (Format::CardKeys, &["a", "a,b"], &["a,a", "a,,b", ","]),
            (Format::Msisdn, &["+447700900000", "00447700900000", "447700900000"], &["+", "07700 900"]),
            (Format::Phone, &["447700900000"], &["07700900000", "+44"]),
        ];
        for (format, good, bad) in cases {
            for value in *good {
                assert!(format.admits(value), "{format:?} refuses {value:?}");
            }
            for value in *bad {
                assert!(!format.admits(value), "{format:?} takes {value:?}");
            }
        }
    }
}
