//! Files that are cut, or hold any value in any place, are read or told as mistakes.

use std::{fs, ops::Range};

use super::{super::super::checked, copy_of_the_tables};

const OTHERS: [&str; 8] = [
    "\"\"",
    "\"é|\\u0001`\\n*/\"",
    "-9223372036854775808",
    "65536",
    "true",
    "[[[[[[{}]]]]]]",
    "{ a = 1, b = [\"\"] }",
    "'{n}'",
];
/// Every so many values of a file, and bytes between two cuts.
const STEP: usize = 151;
const CUT: usize = 6_007;

#[test]
fn any_damage_to_a_table_is_reported_or_harmless() {
    let tables = copy_of_the_tables();
    let (mut told, mut taken) = (0, 0);
    for entry in fs::read_dir(tables.path()).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let with = |value: Range<usize>, other: &str| format!("{}{other}{}", &text[..value.start], &text[value.end..]);
        let replaced = values(&text).into_iter().step_by(STEP).enumerate();
        let replaced = replaced.map(|(at, value)| with(value, OTHERS[at % OTHERS.len()]).into_bytes());
        let cut = (0..text.len()).step_by(CUT).map(|end| text.as_bytes()[..end].to_vec());
        let torn = (1..text.len()).step_by(4 * CUT).map(|at| [&text.as_bytes()[..at], b"\xff\0"].concat());
        // Which of the replaced values are harmless changes with the tables; a comment always is.
        let commented = std::iter::once([text.as_bytes(), "\n# é\n".as_bytes()].concat());
        for damaged in replaced.chain(cut).chain(torn).chain(commented) {
            fs::write(&path, &damaged).unwrap();
            match checked(tables.path()) {
                Ok(_) => taken += 1,
                Err(error) => {
                    told += 1;
                    assert!(error.to_string().contains(".toml"), "{error}");
                }
            }
        }
        fs::write(&path, &text).unwrap();
    }
    assert!(told > 50 && taken > 0, "{told} {taken}");
}

/// The position of a value in the tables: after an equals sign, up to a comma or the end of the line.
fn values(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices(" = ").map(|(at, sign)| at + sign.len());
    starts.map(|start| start..start + text[start..].find([',', '\n', '}']).unwrap_or(0)).collect()
}

/// Deeper than a thread's stack, were it read by plain recursion.
#[test]
fn endless_nesting_is_reported() {
    let tables = copy_of_the_tables();
    for nested in
        [format!("a = {}", "[".repeat(200_000)), format!("a = {}", "{ a = ".repeat(200_000)), "[a.".repeat(200_000)]
    {
        fs::write(tables.path().join("types.toml"), nested).unwrap();
        assert!(checked(tables.path()).is_err());
    }
}
