//! Pieces of Markdown.

/// Text from the tables for a page or a cell: formatting characters are escaped, and assumptions are linked.
pub(in super::super) fn text(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        out += &linked(&std::mem::take(&mut word));
        match c {
            '|' | '*' | '_' | '<' | '>' | '[' | ']' | '\\' | '`' => out.extend(['\\', c]),
            '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out.truncate(out.len() - 1);
    out
}

/// `A21` → a link to its entry.
fn linked(word: &str) -> String {
    match super::super::check::mentioned_assumptions(word)[..] {
        [number] => assumption(number),
        _ => word.to_owned(),
    }
}

/// A link to an assumption.
pub(super) fn assumption(number: u16) -> String {
    format!("[A{number:02}](assumptions.md#a{number:02})")
}

/// A name on the wire or in Rust, as code; a dash if it is empty.
pub(super) fn code(text: &str) -> String {
    // Within a cell a bar would end it, code or not.
    if text.is_empty() { "–".to_owned() } else { format!("`{}`", text.replace('|', "\\|")) }
}

/// A table: the heads, then the rows.
pub(in super::super) fn table(heads: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let mut table = line(&heads) + &line(&vec!["---".to_owned(); heads.len()]);
    for row in rows {
        table += &line(&row);
    }
    table + "\n"
}

/// The anchor of a heading, as GitHub builds it.
pub(crate) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_formats_nothing() {
        assert_eq!(text("a|b *c* _d_ <e> [f](g) `h`"), r"a\|b \*c\* \_d\_ \<e\> \[f\](g) \`h\`");
        assert_eq!(text("see A21, not A2 or CA210"), "see [A21](assumptions.md#a21), not A2 or CA210");
        assert_eq!(code("a|b"), r"`a\|b`");
    }

    #[test]
    fn anchors_are_those_of_github() {
        assert_eq!(anchor("transaction_lookup"), "transaction_lookup");
        assert_eq!(anchor("What is sent, and why"), "what-is-sent-and-why");
    }
}
