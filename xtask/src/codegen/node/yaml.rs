//! YAML in block style. A text is plain if no reader can mistake it, a literal block if it has several
//! lines, and otherwise in double quotes.
//!
//! No library is used because the ones for serde write `yes` and `2026-01-31` without quotes. Readers of YAML 1.1, such as
//! PyYAML, then see a flag and a date.

use std::fmt::Write as _;

use super::Node;

/// Words that some version of YAML does not read as text.
const NOT_TEXT: &[&str] = &["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

impl Node {
    /// The document as YAML, with a newline at its end.
    pub(in super::super) fn yaml(&self) -> String {
        let mut out = String::new();
        block(&mut out, self, 0);
        out
    }
}

/// A map or a list that is not empty, each entry on its own lines.
fn block(out: &mut String, node: &Node, depth: usize) {
    match node {
        Node::Map(entries) => {
            for (key, value) in entries {
                *out += &"  ".repeat(depth);
                scalar(out, key);
                out.push(':');
                after(out, value, depth);
            }
        }
        Node::List(items) => {
            for item in items {
                *out += &"  ".repeat(depth);
                out.push('-');
                match item {
                    // The first entry of a map stands on the line of the dash.
                    Node::Map(entries) if !entries.is_empty() => {
                        let mut inner = String::new();
                        block(&mut inner, item, depth + 1);
                        out.push(' ');
                        *out += inner.trim_start_matches(' ');
                    }
                    _ => after(out, item, depth),
                }
            }
        }
        other => after(out, other, depth),
    }
}

/// What follows a key or a dash.
fn after(out: &mut String, node: &Node, depth: usize) {
    match node {
        Node::Map(entries) if entries.is_empty() => *out += " {}",
        Node::List(items) if items.is_empty() => *out += " []",
        Node::Map(_) | Node::List(_) => {
            out.push('\n');
            return block(out, node, depth + 1);
        }
        Node::Text(text) if is_literal(text) => {
            *out += " |-";
            for line in text.lines() {
                out.push('\n');
                if !line.is_empty() {
                    *out += &"  ".repeat(depth + 1);
                    *out += line;
                }
            }
        }
        Node::Text(text) => {
            out.push(' ');
            scalar(out, text);
        }
        Node::Number(number) => *out += &format!(" {number}"),
        Node::Flag(flag) => *out += &format!(" {flag}"),
    }
    out.push('\n');
}

fn scalar(out: &mut String, text: &str) {
    if is_plain(text) {
        *out += text;
    } else {
        quoted(out, text);
    }
}

/// A string as in JSON, and with escapes for what YAML does not allow as it is: control characters, line separators, the
/// byte order mark.
fn quoted(out: &mut String, text: &str) {
    for c in serde_json::Value::from(text).to_string().chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}') {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04X}", u32::from(c));
        } else {
            out.push(c);
        }
    }
}

/// Whether a text of several lines needs no escapes.
fn is_literal(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\n'])
        && !text.ends_with('\n')
        && !text.contains("\n\n\n")
        && text.lines().all(|line| !line.ends_with(' '))
        && !text.chars().any(|c| (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}'))
}

/// Whether a text needs no quotes, neither as a key nor as a value.
fn is_plain(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '$'));
    starts
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'$' | b'_' | b'-' | b'.'))
        && !NOT_TEXT.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::Node;

    #[test]
    fn blocks_are_indented_and_texts_quoted_where_they_must_be() {
        let document = Node::map()
            .with("plain", "text")
            .with("200", "404")
            .with("no", vec!["yes", "a: b", "# c", "- d", "e#f", "", " g", "C:\\h", "i\"j", "§ 4"])
            .with("number", 7_i64)
            .with("flag", true)
            .with("none", Node::map())
            .with("lines", "one\n\n  two: [\nthree")
            .with(
                "list",
                vec![Node::map().with("a", "b").with("c", vec![1_i64, 2]), Node::map().with("d", Node::map())],
            )
            .with("odd", "a\u{85}b\u{7}");
        let expected = r##"plain: text
"200": "404"
"no":
  - "yes"
  - "a: b"
  - "# c"
  - "- d"
  - "e#f"
  - ""
  - " g"
  - "C:\\h"
  - "i\"j"
  - "§ 4"
number: 7
flag: true
none: {}
lines: |-
  one

    two: [
  three
list:
  - a: b
    c:
      - 1
      - 2
  - d: {}
odd: "a\u0085b\u0007"
"##;
        assert_eq!(document.yaml(), expected);
    }

    /// Another reader reads the same values.
    #[test]
    fn a_yaml_reader_agrees() {
        let texts = [
            "~",
            "null",
            "Null",
            "true",
            "1",
            "1.0",
            "0x1",
            "1e3",
            "2026-01-01",
            "<<",
            "*a",
            "&a",
            "!a",
            "%a",
            "@a",
            "`a",
            "a:",
            "a: b",
            "a #b",
            "? a",
            "[a]",
            "{a}",
            "|",
            ">",
            "'",
            "\"",
            "\\",
            "\n",
            "a\nb",
            "a\n b\n",
            " a\nb",
            "a\n\n\n\nb",
            "a\tb",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{FEFF}",
            "é",
            "𝄞",
            "$ref",
            "/v3/a",
            "a.b-c_d",
            "-",
            "--- a",
        ];
        let document = texts
            .iter()
            .enumerate()
            .fold(Node::map(), |map, (at, text)| {
                map.with(format!("k{at}"), *text).with(format!("{text}{at}"), at as i64)
            })
            .with("list", texts.iter().map(|text| vec![*text]).collect::<Vec<_>>());
        let read: yaml_serde::Value = yaml_serde::from_str(&document.yaml()).unwrap();
        for (at, text) in texts.iter().enumerate() {
            assert_eq!(read[format!("k{at}").as_str()], **text, "{text:?}");
            assert_eq!(read[format!("{text}{at}").as_str()], at, "{text:?}");
            assert_eq!(read["list"][at][0], **text, "{text:?}");
        }
        let as_json: serde_json::Value = serde_json::from_str(&document.json()).unwrap();
        assert_eq!(as_json, serde_json::to_value(read).unwrap());
    }
}
