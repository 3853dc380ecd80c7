//! JSON for people: the same text on several lines. Values are not parsed, so their order and numbers do not change.

/// Breaks lines and indents by two spaces. The text must be valid JSON without white space between tokens.
pub(crate) fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut characters = json.chars().peekable();
    let mut in_string = false;
    while let Some(c) = characters.next() {
        if in_string {
            out.push(c);
            match c {
                '\\' => out.extend(characters.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match c {
            '{' | '[' => {
                out.push(c);
                match characters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_is_added() {
        let json = r#"{"a":[1,{"b":"x,{\"}:\\"},[],{}],"c":null}"#;
        let shown = indented(json);
        assert_eq!(
            shown,
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{\\\"}:\\\\\"\n    },\n    [],\n    {}\n  ],\n  \"c\": null\n}"
        );
        let parsed = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parsed(&shown), parsed(json));
    }
}
