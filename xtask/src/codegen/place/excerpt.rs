//! The line that a problem is about, with carets under the word in question.

use super::Place;

/// Characters that are shown of a line; rows of the tables are longer.
const WIDTH: usize = 110;
/// Characters that are shown before the word in question.
const BEFORE: usize = 40;

/// Three lines: a margin, the line of the file, and the carets.
pub(super) fn of(line: &str, place: Place) -> String {
    let chars: Vec<char> = line.chars().collect();
    let start = place.column.saturating_sub(1).min(chars.len());
    let first = if chars.len() <= WIDTH { 0 } else { start.saturating_sub(BEFORE).min(chars.len() - WIDTH) };
    let last = chars.len().min(first + WIDTH);
    let shown: String = chars[first..last].iter().collect();
    let (before, after) = (if first > 0 { "…" } else { "" }, if last < chars.len() { "…" } else { "" });
    let carets = "^".repeat(word(&chars[start..last.max(start)]));
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let indent = " ".repeat(before.chars().count() + start - first);
    format!("{margin} |\n{number} | {before}{}{after}\n{margin} | {indent}{carets}\n", shown.trim_end())
}

/// How many characters belong together: a text with its quotes, a list, a row up to its first comma, or a bare word.
fn word(rest: &[char]) -> usize {
    let up_to = |ends: &[char], with: usize| {
        rest.iter().skip(1).position(|c| ends.contains(c)).map_or(rest.len(), |at| at + 1 + with)
    };
    let length = match rest.first() {
        Some('"') => quoted(rest),
        Some('[') if rest.get(1) == Some(&'[') => up_to(&[']'], 2),
        Some('[') => up_to(&[']'], 1),
        Some('{') => up_to(&[',', '}'], 0),
        _ => up_to(&[' ', ',', '}', '='], 0),
    };
    length.max(1)
}

fn quoted(rest: &[char]) -> usize {
    let mut escaped = false;
    for (at, c) in rest.iter().enumerate().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(column: usize, line: &str) -> String {
        of(line, Place { file: "x", line: 7, column })
    }

    #[test]
    fn carets_stand_below_the_value() {
        assert_eq!(at(9, "retry = \"save\""), "  |\n7 | retry = \"save\"\n  |         ^^^^^^\n");
        assert_eq!(at(5, "a = 12 # b"), "  |\n7 | a = 12 # b\n  |     ^^\n");
        assert_eq!(at(5, "a = \"\\\"b\" # c"), "  |\n7 | a = \"\\\"b\" # c\n  |     ^^^^^\n");
        assert_eq!(at(1, "[[method]]"), "  |\n7 | [[method]]\n  | ^^^^^^^^^^\n");
        assert_eq!(at(3, "  { wire = \"é\", b = 1 },"), "  |\n7 |   { wire = \"é\", b = 1 },\n  |   ^^^^^^^^^^^^\n");
        assert_eq!(at(1, ""), "  |\n7 | \n  | ^\n");
    }

    #[test]
    fn a_long_line_is_shown_around_the_word() {
        let line = format!("{}\"word\"{}", "a".repeat(100), "b".repeat(100));
        let shown = at(101, &line);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1], format!("7 | …{}\"word\"{}…", "a".repeat(BEFORE), "b".repeat(WIDTH - BEFORE - 6)));
        assert_eq!(lines[2], format!("  |  {}^^^^^^", " ".repeat(BEFORE)));
        assert!(at(200, &line).contains(&format!("7 | …{}\n", &line[line.len() - WIDTH..])));
    }
}
