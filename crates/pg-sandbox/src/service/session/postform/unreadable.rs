//! What can be read of a body that is not a valid form, so that the merchant's own page can report the error.

use crate::form::{Form, FormError, FormLimits, read_as_can_be};

/// Returns the value of a parameter, if the body has it exactly once and the value can be read.
pub(super) fn only(error: &FormError, body: &[u8], name: &str) -> Option<String> {
    let [value] = <[_; 1]>::try_from(all(error, body, name)).ok()?;
    value
}

/// Returns the values of a parameter; `None` for each that is empty or cannot be read.
pub(super) fn all(error: &FormError, body: &[u8], name: &str) -> Vec<Option<String>> {
    match error {
        FormError::Duplicate { .. }
        | FormError::TooMany { .. }
        | FormError::PercentEncoding { .. }
        | FormError::Utf8 { .. } => in_form(body, name),
        FormError::ContentType => in_parts(body, name),
        FormError::Charset | FormError::TooLarge { .. } | FormError::Incomplete => Vec::new(),
    }
}

fn in_form(body: &[u8], name: &str) -> Vec<Option<String>> {
    let named = |pair: &&[u8]| read_as_can_be(pair).any(|(read, _)| read == name);
    let value = |pair: &[u8]| Form::parse(pair, &FormLimits::default()).ok()?.given(name).map(str::to_owned);
    body.split(|&byte| byte == b'&').filter(named).map(value).collect()
}

/// Reads a form that was posted in parts (`multipart/form-data`).
fn in_parts(body: &[u8], name: &str) -> Vec<Option<String>> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let value = |part: &str| {
        let (_, value) = part.split_once("\r\n\r\n")?;
        let (value, _) = value.split_once("\r\n--")?;
        Some(value.to_owned()).filter(|value| !value.is_empty())
    };
    text.split(&format!("name=\"{name}\"")).skip(1).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_sent_once_and_can_be_read_is_found() {
        let error = FormError::PercentEncoding { parameter: 1 };
        for (body, wanted) in [
            ("x=%zz&formId=f1", Some("f1")),
            ("x=%E9&form%49d=a+%26%C3%A9&y", Some("a &é")),
            ("x=%zz&formId=f1&formId=f1", None),
            ("x=%zz&formId=f1&formId=%zz", None),
            ("formId=%zz", None),
            ("formId=%E9", None),
            ("x=%zz&formId=", None),
            ("x=%zz&formid=f1", None),
            ("", None),
        ] {
            assert_eq!(only(&error, body.as_bytes(), "formId").as_deref(), wanted, "{body}");
        }
        assert_eq!(only(&FormError::Incomplete, b"formId=f1", "formId"), None);
    }

    #[test]
    fn a_form_in_parts_is_read_too() {
        let part = |value: &str| format!("--x\r\nContent-Disposition: form-data; name=\"formId\"\r\n\r\n{value}\r\n");
        let read = |body: String| only(&FormError::ContentType, body.as_bytes(), "formId");
        assert_eq!(read(part("f1") + "--x--").as_deref(), Some("f1"));
        assert_eq!(read(part("") + "--x--"), None);
        assert_eq!(read(part("f1") + &part("f2") + "--x--"), None);
        assert_eq!(read(r#"{"formId": "f1"}"#.to_owned()), None);
    }
}
