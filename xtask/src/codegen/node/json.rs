//! JSON, with two blanks of indentation.

use std::fmt::Write as _;

use super::Node;

impl Node {
    /// The document as JSON, without a newline at its end.
    pub(in super::super) fn json(&self) -> String {
        let mut out = String::new();
        write(&mut out, self, 0);
        out
    }
}

fn write(out: &mut String, node: &Node, depth: usize) {
    match node {
        Node::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (Some(key.as_str()), value));
            items(out, ['{', '}'], entries.collect(), depth);
        }
        Node::List(list) => items(out, ['[', ']'], list.iter().map(|item| (None, item)).collect(), depth),
        Node::Text(value) => text(out, value),
        Node::Number(number) => *out += &number.to_string(),
        Node::Flag(flag) => *out += &flag.to_string(),
    }
}

fn items(out: &mut String, [open, close]: [char; 2], items: Vec<(Option<&str>, &Node)>, depth: usize) {
    out.push(open);
    for (at, (key, value)) in items.iter().enumerate() {
        *out += if at == 0 { "\n" } else { ",\n" };
        *out += &"  ".repeat(depth + 1);
        if let Some(key) = key {
            text(out, key);
            *out += ": ";
        }
        write(out, value, depth + 1);
    }
    if !items.is_empty() {
        out.push('\n');
        *out += &"  ".repeat(depth);
    }
    out.push(close);
}

/// A string in double quotes. YAML reads it the same way.
pub(super) fn text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => *out += "\\\"",
            '\\' => *out += "\\\\",
            '\n' => *out += "\\n",
            '\t' => *out += "\\t",
            // What YAML would not take as it is: control characters, line separators, the byte order mark.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}') => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
