//! Names and texts of generated code.

/// `cardKeyDetails` → `card_key_details`; runs of capitals stay together: `cardCV2` → `card_cv2`.
pub(super) fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, c) in chars.iter().enumerate() {
        let starts_word = c.is_ascii_uppercase()
            && at > 0
            && chars[at - 1] != '_'
            && (!chars[at - 1].is_ascii_uppercase() || chars.get(at + 1).is_some_and(|next| next.is_ascii_lowercase()));
        if starts_word {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Words that Rust keeps for itself.
pub(super) const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The name of a static: `cardKey` → `CARD_KEY`.
pub(super) fn shout(rust_name: &str) -> String {
    rust_name.to_ascii_uppercase()
}

/// The name of the constant of an assumption, from its title: `Life of a preauth` → `LIFE_OF_A_PREAUTH`.
pub(super) fn constant(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_").to_ascii_uppercase();
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("CODES_{name}") } else { name }
}

/// A Rust string literal.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// A doc comment, one line of text.
pub(super) fn doc(prefix: &str, text: &str) -> String {
    text.lines().map(|line| format!("{prefix} {line}").trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::{constant, snake};

    #[test]
    fn wire_names_become_rust_names() {
        for (wire, rust) in [
            ("cardKeyDetails", "card_key_details"),
            ("cardCV2", "card_cv2"),
            ("bankECIValue", "bank_eci_value"),
            ("trans_key", "trans_key"),
            ("AuthThreeDSecure", "auth_three_d_secure"),
            ("mccDateOfBirth", "mcc_date_of_birth"),
        ] {
            assert_eq!(snake(wire), rust);
        }
    }

    #[test]
    fn titles_become_names_of_constants() {
        assert_eq!(
            constant("Which \"32 alphanumeric\" fields are checked"),
            "WHICH_32_ALPHANUMERIC_FIELDS_ARE_CHECKED"
        );
        assert_eq!(constant("102, 105 and 123"), "CODES_102_105_AND_123");
    }
}
