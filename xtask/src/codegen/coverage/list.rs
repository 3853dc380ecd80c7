//! The content of the documents, from `tests/coverage/contents.toml`, and the facts that the tests cite.

use std::{collections::BTreeMap, fs, path::Path};

use super::{
    super::{
        check::mentioned_assumptions,
        place::{Place, Problems},
        reading::{self, Row as Source},
    },
    comments::{self, Comment},
};

/// Where the sections of the documents and their tables are listed.
pub(in super::super) const FOLDER: &str = "tests/coverage";
const CONTENTS: &str = "tests/coverage/contents";

#[derive(Default)]
pub(super) struct List {
    pub(super) sections: Vec<Section>,
    pub(super) statements: Vec<Statement>,
    /// Each clause that a test cites without a sentence.
    pub(super) cited: Vec<Statement>,
    pub(super) of_tables: OfTables,
}

/// A section of the documents that has content.
pub(super) struct Section {
    pub(super) place: Place,
    /// Document and section, as in `1 §2.1`.
    pub(super) at: String,
    pub(super) title: String,
    pub(super) tables: Vec<DocumentTable>,
    /// The assumptions that close what the section leaves open.
    pub(super) open: Vec<String>,
    /// What no test can show, and why.
    pub(super) not_testable: Vec<(String, String)>,
}

/// A table of the documents.
pub(super) struct DocumentTable {
    pub(super) place: Place,
    pub(super) name: String,
    /// How many rows the document gives it, one for each name where several share a line.
    pub(super) rows: usize,
    /// Which rows of this project's tables hold it, such as `record Card`; without such rows, statements hold it.
    pub(super) from: Vec<String>,
}

/// Something that a document says, and the test that shows it.
pub(super) struct Statement {
    pub(super) place: Place,
    pub(super) at: String,
    /// The table of the document that it is a row of.
    pub(super) table: Option<String>,
    pub(super) what: String,
    pub(super) assumptions: Vec<u16>,
    pub(super) test: String,
}

/// The tests of the rows of this project's tables. A key is `method token/lookup`, `codes ErrorCode 101`, `fields`, or
/// `parameters` with the credentials of the method.
pub(super) type OfTables = BTreeMap<String, (Place, Vec<String>)>;

/// Reads everything below the root. Mistakes are noted.
pub(super) fn load(root: &Path, problems: &mut Problems) -> List {
    let mut list = List::default();
    match fs::read_to_string(root.join(format!("{CONTENTS}.toml"))) {
        Ok(text) => {
            let sections = |row: &Source<'_>| list.sections = row.rows("sections", Section::read);
            reading::file(CONTENTS, &text, problems, sections);
        }
        Err(error) => {
            problems.push(Place { file: CONTENTS, line: 1, column: 1 }, format!("cannot be read: {error}"));
        }
    }
    let found = comments::of_workspace(root);
    for test in &found.tests {
        test.comments.iter().for_each(|comment| list.add(comment, &test.name));
    }
    for stray in &found.strays {
        problems.push(stray.place(), format!("no test is below this comment: {}", stray.text));
    }
    list
}

impl List {
    /// Adds the citations of a comment: `2 §1.1, A101: a sentence`, or several of `2 §1.1`, `codes ErrorCode 101
    /// 102` and so on, with `; ` between them.
    pub(super) fn add(&mut self, comment: &Comment, test: &str) {
        let (head, sentence) = comment.text.split_once(": ").unwrap_or((&comment.text, ""));
        for one in head.split("; ") {
            let words: Vec<&str> = one.split(' ').collect();
            if one.starts_with(|first: char| first.is_ascii_digit()) {
                let name = one.split(", ").next().unwrap_or_default().splitn(3, ' ').nth(2);
                let statement = Statement {
                    place: comment.place(),
                    at: words[..words.len().min(2)].join(" ").trim_end_matches(',').to_owned(),
                    table: name.map(str::to_owned),
                    what: sentence.to_owned(),
                    assumptions: mentioned_assumptions(one),
                    test: test.to_owned(),
                };
                if sentence.is_empty() { &mut self.cited } else { &mut self.statements }.push(statement);
                continue;
            }
            let keys: Vec<String> = match words[..] {
                ["codes", table, ref codes @ ..] => codes.iter().map(|code| format!("codes {table} {code}")).collect(),
                ["parameters", ref of @ ..] => of.iter().map(|of| format!("parameters {of}")).collect(),
                _ => vec![one.to_owned()],
            };
            for key in keys {
                self.of_tables.entry(key).or_insert((comment.place(), Vec::new())).1.push(test.to_owned());
            }
        }
    }

    /// The statements that are rows of a table of a section, or with `None` of no table.
    pub(super) fn of<'l>(&'l self, at: &'l str, table: Option<&'l str>) -> impl Iterator<Item = &'l Statement> {
        self.statements.iter().filter(move |statement| statement.at == at && statement.table.as_deref() == table)
    }
}

impl Comment {
    fn place(&self) -> Place {
        // A handful of names in a program that ends soon.
        Place { file: self.file.to_string_lossy().into_owned().leak(), line: self.line, column: 1 }
    }
}

impl Section {
    fn read(row: &Source<'_>) -> Self {
        Self {
            at: row.text("at"),
            title: row.text("title"),
            tables: rows_if_any(row, "tables", DocumentTable::read),
            open: row.texts("open"),
            not_testable: rows_if_any(row, "not_testable", |row| (row.text("what"), row.text("why"))),
            place: row.places().row,
        }
    }
}

fn rows_if_any<T>(row: &Source<'_>, key: &'static str, read: impl Fn(&Source<'_>) -> T) -> Vec<T> {
    if row.has(key) { row.rows(key, read) } else { Vec::new() }
}

impl DocumentTable {
    fn read(row: &Source<'_>) -> Self {
        Self { name: row.text("name"), rows: row.number("rows"), from: row.texts("from"), place: row.places().row }
    }
}
