//! `cargo xtask codegen --watch`: generates again whenever a table changes.
//!
//! It looks at the few files in short intervals: that needs no library, works on every file system, and sees a file
//! that an editor replaces.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use super::{TABLES, coverage::FOLDER as COVERAGE, files_below, write};

/// How long a change may go unnoticed.
const INTERVAL: Duration = Duration::from_millis(300);

/// Runs until it is stopped from outside.
///
/// # Errors
/// If printing fails.
#[expect(clippy::disallowed_methods, reason = "a command for people, which waits between two looks")]
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let mut watch = Watch::new(root);
    let mut out = std::io::stdout();
    writeln!(out, "watching {TABLES} and {COVERAGE}; stop with Ctrl-C")?;
    watch.generate(&mut out)?;
    loop {
        thread::sleep(INTERVAL);
        watch.look(&mut out)?;
    }
}

/// The texts of the tables as they were when something was last generated from them.
struct Watch<'r> {
    root: &'r Path,
    seen: BTreeMap<PathBuf, String>,
}

impl<'r> Watch<'r> {
    fn new(root: &'r Path) -> Self {
        Self { root, seen: texts(root) }
    }

    /// Runs the generator if a table has changed, and prints the changes.
    fn look(&mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        let now = texts(self.root);
        if now == self.seen {
            return Ok(());
        }
        let paths: BTreeSet<&PathBuf> = now.keys().chain(self.seen.keys()).collect();
        for path in paths {
            let text = |texts: &BTreeMap<PathBuf, String>| texts.get(path).cloned().unwrap_or_default();
            let (before, after) = (text(&self.seen), text(&now));
            if before != after {
                writeln!(out, "\n{}", path.display())?;
                for (sign, line) in changes(&before, &after) {
                    writeln!(out, "{sign} {line}")?;
                }
            }
        }
        self.seen = now;
        self.generate(out)
    }

    /// Writes the generated files. A mistake is printed and changes nothing, since the next change may correct it.
    fn generate(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        match write(self.root) {
            Ok((count, changed)) => {
                writeln!(out, "{count} generated files, {} changed", changed.len())?;
                changed.iter().try_for_each(|path| writeln!(out, "  {}", path.display()))?;
            }
            Err(error) => writeln!(out, "error: {error:#}")?,
        }
        out.flush()?;
        Ok(())
    }
}

/// The text of every file that something is generated from.
fn texts(root: &Path) -> BTreeMap<PathBuf, String> {
    let files = [TABLES, COVERAGE].into_iter().flat_map(|folder| files_below(root, Path::new(folder))).flatten();
    let tables = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    tables.filter_map(|path| Some((path.clone(), fs::read_to_string(root.join(path)).ok()?))).collect()
}

/// The removed and the added lines. Each row is a line, so this shows the change.
fn changes<'t>(before: &'t str, after: &'t str) -> Vec<(char, &'t str)> {
    let count = |text: &'t str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        text.lines().for_each(|line| *counts.entry(line).or_default() += 1);
        counts
    };
    let missing = |from: &'t str, mut there: BTreeMap<&'t str, usize>| {
        let lines = from.lines().filter(move |line| match there.get_mut(line) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => !line.trim().is_empty(),
        });
        lines.collect::<Vec<_>>()
    };
    let gone = missing(before, count(after)).into_iter().map(|line| ('-', line));
    gone.chain(missing(after, count(before)).into_iter().map(|line| ('+', line))).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{copy_of_the_project, read},
        *,
    };

    fn seen(watch: &mut Watch<'_>) -> String {
        let mut out = Vec::new();
        watch.look(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn watching_generates_after_a_change_and_continues_after_a_mistake() {
        let copy = copy_of_the_project();
        write(copy.path()).unwrap();
        let mut watch = Watch::new(copy.path());
        assert_eq!(seen(&mut watch), "");

        let table = copy.path().join(TABLES).join("session.toml");
        let right = read(Path::new(TABLES).join("session.toml"));
        let model = Path::new(super::super::RUST).join("methods/initiate.rs");
        let before = fs::read_to_string(copy.path().join(&model)).unwrap();
        fs::write(&table, right.replacen("retry = \"safe\"", "retry = \"save\"", 1)).unwrap();
        let said = seen(&mut watch);
        assert!(said.contains("session.toml\n- retry = \"safe\"\n+ retry = \"save\"\nerror: 1 mistake in"), "{said}");
        assert!(said.contains("did you mean \"safe\"?"), "{said}");
        assert_eq!(fs::read_to_string(copy.path().join(&model)).unwrap(), before, "nothing is written");
        assert_eq!(seen(&mut watch), "", "the same mistake is told once");

        fs::write(&table, right.replacen("title = \"Initiate session\"", "title = \"Open session\"", 1)).unwrap();
        let said = seen(&mut watch);
        assert!(said.contains("- retry = \"save\"\n") && said.contains("+ title = \"Open session\"\n"), "{said}");
        assert!(said.contains(&format!("  {}\n", model.display())), "{said}");
        assert!(fs::read_to_string(copy.path().join(&model)).unwrap().contains("Open session"));
    }

    #[test]
    fn lines_that_moved_are_no_change_and_others_are() {
        assert_eq!(changes("a\nb\nb\n", "b\na\nb\n"), []);
        assert_eq!(changes("a\nb\nb\n", "b\nc\n\na\n"), [('-', "b"), ('+', "c")]);
    }
}
