//! `docs/contributing.md` walks through changes of the tables: each is made in a copy, and what follows is what the page
//! says, to the letter. With `PG_BLESS=1` the page is written instead.

mod diff;

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use self::diff::Edit;
use super::{
    tests::{copy_of_the_project, read, root},
    *,
};

const PAGE: &str = "docs/contributing.md";
/// What a test writes stands between these lines.
const BEGIN: &str = "<!-- What follows from it; a test compares this. -->\n";
const END: &str = "<!-- That was all. -->\n";

/// A walk: its heading, and what is changed by hand.
struct Walk<'p> {
    title: &'p str,
    by_hand: Vec<Edit<'p>>,
}

/// The page without what follows from its walks: cut where that stands.
fn by_hand(page: &str) -> Vec<&str> {
    page.split(BEGIN).map(|part| part.split_once(END).map_or(part, |(_, rest)| rest)).collect()
}

/// The walks of the page. What is changed by hand is every diff between a heading and what follows.
fn walks<'p>(by_hand: &[&'p str]) -> Vec<Walk<'p>> {
    let [walks @ .., _] = by_hand else { return Vec::new() };
    let walk = |part: &&'p str| {
        let (_, walk) = part.rsplit_once("\n## ").expect("a walk has a heading");
        Walk { title: walk.lines().next().unwrap(), by_hand: diff::edits(walk) }
    };
    walks.iter().map(walk).collect()
}

#[test]
fn each_walk_leads_where_the_page_says() {
    let page = read(PAGE);
    let before = generate(&root().join(TABLES), &root()).unwrap();
    let parts = by_hand(&page);
    let walks = walks(&parts);
    let titles: Vec<&str> = walks.iter().map(|walk| walk.title.split(':').next().unwrap()).collect();
    assert_eq!(titles, ["Add a parameter", "Change a length", "Add an error code", "Add a method"]);
    let mut written = parts[0].to_owned();
    for (walk, rest) in walks.iter().zip(&parts[1..]) {
        assert!(!walk.by_hand.is_empty(), "{}: nothing is changed", walk.title);
        let copy = copy_of_the_project();
        for edit in &walk.by_hand {
            let path = copy.path().join(edit.path);
            let after = edit.apply(&fs::read_to_string(&path).unwrap_or_default());
            if edit.path.ends_with(".rs") {
                is_formatted(edit.path, &after);
            }
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, after).unwrap();
        }
        let after = generate(&copy.path().join(TABLES), copy.path()).unwrap();
        written += &format!("{BEGIN}{}{END}{rest}", follows(&before, &after));
    }
    if std::env::var_os("PG_BLESS").is_some() {
        fs::write(root().join(PAGE), written).unwrap();
        return;
    }
    assert!(
        written == page,
        "what follows is something else now; PG_BLESS=1 writes it:\n{}",
        diff::of(&page, &written)
    );
}

/// Code of the page is Rust, and formatted as the project's.
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

/// The message that the page shows is what is said of that mistake.
#[test]
fn the_mistake_that_the_page_shows_is_told_so() {
    let page = read(PAGE);
    let shown = page.split("```text\nerror: ").nth(1).expect("the page shows a mistake").split("```").next().unwrap();
    let copy = copy_of_the_project();
    let table = copy.path().join(TABLES).join("session.toml");
    let text = fs::read_to_string(&table).unwrap();
    fs::write(&table, text.replacen("retry = \"safe\"", "retry = \"save\"", 1)).unwrap();
    let said = run(copy.path(), false).unwrap_err().to_string();
    assert_eq!(said, shown);
    assert!(!copy.path().join(RUST).exists() && !copy.path().join(REFERENCE).exists(), "nothing is written");
}
