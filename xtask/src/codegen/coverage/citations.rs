//! The tests of the workspace, and the `spec` comments above them.
//!
//! Sources are read line by line, which is safe because they are all formatted. The path of a file gives the names of
//! its tests: `cargo xtask tidy` checks that each file is the module that its path says.

use std::{fs, mem, path::Path};

use super::super::{
    check::mentioned_assumptions,
    place::{Place, Problems},
};

/// A test that `cargo test` runs, or a walk of the independent client.
pub(super) struct Test {
    /// `package::target::module::function`. Tests of a library, of a command or of `tests/main.rs` have no target.
    pub(super) name: String,
    /// Its `// spec: …` comments.
    pub(super) comments: Vec<(Place, String)>,
}

/// One thing that a comment cites.
pub(super) struct Citation<'t> {
    pub(super) place: Place,
    /// `2 §4.4`, `1 §3.1 Transitions`, or rows of the tables: `codes ErrorCode 101`.
    pub(super) target: String,
    pub(super) assumptions: Vec<u16>,
    /// The fact, or nothing if the test shows what another states.
    pub(super) sentence: &'t str,
    pub(super) test: &'t str,
}

/// Returns the tests below the root, in the order of their files. Reports comments that are above no test.
pub(super) fn tests(root: &Path, problems: &mut Problems) -> Vec<Test> {
    let mut tests = Vec::new();
    for folder in ["crates", "docs/examples", "tests", "xtask"] {
        of_folder(root, &root.join(folder), "", &mut tests, problems);
    }
    tests
}

fn of_folder(root: &Path, folder: &Path, outer: &str, tests: &mut Vec<Test>, problems: &mut Problems) {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let package = manifest.split("name = \"").nth(1).and_then(|rest| rest.split('"').next());
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let module = match &*stem {
            "lib" | "main" | "mod" => package.unwrap_or(outer).to_owned(),
            "src" | "tests" if package.is_some() => package.unwrap_or(outer).to_owned(),
            _ => format!("{}::{stem}", package.unwrap_or(outer)),
        };
        let file = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
        if path.is_dir() {
            of_folder(root, &path, &module, tests, problems);
        } else if file.ends_with(".rs") {
            of_file(&path, &file, &module, tests, problems);
        } else if stem.starts_with("walk_") {
            of_file(&path, &file, &file, tests, problems);
        }
    }
}

fn of_file(path: &Path, file: &str, module: &str, tests: &mut Vec<Test>, problems: &mut Problems) {
    let mut inner = String::new();
    let mut comments: Vec<(Place, String)> = Vec::new();
    let (mut is_test, mut ignored) = (false, false);
    for (line, whole) in (1..).zip(fs::read_to_string(path).unwrap_or_default().lines()) {
        let text = whole.trim_start();
        if let Some(comment) = text.strip_prefix("// spec: ").or_else(|| text.strip_prefix("# spec: ")) {
            // A few names in a program that ends soon.
            comments.push((Place { file: file.to_owned().leak(), line, column: 1 }, comment.to_owned()));
        } else if let (Some(more), Some((_, comment))) =
            (text.strip_prefix("//   ").or_else(|| text.strip_prefix("#   ")), comments.last_mut())
        {
            *comment += &format!(" {more}");
        } else if ["#[test]", "#[tokio::test", "@walk"].iter().any(|mark| text.starts_with(mark)) {
            is_test = true;
        } else if text.starts_with("#[ignore") {
            ignored = true;
        } else if let Some(function) = declared(text, "fn ").or_else(|| declared(text, "def ")) {
            if mem::take(&mut is_test) && !mem::take(&mut ignored) {
                tests.push(Test { name: format!("{module}{inner}::{function}"), comments: mem::take(&mut comments) });
            }
            strays(&mut comments, problems);
        } else if whole == "}" {
            inner.clear();
        } else if let Some(name) = declared(whole, "mod ").filter(|_| whole.ends_with('{')) {
            inner = format!("::{name}");
        } else if text.is_empty() {
            strays(&mut comments, problems);
        }
    }
    strays(&mut comments, problems);
}

/// The name that a line declares with the keyword, whatever its visibility.
fn declared<'l>(line: &'l str, keyword: &str) -> Option<&'l str> {
    let (before, rest) = line.split_once(keyword)?;
    let words = ["pub", "pub(crate)", "pub(super)", "async", "const", "unsafe"];
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    before.split_whitespace().all(|word| words.contains(&word)).then_some(name)
}

fn strays(comments: &mut Vec<(Place, String)>, problems: &mut Problems) {
    for (place, text) in comments.drain(..) {
        problems.push(place, format!("no test is below this comment: {text}"));
    }
}

/// Returns the citations of a test: `2 §1.1, A101: a sentence`, or several of `2 §1.1`, `codes ErrorCode 101 102` and
/// so on, with `; ` between them.
pub(super) fn of(test: &Test) -> Vec<Citation<'_>> {
    let mut cited = Vec::new();
    for (place, text) in &test.comments {
        let (head, sentence) = text.split_once(": ").unwrap_or((text, ""));
        for one in head.split("; ") {
            let assumptions = mentioned_assumptions(one);
            for target in targets(one.split(", ").next().unwrap_or_default()) {
                cited.push(Citation {
                    place: *place,
                    target,
                    assumptions: assumptions.clone(),
                    sentence,
                    test: &test.name,
                });
            }
        }
    }
    cited
}

/// `codes ErrorCode 101 102` names two rows, `parameters signed session` the rules of two kinds; all else names one.
pub(super) fn targets(text: &str) -> Vec<String> {
    match text.split(' ').collect::<Vec<_>>()[..] {
        ["codes", table, ref codes @ ..] if !codes.is_empty() => {
            codes.iter().map(|code| format!("codes {table} {code}")).collect()
        }
        ["parameters", ref kinds @ ..] => kinds.iter().map(|kind| format!("parameters {kind}")).collect(),
        _ => vec![text.to_owned()],
    }
}
