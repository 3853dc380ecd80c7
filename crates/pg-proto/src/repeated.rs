//! Removes from a text of a reply what it repeats of its request: the service, or a proxy in front of it, may answer with the
//! form that it received.

use pg_model::{Secret, ServiceError, mask};

use crate::{
    Account,
    preview::{is_masked, shown},
};

/// A shorter credential is not removed, since it may be part of a word. Those of version 5 have 32 characters (spec 3 §4).
const SHORTEST: usize = 8;
/// A CV2 is looked for in this number of bytes after its name.
const NEAR: usize = 32;
/// The digits of a CV2.
const CV2: std::ops::RangeInclusive<usize> = 3..=4;
/// What stands between a name and its value in forms, JSON, XML and HTML. The first ones say that a value follows.
const BETWEEN: [&str; 13] = ["=", ":", ">", "%3D", "%3A", "%22", "&quot;", "&#34;", "\"", "'", "\\", "]", " "];
const ASSIGNING: usize = 5;

impl Account {
    /// Returns a text of a reply without the credentials of the account, and without values under the names of secret parameters.
    /// Of a CV2, which may be any three digits, only the digits near a name such as `cardCV2` are found.
    pub(crate) fn without_repeated(&self, text: &str) -> String {
        let own = &self.credentials;
        let mut text = text.to_owned();
        let enterprise = self.enterprise.iter().flat_map(|(_, own)| [&own.api_key, &own.api_password]);
        for secret in [&own.api_key, &own.api_password].into_iter().chain(enterprise) {
            let secret = secret.expose();
            if secret.len() >= SHORTEST {
                // Long enough for every escape: growing would leave a copy in freed memory.
                let mut encoded = String::with_capacity(3 * secret.len());
                encoded.extend(form_urlencoded::byte_serialize(secret.as_bytes()));
                text = text.replace(secret, "***").replace(Secret::from(encoded).expose(), "***");
            }
        }
        without_named(&text)
    }

    /// Removes from code, trace code and message of an error what they repeat of the request.
    pub(crate) fn remove_repeated(&self, error: &mut ServiceError) {
        error.error_code = self.without_repeated(error.error_code.as_str()).into();
        error.trace_code = self.without_repeated(error.trace_code.as_str()).into();
        error.error_message = self.without_repeated(&error.error_message);
    }
}

/// Returns a text in which values after the names of secret parameters are shown as in a preview.
fn without_named(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(is_in_name) {
        let length = rest[start..].find(|letter| !is_in_name(letter)).unwrap_or(rest.len() - start);
        let (named, after) = rest.split_at(start + length);
        out.push_str(named);
        rest = after;
        if let Some((before, value, shown)) = secret_after(&named[start..], after) {
            out.push_str(&after[..before]);
            out.push_str(&shown);
            rest = &after[before + value..];
        }
    }
    out + rest
}

const fn is_in_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

/// Returns the distance and the length of the secret that follows a name, if one does, and what is shown instead.
fn secret_after(name: &str, after: &str) -> Option<(usize, usize, String)> {
    if mask::names_a_cv2(name) {
        return cv2_after(after).map(|(before, length)| (before, length, "***".to_owned()));
    }
    let before = value_after(after)?;
    if !is_masked(name) {
        return None;
    }
    // Measured only now: the value of a name may be all the rest of a text.
    let ends = |letter: char| letter.is_whitespace() || "&<>\"'\\,;)]}".contains(letter);
    let value = &after[before..];
    let value = &value[..value.find(ends).unwrap_or(value.len())];
    let shown = shown(name, value);
    (shown != value).then_some((before, value.len(), shown))
}

/// Returns the distance of the value that follows a name, if one does.
fn value_after(after: &str) -> Option<usize> {
    let (mut value, mut is_assigned) = (after, false);
    while let Some(at) = BETWEEN.iter().position(|between| value.starts_with(between)) {
        is_assigned |= at < ASSIGNING;
        value = &value[BETWEEN[at].len()..];
    }
    is_assigned.then(|| after.len() - value.len())
}

