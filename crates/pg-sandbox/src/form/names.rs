//! Names of parameters in messages, warnings and the journal.

/// Returns a name that may be shown: only if it looks like a parameter's name, without a long run of digits, which
/// could be a misplaced card number.
pub(crate) fn shown(name: &str) -> &str {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[] ".contains(&byte);
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    if name.is_empty() {
        "(empty name)"
    } else if name.len() <= 64 && digits <= 6 && name.bytes().all(harmless) && name.trim() == name {
        name
    } else {
        "(name not shown)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_a_parameter_are_shown() {
        for name in ["itemPrice0", "item_price[0]", "itemPrice 0", "x-y.z", "a123456"] {
            assert_eq!(shown(name), name);
        }
        for name in ["4000000000001000", "4000 0000 0000 1000", " a", "a ", "a=b", "a;b", "a\nb", "é", "{\"a\": 1}"] {
            assert_eq!(shown(name), "(name not shown)", "{name:?}");
        }
        assert_eq!((shown(&"x".repeat(65)), shown("")), ("(name not shown)", "(empty name)"));
    }
}
