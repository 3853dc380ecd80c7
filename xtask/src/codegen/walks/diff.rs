//! Changes of files as a page shows them.

use std::{fs, process::Command};

/// A manual change of one file.
pub(super) struct Edit<'p> {
    pub(super) path: &'p str,
    /// Each hunk's lines, which begin with a blank, `+` or `-`.
    hunks: Vec<Vec<&'p str>>,
}

/// The diffs in a part of a page.
pub(super) fn edits(text: &str) -> Vec<Edit<'_>> {
    let blocks = text.split("```diff\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
    blocks
        .map(|block| {
            let path = block.lines().find_map(|line| line.strip_prefix("+++ b/")).expect("a diff names its file");
            let hunks = block.split("\n@@").skip(1).map(|hunk| hunk.lines().skip(1).collect()).collect();
            Edit { path, hunks }
        })
        .collect()
}

impl Edit<'_> {
    /// The text after the change. Each hunk has to fit in one place.
    pub(super) fn apply(&self, text: &str) -> String {
        self.hunks.iter().fold(text.to_owned(), |text, hunk| {
            let (before, after) = (side(hunk, '-'), side(hunk, '+'));
            if before.is_empty() && text.is_empty() {
                return after;
            }
            assert_eq!(text.matches(&before).count(), 1, "{} no longer holds, once:\n{before}", self.path);
            text.replace(&before, &after)
        })
    }
}

/// The lines on one side: `-` before, `+` after.
fn side(hunk: &[&str], sign: char) -> String {
    hunk.iter().filter(|line| line.starts_with([' ', sign])).map(|line| format!("{}\n", &line[1..])).collect()
}

/// The lines that differ, each group below its heading.
pub(super) fn of(before: &str, after: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("before"), before).unwrap();
    fs::write(folder.path().join("after"), after).unwrap();
    let output = Command::new("git")
        .args(["diff", "--no-index", "--no-color", "--unified=0", "before", "after"])
        .current_dir(folder.path())
        .output()
        .expect("git compares texts");
    let output = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = after.lines().collect();
    let mut text = String::new();
    for line in output.lines().skip_while(|line| !line.starts_with("@@")) {
        match line.strip_prefix("@@ ") {
            Some(numbers) => {
                let first = numbers.split('+').nth(1).and_then(|rest| rest.split([',', ' ']).next()).unwrap();
                let first: usize = first.parse().unwrap();
                text += format!("@@ {}", holder(&lines, first.saturating_sub(1))).trim_end();
                text.push('\n');
            }
            None => text += &format!("{line}\n"),
        }
    }
    text
}

/// The context of a line: the heading above it, or every less indented line above.
fn holder(lines: &[&str], at: usize) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(first) = lines[at.min(lines.len())..].iter().find(|line| !line.trim().is_empty()) else {
        return String::new();
    };
    if first.starts_with(['|', '-', '#']) {
        return lines[..at].iter().rev().find(|line| line.starts_with('#')).unwrap_or(&"").to_string();
    }
    let mut found = Vec::new();
    let mut least = indent(first);
    for line in lines[..at].iter().rev().filter(|line| !line.trim().is_empty()) {
        let text = line.trim();
        let no_holder = text.starts_with("//") || text.starts_with(['#', ')', '}', ']']);
        if indent(line) < least && !no_holder {
            least = indent(line);
            found.insert(0, text.trim_end_matches(['{', '[', ':', ' ', '&', '=']).to_owned());
        }
    }
    found.join(" > ")
}
