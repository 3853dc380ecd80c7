//! Array values in their signed form (spec 1 §5; assumption A26).

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt::Write;

use super::order::positions_in_order;

/// One member of an array value.
///
/// A decimal number has several text forms, so pass it as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayMember<'a> {
    /// Text, or a number as text.
    Text(&'a str),
    /// A whole number.
    Integer(i64),
}

impl<'a> From<&'a str> for ArrayMember<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for ArrayMember<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

/// Encodes an array value as JSON, with every member as a string (spec 1 §5): `[5, "a"]` becomes `["5","a"]`.
///
/// Use the result as the parameter's value, for signing and sending. The documents do not show the JSON spelling; this
/// is the shortest: no spaces, and escapes only where JSON requires them.
///
/// ```
/// use pg_crypto::{ArrayMember, array_value};
///
/// assert_eq!(array_value([ArrayMember::Integer(5), "a\"b".into()]), r#"["5","a\"b"]"#);
/// ```
#[must_use]
pub fn array_value<'a>(members: impl IntoIterator<Item = ArrayMember<'a>>) -> String {
    // One allocation for the shortest arrays: a form may have thousands of them.
    let mut json = String::with_capacity(16);
    json.push('[');
    for member in members {
        if json.len() > 1 {
            json.push(',');
        }
        json.push('"');
        match member {
            ArrayMember::Text(text) => text.chars().for_each(|c| push_escaped(&mut json, c)),
            ArrayMember::Integer(number) => push_formatted(&mut json, format_args!("{number}")),
        }
        json.push('"');
    }
    json.push(']');
    json
}

/// Returns the parameters of a form in their signed form. An array of the form becomes one parameter whose value is the
/// array's JSON (spec 1 §5; assumption A26). All others are unchanged.
///
/// A form writes an array as `name[]=a&name[]=b`, or as `name[0]=a&name[1]=b` with every number from 0. The documents
/// do not show which one the service reads; PHP, among others, reads both.
///
/// ```
/// use pg_crypto::{ShaKey, form_arrays, sign};
///
/// let sent = [("currency", "GBP"), ("tag[]", "5"), ("tag[]", "a")];
/// let signed = form_arrays(&sent);
/// let signed: Vec<(&str, &str)> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
/// assert_eq!(signed, [("currency", "GBP"), ("tag", r#"["5","a"]"#)]);
/// println!("{}", sign(&signed, &ShaKey::new("secret")).hex());
/// ```
#[must_use]
pub fn form_arrays<'a>(parameters: &[(&'a str, &'a str)]) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    let bases: Vec<(&str, &str)> =
        parameters.iter().map(|&(name, value)| (array_name(name).unwrap_or(name), value)).collect();
    if bases.iter().zip(parameters).all(|(base, sent)| base.0.len() == sent.0.len()) {
        return parameters.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    }
    // In order, so that thousands of names are grouped in one pass.
    let mut places = Vec::with_capacity(bases.len());
    positions_in_order(&bases, |_, _| true, |at| places.push(at));
    let mut written: Vec<Written<'_>> = parameters.iter().map(|_| Written::AsItIs).collect();
    for array in places.chunk_by(|one, next| bases[*one].0 == bases[*next].0) {
        let first = array[0];
        let base = bases[first].0;
        if let Some(json) = json_of(parameters, base, array) {
            array.iter().for_each(|at| written[*at] = Written::Elsewhere);
            written[first] = Written::Array(base, json);
        }
    }
    let all = parameters.iter().zip(written).filter_map(|(&(name, value), written)| match written {
        Written::AsItIs => Some((name.into(), value.into())),
        Written::Array(base, json) => Some((base.into(), json.into())),
        Written::Elsewhere => None,
    });
    all.collect()
}

/// What a parameter becomes.
enum Written<'a> {
    AsItIs,
    /// The array of this name, at the place of its first member.
    Array(&'a str, String),
    /// A later member.
    Elsewhere,
}

