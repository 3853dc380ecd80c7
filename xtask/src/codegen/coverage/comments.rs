//! The tests of the workspace, and the `spec` comments above them.
//!
//! Sources are read line by line, which is safe because they are all formatted. That takes a tenth of the time of a
//! parser, and keeps the comments.

use std::{
    fs, mem,
    path::{Path, PathBuf},
};

/// Where the walks are.
const WALKS: &str = "tests/independent";

/// A test that `cargo test` runs, or a walk of the independent client.
pub(super) struct Test {
    /// `package::target::module::function`. Tests of a library, of a command or of `tests/main.rs` have no target.
    pub(super) name: String,
    pub(super) comments: Vec<Comment>,
}

/// A `// spec: …` comment, with its place.
#[derive(Clone)]
pub(super) struct Comment {
    pub(super) file: PathBuf,
    pub(super) line: usize,
    pub(super) text: String,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) tests: Vec<Test>,
    /// Comments without a test below them.
    pub(super) strays: Vec<Comment>,
}

/// Everything below the root.
pub(super) fn of_workspace(root: &Path) -> Found {
    let mut found = Found::default();
    let places = ["crates", "docs/examples", "tests"].map(|place| root.join(place));
    let packages = places.iter().flat_map(|place| folders(place)).chain([root.join("tests"), root.join("xtask")]);
    for package in packages.filter(|package| package.join("Cargo.toml").exists()) {
        let manifest = read(&package.join("Cargo.toml"));
        let name = manifest.split("name = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        for file in ["src/lib.rs", "src/main.rs"].map(|file| package.join(file)).iter().filter(|file| file.exists()) {
            found.file(file, true, name);
        }
        let main = package.join("tests/main.rs");
        if main.exists() {
            found.file(&main, true, name);
        } else {
            for file in files(&package.join("tests")).iter().filter(|file| file.extension().is_some_and(|e| e == "rs"))
            {
                found.file(file, true, &format!("{name}::{}", stem(file)));
            }
        }
        for folder in folders(&package.join("tests")).iter().filter(|folder| folder.join("main.rs").exists()) {
            found.file(&folder.join("main.rs"), true, &format!("{name}::{}", stem(folder)));
        }
    }
    for file in files(&root.join(WALKS)).iter().filter(|file| stem(file).starts_with("walk_")) {
        found.file(file, true, &format!("{WALKS}/{}.py", stem(file)));
    }
    let shorten = |comment: &mut Comment| {
        comment.file = comment.file.strip_prefix(root).unwrap_or(&comment.file).to_owned();
    };
    found.tests.iter_mut().flat_map(|test| &mut test.comments).chain(&mut found.strays).for_each(shorten);
    found
}

impl Found {
    /// Adds the tests of a file and of the modules that it declares. The modules of a `root` are beside it, those of
    /// another file in a folder of its name.
    fn file(&mut self, path: &Path, root: bool, name: &str) {
        let beside = path.parent().unwrap_or(path);
        let folder = if root || stem(path) == "mod" { beside.to_owned() } else { beside.join(stem(path)) };
        // The modules that the line is in, each with its indentation.
        let mut inside: Vec<(usize, String)> = Vec::new();
        let mut comments: Vec<Comment> = Vec::new();
        let (mut is_test, mut ignored, mut elsewhere) = (false, false, None);
        for (number, line) in read(path).lines().enumerate() {
            let text = line.trim_start();
            let indent = line.len() - text.len();
            if let Some(comment) = text.strip_prefix("// spec: ").or_else(|| text.strip_prefix("# spec: ")) {
                comments.push(Comment { file: path.to_owned(), line: number + 1, text: comment.to_owned() });
                continue;
            }
            if let (Some(more), Some(last)) = (continuation(text), comments.last_mut()) {
                last.text = format!("{} {more}", last.text);
                continue;
            }
            is_test |= text.starts_with("#[test]") || text.starts_with("#[tokio::test") || text.starts_with("@walk");
            ignored |= text.starts_with("#[ignore");
            elsewhere = text.strip_prefix("#[path = \"").and_then(|rest| rest.split('"').next()).or(elsewhere);
            if let Some(module) = after(text, "mod ") {
                if text.ends_with('{') {
                    inside.push((indent, module.to_owned()));
                } else {
                    let folder = inside.iter().fold(folder.clone(), |folder, (_, module)| folder.join(module));
                    let places = match elsewhere.take() {
                        Some(path) => vec![folder.join(path)],
                        None => vec![folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")],
                    };
                    if let Some(file) = places.iter().find(|place| place.exists()) {
                        self.file(file, false, &format!("{}::{module}", path_to(name, &inside)));
                    }
                }
            } else if let Some(function) = after(text, "fn ").or_else(|| after(text, "def ")) {
                if is_test && !ignored {
                    let name = format!("{}::{function}", path_to(name, &inside));
                    self.tests.push(Test { name, comments: mem::take(&mut comments) });
                }
            } else if !text.is_empty() {
                if text == "}" && inside.last().is_some_and(|(of_module, _)| *of_module == indent) {
                    inside.pop();
                }
                continue;
            }
            self.strays.append(&mut comments);
            (is_test, ignored) = (false, false);
        }
        self.strays.append(&mut comments);
    }
}

/// The text of a line that continues the comment above it.
fn continuation(line: &str) -> Option<&str> {
    line.strip_prefix("//   ").or_else(|| line.strip_prefix("#   "))
}

/// The name that a line declares with the keyword, whatever its visibility.
fn after<'l>(line: &'l str, keyword: &str) -> Option<&'l str> {
    let (before, rest) = line.split_once(keyword)?;
    let qualified = before.split(' ').all(|word| word.is_empty() || word == "async" || word.starts_with("pub"));
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    (qualified && !name.is_empty()).then_some(name)
}

fn path_to(name: &str, inside: &[(usize, String)]) -> String {
    inside.iter().fold(name.to_owned(), |name, (_, module)| format!("{name}::{module}"))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_file()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    // The page lists tests in this order.
    paths.sort();
    paths
}