/// Returns the distance and the length of the digits that may be a CV2 after its name.
fn cv2_after(after: &str) -> Option<(usize, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut at = 0;
    while at < after.len().min(NEAR) {
        match after.get(at..).map(digits) {
            Some(length) if CV2.contains(&length) => return Some((at, length)),
            length => at += length.unwrap_or(1).max(1),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BaseUrl, Credentials, EnterpriseCredentials};

    fn account() -> Account {
        let base = || BaseUrl::parse("https://gateway.example").unwrap();
        Account::new(base(), Credentials::new("KKKKkkkk0123", "p&ss w\"rd/é", "sha key"))
            .enterprise(base(), EnterpriseCredentials::new("EEEEeeee0123", "short"))
    }

    #[test]
    fn credentials_are_removed_wherever_they_stand() {
        for (text, shown) in [
            ("no user KKKKkkkk0123, EEEEeeee0123 or p&ss w\"rd/é", "no user ***, *** or ***"),
            ("a=p%26ss+w%22rd%2F%C3%A9&b", "a=***&b"),
            ("xKKKKkkkk0123x in short", "x***x in short"),
        ] {
            assert_eq!(account().without_repeated(text), shown, "{text}");
        }
    }

    #[test]
    fn values_of_secret_parameters_are_removed_by_their_names() {
        for (text, shown) in [
            ("apiKey=a1&apiPassword=b%262&currency=GBP", "apiKey=***&apiPassword=***&currency=GBP"),
            ("apiPassword=b&amp;currency=GBP</pre>", "apiPassword=***&amp;currency=GBP</pre>"),
            ("api_password%3Db1 and more", "api_password%3D*** and more"),
            (r#"{"apiPassword": "b1", "mccSurname":"Doe"}"#, r#"{"apiPassword": "***", "mccSurname":"***"}"#),
            (r#"{\"apiPassword\":\"b1\"}"#, r#"{\"apiPassword\":\"***\"}"#),
            ("{&quot;apiPassword&quot;:&quot;b1&quot;}", "{&quot;apiPassword&quot;:&quot;***&quot;}"),
            ("<apiPassword>b1</apiPassword><cardExpiryYear>49", "<apiPassword>***</apiPassword><cardExpiryYear>49"),
            ("[apiPassword] => b1", "[apiPassword] => ***"),
            ("cardNumber=4929420573595709&x", "cardNumber=492942******5709&x"),
            ("orderId=202611220000|cardCV2=987|apiPassword=b1", "orderId=202611220000|cardCV2=***|apiPassword=***"),
            ("the password is wrong", "the password is wrong"),
            ("Invalid apiKey", "Invalid apiKey"),
            ("apiPassword=", "apiPassword="),
            ("é apiPassword=é", "é apiPassword=***"),
        ] {
            assert_eq!(account().without_repeated(text), shown, "{text}");
        }
    }

    #[test]
    fn a_cv2_is_removed_near_its_name() {
        for (text, shown) in [
            ("cardCV2=917&cardExpiryMonth=12", "cardCV2=***&cardExpiryMonth=12"),
            ("cardCV2%3D9173%26currency", "cardCV2%3D***%26currency"),
            ("<td>cardCV2</td><td>917</td>", "<td>cardCV2</td><td>***</td>"),
            ("CV2 917 is not accepted", "CV2 *** is not accepted"),
            ("cardCV2 é\u{1F4B7} 917", "cardCV2 é\u{1F4B7} ***"),
            ("cardCV2 must have 3 to 4 digits", "cardCV2 must have 3 to 4 digits"),
            ("trace 917, 2026-11-25", "trace 917, 2026-11-25"),
        ] {
            assert_eq!(account().without_repeated(text), shown, "{text}");
        }
    }

    #[test]
    fn a_text_of_names_is_searched_in_time_that_grows_with_its_size() {
        for part in ["a=", "abc:", "apiKey=", "cardNumber%3D", "cardCV2=", "a ", "=", "apiPassword=\"", "é:"] {
            let text = part.repeat((1 << 20) / part.len());
            assert!(account().without_repeated(&text).len() <= 2 * text.len(), "{part}");
        }
    }

    #[test]
    fn what_is_masked_stays_as_it_is() {
        let account = account();
        for text in ["apiPassword=***&cardCV2=***", "cardNumber=492942******5709"] {
            assert_eq!(account.without_repeated(text), text);
        }
    }
}