/// Returns the part of a name before `[]` or `[7]` at its end. A name with other brackets is no array (assumption A26).
fn array_name(name: &str) -> Option<&str> {
    let (base, index) = name.strip_suffix(']')?.split_once('[')?;
    (!base.is_empty() && !base.contains(']') && index.bytes().all(|byte| byte.is_ascii_digit())).then_some(base)
}

/// Returns the JSON of an array's members in order. `None` if one is no member, or if their names mix both forms or skip
/// a number.
fn json_of(parameters: &[(&str, &str)], base: &str, array: &[usize]) -> Option<String> {
    let index = |at: &usize| parameters[*at].0[base.len()..].strip_prefix('[')?.strip_suffix(']');
    let json = |places: &mut dyn Iterator<Item = usize>| array_value(places.map(|at| parameters[at].1.into()));
    if array.iter().all(|at| index(at) == Some("")) {
        return Some(json(&mut array.iter().copied()));
    }
    let mut numbered: Vec<(&str, usize)> = array.iter().map(|at| Some((index(at)?, *at))).collect::<Option<_>>()?;
    // Numbers without leading zeros sort by their length first.
    numbered.sort_by_key(|(index, _)| (index.len(), *index));
    let counted = numbered.iter().enumerate().all(|(at, (index, _))| index.parse() == Ok(at) && !is_padded(index));
    counted.then(|| json(&mut numbered.iter().map(|(_, at)| *at)))
}

fn is_padded(index: &str) -> bool {
    index.len() > 1 && index.starts_with('0')
}

fn push_escaped(json: &mut String, c: char) {
    match c {
        '"' => json.push_str("\\\""),
        '\\' => json.push_str("\\\\"),
        '\n' => json.push_str("\\n"),
        '\r' => json.push_str("\\r"),
        '\t' => json.push_str("\\t"),
        '\u{8}' => json.push_str("\\b"),
        '\u{c}' => json.push_str("\\f"),
        '\0'..='\u{1f}' => push_formatted(json, format_args!("\\u{:04x}", u32::from(c))),
        _ => json.push(c),
    }
}

fn push_formatted(json: &mut String, arguments: core::fmt::Arguments<'_>) {
    json.write_fmt(arguments).expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{ArrayMember, array_value, form_arrays};

    fn signed(sent: &[(&str, &str)]) -> Vec<(alloc::string::String, alloc::string::String)> {
        form_arrays(sent).into_iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(alloc::string::String, alloc::string::String)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn arrays_of_a_form_are_gathered() {
        let sent = [("b[1]", "y"), ("a[]", "2"), ("c", "3"), ("a[]", "1"), ("b[0]", "x")];
        let wanted = [("b", r#"["x","y"]"#), ("a", r#"["2","1"]"#), ("c", "3")];
        assert_eq!(signed(&sent), owned(&wanted));
    }

    // spec: 1 §5, A26
    #[test]
    fn names_that_are_no_array_stay() {
        for sent in [
            &[("a[0]", "1"), ("a[2]", "2")][..],
            &[("a[1]", "1")],
            &[("a[00]", "1")],
            &[("a[0]", "1"), ("a[0]", "2")],
            &[("a[]", "1"), ("a[0]", "2")],
            &[("a", "1"), ("a[]", "2")],
            &[("a[b]", "1"), ("[]", "2"), ("a]", "3"), ("a[", "4")],
            &[("a[0][0]", "1"), ("a[x][]", "2"), ("a[][]", "3"), ("a][]", "4"), ("a[[]", "5")],
        ] {
            assert_eq!(signed(sent), owned(sent));
        }
    }

    // spec: 1 §5, A26
    #[test]
    fn numbers_become_strings() {
        assert_eq!(array_value([]), "[]");
        assert_eq!(
            array_value([ArrayMember::Integer(-7), ArrayMember::from(i64::MAX), "4.50".into()]),
            r#"["-7","9223372036854775807","4.50"]"#
        );
    }

    #[test]
    fn escapes_what_json_demands_and_no_more() {
        assert_eq!(
            array_value(["\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}".into(), "é/€\u{7f}".into()]),
            "[\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001f\",\"é/€\u{7f}\"]"
        );
    }
}
