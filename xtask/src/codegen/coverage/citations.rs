//! The tests of the workspace, and what the `spec` comments above them cite.
//!
//! Sources are read line by line, which is safe because they are all formatted. The path of a file gives the names of
//! its tests: `cargo xtask tidy` checks that each file is the module that its path says.

use std::{fs, path::Path};

use super::super::{
    check::mentioned_assumptions,
    files_below,
    place::{Place, Problems},
};

/// The tests that `cargo test` runs, and the walks of the independent client.
#[derive(Default)]
pub(super) struct Tests {
    /// `package::target::module::function`. Tests of a library, of a command or of `tests/main.rs` have no target.
    pub(super) names: Vec<String>,
    pub(super) cited: Vec<Citation>,
}

/// One thing that a comment cites.
pub(super) struct Citation {
    pub(super) place: Place,
    /// `2 §4.4`, `1 §3.1 Transitions`, or rows of the tables: `codes ErrorCode 101`.
    pub(super) target: String,
    pub(super) assumptions: Vec<u16>,
    /// The fact, or nothing if the test shows what another states.
    pub(super) sentence: String,
    pub(super) test: String,
}

impl Tests {
    /// Finds the tests below the root, in the order of their files. Reports comments that are above no test.
    pub(super) fn read(root: &Path, problems: &mut Problems) -> Self {
        let folders = ["crates", "docs/examples", "tests", "xtask"].map(Path::new);
        let mut files: Vec<_> = folders.iter().flat_map(|folder| files_below(root, folder)).flatten().collect();
        files.sort();
        let mut tests = Self::default();
        for file in files {
            if let Some(module) = module(root, &file) {
                tests.add(root, &file, &module, problems);
            }
        }
        tests
    }

    fn add(&mut self, root: &Path, file: &Path, module: &str, problems: &mut Problems) {
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        let (mut inner, mut comments) = (String::new(), Vec::<(Place, String)>::new());
        let (mut is_test, mut ignored) = (false, false);
        for (line, whole) in (1..).zip(text.lines().chain([""])) {
            let text = whole.trim_start();
            let comment = text.strip_prefix("//").or_else(|| text.strip_prefix('#')).unwrap_or(text);
            let function = declared(text, "fn ").or_else(|| declared(text, "def "));
            if let Some(first) = comment.strip_prefix(" spec: ") {
                // A few names in a program that ends soon.
                let file = file.to_string_lossy().into_owned().leak();
                comments.push((Place { file, line, column: 1 }, first.to_owned()));
            } else if let (Some(more), Some((_, comment))) = (comment.strip_prefix("   "), comments.last_mut()) {
                *comment += &format!(" {more}");
            } else if ["#[test]", "#[tokio::test", "@walk"].iter().any(|mark| text.starts_with(mark)) {
                is_test = true;
            } else if text.starts_with("#[ignore") {
                ignored = true;
            } else if function.is_some() || text.is_empty() {
                if let Some(function) = function.filter(|_| is_test && !ignored) {
                    let test = format!("{module}{inner}::{function}");
                    self.cited.extend(comments.drain(..).flat_map(|(place, text)| cited(place, &text, &test)));
                    self.names.push(test);
                }
                for (place, text) in comments.drain(..) {
                    problems.push(place, format!("no test is below this comment: {text}"));
                }
                (is_test, ignored) = (false, false);
            } else if whole == "}" {
                inner.clear();
            } else if let Some(name) = declared(whole, "mod ").filter(|_| whole.ends_with('{')) {
                inner = format!("::{name}");
            }
        }
    }
}

/// Returns `package::target::module` of a Rust file, and the path of a walk.
fn module(root: &Path, file: &Path) -> Option<String> {
    if file.extension()? != "rs" {
        let is_walk = file.file_name()?.to_str()?.starts_with("walk_");
        return is_walk.then(|| file.to_string_lossy().into_owned());
    }
    let manifest = |folder: &Path| fs::read_to_string(root.join(folder).join("Cargo.toml")).ok();
    let (folder, manifest) = file.ancestors().skip(1).find_map(|folder| Some((folder, manifest(folder)?)))?;
    let package = manifest.split("name = \"").nth(1)?.split('"').next()?;
    let inside = file.strip_prefix(folder).ok()?.with_extension("");
    let inside = ["src", "tests"].iter().find_map(|top| inside.strip_prefix(top).ok()).unwrap_or(&inside);
    let modules = inside.iter().filter_map(|name| name.to_str()).filter(|name| !["lib", "main", "mod"].contains(name));
    Some([package].into_iter().chain(modules).collect::<Vec<_>>().join("::"))
}

/// Returns the name that a line declares with the keyword, whatever its visibility.
fn declared<'l>(line: &'l str, keyword: &str) -> Option<&'l str> {
    let (before, rest) = line.split_once(keyword)?;
    let words = ["pub", "pub(crate)", "pub(super)", "async", "const", "unsafe"];
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    before.split_whitespace().all(|word| words.contains(&word)).then_some(name)
}

/// Returns what a comment cites: `2 §1.1, A101: a sentence`, or several of `2 §1.1`, `codes ErrorCode 101 102` and so
/// on, with `; ` between them.
pub(super) fn cited(place: Place, comment: &str, test: &str) -> Vec<Citation> {
    let (head, sentence) = comment.split_once(": ").unwrap_or((comment, ""));
    let mut cited = Vec::new();
    for one in head.split("; ") {
        for target in targets(one.split(", ").next().unwrap_or_default()) {
            let (sentence, test) = (sentence.to_owned(), test.to_owned());
            cited.push(Citation { place, target, assumptions: mentioned_assumptions(one), sentence, test });
        }
    }
    cited
}

/// `codes ErrorCode 101 102` names two rows, `parameters signed session` the rules of two kinds; all else names one.
pub(super) fn targets(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let (group, rows) = words.split_at(match words[0] {
        "codes" => words.len().min(2),
        "parameters" => 1,
        _ => words.len(),
    });
    let row = |row: &&str| format!("{} {row}", group.join(" "));
    if rows.is_empty() { vec![text.to_owned()] } else { rows.iter().map(row).collect() }
}
