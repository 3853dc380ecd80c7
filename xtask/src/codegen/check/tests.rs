//! Each mistake is made in a copy of the tables, and must be told with its place.

use std::{fs, path::PathBuf};

use super::super::{
    TABLES, checked,
    tests::{copy_of_the_tables, root},
};

mod garbage;

/// A mistake in one file of the tables, and the expected messages.
struct Mistake {
    file: String,
    from: String,
    to: String,
    said: String,
}

/// The mistakes of one page of `mistakes/`. Each begins with its file; `-` and `+` say what is replaced by what, the
/// first time it occurs; the rest is the expected messages, with `N` for line numbers.
fn page(name: &str) -> Vec<Mistake> {
    let text = fs::read_to_string(path(name)).unwrap();
    text.trim_start_matches("# ")
        .split("\n# ")
        .map(|entry| {
            let (change, said) = entry.split_once("\n\n").unwrap_or((entry, ""));
            let side = |sign: &str| {
                let lines: Vec<&str> = change.lines().filter_map(|line| line.strip_prefix(sign)).collect();
                lines.join("\n")
            };
            Mistake {
                file: change.lines().next().unwrap().to_owned(),
                from: side("- "),
                to: side("+ "),
                said: said.trim_end().to_owned(),
            }
        })
        .collect()
}

fn path(page: &str) -> PathBuf {
    root().join("xtask/src/codegen/check/mistakes").join(format!("{page}.txt"))
}

/// A copy of the tables with some mistakes, and the messages about them.
fn complaints<'m>(mistakes: impl IntoIterator<Item = &'m Mistake>) -> String {
    let folder = copy_of_the_tables();
    for Mistake { file, from, to, .. } in mistakes {
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} no longer holds {from:?}, which this test replaces");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    }
    checked(folder.path()).err().map(|error| error.to_string()).unwrap_or_default()
}

/// Puts `N` for the numbers of lines, which change with every row that is added above.
fn without_numbers(said: &str) -> String {
    let mut text = String::new();
    for line in said.lines() {
        let number = line.split(" | ").next().filter(|number| number.parse::<usize>().is_ok());
        let line = match number {
            Some(number) => line.replacen(number, "N", 1),
            None if line.trim_start().starts_with('|') => format!("  {}", line.trim_start()),
            None => line.split_inclusive(".toml:").map(without_leading_number).collect(),
        };
        text += line.trim_end();
        text.push('\n');
    }
    text.trim_end().to_owned()
}

fn without_leading_number(piece: &str) -> String {
    let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < piece.len() && rest.starts_with(':') { format!("N{rest}") } else { piece.to_owned() }
}

/// The messages about each single mistake equal the page exactly. `PG_BLESS=1` writes the page.
fn each_is_told(name: &str) {
    let mut text = String::new();
    let mut wrong = Vec::new();
    for mistake in page(name) {
        let said = without_numbers(&complaints([&mistake]));
        if said != mistake.said {
            wrong.push(format!("{} {} -> {}\n{said}\n", mistake.file, mistake.from, mistake.to));
        }
        let side = |sign: &str, text: &str| text.lines().map(|line| format!("{sign} {line}\n")).collect::<String>();
        let (from, to) = (side("-", &mistake.from), side("+", &mistake.to));
        text += &format!("# {}\n{from}{to}\n{said}\n\n", mistake.file);
    }
    if std::env::var_os("PG_BLESS").is_some() {
        fs::write(path(name), text.trim_end().to_owned() + "\n").unwrap();
        return;
    }
    assert!(wrong.is_empty(), "PG_BLESS=1 writes it, if this is meant:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_is_wrong_with_the_tables() {
    assert_eq!(complaints([]), "");
}

#[test]
fn rows_of_a_wrong_shape_are_reported() {
    each_is_told("shape");
}

#[test]
fn contradictory_fields_are_reported() {
    each_is_told("fields");
}

#[test]
fn mistakes_in_methods_groups_records_and_codes_are_reported() {
    each_is_told("methods_and_lists");
}

#[test]
fn misspelt_names_of_the_documents_are_reported() {
    each_is_told("spelling");
}

#[test]
fn a_message_shows_the_line_and_its_number_is_that_of_the_mistake() {
    let mistake = &page("shape").into_iter().find(|one| one.to == "retry = \"save\"").unwrap();
    let text = fs::read_to_string(root().join(TABLES).join(&mistake.file)).unwrap();
    let number = text.lines().position(|line| line == mistake.from).unwrap() + 1;
    let said = complaints([mistake]);
    assert!(said.contains(&format!("/{}:{number}:9: retry \"save\" is not known", mistake.file)), "{said}");
    assert!(said.contains(&format!("{number} | retry = \"save\"\n")), "{said}");
}

#[test]
fn all_mistakes_are_reported_at_once_in_the_order_of_the_files() {
    let pages = ["shape", "fields", "methods_and_lists", "spelling"].map(page);
    let mistakes: Vec<&Mistake> = pages.iter().map(|page| &page[0]).chain([&pages[2][26], &pages[2][32]]).collect();
    let said = complaints(mistakes.iter().copied());
    for mistake in &mistakes {
        let first = mistake.said.lines().nth(2).unwrap();
        let what = first.split_once(": ").unwrap().1;
        assert!(said.contains(what.split(", first at").next().unwrap()), "{what}\n{said}");
    }
    let heads: Vec<&str> = said.lines().filter(|line| line.starts_with(TABLES)).collect();
    assert!(said.starts_with(&format!("{} mistakes in the tables, so nothing is written\n", heads.len())), "{said}");
    assert!(heads.is_sorted_by_key(|line| line.split(':').next().unwrap().to_owned()), "{said}");
}

#[test]
fn a_missing_or_invalid_table_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tokens.toml"), "").unwrap();
    let said = checked(folder.path()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("crates/pg-model/tables: tokens.toml is none of the tables"), "{said}");
    assert!(said.contains("crates/pg-model/tables/token.toml:1:1: cannot be read"), "{said}");
    assert!(said.contains("crates/pg-model/tables/codes.toml:1:1: cannot be read"), "{said}");
}
