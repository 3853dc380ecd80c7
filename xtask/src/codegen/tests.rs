//! The generated files are fresh, and one row is all that a new field needs.

use std::{collections::BTreeSet, fs, path::PathBuf};

use super::*;

/// A folder with everything that is read, and nothing that is generated.
pub(super) fn copy_of_the_project() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for folder in [TABLES, coverage::FOLDER] {
        copy_files(folder, &copy.path().join(folder));
    }
    fs::copy(root().join("rustfmt.toml"), copy.path().join("rustfmt.toml")).unwrap();
    copy
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(super) fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path.as_ref()))
        .unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

fn copy_tables(folder: &Path) {
    copy_files(TABLES, folder);
}

/// Copies the files of a folder of the project.
fn copy_files(from: &str, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(root().join(from)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn the_committed_files_are_fresh() {
    let files = generate(&root().join(TABLES), &root()).unwrap();
    let stale = stale(&root(), &files).unwrap();
    assert!(stale.is_empty(), "run `cargo xtask codegen` and commit what it writes: {stale:?}");
}

#[test]
fn a_file_that_is_stale_missing_or_left_over_fails_the_check() {
    let copy = copy_of_the_project();
    run(copy.path(), false).unwrap();
    run(copy.path(), true).unwrap();

    let (stale, missing) = (Path::new(RUST).join("types.rs"), Path::new("docs/openapi.yaml"));
    let left_over = [Path::new(RUST).join("methods/old.rs"), Path::new(REFERENCE).join("old.md")];
    fs::write(copy.path().join(&stale), "// changed by hand\n").unwrap();
    fs::remove_file(copy.path().join(missing)).unwrap();
    for path in &left_over {
        fs::write(copy.path().join(path), "").unwrap();
    }
    let said = run(copy.path(), true).unwrap_err().to_string();
    let told: BTreeSet<&str> = said.lines().skip(1).map(str::trim).collect();
    let expected = [&stale, missing, &left_over[0], &left_over[1]].map(|path| path.to_str().unwrap());
    assert_eq!(told, BTreeSet::from(expected), "{said}");

    run(copy.path(), false).unwrap();
    run(copy.path(), true).unwrap();
    assert!(!copy.path().join(&left_over[0]).exists());
}

/// What the page promises of the row, in general words: it holds for a field of any group too.
#[test]
fn a_field_of_a_group_reaches_every_method_that_has_the_group() {
    let copy = tempfile::tempdir().unwrap();
    copy_tables(copy.path());
    let path = copy.path().join("groups.toml");
    let text = fs::read_to_string(&path).unwrap();
    let mark = "  { wire = \"terminalKey\"";
    let row = "  { wire = \"salesChannel\", type = \"String\", format = \"text\", source = \"2 §4.3\", doc = \"Where it was sold.\" },\n";
    assert_eq!(text.matches(mark).count(), 1);
    fs::write(&path, text.replace(mark, &format!("{row}{mark}"))).unwrap();
    let files = generate(copy.path(), &root()).unwrap();
    let sent = |file: &str, line: &str| {
        let text = &files[&Path::new(RUST).join(file)];
        assert!(text.contains(line), "{file} holds no {line}");
    };
    for method in ["auth", "auth_card_key", "preauth"] {
        sent(&format!("methods/{method}.rs"), "self.order.visit(sink);");
    }
    sent("groups/order.rs", "emit::optional(sink, &SALES_CHANNEL, &self.sales_channel);");
    // Where a parameter of the method stands between those of the group, each is handed out by itself.
    for method in ["auth_session_key", "initiate_three_d_secure_card_key"] {
        let line = "emit::optional(sink, &groups::order::SALES_CHANNEL, &self.order.sales_channel);";
        sent(&format!("methods/{method}.rs"), line);
    }
    assert!(files[&Path::new(RUST).join("groups/order.rs")].contains("pub fn sales_channel(mut self"));
    assert_eq!(files[&Path::new(REFERENCE).join("transaction.md")].matches("`order.sales_channel`").count(), 6);
    let openapi = &files[Path::new("docs/openapi.yaml")];
    assert_eq!(openapi.matches("\n        salesChannel:\n          type: string\n").count(), 1);
    assert_eq!(openapi.matches("\"#/components/schemas/Order/properties/salesChannel\"").count(), 6);
}

/// Links of the pages lead to files and headings that exist.
#[test]
fn links_of_the_pages_lead_somewhere() {
    let mut pages: Vec<PathBuf> = files_below(&root(), Path::new(REFERENCE)).unwrap();
    pages.extend(["docs/assumptions.md", "docs/contributing.md", "docs/coverage.md"].map(PathBuf::from));
    let mut count = 0;
    for page in &pages {
        // Every other piece between fences is a listing, whose links are not followed.
        let text: String = read(page).split("```").step_by(2).collect();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(root().join(&path).exists(), "{}: {target} is no file", page.display());
            if !anchor.is_empty() {
                assert!(anchors(&read(&path)).contains(anchor), "{}: {target} has no such heading", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 100, "only {count} links were found");
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let headings = headings.map(|heading| reference::anchor(heading.trim_start_matches('#').trim()));
    let named = text.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    headings.chain(named).collect()
}

/// Rows of a Markdown table have as many cells as its head, whatever stands in them.
#[test]
fn tables_of_the_pages_are_rectangular() {
    let pages = files_below(&root(), Path::new(REFERENCE)).unwrap();
    for page in pages.into_iter().chain(["docs/coverage.md".into()]) {
        let text = read(&page);
        let mut columns = None;
        for line in text.lines() {
            let cells = line.starts_with('|').then(|| line.replace("\\|", "").matches('|').count());
            assert!(cells.is_none() || columns.is_none() || cells == columns, "{}: {line}", page.display());
            columns = cells;
        }
    }
}
