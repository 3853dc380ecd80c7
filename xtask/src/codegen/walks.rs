//! Each page of `docs/internals/walks/` shows a change of the tables. The test makes the change in a copy of the project and
//! compares what the generator writes with the page. With `PG_BLESS=1` it rewrites the page instead.

mod diff;

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    process::{Command, Stdio},
};

use self::diff::Edit;
use super::{
    tests::{copy_of_the_project, read, root},
    *,
};

const FOLDER: &str = "docs/internals/walks";
const PAGES: [&str; 4] = ["add-a-parameter.md", "change-a-length.md", "add-an-error-code.md", "add-a-method.md"];
/// The page that shows an error message of the generator.
const TABLES_PAGE: &str = "docs/internals/tables.md";
/// Generated text of a page stands between these lines.
const BEGIN: &str = "<!-- What follows from it; a test compares this. -->\n";
const END: &str = "<!-- That was all. -->\n";

/// Splits a page at its generated text, and removes that.
fn by_hand(page: &str) -> (&str, &str) {
    let (before, rest) = page.split_once(BEGIN).expect("a walk shows what the generator writes");
    (before, rest.split_once(END).map_or("", |(_, rest)| rest))
}

#[test]
fn each_walk_leads_where_the_page_says() {
    let before = generate(&root().join(TABLES), &root()).unwrap();
    let found: BTreeSet<PathBuf> = files_below(&root(), Path::new(FOLDER)).unwrap().into_iter().collect();
    assert_eq!(found, PAGES.map(|name| Path::new(FOLDER).join(name)).into(), "PAGES lists every walk");
    for name in PAGES {
        let path = Path::new(FOLDER).join(name);
        let page = read(&path);
        let (by_hand, rest) = by_hand(&page);
        let edits = diff::edits(by_hand);
        assert!(!edits.is_empty(), "{name}: nothing is changed");
        let copy = copy_of_the_project();
        for edit in &edits {
            make(edit, copy.path());
        }
        let after = generate(&copy.path().join(TABLES), copy.path()).unwrap();
        let written = format!("{by_hand}{BEGIN}{}{END}{rest}", follows(&before, &after));
        if std::env::var_os("PG_BLESS").is_some() {
            fs::write(root().join(path), written).unwrap();
            continue;
        }
        assert!(
            written == page,
            "{name}: the generator writes something else now; PG_BLESS=1 updates the page:\n{}",
            diff::of(&page, &written)
        );
    }
}

/// Makes a change in a copy of the project.
fn make(edit: &Edit<'_>, copy: &Path) {
    let after = edit.apply(&fs::read_to_string(copy.join(edit.path)).unwrap_or_default());
    if edit.path.ends_with(".rs") {
        is_formatted(edit.path, &after);
    }
    workspace::write(copy, edit.path, &after).unwrap();
}

/// Checks that Rust code of a page is formatted like the project.
fn is_formatted(path: &str, text: &str) {
    // From standard input rustfmt does not look for the modules that a file names.
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024", "--config-path"]).arg(root().join("rustfmt.toml"));
    let mut rustfmt = rustfmt.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    rustfmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let checked = rustfmt.wait_with_output().unwrap();
    assert!(checked.status.success(), "{path}: {}", String::from_utf8_lossy(&checked.stdout));
}

/// What the command prints, and a diff of each file.
fn follows(before: &Files, after: &Files) -> String {
    assert!(before.keys().all(|path| after.contains_key(path)), "a walk removes no file");
    let changed: Vec<&PathBuf> = after.keys().filter(|path| before.get(*path) != after.get(*path)).collect();
    let list: String = changed.iter().map(|path| format!("{}\n", path.display())).collect();
    let mut text = format!(
        "\n```console\n$ cargo xtask codegen\n{list}```\n\n<details><summary>What appears in them</summary>\n\n"
    );
    for path in changed {
        let path_of = |side: &str, files: &Files| match files.get(path) {
            Some(_) => format!("{side}/{}", path.display()),
            None => "/dev/null".to_owned(),
        };
        let old = before.get(path).map_or("", String::as_str);
        let lines = diff::of(old, &after[path]);
        text += &format!("```diff\n--- {}\n+++ {}\n{lines}```\n\n", path_of("a", before), path_of("b", after));
    }
    text + "</details>\n\n"
}

/// The page shows the message as the generator prints it.
#[test]
fn the_mistake_of_the_page_gives_its_message() {
    let page = read(TABLES_PAGE);
    let shown = page.split("```text\nerror: ").nth(1).expect("the page shows a mistake").split("```").next().unwrap();
    let copy = copy_of_the_project();
    let table = copy.path().join(TABLES).join("session.toml");
    let text = fs::read_to_string(&table).unwrap();
    fs::write(&table, text.replacen("retry = \"safe\"", "retry = \"save\"", 1)).unwrap();
    let said = run(copy.path(), false).unwrap_err().to_string();
    assert_eq!(said, shown);
    assert!(!copy.path().join(RUST).exists() && !copy.path().join(REFERENCE).exists(), "nothing is written");
}
